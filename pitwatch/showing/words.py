"""Words, amounts, times and cards as the screens say them: Chinese and English, and no colour without a word."""

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Final, NamedTuple

from rich.console import Group
from rich.table import Table
from rich.text import Text

from pitwatch.floor_words import badge
from schemas.cards import RANK_OF, SUIT_OF, SUIT_SYMBOLS
from schemas.catalogue import CATALOGUE
from schemas.facts import AlertFact, ShoeFact
from schemas.money import to_decimal

RED: Final = "bold #E24D42"
BLUE: Final = "bold #3F7FE8"
AMBER: Final = "bold #E8B13F"

OUTCOMES: Final = {"player": "閒 player", "banker": "莊 banker", "tie": "和 tie"}
OUTCOME_STYLES: Final = {"player": BLUE, "banker": RED, "tie": "bold"}
RESULTS: Final = {"win": "贏 win", "lose": "輸 lose", "push": "和 push", "void": "作廢 void", "unknown": "不明 unknown"}
ROUND_STATUSES: Final = {
    "settled": "已結算 settled",
    "void": "作廢 void",
    "incomplete": "資料不全 incomplete",
    "in_play": "進行中 in play",
}
SHOE_STATUSES: Final = {"loaded": "已裝牌 loaded", "in_play": "使用中 in play", "closed": "已收 closed"}


class Scale(NamedTuple):
    """How a table's amounts and moments are written: in its currency, and in its local time."""

    currency: str
    utc_offset_hours: int

    def money(self, minor: int | None) -> str:
        """Return an amount without its currency, a dash where there is none."""
        return "—" if minor is None else f"{to_decimal(minor, self.currency):,.2f}"

    def time(self, moment: datetime | None) -> str:
        """Return the local time of day to the second."""
        return "—" if moment is None else f"{self._local(moment):%H:%M:%S}"

    def moment(self, moment: datetime | None) -> str:
        """Return the local date and time to the second, and how far ahead of UTC they are."""
        return "—" if moment is None else f"{self._local(moment):%Y-%m-%d %H:%M:%S} UTC{self.utc_offset_hours:+d}"

    def age(self, moment: datetime, now: datetime) -> str:
        """Return how long before `now`, or after it where a clock was ahead, the moment was."""
        seconds = round((now - moment).total_seconds())
        return f"{timedelta(seconds=abs(seconds))} " + ("前 before" if seconds >= 0 else "後 after")

    def _local(self, moment: datetime) -> datetime:
        return moment.astimezone(UTC) + timedelta(hours=self.utc_offset_hours)


def plain_table(*columns: str, right: Iterable[str] = ()) -> Table:
    """Return an empty table without lines; the columns named in `right` hold numbers, which stay in one piece."""
    table = Table(box=None, header_style="bold", padding=(0, 1, 0, 0))
    for column in columns:
        is_number = column in right
        table.add_column(column, justify="right" if is_number else "left", overflow="fold", no_wrap=is_number)
    return table


def heading(words: str) -> Text:
    """Return a line that begins a part."""
    return Text(words, style="bold underline")


def safe(free_text: str) -> str:
    """Return what somebody wrote, on one line and without a terminal's own commands."""
    return "".join(one if one.isprintable() else " " if one.isspace() else "?" for one in free_text)


def outcome(name: str | None) -> Text:
    """Return an outcome in both languages, a dash where there is none."""
    return Text(OUTCOMES[name], style=OUTCOME_STYLES[name]) if name else Text("—")


def outcomes(shoe: ShoeFact) -> str:
    """Return how many live rounds a shoe had, and how they ended."""
    return (
        f"{shoe.rounds} 局 rounds · 莊 banker {shoe.banker_wins} · 閒 player {shoe.player_wins} · 和 tie {shoe.ties}"
        f" · 作廢 void {shoe.voids}"
    )


def cards(codes: Iterable[str]) -> str:
    """Return cards with their suits' symbols, a dash where there are none."""
    return " ".join(RANK_OF[code] + SUIT_SYMBOLS[SUIT_OF[code]] for code in codes) or "—"


def bet(name: str) -> str:
    """Return a bet's name in both languages."""
    return f"{CATALOGUE[name].zh} {CATALOGUE[name].en}" if name in CATALOGUE else name


def alerts(found: Iterable[AlertFact], scale: Scale) -> Group:
    """Return alerts one below the other: how grave, which rule and when, then the text in both languages."""
    lines = [_alert(alert, scale) for alert in found]
    return Group(*lines or [Text("無 none")])


def _alert(alert: AlertFact, scale: Scale) -> Text:
    text = Text.assemble(
        badge(alert.severity),
        f"  {alert.code}  {alert.article}  {scale.moment(alert.occurred_at)}",
        f"  靴 shoe {alert.shoe} 局 round {alert.round}" if alert.round else "",
        "  已更正 corrected" if alert.status == "corrected" else "",
    )
    return text.append(f"\n  {safe(alert.text_zh)}\n  {safe(alert.text_en)}\n  {alert.alert_id}")


def columns(pairs: Iterable[tuple[str, str | Text]]) -> Table:
    """Return names and values in two columns."""
    table = Table(box=None, show_header=False, padding=(0, 1, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in pairs:
        # As text, for what is in brackets in a string would be read as markup.
        table.add_row(name, Text(value) if isinstance(value, str) else value)
    return table
