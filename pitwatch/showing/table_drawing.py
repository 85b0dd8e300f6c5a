"""A table drawn: who is there, the shoe and round in play, the tray, the latest hours, marks and alerts."""

from datetime import datetime

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pitwatch.history.telling import History
from pitwatch.road_drawing import draw_road
from pitwatch.showing import contents, words
from pitwatch.showing.round_drawing import hands_drawn, stakes_drawn
from pitwatch.showing.words import Scale
from schemas.facts import RoadFact


def table_drawing(history: History, scale: Scale, now: datetime, *, width: int) -> Group:
    """Return the table at `now`, the moment that the last event's age is counted to."""
    state = history.state
    parts: list[RenderableType] = [_head(history, scale, now)]
    if state.round:
        shown = contents.round_of(history, state.round.shoe, state.round.number)
        assert shown is not None
        parts += [Text(), words.heading(f"進行中 In play: 局 round {state.round.number}")]
        parts += [hands_drawn(shown), stakes_drawn(list(state.round.bets.values()), scale)]
    elif state.standing:
        parts += [Text(), words.heading("和局後留注 Stakes standing after a tie")]
        parts += [stakes_drawn(list(state.standing.values()), scale)]
    roads = contents.roads_of(history.facts.of(RoadFact))
    for road in ("bead_plate", "big_road"):
        parts += [Text(), *draw_road(road, roads.cells[road], rows=roads.rows, width=width)]
    parts += [Text(), words.heading(f"每小時 By the hour ({scale.currency})"), _hours(history, scale)]
    parts += [Text(), words.heading("最新警報 Latest alerts"), words.alerts(contents.latest_alerts(history), scale)]
    return Group(*parts)


def _head(history: History, scale: Scale, now: datetime) -> Table:
    state, configuration = history.state, history.configuration
    last = state.last_occurred_at
    age = f" · {scale.age(last, now)}" if last else ""
    lines: list[tuple[str, str | Text]] = [
        ("檯 Table", Text(history.table_id, style="bold")),
        ("截至 As of", scale.moment(now)),
        ("最後事件 Last event", f"{state.last_event_id or '—'} {scale.moment(last)}{age}"),
        ("狀態 State", Text("開 open", style="bold") if state.is_open else Text("關 closed")),
        ("區 Pit", configuration.pit),
        ("荷官 Dealer", state.dealer_id or "—"),
        ("設定 Configuration", configuration.configuration_id if state.configuration else "— 未公布 none published"),
        ("座位 Seats", "  ".join(f"{seat}: {patron}" for seat, patron in sorted(state.seats.items())) or "—"),
        ("牌靴 Shoe", _shoe(history)),
        (f"檯面籌碼 Float ({scale.currency})", f"{scale.money(state.expected_float)} 應有 expected"),
        (f"欠佣 Commission owed ({scale.currency})", _owed(history, scale)),
    ]
    if history.waits:
        epoch, seq = history.waits
        lines.append(
            ("缺 Missing", Text(f"等待遺失事件 waits for events missing before {epoch}:{seq}", style=words.AMBER))
        )
    return words.columns(lines)


def _shoe(history: History) -> str:
    state = history.state.shoe
    shoe = contents.shoe_of(history, state.number) if state else None
    if shoe is None:
        return "—"
    left = contents.cards_left(shoe)
    depth = "連續洗牌 continuous shuffler" if left is None else f"餘 {left} 張 cards left, 出 {shoe.cards_out} out"
    cut = "" if shoe.cut_card_round is None else f" · 白咭 white card at round {shoe.cut_card_round}"
    status = words.SHOE_STATUSES[shoe.status]
    return f"{shoe.shoe} · {status} · {shoe.decks} 副 decks · {depth}{cut}\n{words.outcomes(shoe)}"


def _owed(history: History, scale: Scale) -> str:
    doubtful = history.state.doubtful_debts
    owed = "  ".join(
        f"座 seat {seat}: {scale.money(amount)}" + (" ?" if seat in doubtful else "")
        for seat, amount in sorted(history.state.ledger.items())
    )
    return (owed or "—") + ("\n? 缺事件時或已清 may have been settled in a gap" if doubtful else "")


def _hours(history: History, scale: Scale) -> Table:
    numbers = ("局 Rounds", "注額 Handle", "莊家贏 House win", "佣金 Commission", "警報 Alerts")
    table = words.plain_table("時 Hour", *numbers, right=numbers)
    for hour in contents.latest_hours(history):
        table.add_row(
            scale.moment(hour.hour),
            str(hour.rounds),
            scale.money(hour.handle),
            scale.money(hour.house_win),
            scale.money(hour.commission_due),
            str(hour.alerts),
        )
    return table
