"""Chips moved against arts. 10, 12, 17 and 18: over, under, for the wrong bet, or not at all."""

from collections.abc import Mapping

import pytest

from schemas.configuration import BetOffer, Commission, RoundingPolicy, TableConfiguration
from tests.processors.reconstruct.scene import (
    BANKER_SIX,
    BANKER_WINS,
    HKD,
    MACAU,
    PLAYER_WINS,
    TIE,
    Scene,
    playing,
    with_changes,
)

MARKED = with_changes(MACAU, configuration_id="marked", commission=Commission(collection="marked"))
STAKE = 1_000 * HKD
COMMISSION = 50 * HKD

Moved = Mapping[str, int]


def settled(
    bet: str,
    hands: tuple[str, str],
    configuration: TableConfiguration = MACAU,
    stake: int = STAKE,
    moved: Moved | None = None,
) -> Scene:
    """Return a table after a round with one bet; what was `collected`, `paid` and `charged` is as given, or as due."""
    scene = playing(configuration)
    scene.begin()
    scene.bet(bet, stake)
    scene.no_more_bets()
    scene.deal(*hands)
    scene.call()
    scene.settle(**{name: {"B1": amount} for name, amount in (moved or {}).items()})
    scene.close()
    return scene


@pytest.mark.parametrize("configuration", [MACAU, MARKED], ids=["deducted", "marked"])
@pytest.mark.parametrize("hands", [PLAYER_WINS, BANKER_WINS, TIE], ids=["player", "banker", "tie"])
@pytest.mark.parametrize("bet", ["player", "banker", "tie", "player_pair"])
def test_bets_settled_as_due_are_nobodys_fault(
    bet: str, hands: tuple[str, str], configuration: TableConfiguration
) -> None:
    """Arts. 12, 17 and 18."""
    scene = settled(bet, hands, configuration)
    assert (scene.codes, scene.refusals) == ([], [])


@pytest.mark.parametrize(
    ("bet", "hands", "moved", "codes"),
    [
        ("player", PLAYER_WINS, {"paid": STAKE + 1}, ["overpaid"]),
        ("player", PLAYER_WINS, {"paid": STAKE - 1}, ["underpaid"]),
        ("player", PLAYER_WINS, {"paid": 0}, ["winning_bet_unpaid"]),
        ("player", PLAYER_WINS, {"collected": STAKE}, ["stake_wrongly_collected"]),
        ("player", BANKER_WINS, {"paid": STAKE}, ["losing_bet_paid"]),
        ("player", BANKER_WINS, {"collected": 0}, ["losing_stake_not_collected"]),
        ("player", BANKER_WINS, {"collected": STAKE - 1}, ["losing_stake_not_collected"]),
        ("player", BANKER_WINS, {"collected": STAKE + 1}, ["stake_wrongly_collected"]),
        ("player", BANKER_WINS, {"charged": COMMISSION}, ["commission_wrong"]),
        ("player", PLAYER_WINS, {"charged": COMMISSION, "paid": STAKE - COMMISSION}, ["commission_wrong"]),
        ("player", TIE, {"paid": STAKE}, ["push_paid"]),
        ("player", TIE, {"collected": STAKE}, ["stake_wrongly_collected"]),
        ("banker", TIE, {"charged": COMMISSION}, ["commission_wrong"]),
        ("banker", BANKER_WINS, {"paid": STAKE, "charged": 0}, ["commission_missing"]),
        ("banker", BANKER_WINS, {"paid": STAKE - 20, "charged": 20}, ["commission_wrong"]),
        ("banker", BANKER_WINS, {"charged": 20}, ["commission_wrong"]),
        ("banker", BANKER_WINS, {"charged": 0}, []),
        ("banker", BANKER_WINS, {"paid": STAKE}, ["overpaid"]),
        ("banker", BANKER_WINS, {"paid": STAKE + 1, "charged": 0}, ["overpaid"]),
        ("banker", BANKER_WINS, {"paid": 1, "charged": 0}, ["underpaid"]),
        ("banker", BANKER_WINS, {"paid": 1, "charged": 20}, ["commission_wrong", "underpaid"]),
        ("banker", BANKER_WINS, {"paid": 0, "charged": 0}, ["winning_bet_unpaid"]),
        ("banker", BANKER_WINS, {"paid": 0}, ["winning_bet_unpaid"]),
    ],
    ids=lambda value: " ".join(f"{k}={v}" for k, v in value.items()) if isinstance(value, dict) else None,
)
def test_each_thing_done_wrong_is_told_once(bet: str, hands: tuple[str, str], moved: Moved, codes: list[str]) -> None:
    """Arts. 12, 17 and 18, commission deducted: what commission explains is no wrong payout besides."""
    assert settled(bet, hands, moved=moved).codes == codes


@pytest.mark.parametrize(
    ("moved", "codes"),
    [
        ({"charged": 0}, ["commission_missing"]),
        ({"charged": 20}, ["commission_wrong"]),
        ({"paid": STAKE - COMMISSION}, ["underpaid"]),
        ({"paid": STAKE - COMMISSION, "charged": 0}, ["commission_missing", "underpaid"]),
        ({"paid": 0}, ["winning_bet_unpaid"]),
        ({"paid": 0, "charged": 0}, ["winning_bet_unpaid"]),
        ({"paid": STAKE + 1}, ["overpaid"]),
    ],
    ids=str,
)
def test_marked_commission_leaves_the_payout_alone(moved: Moved, codes: list[str]) -> None:
    """Art. 18, marked: winnings are paid 1:1 and commission is a debt, so neither explains the other."""
    assert settled("banker", BANKER_WINS, MARKED, moved=moved).codes == codes


def test_money_alert_names_the_bet_and_its_events() -> None:
    scene = settled("player", PLAYER_WINS, moved={"paid": STAKE + 500})
    alert = scene.alert("overpaid")
    assert (alert.seat, alert.patron_id, alert.dealer_id) == (1, "P-1", "D-1")
    assert (alert.evidence.bet_id, alert.evidence.bet) == ("B1", "player")
    assert (alert.evidence.due, alert.evidence.paid) == (STAKE, STAKE + 500)
    assert (alert.evidence.expected, alert.evidence.actual) == ("1,000", "1,005")
    assert alert.text_en == "Player overpaid: due 1,000, paid 1,005"
    assert len(alert.evidence.event_ids) == 2


def test_several_payments_of_one_bet_are_added_up() -> None:
    """Art. 17: a dealer who pays in two goes pays the sum."""
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.no_more_bets()
    scene.deal(*PLAYER_WINS)
    scene.call()
    for part in (STAKE // 4, STAKE - STAKE // 4):
        scene.of_round("payout_made", bet_id="B1", amount=part)
    scene.close()
    assert (scene.codes, scene.bet_of("B1").paid) == ([], STAKE)


def test_half_pay_on_a_banker_six() -> None:
    """Wiki: commission-free, 1 to 2 when the banker wins with six; halves are rounded as the table rounds."""
    free = with_changes(
        MACAU,
        bets=[BetOffer(bet="banker_commission_free", minimum=100, maximum=10**9)],
        payout_rounding=RoundingPolicy(unit=100, rounding="up"),
    )
    scene = settled("banker_commission_free", BANKER_SIX, free, 30_100)
    assert (scene.codes, scene.bet_of("B1").due) == ([], 15_100)
    assert settled("banker_commission_free", BANKER_SIX, free, 30_100, {"paid": 15_000}).codes == ["underpaid"]


@pytest.mark.parametrize(
    ("paid", "codes"),
    [(14_900, ["underpaid"]), (15_000, []), (15_100, []), (15_200, ["overpaid"]), (0, ["winning_bet_unpaid"])],
)
def test_stake_that_cannot_be_paid_exactly_convicts_nobody_of_the_rest(paid: int, codes: list[str]) -> None:
    """Art. 17: where the table pays in hundreds and allows no rounding, either hundred is as good as the other."""
    exact = with_changes(
        MACAU,
        bets=[BetOffer(bet="banker_commission_free", minimum=100, maximum=10**9)],
        payout_rounding=RoundingPolicy(unit=100, rounding="exact"),
    )
    assert settled("banker_commission_free", BANKER_SIX, exact, 30_100, {"paid": paid}).codes == codes


def test_commission_that_eats_the_winnings_leaves_nothing_unpaid() -> None:
    """Art. 18: with a least commission the payout may be nothing, which is then what was due."""
    dear = with_changes(MACAU, commission=Commission(minimum=30_000))
    assert settled("banker", BANKER_WINS, dear, 30_000, {"paid": 0, "charged": 30_000}).codes == []
    assert settled("banker", BANKER_WINS, dear, 30_000, {"paid": 0, "charged": 0}).codes == []
    assert settled("banker", BANKER_WINS, dear, 30_000, {"paid": 30_000, "charged": 0}).codes == ["commission_missing"]


@pytest.mark.parametrize(
    ("moved", "codes"),
    [
        ({"paid": STAKE, "charged": 0}, []),
        ({"paid": STAKE - 1, "charged": 7}, []),
        ({"paid": 0, "charged": 0}, ["winning_bet_unpaid"]),
    ],
)
def test_table_whose_terms_nobody_has_seen(moved: Moved, codes: list[str]) -> None:
    """Arts. 17 and 18: it may pay other odds by approval, and take commission otherwise; pay it must."""
    scene = Scene()
    scene.load()
    scene.begin()
    scene.bet("banker", STAKE)
    scene.no_more_bets()
    scene.deal(*BANKER_WINS)
    scene.call()
    scene.settle(**{name: {"B1": amount} for name, amount in moved.items()})
    scene.close()
    assert scene.codes == codes


def test_odds_of_the_table_decide() -> None:
    """Art. 17(2) as changed by approval: this table pays a tie nine to one."""
    nine = with_changes(MACAU, bets=[BetOffer(bet="tie", minimum=100, maximum=10**9, odds=("9",))])
    assert settled("tie", TIE, nine).bet_of("B1").due == 9 * STAKE
    assert settled("tie", TIE, nine, moved={"paid": 8 * STAKE}).codes == ["underpaid"]


# -- art. 10: void ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["payout_made", "stake_collected", "commission_charged"])
def test_chips_moved_in_a_void_round(kind: str) -> None:
    """Art. 10: every stake goes back, and nothing more."""
    scene = playing()
    scene.begin()
    scene.bet("banker")
    scene.no_more_bets()
    scene.deal(*BANKER_WINS)
    scene.void()
    scene.of_round(kind, bet_id="B1", amount=500)
    scene.close()
    assert scene.codes == ["void_round_paid"]
    fact = scene.bet_of("B1")
    assert (fact.result, fact.net, scene.round().house_win, scene.round().handle) == ("void", 0, 0, 0)


def test_void_round_with_stakes_given_back() -> None:
    """Art. 10."""
    scene = playing()
    scene.begin()
    scene.bet("banker")
    scene.void()
    scene.close()
    assert (scene.codes, scene.round().status, scene.round().void_reason) == ([], "void", "a card fell off the table")
    assert (scene.hours[0].voids, scene.shoe_fact().voids, scene.roads) == (1, 1, [])


# -- bets that nobody saw --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("kind", "code", "total"),
    [("payout_made", "overpaid", "paid"), ("stake_collected", "stake_wrongly_collected", "collected")],
)
def test_chips_moved_for_a_bet_that_does_not_stand(kind: str, code: str, total: str) -> None:
    """Art. 17: and they count in what the table recorded."""
    scene = playing()
    scene.begin()
    scene.no_more_bets()
    scene.deal(*PLAYER_WINS)
    scene.call()
    scene.of_round(kind, bet_id="B9", amount=700)
    scene.close()
    assert (scene.alert(code).evidence.bet_id, scene.alert(code).evidence.paid) == ("B9", 700)
    assert getattr(scene.round(), total) == getattr(scene.hours[0], total) == 700


def test_commission_on_a_bet_that_does_not_stand_is_refused() -> None:
    scene = playing()
    scene.begin()
    scene.of_round("commission_charged", bet_id="B9", amount=700)
    assert scene.refusals == ["no_such_bet"]


def test_bets_of_a_demonstration_are_sent_back() -> None:
    """Art. 2(2): no money is won or lost, whatever was put down."""
    scene = playing()
    scene.begin("demonstration")
    scene.bet("player")
    scene.deal(*PLAYER_WINS)
    scene.call()
    scene.close()
    fact = scene.bet_of("B1")
    assert (fact.result, fact.net, scene.round().handle, scene.hours) == ("void", 0, 0, [])
