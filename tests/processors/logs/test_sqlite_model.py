"""Any run of appends, transactions, failures, restarts and takeovers leaves the log as plain lists would be left."""

from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from processors.logs.sqlite import SqliteLog
from schemas.log import Fenced, Position

TOPICS = ("events", "facts")
GROUPS = ("reconstruct", "sink")
KEYS = ("B01", "B02", "貴賓廳")

messages = st.lists(st.tuples(st.sampled_from(KEYS), st.binary(max_size=20)), max_size=5)
topics = st.sampled_from(TOPICS)
groups = st.sampled_from(GROUPS)
workers = st.sampled_from([0, 1])
outputs = st.lists(st.tuples(topics, messages), max_size=3)
states = st.lists(st.tuples(st.sampled_from(KEYS), st.binary(max_size=20)), max_size=3)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("append"), workers, topics, messages),
        st.tuples(st.just("transact"), workers, groups, outputs, states, st.integers(0, 50), st.booleans()),
        st.tuples(st.just("claim"), workers, groups),
        st.tuples(st.just("restart"), workers),
    ),
    max_size=15,
)


class Failure(Exception):
    """Raised inside a transaction that is to fail."""


@dataclass
class Model:
    """What the log is to hold, and which worker owns each group."""

    records: dict[str, list[tuple[str, bytes]]] = field(default_factory=lambda: {topic: [] for topic in TOPICS})
    states: dict[tuple[str, str], bytes] = field(default_factory=dict)
    positions: dict[str, int] = field(default_factory=dict)
    owners: dict[str, int] = field(default_factory=dict)
    claimed: set[tuple[int, str]] = field(default_factory=set)

    def claim(self, worker: int, group: str) -> None:
        self.owners[group] = worker
        self.claimed.add((worker, group))

    def begin(self, worker: int, group: str) -> None:
        """Claim what a worker's first transaction claims."""
        if (worker, group) not in self.claimed:
            self.claim(worker, group)

    def restart(self, worker: int) -> None:
        """Forget whatever the worker owned."""
        self.claimed = {(other, group) for other, group in self.claimed if other != worker}
        self.owners = {group: owner for group, owner in self.owners.items() if owner != worker}


class Run:
    """Two workers on one file, and the model beside them."""

    def __init__(self, path: Path, opened: ExitStack) -> None:
        self.path, self.opened, self.model = path, opened, Model()
        self.logs = [self.open(), self.open()]

    def open(self) -> SqliteLog:
        return self.opened.enter_context(closing(SqliteLog(self.path)))

    def append(self, worker: int, topic: str, sent: list[tuple[str, bytes]]) -> None:
        self.logs[worker].append(topic, sent)
        self.model.records[topic] += sent

    def transact(
        self,
        worker: int,
        group: str,
        outputs: list[tuple[str, list[tuple[str, bytes]]]],
        states: list[tuple[str, bytes]],
        offset: int,
        fails: bool,
    ) -> None:
        self.model.begin(worker, group)
        undone = True
        with suppress(Fenced, Failure):
            with self.logs[worker].transaction(group) as transaction:
                for topic, sent in outputs:
                    transaction.publish(topic, sent)
                for key, state in states:
                    transaction.save_state(key, state)
                transaction.commit(Position("events", 0, offset))
                if fails:
                    raise Failure
            undone = False
        assert undone == (fails or self.model.owners.get(group) != worker)
        if not undone:
            for topic, sent in outputs:
                self.model.records[topic] += sent
            self.model.states |= {(group, key): state for key, state in states}
            self.model.positions[group] = offset

    def claim(self, worker: int, group: str) -> None:
        self.logs[worker].claim(group)
        self.model.claim(worker, group)

    def restart(self, worker: int) -> None:
        self.logs[worker].close()
        self.logs[worker] = self.open()
        self.model.restart(worker)

    def check(self) -> None:
        for log in (*self.logs, self.open()):
            for topic, expected in self.model.records.items():
                records = log.read(topic, 0, 0, 1_000)
                assert [(record.key, record.value) for record in records] == expected
                assert [record.offset for record in records] == list(range(len(expected)))
                assert log.end(topic, 0) == len(expected)
                for key in KEYS:
                    assert log.read_key(topic, key, 0, 1_000) == [record for record in records if record.key == key]
            for group in GROUPS:
                saved = {key: state for (owner, key), state in self.model.states.items() if owner == group}
                assert dict(log.states(group)) == saved
                assert log.position(group, "events", 0) == self.model.positions.get(group, 0)


@settings(max_examples=40)
@given(steps)
def test_log_is_what_its_history_makes_it(history: list[tuple[str, ...]]) -> None:
    with TemporaryDirectory() as folder, ExitStack() as opened:
        run = Run(Path(folder) / "log.sqlite", opened)
        for what, *arguments in history:
            getattr(run, what)(*arguments)
        run.check()
