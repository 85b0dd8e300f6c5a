"""Nobody stakes that much: and whoever claims to, never makes a sum of a round that the store can't hold."""

import pytest

from processors.reconstruct.fold import TableFold
from schemas.money import MAX_BETS, MAX_MOVES, MAX_ODDS, MAX_PAYOUT, MAX_STAKE
from schemas.wire import InvalidEvent, decode_event
from tests.processors.reconstruct.scene import MACAU, TIE, Scene, playing, with_changes

STORED_BELOW = 10**18
"""The store's amounts have 18 digits."""

DEAR = with_changes(
    MACAU,
    configuration_id="dear",
    differential=None,
    bets=[{"bet": "tie", "minimum": 1, "maximum": MAX_STAKE, "odds": [str(MAX_ODDS)]}],
)


def full_round() -> Scene:
    """Return a table in a round with as many bets as a round may hold, at the highest stake."""
    scene = playing(DEAR)
    scene.begin()
    for number in range(MAX_BETS):
        scene.bet("tie", MAX_STAKE, 1 + number % 9)
    return scene


def test_dearest_round_can_be_stored() -> None:
    """Every bet wins at the longest odds, and is paid as often as chips may move."""
    scene = full_round()
    scene.bet("tie", MAX_STAKE)
    assert scene.refusals == ["too_many"]
    scene.deal(*TIE)
    scene.call()
    for number in range(MAX_MOVES):
        scene.of_round("payout_made", bet_id=f"B{1 + number % MAX_BETS}", amount=MAX_PAYOUT)
    scene.of_round("payout_made", bet_id="B1", amount=1)
    scene.of_round("stake_collected", bet_id="B1", amount=1)
    scene.of_round("commission_charged", bet_id="B1", amount=1)
    scene.close()
    assert scene.refusals == ["too_many"] * 4
    fact = scene.round()
    assert (fact.paid, fact.stakes) == (MAX_MOVES * MAX_PAYOUT, MAX_BETS * MAX_STAKE)
    assert fact.paid < STORED_BELOW
    # A bet and chips that were not counted leave the round in doubt.
    assert fact.status == "incomplete"


def test_dearest_round_that_is_won_can_be_stored() -> None:
    scene = full_round()
    scene.deal(*TIE)
    scene.call()
    scene.close()
    assert scene.round().house_win == -MAX_BETS * MAX_PAYOUT
    assert abs(scene.round().house_win) < STORED_BELOW
    restored = TableFold.restore(scene.fold.snapshot(), scene.settings)
    assert restored.state == scene.state


@pytest.mark.parametrize(
    ("kind", "amount"),
    [
        ("bet_placed", MAX_STAKE),
        ("bet_changed", MAX_STAKE),
        ("stake_collected", MAX_STAKE),
        ("payout_made", MAX_PAYOUT),
    ],
)
def test_more_than_the_most_is_refused_in_so_many_words(kind: str, amount: int) -> None:
    scene = playing(DEAR)
    scene.begin()
    name = "stake" if kind.startswith("bet") else "amount"
    fields = {"bet": "tie", "seat": 1} if kind == "bet_placed" else {}
    scene.of_round(kind, bet_id="B1", **{name: amount}, **fields)
    raw = scene.records[-1].value.replace(str(amount).encode(), str(amount + 1).encode())
    with pytest.raises(InvalidEvent, match=rf"{name}: Input should be less than or equal to {amount}"):
        decode_event(raw)
    scene.append(raw)
    assert scene.refusals[-1] == "invalid"
