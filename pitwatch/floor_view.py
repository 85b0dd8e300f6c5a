"""The floor on a dark terminal: a card with its big road for each table where they fit, else a line for each.

Symbols, letters and words carry every meaning; colour repeats it. A picture is drawn to the screen's exact size, so it
covers the one before and nothing flickers.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

from rich.screen import Screen
from rich.style import Style
from rich.text import Text

from pitwatch.floor_cards import CARD_HEIGHT, SMALLEST_CARD, card
from pitwatch.floor_lines import heading, table_line
from pitwatch.floor_model import Floor, TableLine
from pitwatch.floor_words import BAD, DIM, badge, counts, fit, local_time, percent, signed
from schemas.facts import AlertFact
from schemas.money import format_money

BASE: Final = Style.parse("#D8DEE9 on #0D1117")
"""The screen's own colours, whatever the terminal's are."""

PAGE_SECONDS: Final = 4
"""How long each page of a floor is shown that has more tables than the screen has lines."""

_BAR: Final = "#D8DEE9 on #1F2937"
_WIDE: Final = 110
_ROOM_FOR_WORDS: Final = 150
_FEWEST_ALERT_LINES: Final = 4
_GAP: Final = 1


class Status(NamedTuple):
    """How the run stands that the floor is shown of. `now` is the clock that the floor's facts were heard by.

    `speed` is simulated seconds a second, 0 for as fast as possible; `rounds` all that will be played, None where
    nobody knows. `trouble` is what a part of the pipeline says is wrong, empty where nothing is.
    """

    title: str
    speed: float
    now: float
    elapsed_seconds: float
    rounds: int | None = None
    events: int = 0
    events_per_second: float = 0.0
    events_behind: int = 0
    facts_behind: int = 0
    trouble: str = ""


def screen(floor: Floor, status: Status, width: int, height: int) -> Screen:
    """Return the floor as a picture of exactly `width` columns and `height` lines."""
    lines = picture(floor, status, width, height)
    return Screen(Text("\n", no_wrap=True, overflow="crop").join(lines), style=BASE)


def picture(floor: Floor, status: Status, width: int, height: int) -> list[Text]:
    """Return the picture's lines: header, tables, and the latest alerts in what is left."""
    head = header(floor, status, width)
    room = height - len(head) - _FEWEST_ALERT_LINES
    body = tables(floor.lines(), width, room, status.now)
    foot = latest_alerts(floor, width, height - len(head) - len(body))
    return [*head, *body, *foot][:height]


# -- header ----------------------------------------------------------------------------------------------------------


def header(floor: Floor, status: Status, width: int) -> list[Text]:
    """Return the three lines over the tables: what runs, its money, its alerts and its pace."""
    clock = f"{local_time(floor.clock):%Y-%m-%d %H:%M:%S}" if floor.clock else "—"
    speed = f"×{status.speed:g}" if status.speed else "最快 full speed"
    left = Text.assemble((" PITWATCH ", "bold #0D1117 on #58A6FF"), (f" {status.title}", "bold"))
    right = Text(f"{speed}  檯時 floor time {clock} " if width >= _WIDE else f"{speed}  {clock} ")
    title = _spread(left, right, width)
    title.stylize(_BAR)
    return [title, _spread(_money(floor, status), Text(), width), _spread(*_pace(floor, status, width), width)]


def _money(floor: Floor, status: Status) -> Text:
    of_all = f"/{status.rounds:,}" if status.rounds else ""
    text = Text.assemble(" 局 Rounds ", (f"{floor.rounds:,}{of_all}", "bold"))
    for currency, money in sorted(floor.totals().items()):
        text.append_text(
            Text.assemble(
                "  注額 Handle ",
                (format_money(money.handle, currency).partition(".")[0], "bold"),
                "  贏額 Win ",
                signed(money.house_win, currency),
                " ",
                percent(money.hold),
            )
        )
    return text


def _pace(floor: Floor, status: Status, width: int) -> tuple[Text, Text]:
    wide = width >= _WIDE
    alerts = Text.assemble(" 警報 Alerts ", counts(floor.severities, words=width >= _ROOM_FOR_WORDS))
    if status.trouble:
        return alerts, Text(f"! {status.trouble} ", f"bold {BAD}")
    pace = f"{status.events:,} 事件 events  {status.events_per_second:,.0f}/s  "
    if not wide:
        return alerts, Text(f"{pace}積壓 behind {status.events_behind:,} ", DIM)
    waits = f"積壓 behind {status.events_behind:,}  待入庫 to store {status.facts_behind:,}  "
    return alerts, Text(f"{pace}{waits}{status.elapsed_seconds:.0f} s ", DIM)


def _spread(left: Text, right: Text, width: int) -> Text:
    """Return one line with `left` at its left end and `right` at its right one; `left` gives way."""
    room = max(0, width - right.cell_len)
    return fit(Text.assemble(fit(left, room), right), width)


# -- tables ----------------------------------------------------------------------------------------------------------


def tables(lines: Sequence[TableLine], width: int, height: int, now: float) -> list[Text]:
    """Return every table as the widest card that leaves room for all, or as a line of a list, turned page by page."""
    for across in range(1, width // SMALLEST_CARD + 1):
        rows = -(-len(lines) // across)
        if rows * CARD_HEIGHT <= height:
            return _cards(lines, width, across, now)
    return _list(lines, width, max(1, height), now)


def _cards(lines: Sequence[TableLine], width: int, across: int, now: float) -> list[Text]:
    card_width = (width - _GAP * (across - 1)) // across
    drawn: list[Text] = []
    for first in range(0, len(lines), across):
        row = [card(line, card_width, now) for line in lines[first : first + across]]
        drawn += [fit(Text(" " * _GAP).join(parts), width) for parts in zip(*row, strict=True)]
    return drawn


def _list(lines: Sequence[TableLine], width: int, height: int, now: float) -> list[Text]:
    room = max(1, height - 1)
    if len(lines) <= room:
        return [heading(width), *(table_line(line, width, now) for line in lines)]
    room = max(1, room - 1)
    pages = -(-len(lines) // room)
    first = int(now / PAGE_SECONDS) % pages * room
    shown = lines[first : first + room]
    note = f" 檯 tables {first + 1}–{first + len(shown)} / {len(lines)}"
    return [heading(width), *(table_line(line, width, now) for line in shown), fit(Text(note, DIM), width)]


# -- alerts ----------------------------------------------------------------------------------------------------------


def latest_alerts(floor: Floor, width: int, height: int) -> list[Text]:
    """Return the latest alerts, the newest first, in both languages: on one line each where the screen is wide."""
    if height <= 0:
        return []
    title = fit(Text(" 最新警報 Latest alerts"), width)
    title.stylize(_BAR)
    rows: list[Text] = []
    each = 1 if width >= _WIDE else 2
    for alert in floor.latest_alerts((height - 1) // each):
        rows += _wide_alert(alert, width) if each == 1 else _narrow_alert(alert, width)
    blank = Text(" " * width)
    return [title, *rows, *[blank] * (height - 1 - len(rows))]


def _place(alert: AlertFact) -> str:
    where = f"{alert.table_id} 靴{alert.shoe}"
    return f"{where} 局{alert.round}" if alert.round else where


def _wide_alert(alert: AlertFact, width: int) -> list[Text]:
    head = Text.assemble(
        (f" {local_time(alert.occurred_at):%H:%M:%S} ", DIM),
        fit(Text(_place(alert), "bold"), 19),
        fit(badge(alert.severity), 18) if width >= _ROOM_FOR_WORDS else fit(badge(alert.severity, words=False), 4),
        _corrected(alert),
    )
    chinese = (width - head.cell_len) * 2 // 5
    return [fit(Text.assemble(head, fit(Text(alert.text_zh), chinese), " ", (alert.text_en, DIM)), width)]


def _narrow_alert(alert: AlertFact, width: int) -> list[Text]:
    head = Text.assemble(
        (f" {local_time(alert.occurred_at):%H:%M} ", DIM),
        fit(Text(_place(alert), "bold"), 18),
        " ",
        badge(alert.severity, words=False),
        " ",
        _corrected(alert),
        alert.text_zh,
    )
    return [fit(head, width), fit(Text(f"       {alert.text_en}", DIM), width)]


def _corrected(alert: AlertFact) -> str:
    return "已更正 corrected: " if alert.status == "corrected" else ""
