"""Tables as lines of one list, for floors and screens on which cards have no room."""

from collections.abc import Callable
from typing import Final, NamedTuple

from rich.text import Text

from pitwatch.floor_model import TableLine
from pitwatch.floor_words import DIM, MARKS, age, amount, bar, fit, percent, signed
from pitwatch.road_drawing import SIDE_COLOURS


class Column(NamedTuple):
    """A column of the list: its heading, its width, and from which screen width on it is shown."""

    heading: str
    width: int
    cell: Callable[[TableLine, float], Text]
    right: bool = False
    from_width: int = 0


def _shoe(line: TableLine, _now: float) -> Text:
    return Text(str(line.shoe or "—"))


def _progress(line: TableLine, _now: float) -> Text:
    shoe = line.shoe_fact
    if shoe is not None and shoe.status == "closed":
        return Text("洗牌", DIM)
    if line.progress is None:
        return Text("連續" if shoe else "", DIM)
    out, until_cut = line.progress
    return bar(out, until_cut, 6)


def _alerts(line: TableLine, _now: float) -> Text:
    gravest = line.gravest
    if gravest is None:
        return Text("—", DIM)
    mark = MARKS[gravest]
    return Text(f"{mark.symbol}{len(line.alerts):>3}", f"bold {mark.colour}")


def strip(line: TableLine, width: int) -> Text:
    """Return the last rounds of the shoe as letters, the newest at the right."""
    text = Text()
    for cell in line.road("bead_plate")[-width:]:
        text.append(cell.mark, f"bold white on {SIDE_COLOURS[cell.mark]}")
    return text


_BEFORE: Final = (
    Column("檯 Table", 9, lambda line, _: Text(line.table_id, "bold")),
    Column("區 Pit", 7, lambda line, _: Text(line.pit, DIM), from_width=100),
    Column("荷官 Dealer", 13, lambda line, _: Text(line.dealer_id, DIM), from_width=116),
    Column("靴", 2, _shoe, right=True),
    Column("進度", 6, _progress),
    Column("局", 3, lambda line, _: Text(str(line.round or "—")), right=True),
)
_AFTER: Final = (
    Column("注額 Handle", 12, lambda line, _: Text(amount(line.money.handle, line.currency)), right=True),
    Column("贏額 Win", 11, lambda line, _: signed(line.money.house_win, line.currency), right=True),
    Column("%", 8, lambda line, _: percent(line.money.hold), right=True, from_width=90),
    Column("警報", 4, _alerts),
    Column("最新", 6, lambda line, now: age(now - line.heard_at), right=True),
)


def heading(width: int) -> Text:
    """Return the list's heading on exactly `width` columns."""
    before, after, room = _columns(width)
    cells = [
        *(fit(Text(column.heading), column.width, right=column.right) for column in before),
        fit(Text("近局 Last rounds"), room),
        *(fit(Text(column.heading), column.width, right=column.right) for column in after),
    ]
    line = Text(" ").join(cells)
    line.stylize(f"bold {DIM}")
    return fit(line, width)


def table_line(line: TableLine, width: int, now: float) -> Text:
    """Return a table's line on exactly `width` columns, as it is at `now` by the caller's clock."""
    before, after, room = _columns(width)
    cells = [
        *(fit(column.cell(line, now), column.width, right=column.right) for column in before),
        fit(strip(line, room), room),
        *(fit(column.cell(line, now), column.width, right=column.right) for column in after),
    ]
    return fit(Text(" ").join(cells), width)


def _columns(width: int) -> tuple[list[Column], list[Column], int]:
    """Return the columns that a screen has room for, and what they leave for the last rounds between them."""
    before, after = ([column for column in columns if width >= column.from_width] for columns in (_BEFORE, _AFTER))
    taken = sum(column.width + 1 for column in (*before, *after))
    return before, after, max(1, width - taken)
