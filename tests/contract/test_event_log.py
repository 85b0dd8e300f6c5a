"""What every event log must do with its topics (`schemas.log`). Written against the port alone.

So nothing here counts on dense offsets, on one partition, or on a record's place before the log told it.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from threading import Barrier

import pytest

from schemas.log import MAX_MESSAGE_BYTES, EventLog, LogClosed, MessageTooLong, Position
from tests.contract.conftest import OpenLog
from tests.contract.reading import (
    PATIENCE_SECONDS,
    TABLES,
    all_records,
    by_key,
    messages,
    pairs,
    partition_records,
    values,
)


class TestAppendAndRead:
    def test_each_message_is_at_the_place_that_append_told(self, log: EventLog, topic: str) -> None:
        sent = messages(30)
        for (key, value), place in zip(sent, log.append(topic, sent), strict=True):
            (record,) = log.read(place.topic, place.partition, place.offset, 1)
            assert record[:5] == (topic, place.partition, place.offset, key, value)

    def test_keys_stay_in_order_over_many_appends(self, log: EventLog, topic: str) -> None:
        sent = messages(100)
        for start in range(0, 100, 10):
            log.append(topic, sent[start : start + 10])
        assert by_key(pairs(all_records(log, topic))) == by_key(sent)

    def test_key_has_one_partition(self, log: EventLog, topic: str) -> None:
        places = [place for start in (0, 36) for place in log.append(topic, messages(36, start=start))]
        assert len({(TABLES[n % len(TABLES)], place.partition) for n, place in enumerate(places)}) == len(TABLES)
        assert {place.partition for place in places} <= set(log.partitions(topic))
        for number, place in enumerate(places):
            assert log.partition_of(topic, TABLES[number % len(TABLES)]) == place.partition

    def test_offsets_rise(self, log: EventLog, topic: str) -> None:
        log.append(topic, messages(20))
        log.append(topic, messages(20))
        for partition in log.partitions(topic):
            offsets = [record.offset for record in partition_records(log, topic, partition)]
            assert offsets == sorted(set(offsets))

    @pytest.mark.parametrize("page", [1, 3, 100])
    def test_every_page_size_reads_each_record_once(self, log: EventLog, topic: str, page: int) -> None:
        places = log.append(topic, messages(25))
        read = [
            (record.partition, record.offset)
            for partition in log.partitions(topic)
            for record in partition_records(log, topic, partition, page)
        ]
        assert sorted(read) == sorted((place.partition, place.offset) for place in places)

    def test_read_returns_no_more_than_its_limit(self, log: EventLog, topic: str) -> None:
        place = log.append(topic, [("B01", b"%d" % number) for number in range(10)])[0]
        assert 1 <= len(log.read(topic, place.partition, 0, 4)) <= 4

    def test_there_is_nothing_behind_the_end(self, log: EventLog, topic: str) -> None:
        place = log.append(topic, [("B01", b"last")])[0]
        assert log.read(topic, place.partition, place.offset + 1, 10) == []

    def test_topic_that_nobody_wrote_is_empty(self, log: EventLog, topic: str) -> None:
        assert all_records(log, topic) == []
        assert log.read_key(topic, "B01", 0, 10) == []

    def test_appending_nothing_changes_nothing(self, log: EventLog, topic: str) -> None:
        assert log.append(topic, []) == []
        assert all_records(log, topic) == []

    @pytest.mark.parametrize(
        "value",
        [
            b"",
            b"\x00",
            bytes(range(256)),
            b"\xff\xfe not text",
            "莊 閒 和".encode(),
            b"x" * 65_537,
            b"\x00" * MAX_MESSAGE_BYTES,
        ],
        ids=["empty", "nul", "every byte", "no text", "text", "64 KiB and one", "longest"],
    )
    def test_value_comes_back_byte_for_byte(self, log: EventLog, topic: str, value: bytes) -> None:
        place = log.append(topic, [("B01", value)])[0]
        assert values(log.read(topic, place.partition, place.offset, 1)) == [value]

    @pytest.mark.parametrize("key", ["B01", "貴賓廳-1", "Ñandú 🂡", "a b/c'd\"e;--", "k" * 500])
    def test_key_comes_back_as_it_was(self, log: EventLog, topic: str, key: str) -> None:
        place = log.append(topic, [(key, b"1"), ("other", b"2")])[0]
        assert log.read(topic, place.partition, place.offset, 1)[0].key == key
        assert values(log.read_key(topic, key, 0, 10)) == [b"1"]

    def test_message_that_is_too_long_is_refused_with_its_whole_call(self, log: EventLog, topic: str) -> None:
        with pytest.raises(MessageTooLong, match="B02"):
            log.append(topic, [("B01", b"fine"), ("B02", b"x" * (MAX_MESSAGE_BYTES + 1))])
        assert all_records(log, topic) == []

    def test_append_time_is_utc_and_the_same_for_every_reader(
        self, open_log: OpenLog, log: EventLog, topic: str
    ) -> None:
        log.append(topic, messages(5))
        records = all_records(log, topic)
        assert {record.appended_at.tzinfo for record in records} == {UTC}
        assert all_records(open_log(), topic) == records

    def test_topics_are_apart(self, log: EventLog, topic: str) -> None:
        topics = [f"{topic}.{number}" for number in range(25)]
        for name in topics:
            log.append(name, [("B01", name.encode())])
        assert [values(all_records(log, name)) for name in topics] == [[name.encode()] for name in topics]

    def test_topics_that_differ_in_case_are_apart(self, log: EventLog, topic: str) -> None:
        log.append(topic + "-a", [("B01", b"small")])
        log.append(topic + "-A", [("B01", b"large")])
        assert values(all_records(log, topic + "-A")) == [b"large"]


class TestReadKey:
    def test_it_reads_that_key_alone_and_in_order(self, log: EventLog, topic: str) -> None:
        sent = messages(60)
        log.append(topic, sent)
        assert values(log.read_key(topic, "B03", 0, 100)) == by_key(sent)["B03"]

    def test_it_starts_at_the_offset_and_stops_at_the_limit(self, log: EventLog, topic: str) -> None:
        log.append(topic, messages(60))
        records = log.read_key(topic, "B03", 0, 100)
        assert log.read_key(topic, "B03", records[1].offset, 2) == records[1:3]
        assert log.read_key(topic, "B03", records[1].offset + 1, 1) == records[2:3]
        assert log.read_key(topic, "B03", records[-1].offset + 1, 5) == []


class TestEndAndWait:
    def test_end_is_behind_every_record_and_not_behind_the_next(self, log: EventLog, topic: str) -> None:
        last = log.append(topic, [("B01", b"1"), ("B01", b"2")])[-1]
        end = log.end(topic, last.partition)
        assert end > last.offset
        assert log.append(topic, [("B01", b"3")])[0].offset >= end

    def test_ends_of_several_are_those_of_each(self, log: EventLog, topic: str) -> None:
        log.append(topic, messages(60))
        log.append(f"{topic}-2", [("B01", b"1")])
        places = [(one, partition) for one in (topic, f"{topic}-2", topic) for partition in log.partitions(one)]
        assert log.ends(places) == [log.end(*place) for place in places]
        assert sum(log.ends(places)) > 60
        assert log.ends([]) == []

    def test_wait_is_over_at_once_where_there_is_a_record(self, log: EventLog, topic: str) -> None:
        place = log.append(topic, [("B01", b"1")])[0]
        assert log.wait(topic, place.partition, place.offset, PATIENCE_SECONDS)

    def test_wait_tells_that_nothing_came(self, log: EventLog, topic: str) -> None:
        place = log.append(topic, [("B01", b"1")])[0]
        assert not log.wait(topic, place.partition, place.offset + 1, 0)

    def test_wait_ends_with_an_append_of_another_thread(self, log: EventLog, topic: str) -> None:
        place = log.append(topic, [("B01", b"1")])[0]
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(log.wait, topic, place.partition, place.offset + 1, PATIENCE_SECONDS)
            log.append(topic, [("B01", b"2")])
            assert waiting.result(PATIENCE_SECONDS)

    def test_wait_ends_with_a_transaction_of_another_thread(self, log: EventLog, topic: str, group: str) -> None:
        place = log.append(topic, [("B01", b"1")])[0]
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(log.wait, topic, place.partition, place.offset + 1, PATIENCE_SECONDS)
            with log.transaction(group) as transaction:
                transaction.publish(topic, [("B01", b"2")])
            assert waiting.result(PATIENCE_SECONDS)

    def test_wait_ends_with_an_append_through_another_log(self, open_log: OpenLog, log: EventLog, topic: str) -> None:
        place = log.append(topic, [("B01", b"1")])[0]
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(log.wait, topic, place.partition, place.offset + 1, PATIENCE_SECONDS)
            open_log().append(topic, [("B01", b"2")])
            assert waiting.result(PATIENCE_SECONDS)

    def test_wait_for_several_tells_which_have_a_record(self, log: EventLog, topic: str) -> None:
        place, other = (log.append(name, [("B01", b"1")])[0] for name in (topic, topic + "-2"))
        nothing = other._replace(offset=other.offset + 1)
        assert log.wait_any([nothing, place], PATIENCE_SECONDS) == [place]
        assert log.wait_any([nothing], 0) == []

    def test_wait_for_several_ends_with_an_append_to_any(self, log: EventLog, topic: str) -> None:
        topics = [topic, topic + "-2"]
        places = [log.append(name, [("B01", b"1")])[0] for name in topics]
        behind = [place._replace(offset=place.offset + 1) for place in places]
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(log.wait_any, behind, PATIENCE_SECONDS)
            log.append(topics[1], [("B01", b"2")])
            assert waiting.result(PATIENCE_SECONDS) == behind[1:]

    def test_close_ends_a_wait(self, log: EventLog, topic: str) -> None:
        place = log.append(topic, [("B01", b"1")])[0]
        with ThreadPoolExecutor() as threads:
            waiting = threads.submit(log.wait, topic, place.partition, place.offset + 1, PATIENCE_SECONDS)
            log.close()
            with pytest.raises(LogClosed):
                waiting.result(PATIENCE_SECONDS)


class TestRestart:
    def test_everything_is_there_after_it(self, open_log: OpenLog, topic: str, group: str) -> None:
        log = open_log()
        log.append(topic, messages(20))
        with log.transaction(group) as transaction:
            transaction.publish(topic + "-out", messages(5))
            transaction.save_state("B01", b"state")
            transaction.commit(Position(topic, 0, 20))
        log.commit_position(group + "-2", Position(topic, 0, 11))
        before = (all_records(log, topic), all_records(log, topic + "-out"))
        log.close()
        again = open_log()
        assert (all_records(again, topic), all_records(again, topic + "-out")) == before
        assert list(again.states(group)) == [("B01", b"state")]
        assert (again.position(group, topic, 0), again.position(group + "-2", topic, 0)) == (20, 11)

    def test_offsets_go_on_where_they_were(self, open_log: OpenLog, topic: str) -> None:
        log = open_log()
        last = log.append(topic, [("B01", b"before")])[0]
        log.close()
        again = open_log()
        assert again.append(topic, [("B01", b"after")])[0].offset > last.offset
        assert values(again.read_key(topic, "B01", 0, 10)) == [b"before", b"after"]

    def test_closing_twice_is_closing_once(self, log: EventLog) -> None:
        log.close()
        log.close()

    @pytest.mark.parametrize(
        "use",
        [
            lambda log: log.append("t", [("B01", b"1")]),
            lambda log: log.read("t", 0, 0, 1),
            lambda log: log.read_key("t", "B01", 0, 1),
            lambda log: log.end("t", 0),
            lambda log: log.ends([("t", 0)]),
            lambda log: log.wait("t", 0, 0, PATIENCE_SECONDS),
            lambda log: log.claim("g"),
            lambda log: log.position("g", "t", 0),
            lambda log: list(log.states("g")),
            lambda log: log.state("g", "B01"),
            lambda log: log.transaction("g").__enter__(),
            lambda log: log.commit_position("g", Position("t", 0, 1)),
        ],
        ids=[
            *("append", "read", "read_key", "end", "ends", "wait"),
            *("claim", "position", "states", "state", "transaction", "commit_position"),
        ],
    )
    def test_closed_log_refuses_everything(self, log: EventLog, use: Callable[[EventLog], object]) -> None:
        log.close()
        with pytest.raises(LogClosed):
            use(log)


class TestThreads:
    def test_concurrent_appenders_keep_every_message_and_their_order(self, log: EventLog, topic: str) -> None:
        threads, appends = 8, 25
        together = Barrier(threads)

        def append(number: int) -> list[Position]:
            together.wait(PATIENCE_SECONDS)
            return [log.append(topic, [(f"B{number}", b"%d" % n)])[0] for n in range(appends)]

        with ThreadPoolExecutor(threads) as pool:
            places = [place for told in pool.map(append, range(threads)) for place in told]
        assert len(set(places)) == threads * appends
        sent = {f"B{number}": [b"%d" % n for n in range(appends)] for number in range(threads)}
        assert by_key(pairs(all_records(log, topic))) == sent

    def test_messages_of_one_append_stay_in_order_beside_others(self, log: EventLog, topic: str) -> None:
        threads, appends = 4, 10
        together = Barrier(threads)

        def append(number: int) -> None:
            together.wait(PATIENCE_SECONDS)
            for n in range(appends):
                log.append(topic, [("B01", b"%d.%d.%d" % (number, n, part)) for part in range(3)])

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(append, range(threads)))
        read = values(log.read_key(topic, "B01", 0, threads * appends * 3))
        for number in range(threads):
            mine = [value for value in read if value.startswith(b"%d." % number)]
            assert mine == [b"%d.%d.%d" % (number, n, part) for n in range(appends) for part in range(3)]

    def test_concurrent_transactions_of_several_groups_are_whole(self, log: EventLog, topic: str, group: str) -> None:
        threads, turns = 4, 10
        together = Barrier(threads)

        def work(number: int) -> None:
            together.wait(PATIENCE_SECONDS)
            for turn in range(1, turns + 1):
                with log.transaction(f"{group}-{number}") as transaction:
                    transaction.publish(topic, [(f"B{number}", b"%d" % turn)])
                    transaction.save_state("B01", b"%d" % turn)
                    transaction.commit(Position(topic, 0, turn))

        with ThreadPoolExecutor(threads) as pool:
            list(pool.map(work, range(threads)))
        for number in range(threads):
            name = f"{group}-{number}"
            assert values(log.read_key(topic, f"B{number}", 0, turns + 1)) == [b"%d" % n for n in range(1, turns + 1)]
            assert (log.state(name, "B01"), log.position(name, topic, 0)) == (b"%d" % turns, turns)

    def test_reader_beside_a_writer_gets_each_record_once(self, log: EventLog, topic: str) -> None:
        sent = [("B01", b"%d" % number) for number in range(200)]
        first = log.append(topic, sent[:1])[0]

        def follow() -> list[bytes]:
            got: list[bytes] = []
            offset = first.offset
            while len(got) < len(sent) and log.wait(topic, first.partition, offset, PATIENCE_SECONDS):
                records = log.read(topic, first.partition, offset, 16)
                got += values(records)
                offset = records[-1].offset + 1
            return got

        with ThreadPoolExecutor(3) as pool:
            readers = [pool.submit(follow) for _ in range(3)]
            for start in range(1, 200, 3):
                log.append(topic, sent[start : start + 3])
            for reader in readers:
                assert reader.result(PATIENCE_SECONDS) == [value for _, value in sent]
