"""A configuration in doubt accuses nobody: a round names another one, or a gap may hide one."""

from collections.abc import Callable

import pytest

from processors.reconstruct.fold import TableFold
from schemas.alerts import ALERTS, RESTS_ON_CONFIGURATION
from schemas.configuration import Commission, TableConfiguration, preset
from tests.processors.reconstruct.scene import BANKER_WINS, HKD, MACAU, PLAYER_WINS, TIE, Scene, playing, with_changes

DEARER = with_changes(MACAU, configuration_id="dearer", commission=Commission(rate="0.1"))
MARKED = with_changes(MACAU, configuration_id="marked", commission=Commission(collection="marked"))


def lost_publication(configuration: TableConfiguration = DEARER, *, names: bool = True) -> tuple[Scene, list[bytes]]:
    """Return a table that has put another configuration in force, of which nobody heard, and that word."""
    scene = playing()
    scene.names_configuration = names
    scene.play(BANKER_WINS, ("banker",))
    with scene.lost() as lost:
        scene.publish(configuration)
    scene.send("heartbeat")
    scene.pass_gap_limit()
    return scene, lost


def deal_by(scene: Scene, rate: int = 100, *, close: bool = True) -> None:
    """Play a round with a banker win of a thousand dollars, `rate` dollars of commission taken."""
    scene.begin()
    bet_id = scene.bet("banker")
    scene.no_more_bets()
    scene.deal(*BANKER_WINS)
    scene.call()
    scene.of_round("payout_made", bet_id=bet_id, amount=(1_000 - rate) * HKD)
    scene.of_round("commission_charged", bet_id=bet_id, amount=rate * HKD)
    if close:
        scene.close()


# -- rounds that name their configuration ------------------------------------------------------------------------------


def test_round_under_a_configuration_that_nobody_published_is_not_judged() -> None:
    """Ten per cent taken as the lost configuration says: five per cent too much by the one known."""
    scene, _ = lost_publication()
    deal_by(scene)
    assert scene.codes == ["configuration_unknown", "telemetry_gap"]
    fact, bet = scene.round(), scene.bets[-1]
    assert (fact.status, fact.configuration_id, fact.house_win, fact.paid) == ("incomplete", "dearer", 0, 900 * HKD)
    assert (bet.result, bet.due, bet.paid) == ("unknown", 0, 900 * HKD)
    alert = scene.alert("configuration_unknown")
    assert (alert.evidence.expected, alert.evidence.actual, alert.severity) == ("macau", "dearer", "serious")
    assert (alert.round, alert.shoe) == (0, 1)


def test_cards_are_judged_all_the_same() -> None:
    """Art. 9 is the regulation's: no configuration changes it."""
    scene, _ = lost_publication()
    scene.begin()
    scene.deal("2S 3H", "7D KC")
    scene.call("banker")
    scene.close()
    assert "third_card_missed" in scene.codes


def test_it_is_told_once_for_as_long_as_it_lasts() -> None:
    scene, _ = lost_publication()
    for _ in range(3):
        deal_by(scene)
    assert scene.codes.count("configuration_unknown") == 1
    scene.publish(DEARER)
    deal_by(scene)
    assert scene.round().status == "settled"
    scene.configuration = MACAU
    deal_by(scene, 50)
    assert [alert.evidence.actual for alert in scene.alerts if alert.code == "configuration_unknown"] == [
        "dearer",
        "macau",
    ]


def test_publication_that_comes_late_settles_the_rounds_since() -> None:
    scene, lost = lost_publication()
    deal_by(scene)
    scene.append(lost[0])
    assert (scene.codes, scene.round().status, scene.round().commission_due) == ([], "settled", 100 * HKD)


def test_publication_in_a_round_holds_from_the_next_one_on() -> None:
    scene, _ = lost_publication()
    deal_by(scene, close=False)
    scene.house("configuration_published", configuration=DEARER.model_dump(mode="json"))
    scene.close()
    assert scene.round().status == "incomplete"
    deal_by(scene)
    assert scene.round().status == "settled"
    deal_by(scene, 50)
    assert scene.codes == ["commission_wrong", "configuration_unknown", "telemetry_gap"]


def test_round_that_names_the_known_configuration_ends_the_doubt() -> None:
    """A lost heartbeat silences nothing: the next round says that all is as it was."""
    scene = playing()
    with scene.lost():
        scene.send("heartbeat")
    scene.send("heartbeat")
    scene.pass_gap_limit()
    assert scene.state.is_doubtful
    deal_by(scene, 20)
    assert scene.codes == ["commission_wrong", "telemetry_gap"]


def test_table_without_any_configuration_that_names_one() -> None:
    scene = Scene()
    scene.load()
    scene.has_published, scene.configuration = True, DEARER
    deal_by(scene)
    assert scene.alert("configuration_unknown").evidence.expected == "–"
    assert scene.round().status == "incomplete"


def test_void_round_needs_no_configuration() -> None:
    """Art. 10: every stake goes back, under any rules."""
    scene, _ = lost_publication()
    scene.begin()
    bet_id = scene.bet("banker")
    scene.no_more_bets()
    scene.void()
    scene.close()
    assert (scene.round().status, scene.bet_of(bet_id).result) == ("void", "void")


# -- rounds that name nothing ------------------------------------------------------------------------------------------


def test_gap_of_a_table_that_publishes_itself_leaves_doubt_until_a_win_is_paid_as_due() -> None:
    scene, _ = lost_publication(MACAU, names=False)
    scene.play(PLAYER_WINS, ("banker",))
    assert scene.state.is_doubtful
    deal_by(scene, 50)
    assert not scene.state.is_doubtful
    deal_by(scene, 20)
    assert scene.codes == ["commission_wrong", "telemetry_gap"]
    assert [fact.status for fact in scene.rounds] == ["settled"] * 4


def test_what_does_not_fit_after_a_gap_is_no_accusation() -> None:
    scene, lost = lost_publication(names=False)
    deal_by(scene)
    deal_by(scene)
    assert scene.codes == ["configuration_unknown", "telemetry_gap"]
    assert scene.alert("configuration_unknown").evidence.actual == "?"
    assert [(fact.status, fact.configuration_id) for fact in scene.rounds] == [
        ("settled", "macau"),
        ("incomplete", "macau"),
        ("incomplete", "macau"),
    ]
    scene.append(lost[0])
    assert [fact.status for fact in scene.rounds] == ["settled"] * 3
    assert scene.codes == []


def test_publication_ends_the_doubt_after_a_gap() -> None:
    scene, _ = lost_publication(names=False)
    scene.house("configuration_published", configuration=DEARER.model_dump(mode="json"))
    deal_by(scene, 50)
    assert scene.codes == ["commission_wrong", "telemetry_gap"]


def test_gap_behind_a_publication_that_waits_for_the_round_to_end() -> None:
    """Another one may have come since."""
    scene = playing()
    scene.names_configuration = False
    scene.begin()
    scene.publish(DEARER)
    with scene.lost():
        scene.send("heartbeat")
    scene.send("heartbeat")
    scene.pass_gap_limit()
    scene.close()
    assert scene.state.configuration is not None
    assert (scene.state.configuration.configuration_id, scene.state.is_doubtful) == ("dearer", True)


def test_gap_of_a_table_that_the_house_publishes_for_leaves_no_doubt() -> None:
    """What the house publishes is in the log, and can't be lost."""
    scene = Scene()
    scene.house("configuration_published", configuration=MACAU.model_dump(mode="json"))
    scene.load()
    with scene.lost():
        scene.send("heartbeat")
    scene.send("heartbeat")
    scene.pass_gap_limit()
    deal_by(scene, 20)
    assert scene.codes == ["commission_wrong", "telemetry_gap"]


def _breaks_limits(scene: Scene) -> None:
    scene.begin()
    scene.bet("player", 1, 1)
    scene.bet("banker", 10**9, 1)
    scene.bet("dragon_seven", 100, 2)
    scene.no_more_bets()
    scene.of_round("cards_held_by", hand="player", seat=5)


def _changes_after_tie(scene: Scene) -> None:
    scene.play(TIE, ("player", 1_000 * HKD))
    scene.begin()
    scene.withdraw(f"B{scene.bets_placed}")


def _opens_wrongly(scene: Scene) -> None:
    scene.load(decks=6, cut=3, burned=1)
    scene.begin("demonstration")


def _ends_late(scene: Scene) -> None:
    scene.white_card()
    scene.play()


@pytest.mark.parametrize("happens", [_breaks_limits, _changes_after_tie, _opens_wrongly, _ends_late])
def test_nothing_that_rests_on_the_configuration_is_raised(happens: Callable[[Scene], None]) -> None:
    """What is withheld is a sign that the configuration is another, and told as such."""
    scene, _ = lost_publication(names=False)
    happens(scene)
    assert set(scene.codes) - {"configuration_unknown"} == {"telemetry_gap"}
    certain = playing(preset("sjm"))
    certain.play(BANKER_WINS)
    happens(certain)
    assert RESTS_ON_CONFIGURATION.intersection(certain.codes) or happens is _opens_wrongly


def test_doubt_survives_the_snapshot() -> None:
    scene, _ = lost_publication()
    scene.begin()
    scene.fold = TableFold.restore(scene.fold.snapshot(), scene.settings)
    scene.bet("tie", 1)
    scene.finish(TIE)
    assert scene.round().status == "incomplete"
    assert scene.codes == ["configuration_unknown", "telemetry_gap"]


def test_codes_that_rest_on_the_configuration_are_of_the_catalogue() -> None:
    assert ALERTS.keys() >= RESTS_ON_CONFIGURATION
