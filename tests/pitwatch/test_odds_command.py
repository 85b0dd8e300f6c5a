"""`pitwatch odds`: published counts and edges through the command, its JSON, its table, and what it refuses."""

import json
from fractions import Fraction
from math import sqrt
from pathlib import Path
from typing import Any

import pytest
import typer
from rich.cells import cell_len
from typer.testing import CliRunner

from pitwatch.commands.odds import MAX_DECKS, odds
from schemas.catalogue import CATALOGUE

runner = CliRunner()
app = typer.Typer()
app.command()(odds)


def answer(*arguments: str) -> dict[str, Any]:
    result = runner.invoke(app, [*arguments, "--json"])
    assert result.exit_code == 0, result.output
    plain: dict[str, Any] = json.loads(result.stdout)
    return plain


@pytest.fixture(scope="module")
def eight_decks() -> dict[str, Any]:
    return answer()


def test_eight_decks_fall_as_published(eight_decks: dict[str, Any]) -> None:
    """The counts that every source on baccarat gives for eight decks."""
    assert eight_decks["combinations"] == {
        "total": 4_998_398_275_503_360,
        "banker": 2_292_252_566_437_888,
        "player": 2_230_518_282_592_256,
        "tie": 475_627_426_473_216,
    }


@pytest.mark.parametrize(
    ("bet", "edge_percent", "deviation"),
    [
        ("banker", "1.0579", 0.92737), ("player", "1.2351", 0.95115), ("tie", "14.3596", 2.64087),
        ("player_pair", "10.3614", 3.15486), ("banker_pair", "10.3614", 3.15486),
        ("banker_commission_free", "1.4581", 0.92964), ("lucky_six", "16.6836", 3.59564),
    ],
)  # fmt: skip
def test_edges_and_deviations_are_those_published(
    eight_decks: dict[str, Any], bet: str, edge_percent: str, deviation: float
) -> None:
    found = eight_decks["bets"][bet]
    assert f"{float(100 * Fraction(found['house_edge'])):.4f}" == edge_percent
    assert found["standard_deviation"] == pytest.approx(deviation, abs=5e-6)


@pytest.mark.parametrize("decks", [6, 8])
def test_counts_of_other_sources_are_met(vectors: Path, decks: int) -> None:
    known = json.loads((vectors / "exact_counts.json").read_text())[str(decks)]
    found = answer("--decks", str(decks))
    assert found["combinations"] == {name: known[name] for name in ("total", "banker", "player", "tie")}
    total = known["total"]
    for bet, payout, name in (
        ("small_six", "22", "banker_win_6_2card"), ("big_six", "50", "banker_win_6_3card"),
        ("dragon_seven", "40", "dragon7"), ("panda_eight", "25", "panda8"), ("tiger_tie", "35", "tie6"),
        ("small", "3/2", "cards_4"), ("super_lucky_seven", "100", "super_lucky7_p7b6_both3"),
    ):  # fmt: skip
        assert Fraction(found["bets"][bet]["probabilities"][payout]) == Fraction(known[name], total), bet


def test_every_bet_has_exact_odds_that_agree_with_each_other(eight_decks: dict[str, Any]) -> None:
    assert list(eight_decks["bets"]) == list(CATALOGUE)
    assert len(eight_decks["bets"]) == 25
    assert "notes" not in eight_decks
    for bet, found in eight_decks["bets"].items():
        shares = {Fraction(payout): Fraction(share) for payout, share in found["probabilities"].items()}
        mean = sum(payout * share for payout, share in shares.items())
        square = sum(payout**2 * share for payout, share in shares.items())
        assert sum(shares.values()) == 1, bet
        assert Fraction(found["house_edge"]) == -mean, bet
        assert found["standard_deviation"] == pytest.approx(sqrt(square - mean**2)), bet


def test_payouts_are_whole_numbers_or_fractions_and_probabilities_always_fractions(eight_decks: dict[str, Any]) -> None:
    bets = eight_decks["bets"]
    assert list(bets["banker"]["probabilities"]) == ["19/20", "0", "-1"]
    assert list(bets["big"]["probabilities"]) == ["27/50", "-1"]
    assert all(
        "/" in text for found in bets.values() for text in (found["house_edge"], *found["probabilities"].values())
    )


def test_removed_cards_change_the_shoe() -> None:
    """Without aces of spades two decks hold 102 cards, and six of them can be drawn so many ways."""
    found = answer("--decks", "2", "--removed", "AS, as")
    assert found["combinations"]["total"] == 102 * 101 * 100 * 99 * 98 * 97
    assert found["bets"]["perfect_pair"] is not None


def test_a_rank_alone_leaves_bets_on_suits_without_odds() -> None:
    found = answer("--removed", "A K")
    assert found["combinations"]["total"] == 414 * 413 * 412 * 411 * 410 * 409
    assert [bet for bet, value in found["bets"].items() if value is None] == ["perfect_pair"]
    assert list(found["notes"]) == ["perfect_pair"]
    assert "without its suit" in found["notes"]["perfect_pair"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["--removed", "AS,XX"], "'XX' is no card"),
        (["--decks", "1", "--removed", "AS,AS"], "AS is named 2 times; 1 × 52 cards hold 1"),
        (["--decks", "1", "--removed", "AS,A,A,A,A"], "A is named 5 times; 1 × 52 cards hold 4"),
        (["--decks", "0"], "--decks"),
        (["--decks", str(MAX_DECKS + 1)], "--decks"),
        (
            ["--decks", "1", "--removed", ",".join(f"{r}{s}" for s in "SHDC" for r in "A23456789TJQ")],
            "4 cards are left: a round may need 6",
        ),
    ],
)
def test_what_no_shoe_can_be_is_refused_with_exit_code_2(arguments: list[str], problem: str) -> None:
    result = runner.invoke(app, arguments, env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert problem in result.stderr
    assert result.stdout == ""


def test_the_table_names_every_bet_in_both_languages_and_fits_a_terminal() -> None:
    result = runner.invoke(app, [], env={"COLUMNS": "80"})
    assert result.exit_code == 0
    for bet in CATALOGUE.values():
        assert f"{bet.zh} {bet.en}" in result.stdout
    assert "8 副 decks · 已去 0 張 cards removed" in result.stdout
    assert "莊 Banker wins               2,292,252,566,437,888   45.8597 %" in result.stdout
    rows = {line.split()[0]: line.split() for line in result.stdout.splitlines() if line.startswith(("莊 ", "幸運六"))}
    assert rows["幸運六"][-6:] == ["12/20", "5.3864", "%", "16.6836", "%", "3.59564"]
    assert max(map(cell_len, result.stdout.splitlines())) <= 80


def test_a_bet_that_favours_the_patron_is_marked_with_a_word() -> None:
    """Without most low cards the players' ties come up often; colour alone would not say so."""
    gone = ",".join(f"{rank}{suit}" for rank in "A2345" for suit in "SHDC")
    result = runner.invoke(app, ["--decks", "1", "--removed", gone])
    assert result.exit_code == 0
    assert "客 -" in result.stdout
    assert "客人佔優 the patron has the edge" in result.stdout


def test_what_cannot_be_told_is_explained_below_the_table() -> None:
    result = runner.invoke(app, ["--removed", "A"])
    assert "完美對子 Perfect pair" in result.stdout
    assert "— 未知花色 can't be told: a card was removed without its suit" in result.stdout
