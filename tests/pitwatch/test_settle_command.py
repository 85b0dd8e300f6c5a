"""`pitwatch settle`: published settlements through the command, verdicts, totals, and lines that can't be settled."""

import json
from pathlib import Path
from typing import Any

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from pitwatch.commands.settle import MAX_LINE_BYTES, answer_line, read_lines, settle
from pitwatch.settling import MAX_BETS
from schemas.cards import CARDS
from schemas.catalogue import CATALOGUE

runner = CliRunner()
app = typer.Typer()
app.command()(settle)

# Hands that end with the outcome, for cases that name no cards.
WON_BY = {"B": ("2H KH", "7S KS"), "P": ("7H KH", "2S KS"), "T": ("7H KH", "7S KS")}
BETS = {"dragon7": "dragon_seven", "panda8": "panda_eight", "pair": "player_pair"}
RULESETS = {"ez": "banker_ez", "nocommission": "banker_commission_free"}
COMMISSIONS = {
    "5pct_commission_floor_cent": {"rounding": "down"},
    "5pct_round_up_25c_per_5usd_bracket": {"unit": 25, "rounding": "up"},
}


def line(player: str, banker: str, *bets: tuple[str, int], **more: object) -> dict[str, object]:
    placed = [{"bet": bet, "stake": stake} for bet, stake in bets]
    return {"player_cards": player.split(), "banker_cards": banker.split(), "bets": placed} | more


def settled(*lines: dict[str, object] | str) -> list[dict[str, Any]]:
    """Return the answers to lines that can all be settled."""
    result = runner.invoke(app, ["-"], input="".join(f"{json.dumps(one)}\n" for one in lines))
    assert result.exit_code == 0, result.output
    return [json.loads(answer) for answer in result.stdout.splitlines()]


def one_bet(player: str, banker: str, bet: str, stake: int, **more: object) -> dict[str, Any]:
    (answer,) = settled(line(player, banker, (bet, stake), **more))
    (found,) = answer["bets"]
    return dict(found)


def test_published_settlements_are_met(vectors: Path) -> None:
    cases = json.loads((vectors / "settlement.json").read_text())
    assert len(cases) == 19
    for case in cases:
        ruleset = case.get("ruleset", "")
        bet = RULESETS.get(ruleset, BETS.get(case["bet"], case["bet"]))
        commission = {"preset": "macau", "commission": COMMISSIONS.get(ruleset, {})}
        player, banker = WON_BY[case.get("outcome", "B")]
        player, banker = case.get("player", case.get("first_two", player)), case.get("banker", banker)
        if "commission_cents" in case:
            dollars = range(case["stake_usd_from"], case["stake_usd_to"] + 1)
            bets = [(bet, 100 * stake) for stake in dollars]
            (answer,) = settled(line(player, banker, *bets, configuration=commission))
            assert {found["commission"] for found in answer["bets"]} == {case["commission_cents"]}, case
            continue
        stake = case.get("stake_cents", case.get("stake"))
        found = one_bet(player, banker, bet, stake, configuration=commission)
        expected = case.get("net_cents", case.get("net", case.get("gross_return", 0) - stake))
        assert found["net"] == expected, case


def test_a_round_is_answered_with_verdicts_bets_and_totals() -> None:
    """Seven beats six: the player's 300 win, the banker's 100 are lost and are below the table's minimum."""
    (answer,) = settled(line("5H 2S", "6H KD", ("player", 30_000), ("banker", 10_000), ("tiger_tie", 500)))
    assert answer["line"] == 1
    assert answer["player_cards"] == ["5H", "2S"]
    assert answer["configuration"] == "macau"
    assert answer["verdicts"] == {
        "outcome": "player",
        "player_total": 7,
        "banker_total": 6,
        "natural": False,
        "player_natural": False,
        "banker_natural": False,
        "player_pair": False,
        "banker_pair": False,
        "player_perfect_pair": False,
        "banker_perfect_pair": False,
        "tableau_errors": [],
    }
    player, banker, tiger_tie = answer["bets"]
    assert player == {
        "bet": "player", "stake": 30_000, "offered": True, "result": "win", "item": "17(1)", "winnings": 30_000,
        "commission": 0, "net": 30_000, "inexact": False, "reason": None, "findings": [],
    }  # fmt: skip
    assert (banker["result"], banker["net"]) == ("lose", -10_000)
    below = {"code": "below_minimum", "article": "SJM(1)", "expected": 30_000, "actual": 10_000}
    assert banker["findings"] == [below]
    assert (tiger_tie["offered"], tiger_tie["result"], tiger_tie["findings"]) == (False, "lose", [])
    assert answer["totals"] == {
        "stakes": 40_500, "handle": 40_500, "house_win": -19_500, "commission": 0, "undecided": 0,
    }  # fmt: skip


def test_commission_is_five_per_cent_and_a_push_is_no_handle() -> None:
    """Art. 18: the banker's 1,000 win 950. Art. 12: on a tie stakes go back, and eight to one is paid on the tie."""
    won, tied = settled(
        line("2H KH", "7S KS", ("banker", 100_000)),
        line("7H KH", "7S KS", ("banker", 100_000), ("tie", 10_000)),
    )
    assert (won["bets"][0]["net"], won["bets"][0]["commission"], won["bets"][0]["item"]) == (95_000, 5_000, "18")
    assert won["totals"] == {
        "stakes": 100_000, "handle": 100_000, "house_win": -95_000, "commission": 5_000, "undecided": 0,
    }  # fmt: skip
    assert [bet["result"] for bet in tied["bets"]] == ["push", "win"]
    assert tied["totals"] == {
        "stakes": 110_000, "handle": 10_000, "house_win": -80_000, "commission": 0, "undecided": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("player", "banker", "errors"),
    [
        ("5H 5S", "6H KD", [("third_card_missed", "player", "9(1)", "draw", "stood")]),
        ("8H KS", "2H KD 3C", [("natural_ignored", "banker", "9(4)(6)", "stand", "drew")]),
        (
            "6H KS 2D", "5H KD 4C",
            [
                ("third_card_drawn", "player", "9(2)", "stand", "drew"),
                ("third_card_drawn", "banker", "9(4)(3)", "stand", "drew"),
            ],
        ),
        ("2H KS 8D", "3H KD", []),
    ],
)  # fmt: skip
def test_every_error_names_its_sub_item(player: str, banker: str, errors: list[tuple[str, ...]]) -> None:
    (answer,) = settled(line(player, banker))
    assert [tuple(error.values()) for error in answer["verdicts"]["tableau_errors"]] == errors


def test_pairs_and_naturals_are_told_and_unknown_suits_left_open() -> None:
    known, unknown = settled(line("4H 4H", "9S KS", ("perfect_pair", 100)), line("4 4", "9S KS", ("perfect_pair", 100)))
    assert (known["verdicts"]["player_perfect_pair"], known["verdicts"]["banker_natural"]) == (True, True)
    assert known["bets"][0]["net"] == 2500
    assert unknown["verdicts"]["player_pair"] is True
    assert unknown["verdicts"]["player_perfect_pair"] is None
    (bet,) = unknown["bets"]
    assert (bet["result"], bet["net"], bet["commission"]) == (None, None, None)
    assert "suits" in bet["reason"]
    assert unknown["totals"] == {"stakes": 100, "handle": 0, "house_win": 0, "commission": 0, "undecided": 100}


@pytest.mark.parametrize(
    ("sides", "mains", "net"),
    [
        (["player"], (), 1_200),
        (["banker", "player"], ("player",), 1_200),
        (["banker", "player"], ("banker_commission_free",), -100),
        (["banker", "player"], (), None),
        (["banker", "player"], ("player", "banker_commission_free"), None),
    ],
)
def test_lucky_six_goes_with_the_main_bet(sides: list[str], mains: tuple[str, ...], net: int | None) -> None:
    """Where a table takes it on both hands, a round without a single main bet can't say whose six it is on."""
    six = {"bet": "lucky_six", "minimum": 1, "maximum": 1_000_000, "sides": sides}
    offers = [{"bet": bet, "minimum": 1, "maximum": 1_000_000} for bet in mains]
    rules = {"preset": "commission_free", "configuration_id": "six", "bets": [*offers, six]}
    (told,) = settled(line("6D KC", "2S 3H", *((bet, 100) for bet in mains), ("lucky_six", 100), configuration=rules))
    bet = told["bets"][-1]
    assert bet["net"] == net
    assert ("main bet" in (bet["reason"] or "")) == (net is None)


def test_cards_may_be_written_with_symbols_and_t() -> None:
    (answer,) = settled(line("t♥ 9s", "th jd"))
    assert answer["player_cards"] == ["10H", "9S"]
    assert answer["banker_cards"] == ["10H", "JD"]


@pytest.mark.parametrize(
    ("bet", "stake", "configuration", "code"),
    [
        ("player", 29_999, "macau", "below_minimum"),
        ("tie", 3_000_001, "macau", "above_maximum"),
        ("banker", 40_000, "sjm", "stake_not_multiple"),
        ("player", 40_000, "sjm", None),
        ("lucky_six", 6_000, "commission_free", None),
    ],
)
def test_stakes_are_held_against_the_limits_of_the_configuration(
    bet: str, stake: int, configuration: str, code: str | None
) -> None:
    found = one_bet("7H KH", "2S KS", bet, stake, configuration=configuration)
    assert found["offered"] is True
    assert [finding["code"] for finding in found["findings"]] == ([code] if code else [])


def test_a_configuration_may_be_a_preset_with_changes_or_whole() -> None:
    four_per_cent = {"preset": "macau", "configuration_id": "vip", "commission": {"rate": "0.04"}}
    assert one_bet("2H KH", "7S KS", "banker", 100_000, configuration=four_per_cent)["commission"] == 4_000
    half = {"preset": "commission_free", "payout_rounding": {"rounding": "up"}}
    assert one_bet("2H KH", "6S KS", "banker_commission_free", 101, configuration=half)["net"] == 51
    offer = {"bet": "tie", "minimum": 100, "maximum": 1_000, "odds": ["9"]}
    whole = {"configuration_id": "nine", "bets": [offer]}
    (answer,) = settled(line("7H KH", "7S KS", ("tie", 100), ("banker", 100), configuration=whole))
    assert answer["configuration"] == "nine"
    assert [(bet["net"], bet["offered"]) for bet in answer["bets"]] == [(900, True), (0, False)]


def test_rounding_that_should_not_have_been_needed_is_marked() -> None:
    exact = {"preset": "macau", "commission": {"rounding": "exact"}}
    found = one_bet("2H KH", "7S KS", "banker", 1_111, configuration=exact)
    assert (found["commission"], found["inexact"]) == (55, True)


def test_offers_between_dates_need_a_gaming_day() -> None:
    offers = [
        {"bet": "tie", "minimum": 1, "maximum": 10, "odds": ["9"], "effective_until": "2024-03-31"},
        {"bet": "tie", "minimum": 1, "maximum": 10, "effective_from": "2024-04-01"},
    ]
    dated = {"configuration_id": "dated", "bets": offers}
    found = [
        one_bet("7H KH", "7S KS", "tie", 1, configuration=dated, day=day)["net"] for day in ("2024-03-31", "2024-04-01")
    ]
    assert found == [9, 8]
    answer = answer_line(1, json.dumps(line("7H KH", "7S KS", configuration=dated)).encode())
    assert answer["field"] == "day"
    assert "gaming day must be given" in str(answer["error"])


GOOD = json.dumps(line("5H 2S", "6H KD", ("player", 30_000)))


@pytest.mark.parametrize(
    ("bad", "field", "problem"),
    [
        ("", "", "Invalid JSON"),
        ("{", "", "Invalid JSON: EOF while parsing an object at column 1"),
        ("[]", "", "should be an object"),
        ('{"a": "\\ud800"}', "", "Invalid JSON"),
        (GOOD.replace("5H", "5X"), "player_cards[0]", "'5X' is no card"),
        (GOOD.replace('"5H"', "5"), "player_cards[0]", "valid string"),
        (GOOD.replace('"6H", ', ""), "banker_cards", "a hand is two or three cards, not 1"),
        (GOOD.replace('["5H", "2S"]', '["5H", "2S", "AS", "AS"]'), "player_cards", "two or three cards, not 4"),
        (GOOD.replace("30000", "0"), "bets[0].stake", "greater than or equal to 1"),
        (GOOD.replace("30000", "1.5"), "bets[0].stake", "valid integer"),
        (GOOD.replace("30000", '"30000"'), "bets[0].stake", "valid integer"),
        (GOOD.replace("30000", "true"), "bets[0].stake", "valid integer"),
        (GOOD.replace('"player"', '"players"'), "bets[0].bet", "'player'"),
        (GOOD.replace("stake", "steak"), "bets[0].stake", "required"),
        (GOOD.replace('"bets"', '"bet"'), "bets", "required"),
        (GOOD[:-1] + ', "patron": 1}', "patron", "no such field"),
        (GOOD[:-1] + ', "day": "today"}', "day", "date"),
        (GOOD[:-1] + ', "configuration": "london"}', "configuration", "no preset is called 'london'"),
        (GOOD[:-1] + ', "configuration": 5}', "configuration", "a preset's name or an object"),
        (GOOD[:-1] + ', "configuration": null}', "configuration", "a preset's name or an object"),
        (GOOD[:-1] + ', "configuration": {"preset": 1}}', "configuration", "no preset is called '1'"),
        (
            GOOD[:-1] + ', "configuration": {"preset": "macau", "comission": {}}}',
            "configuration.comission", "no such field",
        ),
        (
            GOOD[:-1] + ', "configuration": {"preset": "macau", "commission": {"unit": NaN}}}',
            "configuration.commission.unit", "valid integer",
        ),
        (
            GOOD[:-1] + ', "configuration": {"preset": "macau", "commission": {"rate": "5"}}}',
            "configuration.commission.rate", "write 5 % as 0.05",
        ),
        (json.dumps(line("5H 2S", "6H KD", *[("player", 1)] * (MAX_BETS + 1))), "bets", "at most 1000"),
        (GOOD + " " * MAX_LINE_BYTES, "", "longer than 262,144 bytes"),
    ],
)  # fmt: skip
def test_a_bad_line_is_answered_with_its_number_and_field_and_the_rest_goes_on(
    bad: str, field: str, problem: str
) -> None:
    result = runner.invoke(app, [], input=f"{GOOD}\n{bad}\n{GOOD}")
    assert result.exit_code == 2
    first, second, third = map(json.loads, result.stdout.splitlines())
    assert "error" not in first
    assert third == first | {"line": 3}
    assert second["line"] == 2
    assert second["field"] == field
    assert second["error"].startswith("line 2: " + (f"{field}: " if field else ""))
    assert problem in second["error"]
    assert "1 of 3 lines could not be settled" in result.stderr


def test_bytes_that_are_no_text_are_a_bad_line() -> None:
    assert "error" in answer_line(1, b'\xff\xfe"')


def test_rounds_are_read_from_a_file(tmp_path: Path) -> None:
    (tmp_path / "rounds.jsonl").write_text(f"{GOOD}\r\n{GOOD}")
    result = runner.invoke(app, [str(tmp_path / "rounds.jsonl")])
    assert result.exit_code == 0
    assert [json.loads(answer)["line"] for answer in result.stdout.splitlines()] == [1, 2]


@pytest.mark.parametrize("name", ["missing.jsonl", "."])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, name: str) -> None:
    result = runner.invoke(app, [str(tmp_path / name)], env={"COLUMNS": "400"})
    assert result.exit_code == 2
    assert f"{tmp_path / name} can't be read" in result.stderr


def test_nothing_in_nothing_out() -> None:
    assert runner.invoke(app, [], input="").stdout == ""


def test_long_lines_are_skipped_whole(tmp_path: Path) -> None:
    kept = b"x" * (MAX_LINE_BYTES - 1) + b"\n"
    (tmp_path / "lines").write_bytes(kept + b"y" * (3 * MAX_LINE_BYTES) + b"\n" + b"z\n" + b"w" * (MAX_LINE_BYTES + 1))
    with (tmp_path / "lines").open("rb") as stream:
        assert list(read_lines(stream)) == [kept, None, b"z\n", None]


hands = st.lists(st.sampled_from(CARDS), min_size=2, max_size=3).map(" ".join)
bets = st.lists(st.tuples(st.sampled_from(sorted(CATALOGUE)), st.integers(1, 10**9)), max_size=5)


@given(hands, hands, bets)
def test_what_patrons_lose_the_house_wins(player: str, banker: str, placed: list[tuple[str, int]]) -> None:
    answer: Any = answer_line(1, json.dumps(line(player, banker, *placed)).encode())
    assert answer["totals"]["house_win"] == -sum(bet["net"] for bet in answer["bets"])
    assert answer["totals"]["stakes"] == sum(stake for _, stake in placed)
    assert answer["totals"]["handle"] == sum(bet["stake"] for bet in answer["bets"] if bet["result"] != "push")
