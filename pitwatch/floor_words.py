"""How the floor's figures read on a terminal: amounts, shares, ages and severities, the last two with a symbol."""

from collections import Counter
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Final, NamedTuple

from rich.text import Text

from pitwatch.floor_model import GRAVEST_FIRST
from schemas.alerts import Severity
from schemas.configuration import GamingDay
from schemas.money import to_decimal

DIM: Final = "#7D8590"
GOOD: Final = "#3FB950"
BAD: Final = "#F85149"
LATE: Final = "#D29922"

STALE_SECONDS: Final = 3.0
"""A table not heard of for longer is marked."""

_LOCAL: Final = timedelta(hours=GamingDay().utc_offset_hours)
_UNITS: Final = ((86_400, "d"), (3_600, "h"), (60, "min"))


class Mark(NamedTuple):
    """How a severity is shown: its symbol, its words and its colour."""

    symbol: str
    zh: str
    en: str
    colour: str


MARKS: Final[dict[Severity, Mark]] = {
    "critical": Mark("■", "危急", "critical", "#F85149"),
    "serious": Mark("▲", "嚴重", "serious", "#F0883E"),
    "warning": Mark("◆", "警告", "warning", "#E3B341"),
    "info": Mark("i", "提示", "info", "#58A6FF"),
}


def badge(severity: Severity, *, words: bool = True) -> Text:
    """Return a severity as a coloured badge: its symbol, and its words where there is room."""
    mark = MARKS[severity]
    return Text(
        f" {mark.symbol} {mark.zh} {mark.en} " if words else f" {mark.symbol} ", f"bold #0D1117 on {mark.colour}"
    )


def counts(severities: Counter[Severity], *, words: bool = False) -> Text:
    """Return how many alerts there are of each severity, the gravest first; a dash for none."""
    text = Text()
    for severity in GRAVEST_FIRST:
        if number := severities[severity]:
            mark = MARKS[severity]
            name = f" {mark.zh} {mark.en}" if words else ""
            text.append("  " if words and text else " " if text else "")
            text.append(f"{mark.symbol}{name}{' ' if words else ''}{number}", f"bold {mark.colour}")
    return text or Text("—", DIM)


def amount(minor: int, currency: str) -> str:
    """Return an amount in whole units, as a screen has room for; the store has the cents."""
    return f"{to_decimal(minor, currency):,.0f}" if currency else "—"


def signed(minor: int, currency: str) -> Text:
    """Return a win or loss of the house, with its sign."""
    if not currency:
        return Text("—", DIM)
    return Text(f"{to_decimal(minor, currency):+,.0f}", BAD if minor < 0 else GOOD)


def percent(share: Fraction | None) -> Text:
    """Return a share with its sign and two decimals."""
    if share is None:
        return Text("—", DIM)
    return Text(f"{100 * float(share):+.2f} %", BAD if share < 0 else GOOD)


def age(seconds: float) -> Text:
    """Return how long ago something was heard, marked where that is long."""
    if seconds < STALE_SECONDS:
        return Text(f"{seconds:.1f} s", GOOD)
    for unit, name in _UNITS:
        if seconds >= unit:
            return Text(f"{seconds // unit:.0f} {name} !", LATE)
    return Text(f"{seconds:.0f} s !", LATE)


def local_time(moment: datetime) -> datetime:
    """Return an instant by the floor's own clock."""
    return moment + _LOCAL


def fit(text: Text, width: int, *, right: bool = False) -> Text:
    """Return `text` on exactly `width` terminal columns, at the left or the right; what doesn't fit is cut off."""
    if width <= 0:
        return Text()
    text = text.copy()
    if not text.plain.isprintable():
        # What a table sent may hold anything, line ends and a terminal's own commands too.
        text.plain = "".join(map(_printable, text.plain))
    text.truncate(width, overflow="ellipsis")
    spare = width - text.cell_len
    return Text.assemble(" " * spare, text) if right else Text.assemble(text, " " * spare)


def _printable(character: str) -> str:
    if character.isprintable():
        return character
    return " " if character.isspace() else "?"


def bar(done: int, whole: int, width: int) -> Text:
    """Return how much of `whole` is done, as a bar."""
    full = min(width, max(0, done) * width // whole) if whole > 0 else 0
    return Text.assemble(("━" * full, "#58A6FF"), ("─" * (width - full), DIM))
