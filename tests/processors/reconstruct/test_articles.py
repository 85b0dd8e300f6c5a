"""An alert names the very line of the regulation that was broken, where the rule knows it."""

from collections.abc import Callable

import pytest

from processors.rules.articles import ARTICLES
from schemas.alerts import ALERTS
from schemas.configuration import TableConfiguration, preset
from tests.processors.reconstruct.scene import BANKER_WINS, HKD, MACAU, PLAYER_WINS, TIE, Scene, playing, with_changes

SJM = preset("sjm")
DEALER_ONLY = with_changes(MACAU, patron_may_hold_cards=False)


def _moved_after_a_tie(scene: Scene) -> None:
    scene.play(TIE, ("player", 1_000 * HKD))
    scene.begin()
    scene.change("B1", 1_000 * HKD, "banker")


def _moved_off_the_sides(scene: Scene) -> None:
    scene.play(TIE, ("player", 1_000 * HKD))
    scene.begin()
    scene.change("B1", 1_000 * HKD, "tie")


def _staked(*bets: tuple[str, int]) -> Callable[[Scene], None]:
    def happens(scene: Scene) -> None:
        scene.begin()
        for bet, stake in bets:
            scene.bet(bet, stake)
        scene.no_more_bets()

    return happens


def _dealt(player: str, banker: str) -> Callable[[Scene], None]:
    def happens(scene: Scene) -> None:
        scene.begin()
        scene.deal(player, banker)
        scene.call()

    return happens


def _called(hands: tuple[str, str], *calls: str) -> Callable[[Scene], None]:
    def happens(scene: Scene) -> None:
        scene.begin()
        scene.deal(*hands)
        for call in calls:
            scene.call(call)

    return happens


def _held(scene: Scene) -> None:
    scene.begin()
    scene.bet("player", 1_000 * HKD, 1)
    scene.bet("player", 2_000 * HKD, 2)
    scene.no_more_bets()
    scene.of_round("cards_held_by", hand="player", seat=1)


def _paid(bet: str, hands: tuple[str, str], amount: int) -> Callable[[Scene], None]:
    def happens(scene: Scene) -> None:
        scene.begin()
        scene.bet(bet)
        scene.no_more_bets()
        scene.deal(*hands)
        scene.call()
        scene.settle(paid={"B1": amount})
        scene.close()

    return happens


def _banker_out_of_order(scene: Scene) -> None:
    scene.begin()
    scene.deal("2S 3H", "2D 3C")
    scene.draw("banker", "4S")
    scene.draw("player", "5S")


@pytest.mark.parametrize(
    ("configuration", "happens", "code", "article"),
    [
        (SJM, _moved_after_a_tie, "tie_change_forbidden", "SJM(2)"),
        (MACAU, _moved_off_the_sides, "tie_change_forbidden", "12(3)(2)"),
        (MACAU, _staked(("player", 1)), "below_minimum", "SJM(1)"),
        (MACAU, _staked(("player", 10**9)), "above_maximum", "SJM(1)"),
        (SJM, _staked(("banker", 350 * HKD)), "stake_not_multiple", "SJM(1)"),
        (MACAU, _staked(("player", 300 * HKD), ("banker", 300 * HKD)), "both_sides", "wiki(2)"),
        (preset("commission_free"), _staked(("lucky_six", 100 * HKD)), "side_bet_alone", "wiki(1)"),
        (MACAU, _held, "holder_not_highest", "16(2)"),
        (DEALER_ONLY, _held, "holder_not_highest", "16(1)"),
        (MACAU, _dealt("2S 3H", "9D KC"), "third_card_drawn", None),
        (MACAU, _dealt("2S 3H", "7D KC"), "third_card_missed", "9(1)"),
        (MACAU, _dealt("2S 5H", "5D KC"), "third_card_missed", "9(3)(6)"),
        (MACAU, _dealt("2S 3H 8S", "3D KC 5C"), "third_card_drawn", "9(4)(1)"),
        (MACAU, _dealt("9S KH 2S", "6D KC"), "natural_ignored", "9(2)"),
        (MACAU, _dealt("2S 5H", "9D KC 2C"), "natural_ignored", "9(4)(5)"),
        (MACAU, _banker_out_of_order, "deal_order", "9"),
        (MACAU, _called(TIE, "player"), "result_mismatch", "12"),
        (MACAU, _called(PLAYER_WINS, "banker"), "result_mismatch", "11"),
        (MACAU, _called(TIE, "player", "tie"), "result_mismatch", "12"),
        (MACAU, _paid("player", PLAYER_WINS, 1), "underpaid", "17(1)"),
        (MACAU, _paid("banker", BANKER_WINS, 10**6), "overpaid", "17(1)"),
        (MACAU, _paid("tie", TIE, 0), "winning_bet_unpaid", "17(2)"),
        (MACAU, _paid("player_pair", ("9S 9H", "9D KC"), 7), "underpaid", "17(3)"),
        (preset("commission_free"), _paid("lucky_six", ("2S 3H 10S", "6D KC"), 7), "underpaid", "17"),
        (MACAU, _paid("player", TIE, 7), "push_paid", "12"),
    ],
)
def test_alert_names_the_line_broken(
    configuration: TableConfiguration, happens: Callable[[Scene], None], code: str, article: str | None
) -> None:
    scene = playing(configuration)
    happens(scene)
    found = [alert.article for alert in scene.alerts if alert.code == code]
    assert found == ([] if article is None else [article])


def test_error_put_right_keeps_its_line() -> None:
    """Art. 9(1): drawn after all, the alert still says what was missed."""
    scene = playing()
    scene.begin()
    scene.deal("2S 3H", "7D KC")
    scene.call()
    scene.draw("player", "4S")
    alert = scene.alert("third_card_missed")
    assert (alert.status, alert.article) == ("corrected", "9(1)")


def test_finer_lines_are_lines_of_the_catalogues_articles() -> None:
    """A finding's own article lies within the one the catalogue names for its code."""
    for code, kind in ALERTS.items():
        if kind.article not in ("telemetry", "COMAR 36.05.03.02"):
            assert any(number.startswith(kind.article) for number in ARTICLES), code
