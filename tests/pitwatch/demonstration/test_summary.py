"""What is said at the end: every figure, every disagreement, and verdicts that don't need colour."""

import io
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from rich.console import Console

from pitwatch.demonstration.expectation import Expected
from pitwatch.demonstration.summary import MOST_LINES, StoredMoney, Summary, money_told, print_summary
from pitwatch.floor_model import Floor
from pitwatch.scoring import score
from producers.simulator import Label, simulated_table
from producers.simulator.settings import Deviations, Telemetry
from schemas.facts import Fact
from tests.pitwatch.floor_facts import NOON, alert_fact, dead_letter, label, round_fact


def summary_of(*facts: Fact, labels: tuple[Label, ...] = (), stored: list[StoredMoney] | None = None) -> Summary:
    floor = Floor()
    floor.take(facts, 0.0)
    told = money_told(floor)
    return Summary(
        floor=floor,
        tables=[
            simulated_table(0, NOON.date(), None, Telemetry()),
            simulated_table(1, NOON.date(), Deviations(), Telemetry()),
        ],
        score=score(labels, floor.alerts.values()),
        stored=told if stored is None else stored,
        told=told,
        expected={"BAC-101": Expected(Fraction(123), 1000.0, 9)},
        events=4321,
        repeats=21,
        seconds=12.34,
    )


def printed(summary: Summary, directory: Path = Path("data/demo")) -> str:
    console = Console(file=io.StringIO(), width=100, record=True)
    print_summary(console, summary, directory)
    return console.export_text(styles=False)


def test_money_is_told_by_currency_in_whole_units() -> None:
    floor = Floor()
    floor.take(
        [
            round_fact(handle=1050, house_win=-25, commission_due=5, bets=2),
            round_fact("BAC-102", handle=300, currency="MOP", bets=1),
        ],
        0.0,
    )
    assert money_told(floor) == [
        StoredMoney("HKD", 1, 2, Decimal("10.50"), Decimal("-0.25"), Decimal("0.05")),
        StoredMoney("MOP", 1, 1, Decimal("3.00"), Decimal(0), Decimal(0)),
    ]


def test_an_agreeing_floor_is_good_and_says_so() -> None:
    summary = summary_of(
        round_fact(handle=100_000, house_win=5_000, bets=3), alert_fact("overpaid"), labels=(label("overpaid"),)
    )
    text = printed(summary)
    assert summary.good
    assert "1 檯 tables · 1 局 rounds · 3 注 bets · 4,321 事件 events (21 重複 repeats) · 12.3 s" in text
    assert text.count("✓ 合") == 3
    assert "✗" not in text
    assert "1 deviation done on purpose; 0 alerts missed of 1 due" in text
    assert "HKD handle 1,000.00, win +50.00, commission 0.00" in text
    for shown in ("overpaid", "■ 危急 critical", "+123", "±1,960", "+5.00 %"):
        assert shown in text


def test_a_win_that_chance_hardly_explains_is_marked() -> None:
    assert "±1,960 !" in printed(summary_of(round_fact(handle=10_000_000, house_win=900_000)))


def test_missed_and_unexpected_alerts_are_listed_with_their_places() -> None:
    summary = summary_of(alert_fact("late_bet", round=4), labels=(label("overpaid", table_id="BAC-102", round=9),))
    text = printed(summary)
    assert not summary.good
    assert text.count("✗ 不合") == 2
    assert "漏 missed overpaid: BAC-102 靴 shoe 1 局 round 9 (BAC-102:1:9): done on purpose: overpaid" in text
    assert "意外 unexpected late_bet: BAC-101 靴 shoe 1 局 round 4 (): English late_bet" in text
    assert "1 unexpected alert, 1 at the 1 clean table" in text


def test_of_many_disagreements_the_first_are_listed_and_the_others_counted() -> None:
    text = printed(summary_of(*(alert_fact("late_bet", round=number) for number in range(1, MOST_LINES + 6))))
    assert text.count("意外 unexpected") == MOST_LINES
    assert "+ 5 more" in text


def test_money_that_differs_is_said_and_is_not_good() -> None:
    stored = [StoredMoney("HKD", 1, 0, Decimal("9.99"), Decimal(0), Decimal(0))]
    summary = summary_of(round_fact(handle=1000), stored=stored)
    assert not summary.good
    assert "the store says HKD handle 9.99, win +0.00, commission 0.00; the facts say HKD 10.00, +0.00" in printed(
        summary
    )


def test_a_floor_on_which_nothing_happened_is_no_trouble() -> None:
    text = printed(summary_of())
    assert "0 檯 tables" in text
    assert "to the cent: none" in text


def test_many_tables_are_cut_short() -> None:
    text = printed(summary_of(*(round_fact(f"BAC-{number}") for number in range(101, 125))))
    assert "BAC-120" in text
    assert "BAC-121" not in text
    assert "+ 4 檯 more" in text


def test_unusable_messages_are_counted() -> None:
    assert "2 無法使用之訊息" in printed(summary_of(dead_letter(1), dead_letter(2)))


def test_commands_to_look_further_name_the_directory_as_a_shell_takes_it() -> None:
    text = printed(summary_of(round_fact(), alert_fact("overpaid", "BAC-102")), Path("my data/demo"))
    assert "pitwatch show BAC-102 --data 'my data/demo'" in text
    assert any(line.endswith("ORDER BY table_id\" --data 'my data/demo'") for line in text.splitlines())
