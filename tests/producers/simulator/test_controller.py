"""The controller's numbering, clock and heartbeats."""

from datetime import UTC, datetime, timedelta

import pytest

from producers.simulator.controller import LATENCY, SECOND, Controller
from producers.simulator.labels import Label

START = datetime(2025, 3, 1, tzinfo=UTC)


def label(event_id: str) -> Label:
    return Label(
        table_id="T1", shoe=1, round=1, codes=("overpaid",), event_id=event_id, occurred_at=START, description="paid"
    )


@pytest.fixture
def controller() -> Controller:
    return Controller("T1", START, heartbeat_seconds=30)


def test_events_are_numbered_and_stamped(controller: Controller) -> None:
    controller.wait(5 * SECOND)
    assert controller.send("dealer_in", dealer_id="D1") == "T1:1:1"
    controller.wait(1)
    assert controller.send("dealer_out", dealer_id="D1") == "T1:1:2"
    first, second = controller.drain(7)
    assert (first.event.seq, first.event.follows, second.event.seq, second.event.follows) == (1, (0, 0), 2, None)
    assert first.event.occurred_at == START + timedelta(seconds=5)
    assert second.event.occurred_at - first.event.occurred_at == timedelta(microseconds=1)
    assert first.arrives_at == first.event.occurred_at + LATENCY
    assert first.table == 7
    assert list(controller.drain(7)) == []


def test_a_table_that_waits_sends_heartbeats(controller: Controller) -> None:
    controller.wait(95 * SECOND)
    beats = [arrival.event for arrival in controller.drain(0)]
    assert [beat.type for beat in beats] == ["heartbeat"] * 3
    assert [beat.occurred_at - START for beat in beats] == [timedelta(seconds=30 * n) for n in (1, 2, 3)]
    assert controller.now == 95 * SECOND


def test_a_silent_table_sends_none(controller: Controller) -> None:
    controller.fall_silent(300)
    assert list(controller.drain(0)) == []
    assert controller.instant() == START + timedelta(minutes=5)


def test_a_label_travels_with_its_event_and_gets_its_instant(controller: Controller) -> None:
    controller.wait(SECOND)
    shown_by = controller.send("heartbeat")
    controller.wait(SECOND)
    controller.send("heartbeat")
    controller.label(label(shown_by))
    first, second = controller.drain(0)
    assert [found.occurred_at for found in first.labels] == [START + timedelta(seconds=1)]
    assert second.labels == ()


def test_a_label_for_an_event_that_is_gone_is_a_defect(controller: Controller) -> None:
    controller.label(label("T1:1:99"))
    with pytest.raises(AssertionError, match="an event that is gone"):
        list(controller.drain(0))
