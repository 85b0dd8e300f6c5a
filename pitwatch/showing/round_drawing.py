"""A round drawn: cards and what art. 9 asked for, bets and what was paid, alerts, and the events it all rests on."""

from typing import Final

import msgspec
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from pitwatch.history.telling import History
from pitwatch.showing import contents, words
from pitwatch.showing.contents import EvidenceLine, ShownRound
from pitwatch.showing.hands import ThirdCard
from pitwatch.showing.words import Scale
from processors.reconstruct.state import BetState
from schemas.cards import POINTS
from schemas.events import Event
from schemas.facts import BetFact, DeadLetterFact, RoundFact

# An event's identity and moment have columns of their own, and the round is in the heading.
_NOT_REPEATED: Final = frozenset({
    "schema_version", "type", "event_id", "table_id", "epoch", "seq", "occurred_at", "follows", "shoe", "round",
})  # fmt: skip


def round_drawing(history: History, shown: ShownRound, scale: Scale) -> Group:
    """Return the round with its evidence."""
    parts: list[RenderableType] = [_head(history, shown, scale), Text(), hands_drawn(shown), Text()]
    parts.append(words.heading(f"注 Bets ({scale.currency})"))
    if shown.play:
        parts.append(stakes_drawn(list(shown.play.bets.values()), scale))
    else:
        parts.append(_bets(history.facts.of(BetFact), scale))
    parts += [Text(), words.heading("警報 Alerts"), words.alerts(contents.alerts_of(history), scale)]
    parts += [words.heading("證據 Evidence"), _evidence(contents.evidence_of(history), scale)]
    if letters := history.facts.of(DeadLetterFact):
        parts += [Text(), words.heading("不能採用 Refused")]
        parts += [
            Text(f"offset {one.src_offset}  {words.safe(one.event_id) or '?'}  {one.reason}: {words.safe(one.detail)}")
            for one in letters
        ]
    return Group(*parts)


def _head(history: History, shown: ShownRound, scale: Scale) -> Table:
    lines: list[tuple[str, str | Text]] = [
        ("檯 Table", Text(history.table_id, style="bold")),
        ("牌靴 Shoe · 局 Round", f"{history.scope.shoe} · {history.scope.round}"),
        ("狀態 Status", Text(words.ROUND_STATUSES[shown.status], style="bold")),
    ]
    if shown.play:
        lines.append(("開局 Opened", scale.moment(shown.play.opened_at)))
    if shown.fact:
        lines += _outcome(shown.fact, scale)
    return words.columns(lines)


def _outcome(fact: RoundFact, scale: Scale) -> list[tuple[str, str | Text]]:
    pairs = [
        name for name, is_there in (("閒對 player", fact.player_pair), ("莊對 banker", fact.banker_pair)) if is_there
    ]
    called = words.outcome(fact.called_outcome)
    if fact.outcome and fact.called_outcome and fact.called_outcome != fact.outcome:
        called = Text.assemble("✗ ", called)
    return [
        ("種類 Kind", "示範 demonstration" if fact.kind == "demonstration" else "正式 live"),
        ("時間 Time", f"{scale.moment(fact.opened_at)} – {scale.time(fact.closed_at)}"),
        ("停止下注 No more bets", scale.time(fact.betting_closed_at)),
        ("荷官 Dealer", fact.dealer_id or "—"),
        ("設定 Configuration", fact.configuration_id or "— 未公布 none published"),
        ("結果 Outcome, art. 11", words.outcome(fact.outcome)),
        ("宣布 Called", called),
        ("例牌 Natural · 對子 Pairs", f"{'有 yes' if fact.natural else '無 no'} · {', '.join(pairs) or '無 none'}"),
        ("作廢原因 Void because", words.safe(fact.void_reason) or "—"),
        (f"注額 Handle ({scale.currency})", scale.money(fact.handle)),
        (f"莊家贏 House win ({scale.currency})", scale.money(fact.house_win)),
    ]


def hands_drawn(shown: ShownRound) -> Table:
    """Return both hands: each card with its points, the total, and what art. 9 asked for."""
    table = words.plain_table(
        "手 Hand", "牌 Cards (點 points)", "點 Total", "第三張 Third card, art. 9", right=["點 Total"]
    )
    for name, hand in shown.hands.items():
        dealt = "  ".join(f"{words.cards([card])} ({POINTS[card]})" for card in hand.cards) or "—"
        table.add_row(words.outcome(name), dealt, str(hand.total), _third(hand.third))
    return table


def _third(third: ThirdCard | None) -> Text:
    if third is None:
        return Text("—")
    asked = f"{third.item}: " + ("應增牌 to draw" if third.due else "不增牌 to stand")
    if third.drew is None:
        return Text(f"{asked}, 未派 not dealt yet")
    if third.is_wrong:
        return Text(f"✗ {asked}, {'卻增牌 but drew' if third.drew else '卻未增牌 but stood'}", style=words.RED)
    return Text(asked)


def stakes_drawn(bets: list[BetState], scale: Scale) -> Table:
    """Return the stakes of a round in play, with what was moved for them so far."""
    amounts = ("注額 Stake", "已派 Paid", "已收 Collected")
    table = words.plain_table("座 Seat", "客 Patron", "注 Bet", *amounts, "", right=amounts)
    for bet in bets:
        marks = [
            mark
            for mark, is_so in (
                ("企 standing", bet.posture == "standing"), ("留注 carried", bet.carried), ("遲注 late", bet.late),
            )
            if is_so
        ]  # fmt: skip
        amount = (scale.money(bet.stake), scale.money(bet.paid), scale.money(bet.collected))
        table.add_row(str(bet.seat), bet.patron_id or "—", words.bet(bet.bet), *amount, ", ".join(marks))
    return table


def _bets(bets: list[BetFact], scale: Scale) -> Table:
    amounts = ("注額\nStake", "應派\nDue", "已派\nPaid", "已收\nTaken", "佣金\nComm.", "客淨\nNet")
    table = words.plain_table("座\nSeat", "客\nPatron", "注\nBet", "結果\nResult", *amounts, right=amounts)
    for bet in bets:
        table.add_row(
            str(bet.seat),
            bet.patron_id or "—",
            words.bet(bet.bet) + (" (留注 carried)" if bet.carried else ""),
            words.RESULTS[bet.result],
            scale.money(bet.stake),
            scale.money(bet.due),
            _moved(bet.paid, bet.due, bet, scale),
            _moved(bet.collected, bet.stake if bet.result == "lose" else 0, bet, scale),
            _moved(bet.commission, bet.commission_due, bet, scale),
            scale.money(bet.net),
        )
    return table


def _moved(amount: int, due: int, bet: BetFact, scale: Scale) -> Text:
    """Return an amount the table recorded; one that the rules give otherwise is marked, with what was due."""
    if amount == due or bet.result == "unknown":
        return Text(scale.money(amount))
    return Text(f"✗ {scale.money(amount)} ({scale.money(due)})", style=words.RED)


def _evidence(lines: list[EvidenceLine], scale: Scale) -> Table:
    table = words.plain_table(
        "位置 Offset", "事件 Event", "時間 Time", "種類 Type", "內容 Fields", right=["位置 Offset"]
    )
    for line in lines:
        event = line.seen.event
        what = Text(words.safe(_fields(event)))
        if line.refused:
            what.append(f"\n✗ 不採用 refused: {line.refused}", style=words.RED)
        for made in line.corrections:
            by = f"{made.event_id}: {words.safe(made.reason)} ({made.authorised_by})"
            what.append(f"\n更正 {made.action} by {by}", style=words.AMBER)
        table.add_row(str(line.seen.record.offset), event.event_id, scale.time(event.occurred_at), event.type, what)
    return table


def _fields(event: Event) -> str:
    """Return what an event says beyond its identity, its moment and its round."""
    fields = msgspec.to_builtins(event)
    return " ".join(
        f"{name}={value}" for name, value in fields.items() if name not in _NOT_REPEATED and value is not None
    )
