"""`pitwatch replay`: every fact once more from the log, to compare with the store or to take its place."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated, Final, NamedTuple

import msgspec
import typer

from pitwatch.exits import FOUND
from pitwatch.progress import counting_bar, waiting_bar
from pitwatch.workplace import ConfigOption, DataOption, settings_for
from processors.reconstruct.fold import FoldSettings, TableFold
from schemas.facts import FACT_KEYS, FACT_KINDS, Fact
from schemas.log import EventLog
from schemas.revisions import counted
from schemas.structs import altered
from schemas.topics import FACT_TOPICS, TABLE_EVENTS

if TYPE_CHECKING:
    from processors.settings import Settings
    from processors.store.port import Store

RECORDS_PER_READ: Final = 10_000
SHOWN: Final = 20

FactKey = tuple[str | int, ...]
Facts = dict[str, dict[FactKey, Fact]]


class _Table(msgspec.Struct):
    table_id: str


class Difference(NamedTuple):
    """What the store holds otherwise than the log gives: which fact, which field, and both values."""

    kind: str
    key: FactKey
    field: str
    store: str
    log: str

    def __str__(self) -> str:
        key = " ".join(str(part) for part in self.key)
        return f"{self.kind} {key}: {self.field}: store {self.store}, log {self.log}"


def replay(
    check: Annotated[
        bool, typer.Option("--check", help="Store what isn't stored yet, then compare; print what differs.")
    ] = False,
    data: DataOption = None,
    config: ConfigOption = None,
) -> None:
    """Work all facts out again from the log: to rebuild the store, or with --check to compare with it (exit code 1)."""
    from processors.data_directory import check_there
    from processors.settings_file import InvalidSettings

    settings = settings_for(data, config)
    if data is None and settings.kafka.is_set:
        raise InvalidSettings((f"{config}: kafka.bootstrap: facts in Kafka are told again by pitwatch topics replay",))
    check_there(settings.data_directory)
    if check:
        _check(settings)
    else:
        _rebuild(settings)


def _check(settings: "Settings") -> None:
    from processors.embedded import EmbeddedPipeline

    fold = FoldSettings(settings.pipeline.gap_limit_ms, settings.pipeline.revision_rounds)
    differences, facts, events = 0, 0, 0
    with EmbeddedPipeline(settings) as pipeline:
        pipeline.start()
        with waiting_bar("catching up") as on_wait:
            pipeline.drain(on_wait)
        # What only the store knows must be compared too: with nothing, which is all the log says of it.
        tables = dict.fromkeys(stored_tables(pipeline.store), 0) | _tables(pipeline.log)
        with counting_bar("replaying", sum(tables.values())) as advance:
            for table_id, records in sorted(tables.items()):
                replayed = fold_table(pipeline.log, table_id, fold)
                facts += sum(len(of_kind) for of_kind in replayed.values())
                for found in compare(replayed, stored_facts(pipeline.store, table_id)):
                    differences += 1
                    if differences <= SHOWN:
                        typer.echo(str(found))
                events += records
                advance(events)
    typer.echo(f"{events:,} events, {facts:,} facts, {differences:,} differences")
    if differences:
        raise typer.Exit(FOUND)


def _tables(log: EventLog) -> dict[str, int]:
    """Return how many records each table has."""
    tables: dict[str, int] = {}
    for partition in log.partitions(TABLE_EVENTS):
        offset, end = 0, log.end(TABLE_EVENTS, partition)
        with counting_bar("reading the log", end, "records") as advance:
            while records := log.read(TABLE_EVENTS, partition, offset, RECORDS_PER_READ):
                for record in records:
                    tables[record.key] = tables.get(record.key, 0) + 1
                offset = records[-1].offset + 1
                advance(offset)
    return tables


def fold_table(log: EventLog, table_id: str, settings: FoldSettings) -> Facts:
    """Return the facts that stand once all of a table's records are folded, by kind and key."""
    fold = TableFold(table_id, settings)
    facts: Facts = {kind: {} for kind in FACT_KINDS}
    offset = 0
    while records := log.read_key(TABLE_EVENTS, table_id, offset, RECORDS_PER_READ):
        for record in records:
            for fact in fold.apply(record):
                facts[fact.fact][key_of(fact)] = fact
        offset = records[-1].offset + 1
    return {kind: {key: fact for key, fact in found.items() if not fact.retracted} for kind, found in facts.items()}


def key_of(fact: Fact) -> FactKey:
    """Return a fact's natural key."""
    return tuple(str(getattr(fact, name)) for name in FACT_KEYS[fact.fact])


def stored_facts(store: "Store", table_id: str) -> Facts:
    """Return the facts of a table as the store has them, by kind and key."""
    from processors.store.audit import facts_of

    return {kind: {key_of(fact): fact for fact in facts_of(store, kind, table_id)} for kind in FACT_KINDS}


def stored_tables(store: "Store") -> set[str]:
    """Return every table of which the store has any fact."""
    from processors.store.port import VIEWS

    # Every name in the statements comes from the contract.
    statements = [f"SELECT DISTINCT table_id FROM {VIEWS[kind]}_versions" for kind in FACT_KINDS]  # noqa: S608
    return {row.table_id for statement in statements for row in store.rows(statement, _Table)}


def compare(log: Facts, store: Facts) -> Iterator[Difference]:
    """Yield everything in which the store's facts differ from the log's, revisions and places included.

    Revisions as their folds counted them: one that had to begin anew counts on from a higher number.
    """
    for kind in FACT_KINDS:
        ours, theirs = log.get(kind, {}), store.get(kind, {})
        for key in sorted(ours.keys() | theirs.keys(), key=str):
            if key not in theirs:
                yield Difference(kind, key, "fact", "missing", "present")
            elif key not in ours:
                yield Difference(kind, key, "fact", "present", "missing")
            elif ours[key] != (stored := as_counted(theirs[key])):
                yield from _fields(kind, key, stored, ours[key])


def as_counted(fact: Fact) -> Fact:
    """Return a fact with the revision that its fold counted."""
    return altered(fact, revision=counted(fact.revision))


def _fields(kind: str, key: FactKey, store: Fact, log: Fact) -> Iterator[Difference]:
    for name in FACT_KINDS[kind].model_fields:
        ours, theirs = getattr(log, name), getattr(store, name)
        if ours != theirs:
            yield Difference(kind, key, name, str(theirs), str(ours))


def _rebuild(settings: "Settings") -> None:
    from processors.data_directory import begin_replay, end_replay
    from processors.embedded import EmbeddedPipeline
    from processors.logs.lock import lock_data_directory

    with lock_data_directory(settings.data_directory):
        begin_replay(settings.data_directory)
    with EmbeddedPipeline(settings, replaying=True) as pipeline:
        total = pipeline.reconstructor.behind()
        pipeline.start()
        with waiting_bar("replaying") as on_wait:
            pipeline.drain(on_wait)
        facts = sum(pipeline.log.end(topic, 0) for topic in FACT_TOPICS.values())
        end_replay(pipeline.log)
    typer.echo(f"{total:,} events, {facts:,} facts: everything was worked out again")
