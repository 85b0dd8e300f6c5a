"""Roads drawn for a dark terminal: symbols and letters carry the meaning, colour repeats it.

Terminals disagree on the width of rings and dots, which East Asian ones draw two columns wide. So every cell of a road,
an empty one too, holds the same number of such symbols, and columns stay straight whichever width the terminal uses.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from rich.console import Group
from rich.text import Text

from processors.rules.road_layout import ROADS, Cell, Road, window
from processors.rules.roads import Answer, Roads

TITLES: Final[dict[Road, str]] = {
    "bead_plate": "珠盤路 Bead plate",
    "big_road": "大路 Big road",
    "big_eye_boy": "大眼仔 Big eye boy",
    "small_road": "小路 Small road",
    "cockroach_pig": "曱甴路 Cockroach pig",
}

_RED: Final = "#E24D42"
_BLUE: Final = "#3F7FE8"
_GREY: Final = "#6B7280"

SIDE_COLOURS: Final = {"B": _RED, "P": _BLUE, "T": _GREY}
"""Mark → colour in the bead plate and the big road."""

# In the derived roads B is blue.
_DERIVED_COLOURS: Final = {"R": _RED, "B": _BLUE}
_BEADS: Final = {"B": "莊", "P": "閒", "T": "和"}
_DERIVED_SYMBOLS: Final[dict[Road, str]] = {"big_eye_boy": "○", "small_road": "●", "cockroach_pig": "╱"}
# (banker pair, player pair) → the big road's ring, filled on the side where the bead plate has that pair's dot.
_RINGS: Final = {(False, False): "○", (True, False): "◐", (False, True): "◑", (True, True): "●"}

# What an empty cell shows: a dot as wide as the road's symbols, always wide or wide in East Asian terminals only.
_EMPTY: Final[dict[Road, str]] = {road: " ・ " if road == "bead_plate" else "·  " for road in ROADS}
# One character for the ties on a big-road cell: a slash for the first, then their number.
_TIES: Final = " /23456789+"
_MOST_ROWS: Final = 6
_FEWEST_COLUMNS: Final = 20

_LEGEND: Final = (
    "大路 big road: B 莊 banker · P 閒 player · ○B/ one tie 和 · ○B3 three · ○B+ ten or more",
    "對 pairs: ◐ 莊對 banker · ◑ 閒對 player · ● 兩對 both; in the bead plate '莊 and 閒.",
    "下三路 derived roads: r 紅 red · b 藍 blue; they don't mean banker and player",
)


def drawing(roads: Roads, *, width: int) -> Group:
    """Return the five roads, their counts and ask-the-road in at most `width` terminal columns.

    A road that is wider shows its latest columns, scrolled by whole columns, and says so.
    """
    parts = [_summary(roads)]
    for road in ROADS:
        parts += [Text(), *draw_road(road, roads.cells[road], rows=roads.rows, width=width)]
    parts += [Text(), Text("問路 Ask the road", style="bold")]
    parts += [_answer(hand, roads.ask[hand]) for hand in ("banker", "player")]
    return Group(*parts, Text(), *(Text(line, style="dim") for line in _LEGEND))


def draw_road(road: Road, cells: Sequence[Cell], *, rows: int, width: int) -> list[Text]:
    """Return a road's title and its grid line by line; rows below the sixth are left out where nothing lies there."""
    blank = Text(_EMPTY[road], style="grey42")
    fit = max(1, width // blank.cell_len)
    used = max((cell.column + 1 for cell in cells), default=0)
    shown = window(cells, fit)
    height = min(rows, max([_MOST_ROWS, *(cell.row + 1 for cell in shown)]))
    at = {(cell.column, cell.row): _cell(road, cell) for cell in shown}
    columns = range(min(fit, max(used, _FEWEST_COLUMNS)))
    lines = [Text(no_wrap=True).join(at.get((column, row), blank) for column in columns) for row in range(height)]
    title = Text(TITLES[road], style="bold")
    if used > fit:
        title.append(f"  {fit} of {used} columns 欄", style="dim")
    return [title, *lines]


def _cell(road: Road, cell: Cell) -> Text:
    if road == "bead_plate":
        return Text.assemble(
            "'" if cell.banker_pair else " ",
            (_BEADS[cell.mark], f"bold white on {SIDE_COLOURS[cell.mark]}"),
            "." if cell.player_pair else " ",
        )
    if road == "big_road":
        ring = _RINGS[cell.banker_pair, cell.player_pair] + cell.mark
        ties = _TIES[min(cell.ties, len(_TIES) - 1)]
        return Text.assemble((ring, f"bold {SIDE_COLOURS[cell.mark]}"), (ties, "bold"))
    return Text.assemble(_derived(road, cell.mark), " ")


def _derived(road: Road, colour: str) -> tuple[str, str]:
    """Return a derived mark and its style; the letter tells the colours apart where none is seen."""
    return _DERIVED_SYMBOLS[road] + colour.lower(), _DERIVED_COLOURS[colour]


def _summary(roads: Roads) -> Text:
    count = Counter(cell.mark for cell in roads.cells["bead_plate"])
    text = f"{count.total()} 局 rounds · 莊 banker {count['B']} · 閒 player {count['P']} · 和 tie {count['T']}"
    if roads.leading_ties:
        text += f" · 開局和 leading ties {roads.leading_ties}"
    return Text(text)


def _answer(hand: str, answer: Answer) -> Text:
    """Return the line that says what each derived road would get next if `hand` won."""
    text = Text("莊 if banker" if hand == "banker" else "閒 if player")
    for road, colour in answer.items():
        text.append(f"   {TITLES[road].split()[0]} ")
        if colour is None:
            text.append("—", style="dim")
        else:
            text.append(*_derived(road, colour))
    return text
