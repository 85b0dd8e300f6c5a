"""Hands from a file as the events that a table would have sent.

A session becomes a table, a hand a live round without bets, and the file's result what the dealer called. Such a file
knows nothing of cuts, burns and bets, so none is made up; nor of the house's rules, so no configuration is published,
without which nobody is judged by any; nor of times, so rounds are laid a minute apart.
"""

import hashlib
import re
from collections.abc import Callable, Container, Iterator
from datetime import datetime, timedelta
from functools import partial
from itertools import chain, count
from pathlib import Path
from typing import Final, Literal, TypedDict

from producers.importers.hands import MAX_LINE_BYTES, HandRow, InvalidHandsFile, read_hands
from producers.importers.sources import LineSource, Progress
from producers.publisher import Envelope
from schemas.cards import CardCode, Hand
from schemas.errors import PitwatchError
from schemas.events import (
    BettingClosed,
    CardDrawn,
    Event,
    ResultCalled,
    RoundClosed,
    RoundOpened,
    ShoeClosed,
    ShoeLoaded,
    TableClosed,
    TableOpened,
)
from schemas.ids import event_id

MINUTE: Final = timedelta(minutes=1)
STEP: Final = timedelta(seconds=5)
"""From one event of a round to the next; the longest round has ten, so it fits its minute."""

MAX_SESSIONS: Final = 10_000

MAX_TABLE_ID: Final = 40
_NOT_ALLOWED: Final = re.compile(r"[^A-Za-z0-9_.-]")
_PREFIX: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,15}")

Build = Callable[[Envelope], Event]


class _Place(TypedDict):
    shoe: int
    round: int


def import_hands(
    path: Path,
    decks: int,
    start: datetime,
    *,
    prefix: str = "import.",
    on_progress: Callable[[Progress], None] | None = None,
) -> Iterator[tuple[HandRow, list[Event]]]:
    """Yield each hand of the file with the events to append for it, in order; the last hand's close every table.

    Every session's table opens at `start`. `prefix` keeps a session from being taken for a table of the floor
    that has its name. The same file gives the same identities, so importing it again changes nothing. `on_progress` is
    called after each hand. Raises `ValueError` for an impossible `prefix` or number of decks (art. 1), and
    `InvalidHandsFile` or `UnreadableFile` after yielding the hands before the fault.
    """
    if not 6 <= decks <= 12:
        raise ValueError(f"a shoe has 6 to 12 decks (art. 1), not {decks}")
    if not _PREFIX.fullmatch(prefix):
        raise ValueError(f"{prefix[:20]!r} can't begin a table id: write 1 to 16 letters, digits and _ . -")
    source = LineSource(path, MAX_LINE_BYTES)
    sessions = _Sessions(decks, start, prefix)
    held: tuple[HandRow, list[Event]] | None = None
    try:
        for row in read_hands(source):
            if held:
                yield held
            held = None  # else a fault in this row's events would yield the row before it twice
            held = (row, sessions.of(row).play(row))
            if on_progress:
                on_progress(source.progress())
    except PitwatchError:
        if held:
            yield held
        raise
    if held:
        row, events = held
        yield row, events + sessions.close()


def table_id_of(session: str, prefix: str, taken: Container[str]) -> str:
    """Return a table id that shows the session's name and is none of `taken`.

    A name that had to be changed, or is taken, gets the beginning of its hash as well.
    """
    table_id = prefix + _NOT_ALLOWED.sub("-", session)
    changed = table_id != prefix + session or len(table_id) > MAX_TABLE_ID
    attempts = count()
    while changed or table_id in taken:
        digest = hashlib.blake2b(f"{next(attempts)}:{session}".encode(), digest_size=4).hexdigest()
        table_id, changed = f"{table_id[: MAX_TABLE_ID - 9]}-{digest}", False
    return table_id


class _Sessions:
    """The tables of one file, by session and by table id."""

    def __init__(self, decks: int, start: datetime, prefix: str) -> None:
        self._decks = decks
        self._start = start
        self._prefix = prefix
        self._tables: dict[str, _Table] = {}
        self._table_ids: set[str] = set()

    def of(self, row: HandRow) -> "_Table":
        if row.session not in self._tables:
            if len(self._tables) == MAX_SESSIONS:
                raise InvalidHandsFile(row.line, "session", f"more than {MAX_SESSIONS} sessions in one file")
            table_id = table_id_of(row.session, self._prefix, self._table_ids)
            self._table_ids.add(table_id)
            self._tables[row.session] = _Table(table_id, self._decks, self._start)
        return self._tables[row.session]

    def close(self) -> list[Event]:
        return list(chain.from_iterable(table.close() for table in self._tables.values()))


class _Table:
    """One session's table: its numbering, its clock, and the shoe and round it is in."""

    def __init__(self, table_id: str, decks: int, start: datetime) -> None:
        self._table_id = table_id
        self._decks = decks
        self._next_start = start
        self._seq = 0
        self._shoe = 0
        self._round = 0

    def play(self, row: HandRow) -> list[Event]:
        """Return the events of one hand, and before them those that open the table or change the shoe."""
        before: list[Build] = []
        if self._seq == 0:
            before.append(lambda at: TableOpened(**at))
        if row.shoe != self._shoe:
            before += self._change_shoe(row)
        elif row.hand <= self._round:
            raise InvalidHandsFile(row.line, "hand", f"hand {row.hand} of shoe {row.shoe} comes after {self._round}")
        self._shoe, self._round = row.shoe, row.hand
        return self._number(before) + self._number(_round(row))

    def _change_shoe(self, row: HandRow) -> list[Build]:
        if row.shoe < self._shoe:
            raise InvalidHandsFile(row.line, "shoe", f"shoe {row.shoe} comes after shoe {self._shoe} of its session")
        loaded: Build = lambda at: ShoeLoaded(**at, shoe=row.shoe, decks=self._decks)  # noqa: E731
        return [self._shoe_closed("house_choice"), loaded] if self._shoe else [loaded]

    def _shoe_closed(self, reason: Literal["house_choice", "table_closed"]) -> Build:
        shoe = self._shoe
        return lambda at: ShoeClosed(**at, shoe=shoe, reason=reason)

    def close(self) -> list[Event]:
        """Return the events that end the session."""
        return self._number([self._shoe_closed("table_closed"), lambda at: TableClosed(**at)])

    def _number(self, builds: list[Build]) -> list[Event]:
        """Build events of one minute, numbered on from the last."""
        events = [build(self._envelope(place)) for place, build in enumerate(builds)]
        if events:
            self._seq += len(events)
            self._next_start += MINUTE
        return events

    def _envelope(self, place: int) -> Envelope:
        seq = self._seq + place + 1
        return {
            "table_id": self._table_id,
            "epoch": 1,
            "seq": seq,
            "event_id": event_id(self._table_id, 1, seq),
            "occurred_at": self._next_start + place * STEP,
            "follows": (0, 0) if seq == 1 else None,
        }


def _round(row: HandRow) -> list[Build]:
    """Return the events of one round, its cards in dealing order (arts. 7 and 9)."""
    where: _Place = {"shoe": row.shoe, "round": row.hand}
    return [
        lambda at: RoundOpened(**at, **where),
        lambda at: BettingClosed(**at, **where),
        *(partial(_drawn, where, *drawn) for drawn in _dealing_order(row)),
        lambda at: ResultCalled(**at, **where, outcome=row.outcome),
        lambda at: RoundClosed(**at, **where),
    ]


def _dealing_order(row: HandRow) -> Iterator[tuple[Hand, int, CardCode]]:
    hands: dict[Hand, tuple[CardCode, ...]] = {"player": row.player_cards, "banker": row.banker_cards}
    for position in (1, 2, 3):
        for hand, cards in hands.items():
            if position <= len(cards):
                yield hand, position, cards[position - 1]


def _drawn(where: _Place, hand: Hand, position: int, card: CardCode, at: Envelope) -> CardDrawn:
    return CardDrawn(**at, **where, hand=hand, position=position, card=card)
