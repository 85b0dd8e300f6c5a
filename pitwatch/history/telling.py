"""A table's events told again, up to a moment.

What is known today counts: late events stand in their place, gaps that were given up are gaps, and a correction made
afterwards is in effect. Nothing of this is stored, so every moment of the past can be asked for.
"""

from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Final, NamedTuple, cast

from pitwatch.history.cut import Cut, Number
from pitwatch.history.fact_book import FactBook, Scope
from pitwatch.history.reader import Reader, Seen, find_events
from processors.reconstruct.fold import FoldSettings, TableFold
from processors.reconstruct.state import TableState
from processors.reconstruct.table import UNCONFIGURED
from schemas.configuration import TableConfiguration
from schemas.events import CardBurned, Correction, Event, GapExpired
from schemas.facts import AlertFact, Fact
from schemas.fields import EARLIEST
from schemas.ids import SYSTEM_EPOCH, event_id, split_event_id
from schemas.log import Record
from schemas.structs import altered
from schemas.topics import TABLE_EVENTS
from schemas.wire import encode

BEHIND_ALL_ELSE: Final = 2**61
"""Numbers for Pitwatch's own events from here on are given by no clock."""


class History(NamedTuple):
    """A table as its events tell it: the state they lead to, the facts of the scope asked for, and the events.

    `waits` is the last event held back behind a gap. `events` are those of the round asked for, `corrections` all of
    the table's that were not refused, in the order of the log.
    """

    table_id: str
    scope: Scope
    moment: datetime | None
    state: TableState
    waits: Number | None
    facts: FactBook
    events: tuple[Seen, ...]
    corrections: tuple[Seen, ...]

    @property
    def configuration(self) -> TableConfiguration:
        """The configuration in force, or what the regulation says where none was published."""
        return UNCONFIGURED if self.state.configuration is None else self.state.configuration


def tell(reader: Reader, settings: FoldSettings, scope: Scope, cut: Cut | None = None) -> History:
    """Fold the table's events, all of them or those before `cut`, and keep what `scope` asks for."""
    fold, book = TableFold(reader.table_id, settings), FactBook(scope)
    events: dict[str, Seen] = {}
    corrections: list[Seen] = []
    heard = EARLIEST
    for record, event in reader.events():
        if cut and event and not cut.tells(event):
            continue
        heard = record.appended_at
        book.keep(fold.apply(record))
        if event is None:
            continue
        if event.type == "correction":
            corrections.append(Seen(event, record))
        elif _belongs(event, scope, fold.state):
            events.setdefault(event.event_id, Seen(event, record))
    if cut:
        if fold.waits and (not cut.waits or cut.heard - heard > timedelta(milliseconds=settings.gap_limit_ms)):
            book.keep(fold.apply(_gap_expired(reader.table_id, fold.waits, cut.heard)))
        for record in _readdressed(cut.late):
            book.keep(fact for fact in fold.apply(record) if not _tells_of_later(fact))
        corrections += cut.late
    return History(
        table_id=reader.table_id,
        scope=scope,
        moment=cut.moment if cut else None,
        state=fold.state,
        waits=fold.waits,
        facts=book,
        events=tuple(events.values()),
        corrections=tuple(seen for seen in corrections if seen.record not in book.refused),
    )


def with_evidence(history: History, reader: Reader) -> History:
    """Return the history with the events that its alerts rest on, also those from before the round."""
    known = {seen.event.event_id for seen in (*history.events, *history.corrections)}
    named = {identity for alert in history.facts.of(AlertFact) for identity in alert.evidence.event_ids} - known
    if not named:
        return history
    return history._replace(events=(*history.events, *find_events(reader, named)))


def _belongs(event: Event, scope: Scope, state: TableState) -> bool:
    """Whether an event just folded is evidence of the round asked for; cards burned before a round don't name it."""
    if scope.round is None or getattr(event, "shoe", 0) != scope.shoe:
        return False
    if event.type == "card_burned":
        coming = state.round.number if state.round else state.last_round + 1
        return cast(CardBurned, event).reason == "before_round" and coming == scope.round
    return getattr(event, "round", 0) == scope.round


def _gap_expired(table_id: str, waits: Number, moment: datetime) -> Record:
    """Return the record that gives up a gap, as the log, read further than the cut, had done by then."""
    expired = GapExpired(
        event_id=event_id(table_id, SYSTEM_EPOCH, 1),
        table_id=table_id,
        epoch=SYSTEM_EPOCH,
        seq=1,
        occurred_at=moment,
        through_epoch=waits[0],
        through_seq=waits[1],
    )
    return Record(TABLE_EVENTS, 0, 0, table_id, encode(expired), moment)


def _readdressed(corrections: Iterable[Seen]) -> Iterator[Record]:
    """Yield corrections from behind the cut as Pitwatch's own, for their places among the table's events are not told.

    They keep their places in the log, so that the facts they revise say what revised them.
    """
    addresses: dict[str, str] = {}
    for seq, (event, record) in enumerate(corrections, start=BEHIND_ALL_ELSE):
        correction = cast(Correction, event)
        identity = event_id(event.table_id, SYSTEM_EPOCH, seq)
        addresses[event.event_id] = identity
        target = addresses.get(correction.target_event_id, correction.target_event_id)
        readdressed = altered(
            correction,
            event_id=identity,
            epoch=SYSTEM_EPOCH,
            seq=seq,
            follows=None,
            target_event_id=target,
        )
        yield record._replace(value=encode(readdressed))


def _tells_of_later(fact: Fact) -> bool:
    """Whether a fact says that a correction was made: at the cut it had not been, though it is in effect."""
    if fact.fact != "alert" or cast(AlertFact, fact).code != "correction_recorded":
        return False
    _, epoch, seq = split_event_id(cast(AlertFact, fact).evidence.event_ids[-1])
    return epoch == SYSTEM_EPOCH and seq >= BEHIND_ALL_ELSE
