"""The lucky six (wiki; Despacho 56/2018): on one hand's six, or on that of the main bet beside it."""

import pytest

from schemas.configuration import TableConfiguration, preset
from tests.processors.reconstruct.scene import HKD, Scene, playing, with_changes

STAKE = 100 * HKD
BANKER_SIX = ("2S 3H 10S", "6D KC")
PLAYER_SIX = ("6D KC", "2S 3H 10S")
BANKER_ONLY = preset("commission_free")


def offering(*sides: str) -> TableConfiguration:
    """Return a commission-free table that offers the lucky six on these hands."""
    bets = [offer.model_dump() for offer in BANKER_ONLY.bets]
    bets[-1]["sides"] = sides
    assert bets[-1]["bet"] == "lucky_six"
    return with_changes(BANKER_ONLY, configuration_id="six", bets=bets)


def round_of(
    configuration: TableConfiguration,
    hands: tuple[str, str],
    main: str | None,
    paid: int = 0,
    **six: object,
) -> Scene:
    """Return a table after a round with a lucky six, and perhaps a main bet of the same patron, paid by the book."""
    scene = playing(configuration)
    scene.begin()
    if main is not None:
        scene.bet(main, 1_000 * HKD, 1, bet_id="main")
    scene.bet("lucky_six", STAKE, 1, bet_id="six", **six)
    scene.no_more_bets()
    scene.deal(*hands)
    scene.call()
    outcome = "banker" if hands is BANKER_SIX else "player"
    if main is not None and main.startswith(outcome):
        half = main == "banker_commission_free"
        scene.of_round("payout_made", bet_id="main", amount=(500 if half else 1_000) * HKD)
    elif main is not None:
        scene.of_round("stake_collected", bet_id="main", amount=1_000 * HKD)
    if paid:
        scene.of_round("payout_made", bet_id="six", amount=paid)
    else:
        scene.of_round("stake_collected", bet_id="six", amount=STAKE)
    scene.close()
    return scene


@pytest.mark.parametrize(
    ("sides", "main", "hands", "times"),
    [
        ((), "banker_commission_free", BANKER_SIX, 12),
        ((), "player", BANKER_SIX, 12),
        ((), "player", PLAYER_SIX, 0),
        (("banker",), "banker_commission_free", PLAYER_SIX, 0),
        (("player",), "player", PLAYER_SIX, 12),
        (("player",), "banker_commission_free", BANKER_SIX, 0),
        (("banker", "player"), "banker_commission_free", BANKER_SIX, 12),
        (("banker", "player"), "banker_commission_free", PLAYER_SIX, 0),
        (("banker", "player"), "player", BANKER_SIX, 0),
        (("player", "banker"), "player", PLAYER_SIX, 12),
    ],
)
def test_lucky_six_wins_on_the_hand_it_is_on(
    sides: tuple[str, ...], main: str, hands: tuple[str, str], times: int
) -> None:
    scene = round_of(offering(*sides) if sides else BANKER_ONLY, hands, main, paid=times * STAKE)
    assert scene.codes == []
    assert scene.bet_of("six").winnings == times * STAKE


def test_paid_on_the_other_hands_six() -> None:
    """As if it were on the banker, at a table where it goes with the player bet."""
    scene = round_of(offering("banker", "player"), BANKER_SIX, "player", paid=12 * STAKE)
    assert scene.codes == ["losing_bet_paid", "losing_stake_not_collected"]


@pytest.mark.parametrize("main", [None, "player"], ids=["no main bet", "of nobody known"])
def test_nobody_knows_whose_six_it_is_on(main: str | None) -> None:
    """Without a main bet beside it, or standing behind a seat where several may stand: no verdict on its money."""
    stranger = {"posture": "standing", "area": "shared", "patron_id": None} if main else {}
    scene = round_of(offering("banker", "player"), BANKER_SIX, main, paid=12 * STAKE, **stranger)
    assert scene.codes == ([] if main else ["side_bet_alone"])
    assert (scene.bet_of("six").result, scene.round().status) == ("unknown", "settled")


def test_main_bets_on_both_hands_say_nothing_about_the_six() -> None:
    scene = playing(offering("banker", "player"))
    scene.begin()
    scene.bet("player", 1_000 * HKD, 1)
    scene.bet("banker_commission_free", 1_000 * HKD, 1)
    six = scene.bet("lucky_six", STAKE, 1)
    scene.no_more_bets()
    scene.deal(*BANKER_SIX)
    scene.call()
    scene.of_round("stake_collected", bet_id="B1", amount=1_000 * HKD)
    scene.of_round("payout_made", bet_id="B2", amount=500 * HKD)
    scene.close()
    assert scene.bet_of(six).result == "unknown"
    assert scene.codes == ["both_sides", "side_bet_alone"]
