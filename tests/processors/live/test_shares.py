"""What a fact adds to the windows of play, and which do not."""

from datetime import timedelta
from typing import Any, cast

import msgspec
import pytest

from processors.live.shares import DEALER_ERRORS, Share, key_of, minute_in_play, minute_of, share_of
from schemas.alerts import ALERTS
from tests.contract.store.stored_facts import MOMENT, fact

MINUTE = minute_of(MOMENT)


def test_every_dealer_error_is_an_alert() -> None:
    assert ALERTS.keys() > DEALER_ERRORS


@pytest.mark.parametrize("code", ["late_bet", "both_sides", "excess_copies", "float_unexplained", "table_silent"])
def test_what_patrons_equipment_and_lines_do_is_no_dealers_error(code: str) -> None:
    assert code not in DEALER_ERRORS
    assert share_of(fact("alert", "BAC-01", code=code), MINUTE) is None


def test_round_adds_itself_and_its_money() -> None:
    round_ = fact("round", "BAC-01", handle=500, house_win=-25, dealer_id="D-2", pit="PIT-1", currency="MOP")
    assert share_of(round_, 7) == Share(7, "BAC-01", "PIT-1", "D-2", "MOP", 1, 1, 500, -25, 0)


@pytest.mark.parametrize(("status", "decisions"), [("settled", 1), ("incomplete", 1), ("void", 0)])
def test_cancelled_round_decides_nothing(status: str, decisions: int) -> None:
    share = share_of(fact("round", "BAC-01", status=status), MINUTE)
    assert share is not None
    assert (share.rounds, share.decisions) == (1, decisions)


def test_demonstration_is_no_play() -> None:
    demonstration = msgspec.structs.replace(cast(Any, fact("round", "BAC-01")), kind="demonstration")
    assert share_of(demonstration, MINUTE) is None


@pytest.mark.parametrize("kind", ["round", "alert"])
def test_retracted_fact_adds_nothing(kind: str) -> None:
    changes = {"code": "overpaid"} if kind == "alert" else {}
    assert share_of(fact(kind, "BAC-01", **changes), 1) is not None
    assert share_of(fact(kind, "BAC-01", **changes, retracted=True), 1) is None


def test_error_of_nobody_known_is_not_counted() -> None:
    assert share_of(fact("alert", "BAC-01", code="overpaid", dealer_id=""), MINUTE) is None


def test_error_is_counted_for_its_dealer_and_plays_no_round() -> None:
    share = share_of(fact("alert", "BAC-01", code="overpaid", dealer_id="D-3"), MINUTE)
    assert share is not None
    assert (share.dealer_id, share.errors, share.rounds, share.handle) == ("D-3", 1, 0, 0)


def test_rounds_and_alerts_are_named_by_their_natural_keys() -> None:
    assert key_of(fact("round", "BAC-01", shoe=2, round=3)) == ("round", "BAC-01", 2, 3)
    assert key_of(fact("alert", "BAC-01", alert_id="x")) == ("alert", "x")
    assert key_of(fact("bet", "BAC-01")) is None


def test_round_counts_when_it_began_and_an_alert_when_it_happened() -> None:
    opened = MOMENT - timedelta(minutes=3)
    assert minute_in_play(fact("round", "BAC-01", opened_at=opened), MOMENT) == MINUTE - 3
    assert minute_in_play(fact("alert", "BAC-01", occurred_at=opened), MOMENT) == MINUTE - 3


def test_clock_that_is_ahead_doesnt_put_play_into_the_future() -> None:
    ahead = MOMENT + timedelta(days=400)
    assert minute_in_play(fact("round", "BAC-01", opened_at=ahead), MOMENT) == MINUTE
