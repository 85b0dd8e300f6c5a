"""Hands written down in a CSV file, one on each line.

The file's columns, in any order and among others: ``session, shoe, hand, player_cards, banker_cards, player_total,
banker_total, result``. Cards are written ``8H 8S``, the result ``P``, ``B`` or ``T``.
"""

import csv
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple, TypeVar, cast

from producers.importers.sources import Line, LineSource
from schemas.cards import CARDS, CardCode, parse_cards
from schemas.errors import PitwatchError
from schemas.events import Outcome

V = TypeVar("V")

MAX_LINE_BYTES: Final = 4_096

# fmt: off
COLUMNS: Final = (
    "session", "shoe", "hand", "player_cards", "banker_cards", "player_total", "banker_total", "result",
)
# fmt: on

_OUTCOMES: Final[dict[str, Outcome]] = {"P": "player", "B": "banker", "T": "tie"}


class HandRow(NamedTuple):
    """One hand as the file tells it; its totals and outcome may contradict its cards."""

    line: int
    session: str
    shoe: int
    hand: int
    player_cards: tuple[CardCode, ...]
    banker_cards: tuple[CardCode, ...]
    player_total: int
    banker_total: int
    outcome: Outcome


class InvalidHandsFile(PitwatchError, ValueError):
    """Raised for a file that is no list of hands; the message names the line and the column."""

    def __init__(self, line: int, column: str, what: str) -> None:
        place = f"line {line}, column {column}" if column else f"line {line}"
        super().__init__(f"{place}: {what}")
        self.line = line
        self.column = column


def read_hands(source: LineSource) -> Iterator[HandRow]:
    """Yield the file's hands in order. Raises `InvalidHandsFile` and `UnreadableFile`."""
    reader: _Reader | None = None
    for line in source:
        cells = _cells(line)
        if not any(cells):
            continue
        if reader is None:
            reader = _Reader(line.number, cells)
        else:
            yield reader.row(line.number, cells)
    if reader is None:
        raise InvalidHandsFile(1, "", f"the file is empty; its first line must name {', '.join(COLUMNS)}")


def _cells(line: Line) -> list[str]:
    """Return the cells of one line. A quoted cell ends on the line it began on."""
    if line.too_long:
        raise InvalidHandsFile(line.number, "", f"longer than {MAX_LINE_BYTES} bytes")
    try:
        text = line.text.decode("utf-8-sig" if line.number == 1 else "utf-8")
        return [cell.strip() for cell in next(csv.reader([text], strict=True), [])]
    except UnicodeDecodeError as error:
        raise InvalidHandsFile(line.number, "", f"no UTF-8 at byte {error.start + 1}") from None
    except csv.Error as error:
        raise InvalidHandsFile(line.number, "", f"no CSV: {error}") from None


class _Reader:
    """Knows from the header where each column stands."""

    def __init__(self, line: int, header: list[str]) -> None:
        for name in COLUMNS:
            if header.count(name) != 1:
                what = "named twice" if name in header else "missing"
                raise InvalidHandsFile(line, name, f"{what}; the first line must name {', '.join(COLUMNS)}")
        self._places = {name: header.index(name) for name in COLUMNS}
        self._width = len(header)

    def row(self, line: int, cells: list[str]) -> HandRow:
        if len(cells) != self._width:
            raise InvalidHandsFile(line, "", f"{len(cells)} cells; the first line names {self._width} columns")

        def read(column: str, meaning: Callable[[str], V]) -> V:
            try:
                return meaning(cells[self._places[column]])
            except ValueError as error:
                raise InvalidHandsFile(line, column, str(error)) from None

        return HandRow(
            line=line,
            session=read("session", _session),
            shoe=read("shoe", _ordinal),
            hand=read("hand", _ordinal),
            player_cards=read("player_cards", _cards),
            banker_cards=read("banker_cards", _cards),
            player_total=read("player_total", _points),
            banker_total=read("banker_total", _points),
            outcome=read("result", _outcome),
        )


def _session(text: str) -> str:
    if not text:
        raise ValueError("empty; a session needs a name")
    return text


def _number(text: str, low: int, high: int) -> int:
    if not (text.isascii() and text.isdigit() and len(text) <= 10 and low <= int(text) <= high):
        raise ValueError(f"{text[:20]!r} is no whole number from {low} to {high}")
    return int(text)


def _ordinal(text: str) -> int:
    return _number(text, 1, 10**9)


def _points(text: str) -> int:
    return _number(text, 0, 9)


def _cards(text: str) -> tuple[CardCode, ...]:
    cards = parse_cards(text)
    if not 2 <= len(cards) <= 3:
        raise ValueError(f"{len(cards)} cards; a hand has two or three (arts. 7 and 9)")
    if unsuited := [card for card in cards if card not in CARDS]:
        raise ValueError(f"{unsuited[0]!r} has no suit")
    return cast(tuple[CardCode, ...], cards)


def _outcome(text: str) -> Outcome:
    if text not in _OUTCOMES:
        raise ValueError(f"{text[:20]!r} is no result; write {', '.join(_OUTCOMES)}")
    return _OUTCOMES[text]
