"""What every event log must do for the groups that read it: positions, snapshots, transactions, fencing."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest

from schemas.log import MAX_MESSAGE_BYTES, EventLog, Fenced, LogError, MessageTooLong, Position, Transaction
from tests.contract.conftest import OpenLog
from tests.contract.reading import PATIENCE_SECONDS, all_records, by_key, messages, pairs, values


class TestPositions:
    def test_group_that_never_committed_begins_at_the_beginning(self, log: EventLog, topic: str, group: str) -> None:
        assert log.position(group, topic, 0) == 0

    def test_newest_position_counts(self, log: EventLog, topic: str, group: str) -> None:
        log.append(topic, messages(1))
        for offset in (5, 9, 3):
            log.commit_position(group, Position(topic, 0, offset))
        assert log.position(group, topic, 0) == 3

    def test_groups_and_topics_have_their_own(self, log: EventLog, topic: str, group: str) -> None:
        for name in (topic, topic + "-2"):
            log.append(name, messages(1))
        log.commit_position(group, Position(topic, 0, 5))
        log.commit_position(group + "-2", Position(topic, 0, 6))
        log.commit_position(group, Position(topic + "-2", 0, 7))
        assert log.position(group, topic, 0) == 5
        assert log.position(group + "-2", topic, 0) == 6
        assert log.position(group, topic + "-2", 0) == 7


class TestStates:
    def test_there_is_none_at_first(self, log: EventLog, group: str) -> None:
        assert log.state(group, "B01") is None
        assert list(log.states(group)) == []

    def test_newest_of_each_key_counts(self, log: EventLog, group: str) -> None:
        with log.transaction(group) as transaction:
            transaction.save_state("B01", b"1")
            transaction.save_state("B02", b"2")
            transaction.save_state("B01", b"3")
        with log.transaction(group) as transaction:
            transaction.save_state("B02", b"4")
        assert dict(log.states(group)) == {"B01": b"3", "B02": b"4"}
        assert (log.state(group, "B01"), log.state(group, "B02")) == (b"3", b"4")

    def test_each_group_has_its_own(self, log: EventLog, group: str) -> None:
        for name in (group, group + "-2"):
            with log.transaction(name) as transaction:
                transaction.save_state("B01", name.encode())
        assert list(log.states(group)) == [("B01", group.encode())]

    def test_each_key_is_told_once_however_many_there_are(self, log: EventLog, group: str) -> None:
        with log.transaction(group) as transaction:
            for number in range(300):
                transaction.save_state(f"桌-{number}", b"%d" % number)
        states = list(log.states(group))
        assert len(states) == 300
        assert dict(states) == {f"桌-{number}": b"%d" % number for number in range(300)}

    @pytest.mark.parametrize("state", [b"", bytes(range(256)) * 400], ids=["empty", "long"])
    def test_state_comes_back_byte_for_byte(self, log: EventLog, group: str, state: bytes) -> None:
        with log.transaction(group) as transaction:
            transaction.save_state("B01", state)
        assert log.state(group, "B01") == state


class TestTransaction:
    def test_everything_becomes_visible_together(
        self, open_log: OpenLog, log: EventLog, topic: str, group: str
    ) -> None:
        log.append(topic, messages(3))
        with log.transaction(group) as transaction:
            transaction.publish(topic + "-rounds", [("B01", b"r1")])
            transaction.publish(topic + "-bets", [("B01", b"b1"), ("B01", b"b2")])
            transaction.publish(topic + "-rounds", [("B01", b"r2")])
            transaction.save_state("B01", b"state")
            transaction.commit(Position(topic, 0, 3))
        for reader in (log, open_log()):
            assert values(all_records(reader, topic + "-rounds")) == [b"r1", b"r2"]
            assert values(all_records(reader, topic + "-bets")) == [b"b1", b"b2"]
            assert reader.state(group, "B01") == b"state"
            assert reader.position(group, topic, 0) == 3

    def test_nothing_is_visible_before_the_end(self, open_log: OpenLog, log: EventLog, topic: str, group: str) -> None:
        place = log.append(topic, [("B01", b"before")])[0]
        with log.transaction(group) as transaction:
            transaction.publish(topic, [("B01", b"inside")])
            transaction.save_state("B01", b"state")
            transaction.commit(Position(topic, 0, 1))
            for reader in (log, open_log()):
                assert values(all_records(reader, topic)) == [b"before"]
                assert not reader.wait(topic, place.partition, place.offset + 1, 0)
                assert reader.state(group, "B01") is None
                assert reader.position(group, topic, 0) == 0

    def test_failing_block_leaves_everything_as_it_was(self, log: EventLog, topic: str, group: str) -> None:
        log.append(topic, messages(9))
        with log.transaction(group) as transaction:
            transaction.save_state("B01", b"old")
            transaction.commit(Position(topic, 0, 4))

        def fail() -> None:
            with log.transaction(group) as transaction:
                transaction.publish(topic + "-out", [("B01", b"never")])
                transaction.save_state("B01", b"never")
                transaction.save_state("B02", b"never")
                transaction.commit(Position(topic, 0, 9))
                raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError):
            fail()
        assert all_records(log, topic + "-out") == []
        assert list(log.states(group)) == [("B01", b"old")]
        assert log.position(group, topic, 0) == 4

    def test_next_transaction_after_a_failed_one_is_whole(self, log: EventLog, topic: str, group: str) -> None:
        self.test_failing_block_leaves_everything_as_it_was(log, topic, group)
        with log.transaction(group) as transaction:
            transaction.publish(topic + "-out", [("B01", b"now")])
            transaction.commit(Position(topic, 0, 9))
        assert values(all_records(log, topic + "-out")) == [b"now"]
        assert log.position(group, topic, 0) == 9

    def test_empty_transaction_changes_nothing(self, log: EventLog, topic: str, group: str) -> None:
        with log.transaction(group) as transaction:
            transaction.publish(topic, [])
        assert all_records(log, topic) == []
        assert list(log.states(group)) == []

    def test_keys_stay_in_order_over_many_transactions(self, log: EventLog, topic: str, group: str) -> None:
        sent = messages(90)
        for start in range(0, 90, 9):
            with log.transaction(group) as transaction:
                transaction.publish(topic, sent[start : start + 5])
                transaction.publish(topic, sent[start + 5 : start + 9])
        assert by_key(pairs(all_records(log, topic))) == by_key(sent)

    def test_appends_meanwhile_stand_on_their_own(self, log: EventLog, topic: str, group: str) -> None:
        with ThreadPoolExecutor() as threads, log.transaction(group) as transaction:
            transaction.publish(topic, [("B01", b"transaction")])
            threads.submit(log.append, topic, [("B01", b"append")]).result(PATIENCE_SECONDS)
            assert values(all_records(log, topic)) == [b"append"]
        assert values(all_records(log, topic)) == [b"append", b"transaction"]

    def test_message_or_state_that_is_too_long_is_refused(self, log: EventLog, topic: str, group: str) -> None:
        too_long = b"x" * (MAX_MESSAGE_BYTES + 1)
        with log.transaction(group) as transaction:
            with pytest.raises(MessageTooLong, match="B01"):
                transaction.publish(topic, [("B02", b"fine"), ("B01", too_long)])
            with pytest.raises(MessageTooLong, match="B01"):
                transaction.save_state("B01", too_long)
        assert all_records(log, topic) == []
        assert log.state(group, "B01") is None

    @pytest.mark.parametrize(
        "use",
        [
            lambda transaction: transaction.publish("late", [("B01", b"1")]),
            lambda transaction: transaction.save_state("B01", b"1"),
            lambda transaction: transaction.commit(Position("late", 0, 1)),
        ],
        ids=["publish", "save_state", "commit"],
    )
    def test_it_is_over_with_its_block(self, log: EventLog, group: str, use: Callable[[Transaction], None]) -> None:
        with log.transaction(group) as transaction:
            pass
        with pytest.raises(LogError, match="ended"):
            use(transaction)


class TestFencing:
    def write(self, log: EventLog, topic: str, group: str, value: bytes) -> None:
        with log.transaction(group) as transaction:
            transaction.publish(topic, [("B01", value)])
            transaction.save_state("B01", value)
            transaction.commit(Position(topic, 0, len(value)))

    def test_claim_fences_the_former_owner(self, open_log: OpenLog, log: EventLog, topic: str, group: str) -> None:
        self.write(log, topic, group, b"first")
        newer = open_log()
        newer.claim(group)
        with pytest.raises(Fenced, match=group):
            self.write(log, topic, group, b"stale")
        self.write(newer, topic, group, b"second")
        assert values(all_records(newer, topic)) == [b"first", b"second"]
        assert newer.state(group, "B01") == b"second"
        assert newer.position(group, topic, 0) == len(b"second")

    def test_first_transaction_claims(self, open_log: OpenLog, log: EventLog, topic: str, group: str) -> None:
        self.write(log, topic, group, b"first")
        self.write(open_log(), topic, group, b"second")
        with pytest.raises(Fenced):
            self.write(log, topic, group, b"stale")
        assert values(all_records(log, topic)) == [b"first", b"second"]

    def test_transaction_open_during_the_takeover_comes_to_nothing(
        self, open_log: OpenLog, log: EventLog, topic: str, group: str
    ) -> None:
        newer = open_log()

        def stall() -> None:
            with log.transaction(group) as transaction:
                transaction.publish(topic, [("B01", b"stale")])
                newer.claim(group)

        with pytest.raises(Fenced):
            stall()
        assert all_records(newer, topic) == []

    def test_it_stays_fenced_until_it_claims(self, open_log: OpenLog, log: EventLog, topic: str, group: str) -> None:
        log.claim(group)
        newer = open_log()
        newer.claim(group)
        for _ in range(3):
            with pytest.raises(Fenced):
                self.write(log, topic, group, b"stale")
        log.claim(group)
        self.write(log, topic, group, b"again")
        with pytest.raises(Fenced):
            self.write(newer, topic, group, b"stale")
        assert values(all_records(log, topic)) == [b"again"]

    def test_other_groups_and_appends_go_on(self, open_log: OpenLog, log: EventLog, topic: str, group: str) -> None:
        for name in (group, group + "-2"):
            log.claim(name)
        open_log().claim(group)
        self.write(log, topic, group + "-2", b"mine")
        log.append(topic, [("B01", b"free")])
        assert values(all_records(log, topic)) == [b"mine", b"free"]
