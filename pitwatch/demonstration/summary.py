"""What a demonstration leaves on the terminal: the money, what was found of what went wrong, and where to look on."""

from collections.abc import Sequence
from decimal import Decimal
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from pitwatch.counting import counted
from pitwatch.demonstration.expectation import STAKED_SQL, Expected, Staked, expected_wins, together
from pitwatch.floor_model import Floor, TableLine
from pitwatch.floor_words import BAD, DIM, GOOD, MARKS, amount, percent, signed
from pitwatch.scoring import Score
from producers.simulator import SimulatedTable
from schemas.alerts import ALERTS
from schemas.money import to_decimal

if TYPE_CHECKING:
    from processors.store.port import Store

MOST_LINES: Final = 20
"""Tables, and disagreements, that are listed; of more, the first so many."""

MONEY_SQL: Final = """
SELECT currency, count() AS rounds, sum(bets) AS bets, sum(handle) AS handle, sum(house_win) AS house_win,
    sum(commission_due) AS commission
FROM rounds
WHERE kind = 'live'
GROUP BY currency
ORDER BY currency
"""

LOOK_SQL: Final = (
    "SELECT table_id, count() AS rounds, sum(handle), sum(house_win),"
    " round(toFloat64(sum(house_win)) / toFloat64(sum(handle)), 4) AS hold"
    " FROM rounds WHERE kind = 'live' GROUP BY table_id ORDER BY table_id"
)


class StoredMoney(msgspec.Struct, frozen=True):
    """A row of `MONEY_SQL`: a currency's sums over live rounds, in whole units."""

    currency: str
    rounds: int
    bets: int
    handle: Decimal
    house_win: Decimal
    commission: Decimal


class Summary(NamedTuple):
    """What came of a demonstration. `stored` are the sums that the store gives, `told` those of the facts."""

    floor: Floor
    tables: Sequence[SimulatedTable]
    score: Score
    stored: list[StoredMoney]
    told: list[StoredMoney]
    expected: dict[str, Expected]
    events: int
    repeats: int
    seconds: float

    @property
    def money_agrees(self) -> bool:
        """Whether the store's money is the facts', to the cent."""
        return self.stored == self.told

    @property
    def good(self) -> bool:
        """Whether everything was found, nothing else was, and the money is the same in both places."""
        return self.score.agrees and self.money_agrees


def money_told(floor: Floor) -> list[StoredMoney]:
    """Return the floor's sums as the store's query would put them."""
    return [
        StoredMoney(
            currency,
            sum(len(line.rounds) for line in floor.tables.values() if line.currency == currency),
            sum(line.bets for line in floor.tables.values() if line.currency == currency),
            to_decimal(money.handle, currency),
            to_decimal(money.house_win, currency),
            to_decimal(money.commission_due, currency),
        )
        for currency, money in sorted(floor.totals().items())
    ]


def ask_store(store: "Store", tables: Sequence[SimulatedTable]) -> tuple[list[StoredMoney], dict[str, Expected]]:
    """Return the store's own sums, and what each table should have won of what the store says was staked."""
    configurations = {table.table_id: table.configuration for table in tables}
    stored = store.rows(MONEY_SQL, StoredMoney)
    return stored, expected_wins(store.rows(STAKED_SQL, Staked), configurations)


# -- printing --------------------------------------------------------------------------------------------------------


def print_summary(console: Console, summary: Summary, directory: Path) -> None:
    """Print the whole summary."""
    floor = summary.floor
    console.rule(Text("模擬場總結 Summary of the simulated floor", "bold"), align="left")
    console.print(
        f"{len(floor.tables):,} 檯 tables · {floor.rounds:,} 局 rounds · {floor.bets:,} 注 bets · "
        f"{summary.events:,} 事件 events ({summary.repeats:,} 重複 repeats) · {summary.seconds:.1f} s",
        soft_wrap=not console.is_terminal,
    )
    if floor.dead_letters:
        console.print(f"{len(floor.dead_letters):,} 無法使用之訊息 messages could not be used (view dead_letters)")
    console.print()
    console.print(_tables(summary))
    console.print()
    if floor.alerts or summary.score.labels:
        console.print(_codes(summary))
        console.print()
    for line in (*_agreement(summary), *_disagreements(summary.score), _money_line(summary)):
        # A file or a pipe has no margin to wrap at.
        console.print(line, soft_wrap=not console.is_terminal)
    _print_commands(console, summary, directory)


def _tables(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    table.add_column("檯\nTable", no_wrap=True)
    for heading in (
        "局\nRounds", "注額\nHandle", "贏額\nWin", "贏÷注\nHold", "理論\nTheory", "95 %\nband", "警報\nAlerts"
    ):  # fmt: skip
        table.add_column(heading, justify="right", no_wrap=True)
    lines = summary.floor.lines()
    for line in lines[:MOST_LINES]:
        table.add_row(line.table_id, *_sums([line], summary))
    if len(lines) > MOST_LINES:
        table.add_row(Text(f"+ {len(lines) - MOST_LINES} 檯 more", DIM))
    for currency in summary.floor.totals():
        table.add_section()
        of_currency = [line for line in lines if line.currency == currency]
        table.add_row(Text(f"總計 {currency}", "bold"), *_sums(of_currency, summary), style="bold")
    return table


def _sums(lines: Sequence[TableLine], summary: Summary) -> list[str | Text]:
    money, currency = lines[0].money, lines[0].currency
    for line in lines[1:]:
        money += line.money
    expected = together(summary.expected.get(line.table_id, Expected()) for line in lines)
    low, high = expected.band
    outside = bool(currency) and not low <= to_decimal(money.house_win, currency) <= high
    return [
        f"{sum(len(line.rounds) for line in lines):,}",
        amount(money.handle, currency),
        signed(money.house_win, currency),
        percent(money.hold),
        f"{float(expected.win):+,.0f}",
        Text(f"±{(high - low) / 2:,.0f}{' !' if outside else ''}", BAD if outside else DIM),
        f"{sum(len(line.alerts) for line in lines):,}",
    ]


def _codes(summary: Summary) -> Table:
    table = Table(box=None, pad_edge=False, padding=(0, 1, 0, 0), header_style="bold")
    for heading in ("警報\nAlert", "級別\nSeverity", "條文\nArticle"):
        table.add_column(heading, no_wrap=True)
    for heading in ("找到\nFound", "漏\nMissed", "意外\nUnexpected"):
        table.add_column(heading, justify="right", no_wrap=True)
    for line in summary.score.by_code():
        kind, mark = ALERTS[line.code], MARKS[ALERTS[line.code].severity]
        table.add_row(
            line.code,
            Text(f"{mark.symbol} {mark.zh} {mark.en}", mark.colour),
            kind.article,
            f"{line.found}",
            Text(f"{line.missed}", f"bold {BAD}" if line.missed else DIM),
            Text(f"{line.unexpected}", f"bold {BAD}" if line.unexpected else DIM),
        )
    return table


def _agreement(summary: Summary) -> list[Text]:
    score = summary.score
    clean = {table.table_id for table in summary.tables if table.deviations is None and not table.telemetry.lost}
    raised = sum(alert.table_id in clean for alert in score.unexpected)
    return [
        _verdict(
            not score.missed,
            f"故意偏差 {score.labels:,} 宗，漏報 {len(score.missed):,} 宗",
            f"{counted(score.labels, 'deviation')} done on purpose; {counted(len(score.missed), 'alert')} missed of"
            f" {len(score.found) + len(score.missed):,} due",
        ),
        _verdict(
            not score.unexpected,
            f"意外警報 {len(score.unexpected):,} 宗，無偏差之 {len(clean):,} 檯 {raised:,} 宗",
            f"{counted(len(score.unexpected), 'unexpected alert')}, {raised:,} at the"
            f" {counted(len(clean), 'clean table')}",
        ),
    ]


def _disagreements(score: Score) -> list[Text]:
    lines = [
        Text(
            f"  漏 missed {claim.code}: {claim.label.table_id} 靴 shoe {claim.label.shoe} 局 round {claim.label.round}"
            f" ({claim.label.event_id}): {claim.label.description}",
            BAD,
        )
        for claim in score.missed
    ]
    lines += [
        Text(
            f"  意外 unexpected {alert.code}: {alert.table_id} 靴 shoe {alert.shoe} 局 round {alert.round}"
            f" ({', '.join(alert.evidence.event_ids)}): {alert.text_en}",
            BAD,
        )
        for alert in score.unexpected
    ]
    more = len(lines) - MOST_LINES
    return [*lines[:MOST_LINES], *([Text(f"  + {more:,} more", DIM)] if more > 0 else [])]


def _money_line(summary: Summary) -> Text:
    sums = "; ".join(
        f"{money.currency} handle {money.handle:,.2f}, win {money.house_win:+,.2f}, commission {money.commission:,.2f}"
        for money in summary.stored
    )
    if summary.money_agrees:
        return _verdict(True, "資料庫與事實一致", f"the store's money is the facts' to the cent: {sums or 'none'}")
    told = "; ".join(f"{money.currency} {money.handle:,.2f}, {money.house_win:+,.2f}" for money in summary.told)
    return _verdict(False, "資料庫與事實不符", f"the store says {sums or 'nothing'}; the facts say {told or 'nothing'}")


def _verdict(good: bool, chinese: str, english: str) -> Text:
    return Text.assemble(("✓ 合 " if good else "✗ 不合 ", f"bold {GOOD if good else BAD}"), f"{chinese} · {english}")


def _print_commands(console: Console, summary: Summary, directory: Path) -> None:
    where = f"--data {quote(str(directory))}"
    lines = summary.floor.lines()
    table_id = max(lines, key=lambda line: len(line.alerts)).table_id if lines else "TABLE"
    console.print()
    console.print(Text("接著看 Look further", "bold"))
    for command in (
        f'pitwatch sql "{LOOK_SQL}" {where}',
        f"pitwatch show {table_id} {where}",
        f"pitwatch replay --check {where}",
    ):
        console.print(Text(f"  {command}"), soft_wrap=True)
