"""What the notifier does step by step: once each, in summaries during a flood, again after a failure."""

from datetime import timedelta
from pathlib import Path

import pytest

from processors.logs.sqlite import SqliteLog
from processors.metrics import REGISTRY
from processors.notify.database import FILE_NAME
from processors.notify.notifier import BATCH, GROUP, TOPIC
from processors.notify.outbox import Target
from processors.notify.recording import Delivery, RecordingTransport
from processors.notify.sender import RouteRefused
from processors.notify.status import NotifierStatus, read_failed, read_status
from schemas.facts import AlertFact, RoundFact
from schemas.log import Position
from schemas.revisions import first_revision
from tests.processors.notify.conftest import Make, Publish
from tests.processors.notify.samples import NOON, ManualClock, alert, route, settings


def counted(name: str) -> dict[str, float]:
    """Return how often each outcome was counted for a route."""
    metric = "pitwatch_notify_attempted_messages_total"
    return {
        outcome: REGISTRY.get_sample_value(metric, {"route": name, "outcome": outcome}) or 0.0
        for outcome in ("sent", "retried", "failed")
    }


def test_an_alert_in_the_log_reaches_every_url_of_its_route(
    make: Make, publish: Publish, transport: RecordingTransport
) -> None:
    notifier = make(settings(route("bosses", "test://one", "test://two")))
    publish(alert())
    assert notifier.step() == 3  # one record, two attempts
    assert [delivery.url for delivery in transport.deliveries] == ["test://one", "test://two"]
    assert {delivery.title for delivery in transport.deliveries} == {"CRITICAL · B07 · shoe 3 round 1"}
    assert "Banker overpaid: due 1,000, paid 2,000" in transport.deliveries[0].body
    assert notifier.step() == 0
    assert notifier.behind() == 0


def test_only_the_routes_that_want_an_alert_get_it(make: Make, publish: Publish, transport: RecordingTransport) -> None:
    notifier = make(
        settings(
            route("pit-1", pits=("PIT-1",)),
            route("pit-2", pits=("PIT-2",)),
            route("grave", minimum_severity="critical"),
            route("shoes", codes=("burn_count",)),
        )
    )
    publish(alert(1), alert(2, "burn_count", pit="PIT-2"))
    notifier.step()
    assert [delivery.url for delivery in transport.deliveries] == [
        "test://pit-1",
        "test://pit-2",
        "test://grave",
        "test://shoes",
    ]
    assert transport.deliveries[1].title == "WARNING · B07 · shoe 3 round 2"


def test_a_record_read_again_after_a_crash_is_told_once(
    make: Make, publish: Publish, transport: RecordingTransport, log: SqliteLog
) -> None:
    publish(alert(1), alert(2))
    make().step()
    log.commit_position(GROUP, Position(TOPIC, 0, 0))
    restarted = make()
    assert restarted.behind() == 2
    assert restarted.step() == 2
    assert len(transport.deliveries) == 2
    assert restarted.status().sent == 2


def test_a_backlog_is_read_in_batches(make: Make, publish: Publish, clock: ManualClock) -> None:
    notifier = make(settings(route(alerts_per_ten_minutes=1)))
    publish(*(alert(number) for number in range(1, BATCH + 2)))
    assert notifier.step() == BATCH + 1
    assert notifier.behind() == 1
    notifier.step()
    assert (notifier.status().sent, notifier.status().collapsed) == (1, BATCH)


class TestStanding:
    """What becomes of an alert later: nothing new is no news, and nobody hears the end of what was not told."""

    def test_new_evidence_alone_is_no_news(self, make: Make, publish: Publish, transport: RecordingTransport) -> None:
        publish(alert(), alert(revision=1, text_en="paid 3,000"))
        make().step()
        assert len(transport.deliveries) == 1

    @pytest.mark.parametrize(
        ("change", "word"),
        [({"status": "corrected"}, "Corrected"), ({"retracted": True}, "Withdrawn")],
    )
    def test_the_end_of_a_told_alert_is_told(
        self, make: Make, publish: Publish, transport: RecordingTransport, change: dict[str, object], word: str
    ) -> None:
        publish(alert(), alert(revision=1, **change), alert(revision=2, **change))
        make().step()
        assert [delivery.title for delivery in transport.deliveries] == [
            "CRITICAL · B07 · shoe 3 round 1",
            f"{word} · CRITICAL · B07 · shoe 3 round 1",
        ]

    def test_a_route_may_do_without_follow_ups(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        publish(alert(), alert(revision=1, retracted=True))
        make(settings(route(follow_ups=False))).step()
        assert len(transport.deliveries) == 1

    def test_a_route_that_never_heard_of_it_gets_no_follow_up(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        publish(alert())
        make(settings(route("first"))).step()
        publish(alert(revision=1, status="corrected"))
        make(settings(route("first"), route("second"))).step()
        assert [delivery.url for delivery in transport.deliveries] == ["test://first", "test://first"]

    def test_what_is_withdrawn_before_anybody_heard_of_it_is_no_news(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        publish(alert(retracted=True))
        make().step()
        assert transport.deliveries == []

    def test_what_was_corrected_at_once_is_told_with_that(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        publish(alert(status="corrected"))
        make(settings(route(follow_ups=False))).step()
        assert transport.deliveries[0].title.startswith("Corrected")

    def test_what_stands_again_is_told_again(self, make: Make, publish: Publish, transport: RecordingTransport) -> None:
        publish(alert(), alert(revision=1, retracted=True), alert(revision=2))
        make(settings(route(follow_ups=False))).step()
        assert [delivery.title for delivery in transport.deliveries] == ["CRITICAL · B07 · shoe 3 round 1"] * 2

    def test_an_older_revision_changes_nothing(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        publish(alert(revision=2, retracted=True), alert(revision=1), alert(revision=2))
        make().step()
        assert transport.deliveries == []

    def test_the_end_waits_for_the_beginning(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        notifier = make()
        transport.fail("test://bosses", 1)
        publish(alert(), alert(revision=1, retracted=True))
        notifier.step()
        assert transport.deliveries == []
        clock.advance(seconds=2)
        notifier.step()
        assert [delivery.title[:9] for delivery in transport.deliveries] == ["CRITICAL ", "Withdrawn"]


class TestFlood:
    """ISA-18.2: more than ten alerts in ten minutes are a flood, which one message sums up."""

    def test_what_comes_beyond_the_limit_is_collapsed_into_one_summary(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        notifier = make(settings(route(alerts_per_ten_minutes=3)))
        publish(*(alert(number) for number in range(1, 9)))
        notifier.step()
        assert len(transport.deliveries) == 3
        assert notifier.status().collapsed == 5
        clock.advance(seconds=59)
        assert notifier.step() == 0
        clock.advance(seconds=1)
        notifier.step()
        summary = transport.deliveries[3]
        assert summary.title == "Alert summary · 5 alerts"
        assert "5× overpaid: B07 3/4, B07 3/5, B07 3/6, +2" in summary.body
        assert notifier.status().collapsed == 0

    def test_every_alert_of_a_long_flood_is_in_exactly_one_message(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        notifier = make(settings(route(alerts_per_ten_minutes=2, summary_seconds=10)))
        for number in range(1, 31):
            publish(alert(number))
            notifier.step()
            clock.advance(seconds=7)
        clock.advance(seconds=10)
        notifier.step()
        titles = [delivery.title for delivery in transport.deliveries]
        singles = [title for title in titles if title.startswith("CRITICAL")]
        summed = [int(title.split(" · ")[1].split()[0]) for title in titles if title.startswith("Alert summary")]
        assert len(singles) == 2
        assert len(singles) + sum(summed) == 30

    def test_the_limit_renews_itself_after_ten_minutes(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        notifier = make(settings(route(alerts_per_ten_minutes=1)))
        publish(alert(1))
        notifier.step()
        clock.advance(minutes=10)
        publish(alert(2))
        notifier.step()
        assert [delivery.title for delivery in transport.deliveries] == [
            "CRITICAL · B07 · shoe 3 round 1",
            "CRITICAL · B07 · shoe 3 round 2",
        ]

    def test_one_routes_flood_is_not_anothers(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        publish(alert(1), alert(2))
        make(settings(route("few", alerts_per_ten_minutes=1), route("many"))).step()
        assert [delivery.url for delivery in transport.deliveries] == ["test://few", "test://many", "test://many"]

    def test_a_summary_outlives_a_restart_and_is_sent_once(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock, log: SqliteLog
    ) -> None:
        configured = settings(route(alerts_per_ten_minutes=1))
        publish(alert(1), alert(2))
        make(configured).step()
        log.commit_position(GROUP, Position(TOPIC, 0, 0))
        clock.advance(minutes=2)
        for _ in range(3):
            make(configured).step()
        assert [delivery.title for delivery in transport.deliveries[1:]] == ["Alert summary · 1 alert"]

    def test_what_waited_in_the_log_while_nobody_listened_is_summed_up(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        publish(alert(1), alert(2, "burn_count"))
        clock.advance(hours=9)
        notifier = make()
        notifier.step()
        assert transport.deliveries == []
        clock.advance(minutes=1)
        notifier.step()
        assert [delivery.title for delivery in transport.deliveries] == ["Alert summary · 2 alerts"]

    def test_the_summary_of_a_route_taken_away_is_seen_to_fail(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        publish(alert(1), alert(2))
        make(settings(route("old", alerts_per_ten_minutes=1))).step()
        notifier = make(settings(route("new")))
        notifier.step()
        assert notifier.status().collapsed == 0
        assert [(failed.target.route, failed.title) for failed in notifier.failed()] == [
            ("old", "警報匯總 Alert summary · 1 宗警報 alert")
        ]


class TestRetry:
    """At least once: a failed send is repeated, ever more rarely, until it is given up in plain sight."""

    def test_waits_double_until_the_message_arrives(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        notifier = make(settings(retry_first_seconds=2))
        transport.fail("test://bosses", 3)
        publish(alert())
        notifier.step()
        for wait in (2, 4, 8):
            clock.advance(seconds=wait - 1)
            assert notifier.step() == 0
            clock.advance(seconds=1)
            assert notifier.step() == 1
        assert len(transport.deliveries) == 1
        [target] = notifier.status().targets
        assert (target.pending, target.sent, target.failed) == (0, 1, 0)
        assert (target.last_error, target.last_error_at) == ("refused, as asked for", NOON.replace(second=6))
        assert target.last_sent_at == NOON.replace(second=14)

    def test_a_broken_url_holds_up_no_other(self, make: Make, publish: Publish, transport: RecordingTransport) -> None:
        notifier = make(settings(route("bosses", "test://broken", "test://sound")))
        transport.fail("test://broken", 100)
        publish(alert(1), alert(2))
        notifier.step()
        assert [delivery.url for delivery in transport.deliveries] == ["test://sound"] * 2
        assert notifier.status().pending == 2

    def test_what_was_never_tried_goes_before_what_failed(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        notifier = make()
        transport.fail("test://bosses", 1)
        publish(alert(1))
        notifier.step()
        clock.advance(seconds=2)
        publish(alert(2))
        notifier.step()
        assert [delivery.title[-7:] for delivery in transport.deliveries] == ["round 2", "round 1"]

    def test_what_came_of_every_attempt_is_counted(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        before = counted("counted")
        notifier = make(settings(route("counted", "test://broken", "test://sound"), retry_attempts=2))
        transport.fail("test://broken", 3)
        publish(alert(1), alert(2))
        for _ in range(4):
            notifier.step()
            clock.advance(seconds=60)
        # Each of the two goes to both URLs; the broken one refuses three times, the second time for good.
        now = counted("counted")
        assert {outcome: now[outcome] - before[outcome] for outcome in now} == {"sent": 3, "retried": 2, "failed": 1}

    @pytest.mark.parametrize(("limit", "attempts"), [({"retry_attempts": 3}, 3), ({"give_up_after_seconds": 7}, 2)])
    def test_a_message_given_up_stays_visible_and_can_be_renewed(
        self,
        make: Make,
        publish: Publish,
        transport: RecordingTransport,
        clock: ManualClock,
        tmp_path: Path,
        limit: dict[str, int],
        attempts: int,
    ) -> None:
        notifier = make(settings(**limit))
        transport.fail("test://bosses", attempts)
        publish(alert())
        for _ in range(10):
            notifier.step()
            clock.advance(seconds=4)
        assert transport.deliveries == []
        [failed] = read_failed(tmp_path / FILE_NAME)
        assert failed.target == Target("bosses", 0)
        assert failed.title == "CRITICAL · B07 · shoe 3 round 1"
        assert (failed.attempts, failed.enqueued_at) == (attempts, NOON)
        assert failed.failed_at > NOON
        assert failed.error == "refused, as asked for"
        assert read_status(tmp_path / FILE_NAME).failed == 1
        assert notifier.retry_failed() == 1
        notifier.step()
        assert len(transport.deliveries) == 1
        assert notifier.failed() == ()

    def test_what_is_pending_for_a_url_taken_away_is_given_up(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        transport.fail("test://two", 1)
        publish(alert())
        make(settings(route("bosses", "test://one", "test://two"))).step()
        notifier = make(settings(route("bosses", "test://one")))
        [failed] = notifier.failed()
        assert failed.target == Target("bosses", 1)
        assert failed.error == "the route or its URL is no longer configured"


def test_a_url_that_can_never_work_is_refused_at_once_without_being_shown(make: Make) -> None:
    with pytest.raises(RouteRefused, match=r"route 'bosses', urls\[1\]: no URL") as refused:
        make(settings(route("bosses", "test://one", "secret-token")))
    assert "secret-token" not in str(refused.value)


def test_records_that_are_no_alerts_are_counted_and_stop_nothing(
    make: Make, publish: Publish, transport: RecordingTransport, log: SqliteLog
) -> None:
    log.append(TOPIC, [("B07", b"{"), ("B07", b'{"fact":"nonsense"}')])
    publish(
        RoundFact(
            table_id="B07",
            occurred_at=NOON,
            shoe=1,
            round=1,
            kind="live",
            status="settled",
            opened_at=NOON,
            currency="HKD",
        ),
        alert(),
    )
    notifier = make()
    notifier.step()
    assert len(transport.deliveries) == 1
    assert notifier.status().unreadable == 3
    log.commit_position(GROUP, Position(TOPIC, 0, 0))
    assert make().step() == 4
    assert notifier.status().unreadable == 3


def test_old_messages_are_forgotten_and_their_alerts_with_them(
    make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
) -> None:
    notifier = make(settings(route("bosses", "test://one", "test://two"), keep_days=2))
    transport.fail("test://two", 1000)
    publish(alert())
    notifier.step()
    clock.advance(hours=1)
    notifier.step()
    assert (notifier.status().sent, notifier.status().pending) == (1, 1)
    clock.advance(days=2)
    notifier.step()
    assert (notifier.status().sent, notifier.status().failed) == (0, 1)
    clock.advance(days=3)
    notifier.step()
    assert notifier.status() == NotifierStatus()


def test_before_anything_was_queued_the_status_is_empty(tmp_path: Path) -> None:
    assert read_status(tmp_path / FILE_NAME) == NotifierStatus()
    assert read_failed(tmp_path / FILE_NAME) == ()


def test_closing_twice_is_harmless(make: Make) -> None:
    notifier = make()
    notifier.close()
    notifier.close()


def test_what_is_delivered_names_no_patron(make: Make, publish: Publish, transport: RecordingTransport) -> None:
    publish(alert(patron_id="VIP-4711"))
    make(settings(route(languages="both"))).step()
    assert isinstance(transport.deliveries[0], Delivery)
    assert "4711" not in transport.deliveries[0].title + transport.deliveries[0].body


class TestReplay:
    """Alerts that a replay tells once more: people hear of those that are new, and of those that are none any more."""

    BEGUN = NOON + timedelta(hours=1)

    @pytest.fixture(autouse=True)
    def _replay_begun(self, clock: ManualClock) -> None:
        clock.now = self.BEGUN + timedelta(minutes=5)

    def again(self, number: int = 1, later: int = 0, /, **changes: object) -> AlertFact:
        return alert(number, **{"revision": first_revision(self.BEGUN) + later} | changes)

    def corrected(self, number: int = 1, later: int = 1, /) -> AlertFact:
        return self.again(number, later, status="corrected")

    @staticmethod
    def titles(transport: RecordingTransport) -> list[str]:
        return [one.title for one in transport.deliveries]

    @staticmethod
    def bodies(transport: RecordingTransport) -> list[list[str]]:
        """Return what each message says of codes, past the graveness and before the times."""
        return [one.body.splitlines()[1:-1] for one in transport.deliveries]

    def test_people_hear_of_what_is_no_alert_any_more_and_of_nothing_else_they_know(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        clock.now = NOON
        publish(alert(1), alert(2))
        notifier = make()
        notifier.step()
        clock.now = self.BEGUN + timedelta(minutes=5)
        publish(self.again(1), self.again(2, retracted=True, revision=first_revision(self.BEGUN) - 1))
        notifier.step()
        assert len(transport.deliveries) == 2
        clock.advance(minutes=1)
        notifier.step()
        assert self.titles(transport)[2:] == ["Past rounds judged anew · 1 alert"]
        assert self.bodies(transport)[2:] == [["1× overpaid (Withdrawn): B07 3/2"]]
        assert notifier.status().collapsed == 0

    @pytest.mark.parametrize("end", [{"status": "corrected"}, {"retracted": True}])
    def test_what_had_ended_and_ends_again_is_no_news(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock, end: dict[str, object]
    ) -> None:
        publish(alert(1), alert(1, revision=1, **end))
        notifier = make()
        notifier.step()
        told = len(transport.deliveries)
        publish(self.again(1))
        notifier.step()
        assert notifier.status().collapsed == 1, "until it ends again"
        publish(self.again(1, 1, **end))
        notifier.step()
        assert notifier.status().collapsed == 0
        clock.advance(minutes=10)
        notifier.step()
        assert len(transport.deliveries) == told

    def test_what_had_ended_and_now_stands_is_news(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        clock.now = NOON
        publish(alert(1), alert(1, revision=1, retracted=True))
        notifier = make()
        notifier.step()
        clock.now = self.BEGUN + timedelta(minutes=5)
        publish(self.again(1))
        notifier.step()
        clock.advance(minutes=1)
        notifier.step()
        assert self.bodies(transport)[2:] == [["1× overpaid: B07 3/1"]]

    def test_what_is_found_anew_is_told_as_it_stands_in_the_end(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        publish(self.again(1), self.again(2), self.again(3), self.corrected(2), self.again(3, 1, retracted=True))
        notifier = make()
        notifier.step()
        clock.advance(minutes=1)
        notifier.step()
        assert self.bodies(transport) == [["1× overpaid (Corrected): B07 3/2", "1× overpaid: B07 3/1"]]

    def test_who_never_heard_of_it_hears_nothing_of_its_end(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        publish(alert(1), alert(1, revision=1, status="corrected"))
        make(settings(route("first"))).step()
        notifier = make(settings(route("first"), route("second")))
        publish(self.again(1), self.corrected(1))
        notifier.step()
        clock.advance(minutes=10)
        notifier.step()
        assert {one.url for one in transport.deliveries} == {"test://first"}
        assert notifier.status().collapsed == 0

    def test_a_replay_makes_one_summary_however_long_it_takes(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        publish(alert(99))
        notifier = make(settings(route(summary_seconds=60)))
        clock.now = NOON
        notifier.step()
        clock.now = self.BEGUN + timedelta(minutes=5)
        publish(self.again(1))
        for later in range(10):
            notifier.step()
            clock.advance(seconds=45)
            # Alerts that people know show that it goes on.
            publish(self.again(99, later))
        notifier.step()
        assert len(transport.deliveries) == 1
        clock.advance(seconds=60)
        notifier.step()
        assert self.bodies(transport)[1:] == [["1× overpaid: B07 3/1"]]

    @pytest.mark.parametrize("change", [{"status": "corrected"}, {"pit": "PIT-2"}, {"retracted": True}])
    def test_what_comes_afterwards_takes_the_place_of_what_is_held_back(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock, change: dict[str, object]
    ) -> None:
        """Such as money that puts right what happened while the workers stood still."""
        publish(self.again(1), self.again(1, 1, occurred_at=clock.now, **change))
        notifier = make(settings(route("first", pits=("PIT-1",))))
        notifier.step()
        clock.advance(minutes=1)
        notifier.step()
        assert self.bodies(transport) == [["1× overpaid (Corrected): B07 3/1"]] * ("status" in change)

    def test_what_stands_after_all_is_not_taken_back(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        publish(alert(1))
        notifier = make()
        notifier.step()
        told = len(transport.deliveries)
        publish(self.again(1, retracted=True), self.again(1, 1, occurred_at=clock.now))
        notifier.step()
        clock.advance(minutes=10)
        notifier.step()
        assert len(transport.deliveries) == told

    def test_what_counts_is_how_it_ends_and_not_the_way_there(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        publish(self.again(1), self.again(1, 1, retracted=True), self.again(1, 2), self.corrected(1, 3))
        publish(self.again(2), self.corrected(2, 3))
        notifier = make()
        notifier.step()
        clock.advance(minutes=1)
        notifier.step()
        assert self.bodies(transport) == [["2× overpaid (Corrected): B07 3/1, B07 3/2"]]

    def test_what_is_held_back_outlives_a_crash_and_a_second_reading(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock, log: SqliteLog
    ) -> None:
        publish(self.again(1), self.again(2), self.corrected(2))
        make().step()
        log.commit_position(GROUP, Position(TOPIC, 0, 0))
        restarted = make()
        restarted.step()
        assert restarted.status().collapsed == 2
        clock.advance(minutes=1)
        restarted.step()
        assert self.bodies(transport) == [["1× overpaid (Corrected): B07 3/2", "1× overpaid: B07 3/1"]]

    def test_what_comes_while_it_goes_on_is_told_at_once(
        self, make: Make, publish: Publish, transport: RecordingTransport
    ) -> None:
        publish(self.again(1), self.again(2), self.again(3, occurred_at=self.BEGUN + timedelta(minutes=4)))
        notifier = make()
        notifier.step()
        assert self.titles(transport) == ["CRITICAL · B07 · shoe 3 round 3"]
        assert notifier.status().collapsed == 2

    def test_what_nobody_remembers_was_told_long_ago(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        clock.now = NOON + timedelta(days=31)
        publish(self.again(1, revision=first_revision(clock.now)), alert(2))
        notifier = make()
        notifier.step()
        clock.advance(minutes=2)
        notifier.step()
        assert self.titles(transport) == ["CRITICAL · B07 · shoe 3 round 2"]

    def test_nor_by_a_second_replay(
        self, make: Make, publish: Publish, transport: RecordingTransport, clock: ManualClock
    ) -> None:
        clock.now = NOON + timedelta(days=200)
        first = first_revision(clock.now)
        publish(*(self.again(1, revision=first + later, retracted=later % 2 == 1) for later in range(3)))
        notifier = make()
        notifier.step()
        clock.advance(minutes=2)
        notifier.step()
        assert transport.deliveries == []
