"""A table as a card: its figures at the left, its big road at the right."""

from collections import Counter
from typing import Final

from rich.text import Text

from pitwatch.floor_model import TableLine
from pitwatch.floor_words import DIM, MARKS, age, amount, bar, counts, fit, percent, signed
from pitwatch.road_drawing import draw_road

CARD_HEIGHT: Final = 8
SMALLEST_CARD: Final = 58
"""Columns that a card needs for its figures and some ten columns of road."""

FLASH_SECONDS: Final = 2.5
"""How long a table's frame shows that an alert was just raised."""

_ROAD_ROWS: Final = 6
_FIGURES: Final = 26
_BETWEEN: Final = "  "
_FRAME: Final = 4


def card(line: TableLine, width: int, now: float) -> list[Text]:
    """Return a table's card, `CARD_HEIGHT` lines of exactly `width` columns, as it is at `now`."""
    style = _frame_style(line, now)
    title = Text.assemble((line.table_id, "bold"), (f" {line.pit}", DIM))
    inner = width - _FRAME
    rows = [
        Text.assemble(("│ ", style), figure, _BETWEEN, road, (" │", style))
        for figure, road in zip(_figures(line), _road(line, inner - _FIGURES - len(_BETWEEN)), strict=True)
    ]
    heard = Text.assemble(("最新 newest ", DIM), age(now - line.heard_at))
    return [_edge("╭╮", title, counts(line.severities), width, style), *rows, _edge("╰╯", Text(), heard, width, style)]


def _frame_style(line: TableLine, now: float) -> str:
    if line.alerted is None or now - line.alerted_at > FLASH_SECONDS:
        return DIM
    return f"bold {MARKS[line.alerted].colour}"


def _edge(corners: str, left: Text, right: Text, width: int, style: str) -> Text:
    """Return a card's upper or lower edge, with something written at both ends of it."""
    start = Text.assemble((f"{corners[0]}─", style), " " if left else "", left, " " if left else "")
    end = Text.assemble(" ", right, " ", (f"─{corners[1]}", style))
    return Text.assemble(start, ("─" * (width - start.cell_len - end.cell_len), style), end)


def _figures(line: TableLine) -> list[Text]:
    won = Counter(cell.mark for cell in line.road("bead_plate"))
    return [
        _figure("荷官 Dealer", Text(line.dealer_id or "—")),
        shoe(line, _FIGURES),
        _figure(f"局 Round {line.round}", Text(f"莊{won['B']}閒{won['P']}和{won['T']}")),
        _figure("注額 Handle", Text(amount(line.money.handle, line.currency), "bold")),
        _figure("贏額 Win", signed(line.money.house_win, line.currency)),
        _figure("贏÷注 Win %", percent(line.money.hold)),
    ]


def _figure(name: str, value: Text) -> Text:
    label = Text(name, DIM)
    return Text.assemble(label, " ", fit(value, _FIGURES - label.cell_len - 1, right=True))


def shoe(line: TableLine, width: int) -> Text:
    """Return the table's shoe and how far it is played, on exactly `width` columns."""
    label = Text(f"靴 Shoe {line.shoe or '—'} ", DIM)
    if line.shoe_fact is not None and line.shoe_fact.status == "closed":
        return fit(Text.assemble(label, "洗牌 shuffling"), width)
    if line.progress is None:
        continuous = line.shoe_fact is not None
        return fit(Text.assemble(label, "連續 continuous" if continuous else ""), width)
    out, until_cut = line.progress
    cards = f" {out}/{until_cut}"
    return Text.assemble(label, bar(out, until_cut, width - label.cell_len - len(cards)), cards)


def _road(line: TableLine, width: int) -> list[Text]:
    return [fit(row, width) for row in draw_road("big_road", line.road("big_road"), rows=_ROAD_ROWS, width=width)[1:]]
