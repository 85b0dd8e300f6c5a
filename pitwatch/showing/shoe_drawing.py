"""A shoe drawn: its procedure, what was seen of its cards, its rounds, roads and alerts."""

from rich.console import Group
from rich.table import Table
from rich.text import Text

from pitwatch.history.telling import History
from pitwatch.road_drawing import drawing
from pitwatch.showing import contents, words
from pitwatch.showing.words import Scale
from schemas.cards import RANKS, SUIT_SYMBOLS, SUITS
from schemas.facts import RoadFact, RoundFact, ShoeFact


def shoe_drawing(history: History, shoe: ShoeFact, scale: Scale, *, width: int) -> Group:
    """Return the shoe in at most `width` terminal columns."""
    return Group(
        _procedure(history, shoe, scale),
        Text(),
        words.heading("已見之牌 Cards seen"),
        _composition(shoe),
        Text(),
        words.heading(f"局 Rounds ({scale.currency})"),
        _rounds(contents.rounds_of(history), scale),
        Text(),
        drawing(contents.roads_of(history.facts.of(RoadFact)), width=width),
        Text(),
        words.heading("警報 Alerts"),
        words.alerts(contents.alerts_of(history), scale),
    )


def _procedure(history: History, shoe: ShoeFact, scale: Scale) -> Table:
    unknown = "—"
    return words.columns(
        [
            ("檯 Table", Text(history.table_id, style="bold")),
            ("牌靴 Shoe", f"{shoe.shoe} · {words.SHOE_STATUSES[shoe.status]}"),
            ("資料 Telemetry", "齊全 complete" if shoe.complete else Text("不全 incomplete", style=words.AMBER)),
            ("裝牌 Loaded", f"{scale.moment(shoe.loaded_at)} · {shoe.decks} 副 decks · {shoe.shuffling}"),
            ("收牌 Closed", f"{scale.moment(shoe.closed_at)} {shoe.close_reason}" if shoe.closed_at else unknown),
            ("割牌 Cut, art. 2(1)", f"{shoe.cut_by} · {shoe.cards_behind_cut} 張 behind" if shoe.cut_by else unknown),
            ("銷牌 Burned, art. 2(1)", str(shoe.burned)),
            ("示範 Demonstrations, art. 2(2)", str(shoe.demonstrations)),
            ("白咭 White card, art. 3(1)", f"局 round {shoe.cut_card_round}" if shoe.cut_card_round else unknown),
            ("已出 Cards out", str(shoe.cards_out)),
            ("局 Rounds", words.outcomes(shoe)),
        ]
    )


def _composition(shoe: ShoeFact) -> Table:
    """Return how many of each card left the shoe face up, and how many of each rank may still come."""
    table = words.plain_table("", *RANKS, right=RANKS)
    for suit in SUITS:
        table.add_row(SUIT_SYMBOLS[suit], *(str(shoe.seen.get(rank + suit, 0)) for rank in RANKS))
    if contents.cards_left(shoe) is not None:
        held = shoe.decks * len(SUITS)
        left = [held - sum(shoe.seen.get(rank + suit, 0) for suit in SUITS) for rank in RANKS]
        # More copies than the decks hold are an alert; here the number below zero says so.
        table.add_row("未見 unseen", *map(str, left), style="bold")
    return table


def _rounds(rounds: list[RoundFact], scale: Scale) -> Table:
    numbers = ("局 No.", "注 Stakes", "莊家贏 House win", "警報 Alerts")
    table = words.plain_table(
        "局 No.", "時 Opened", "狀態 Status", "閒 Player", "莊 Banker", "結果 Outcome", *numbers[1:], right=numbers
    )
    for one in rounds:
        status = words.ROUND_STATUSES[one.status]
        table.add_row(
            str(one.round),
            scale.time(one.opened_at),
            f"示範 demonstration, {status}" if one.kind == "demonstration" else status,
            f"{words.cards(one.player_cards)} = {one.player_total}",
            f"{words.cards(one.banker_cards)} = {one.banker_total}",
            words.outcome(one.outcome),
            scale.money(one.stakes),
            scale.money(one.house_win),
            Text(f"⚠ {one.alerts}", style=words.RED) if one.alerts else "0",
        )
    return table
