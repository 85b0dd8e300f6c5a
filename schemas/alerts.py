"""The alert catalogue: every deviation Pitwatch names, how grave it is, which rule it breaks and how it reads.

`zh` and `en` are templates over a fact's own fields: ``{expected}``, ``{actual}``, ``{card}``, ``{bet}``.
"""

from typing import Final, Literal, NamedTuple

Severity = Literal["info", "warning", "serious", "critical"]
SEVERITIES: Final[tuple[Severity, ...]] = ("info", "warning", "serious", "critical")


class AlertKind(NamedTuple):
    """One deviation: its severity, the article or rule it comes from, and its text in both languages."""

    severity: Severity
    article: str
    zh: str
    en: str


ALERTS: Final[dict[str, AlertKind]] = {
    # Cards (arts. 2, 3, 7, 9, 10, 11)
    "third_card_drawn": AlertKind(
        "serious", "9", "不應增牌而增牌（應為 {expected}）", "Third card drawn against the rule {expected}"
    ),
    "third_card_missed": AlertKind(
        "serious", "9", "應增牌而未增牌（{expected}）", "Third card not drawn as {expected} demands"
    ),
    "natural_ignored": AlertKind(
        "serious", "9(2)", "例牌後仍增牌（{expected}）", "Card drawn after a natural ({expected})"
    ),
    "deal_order": AlertKind(
        "serious",
        "7(1)",
        "派牌次序錯誤：應派 {expected}，實派 {actual}",
        "Dealt out of order: {expected} was next, {actual} got the card",
    ),
    "result_mismatch": AlertKind(
        "critical",
        "11",
        "宣布結果與牌不符：牌為 {expected}，宣布 {actual}",
        "Called {actual} where the cards say {expected}",
    ),
    "uncorrected_round_paid": AlertKind(
        "critical", "10", "錯誤未更正而已派彩", "Round paid although its dealing error was not corrected"
    ),
    "excess_copies": AlertKind(
        "critical",
        "1",
        "{card} 出現 {actual} 張，最多 {expected} 張",
        "{card} seen {actual} times; the shoe holds {expected}",
    ),
    # Money (arts. 10, 17, 18)
    "overpaid": AlertKind(
        "critical", "17", "{bet} 多派：應派 {expected}，實派 {actual}", "{bet} overpaid: due {expected}, paid {actual}"
    ),
    "underpaid": AlertKind(
        "serious", "17", "{bet} 少派：應派 {expected}，實派 {actual}", "{bet} underpaid: due {expected}, paid {actual}"
    ),
    "losing_bet_paid": AlertKind("critical", "17", "輸注 {bet} 獲派彩 {actual}", "Losing {bet} paid {actual}"),
    "push_paid": AlertKind("critical", "12", "和注 {bet} 獲派彩 {actual}", "Pushed {bet} paid {actual}"),
    "winning_bet_unpaid": AlertKind(
        "serious", "17", "贏注 {bet} 未派彩：應派 {expected}", "Winning {bet} not paid: due {expected}"
    ),
    "losing_stake_not_collected": AlertKind(
        "critical",
        "17",
        "輸注 {bet} 應收 {expected}，實收 {actual}",
        "Losing {bet} not collected: due {expected}, collected {actual}",
    ),
    "stake_wrongly_collected": AlertKind(
        "serious",
        "17",
        "{bet} 多收：應收 {expected}，實收 {actual}",
        "{bet} over-collected: due {expected}, collected {actual}",
    ),
    "commission_missing": AlertKind("serious", "18", "漏收佣金：應收 {expected}", "Commission missing: due {expected}"),
    "commission_wrong": AlertKind(
        "serious",
        "18",
        "佣金錯誤：應收 {expected}，實收 {actual}",
        "Commission wrong: due {expected}, charged {actual}",
    ),
    "commission_unsettled": AlertKind(
        "warning", "18", "座位 {actual} 尚欠佣金 {expected}", "Position {actual} still owes commission of {expected}"
    ),
    "void_round_paid": AlertKind(
        "critical", "10", "作廢局 {bet} 有派彩或收注 {actual}", "{bet} paid or collected {actual} in a void round"
    ),
    "float_unexplained": AlertKind(
        "critical",
        "COMAR 36.05.03.02",
        "檯面籌碼應為 {expected}，實點 {actual}",
        "Float counted {actual} where the records give {expected}",
    ),
    # Bets (arts. 12, 13, 14, 15, 16 and the house's limits)
    "late_bet": AlertKind(
        "critical", "13", "停止下注後下注 {bet} {actual}", "Bet of {actual} on {bet} after betting closed"
    ),
    "late_increase": AlertKind(
        "critical",
        "13",
        "停止下注後加注 {bet}：{expected} → {actual}",
        "{bet} raised from {expected} to {actual} after betting closed",
    ),
    "late_decrease": AlertKind(
        "critical",
        "13",
        "停止下注後減注 {bet}：{expected} → {actual}",
        "{bet} lowered from {expected} to {actual} after betting closed",
    ),
    "late_move": AlertKind(
        "critical",
        "13",
        "停止下注後移注：{expected} → {actual}",
        "Bet moved from {expected} to {actual} after betting closed",
    ),
    "below_minimum": AlertKind(
        "warning",
        "SJM",
        "{bet} 低於最低注：最低 {expected}，下注 {actual}",
        "{bet} below the minimum {expected}: {actual}",
    ),
    "above_maximum": AlertKind(
        "serious",
        "SJM",
        "{bet} 超過最高注：最高 {expected}，下注 {actual}",
        "{bet} above the maximum {expected}: {actual}",
    ),
    "stake_not_multiple": AlertKind(
        "warning",
        "SJM",
        "{bet} 應為 {expected} 之倍數，下注 {actual}",
        "{bet} must be a multiple of {expected}: {actual}",
    ),
    "differential_exceeded": AlertKind(
        "serious",
        "14",
        "莊閒注額相差 {actual}，限紅 {expected}",
        "Player and banker stakes differ by {actual}; the limit is {expected}",
    ),
    "both_sides": AlertKind("warning", "wiki", "同一客人同時下注莊閒", "One patron bets both sides"),
    "side_bet_alone": AlertKind("warning", "wiki", "{bet} 未附同門主注", "{bet} without a bet on a side"),
    "bet_not_offered": AlertKind("serious", "13", "本檯未提供 {bet}", "{bet} is not on offer at this table"),
    "reserved_place": AlertKind(
        "warning",
        "15",
        "企位客人於座位 {actual} 專用位置下注",
        "Standing patron bets on the place reserved for seat {actual}",
    ),
    "tie_change_forbidden": AlertKind(
        "serious", "12", "和局後不得改注：{actual}", "Change not allowed after a tie: {actual}"
    ),
    "holder_not_highest": AlertKind(
        "warning",
        "16",
        "持牌者座位 {actual} 並非最大注者（座位 {expected}）",
        "Seat {actual} holds the cards though seat {expected} bet most",
    ),
    # Shoe procedure (arts. 1, 2, 3) and options (art. 19)
    "shoe_refused": AlertKind(
        "serious", "1", "牌靴用牌 {actual} 副，應為 {expected}", "Shoe of {actual} decks where {expected} is allowed"
    ),
    "cut_depth": AlertKind(
        "warning",
        "2(1)",
        "白咭後僅 {actual} 張，最少 {expected} 張",
        "Cut card {actual} cards from the end; at least {expected} are required",
    ),
    "burn_count": AlertKind(
        "warning", "2(1)", "銷牌 {actual} 張，應為 {expected} 張", "Burned {actual} cards; {expected} were due"
    ),
    "shoe_not_cut": AlertKind("warning", "2(1)", "未割牌即開局", "Shoe played without a cut"),
    "demonstrations_exceeded": AlertKind(
        "warning",
        "2(2)",
        "示範 {actual} 局，最多 {expected} 局",
        "{actual} demonstration rounds; {expected} are allowed",
    ),
    "demonstration_after_play": AlertKind(
        "warning", "2(2)", "開局後示範", "Demonstration after live rounds of the shoe"
    ),
    "bet_in_demonstration": AlertKind(
        "serious", "2(2)", "示範局下注 {bet} {actual}", "Bet of {actual} on {bet} in a demonstration round"
    ),
    "round_after_cut_card": AlertKind(
        "serious",
        "3(1)",
        "白咭後多開 {actual} 局，最多 {expected} 局",
        "{actual} rounds after the cut card; {expected} are allowed",
    ),
    "shoe_changed_in_round": AlertKind(
        "serious", "3(2)", "牌局進行中更換派牌盒", "Shoe changed while a round was in play"
    ),
    "burned_in_round": AlertKind("warning", "8", "派牌後銷牌", "Card burned after the round's cards were out"),
    "void_without_error": AlertKind("warning", "4", "陽反牌並非取消之由", "Round cancelled for a card found face up"),
    "option_without_approval": AlertKind(
        "serious", "19", "未獲許可採用選項：{actual}", "Option used without approval: {actual}"
    ),
    # Telemetry
    "telemetry_gap": AlertKind("warning", "telemetry", "缺少事件 {actual}", "Events missing: {actual}"),
    "clock_skew": AlertKind(
        "warning", "telemetry", "時鐘偏差 {actual}（容許 {expected}）", "Clock off by {actual} (tolerance {expected})"
    ),
    "table_silent": AlertKind(
        "serious", "telemetry", "檯面無訊號 {actual}（上限 {expected}）", "Table silent for {actual} (limit {expected})"
    ),
    "round_incomplete": AlertKind(
        "info", "telemetry", "本局資料不全，不作判定", "Round not fully seen; no verdict on it"
    ),
    "controller_replaced": AlertKind(
        "serious",
        "telemetry",
        "控制器重新編號：啟動次數 {actual}，先前已為 {expected}；其訊息不予採用，請設為高於 {expected}",
        "Controller numbers from boot {actual} though boot {expected} was heard: its events are refused;"
        " give it a boot count above {expected}",
    ),
    "round_left_open": AlertKind(
        "warning", "telemetry", "本局未結束，檯面已繼續進行", "Round never closed, though the table went on"
    ),
    "configuration_unknown": AlertKind(
        "serious",
        "telemetry",
        "本局按配置 {actual} 進行，最後發布者為 {expected}：涉及配置者不作判定",
        "Dealt under configuration {actual} where {expected} was published last: nothing that rests on it is judged",
    ),
    "correction_recorded": AlertKind("info", "10", "主管更正：{actual}", "Supervisor's correction: {actual}"),
}

RESTS_ON_CONFIGURATION: Final = frozenset({
    "overpaid", "underpaid", "winning_bet_unpaid", "commission_missing", "commission_wrong", "commission_unsettled",
    "below_minimum", "above_maximum", "stake_not_multiple", "differential_exceeded", "both_sides", "side_bet_alone",
    "bet_not_offered", "tie_change_forbidden", "holder_not_highest", "cut_depth", "burn_count",
    "demonstrations_exceeded", "round_after_cut_card", "option_without_approval",
})  # fmt: skip
"""Deviations from what a table's configuration says; the others break the regulation under any configuration."""
