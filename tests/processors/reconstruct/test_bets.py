"""Bets against arts. 12 to 16 and the house's limits: placed, changed too late or after a tie, and whose they are."""

from datetime import date

import pytest

from schemas.configuration import Approval, BetOffer, TableConfiguration, preset
from tests.processors.reconstruct.scene import (
    BANKER_WINS,
    HKD,
    MACAU,
    PLAYER_WINS,
    TIE,
    Scene,
    playing,
    with_changes,
)

SJM = preset("sjm")
FREE = preset("commission_free")
TIE_CHANGES = Approval(
    option="tie_changes", approval_id="DICJ-1", applied_on=date(2026, 1, 5), effective_on=date(2026, 2, 2)
)
WITH_TIE_CHANGES = with_changes(MACAU, approvals=[TIE_CHANGES])


def betting(configuration: TableConfiguration = MACAU) -> Scene:
    """Return a table at which bets are being placed."""
    scene = playing(configuration)
    scene.begin()
    return scene


# -- art. 13: in time ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("closed_by", ["no_more_bets", "first card"])
def test_bet_after_the_close(closed_by: str) -> None:
    """Art. 13: past posting. The first card closes the betting where nobody said so."""
    scene = betting()
    if closed_by == "first card":
        scene.draw("player", "9S")
    else:
        scene.no_more_bets()
    scene.bet("tie", 500 * HKD)
    alert = scene.alert("late_bet")
    assert (alert.evidence.bet_id, alert.evidence.actual, alert.article) == ("B1", "500", "13")


def test_late_changes() -> None:
    """Art. 13: capping, pinching, moving; a change that changes nothing is none."""
    scene = betting()
    raised, lowered, taken, moved, same = (scene.bet("player", seat=seat) for seat in range(1, 6))
    scene.no_more_bets()
    scene.change(raised, 2_000 * HKD)
    scene.change(lowered, 500 * HKD)
    scene.withdraw(taken)
    scene.change(moved, 1_000 * HKD, "banker")
    scene.change(same, 1_000 * HKD)
    assert {(alert.code, alert.evidence.bet_id, alert.text_en) for alert in scene.alerts} == {
        ("late_increase", raised, "Player raised from 1,000 to 2,000 after betting closed"),
        ("late_decrease", lowered, "Player lowered from 1,000 to 500 after betting closed"),
        ("late_decrease", taken, "Player lowered from 1,000 to 0 after betting closed"),
        ("late_move", moved, "Bet moved from Player to Banker after betting closed"),
    }


def test_changes_in_time_are_the_patrons_right() -> None:
    """Art. 13."""
    scene = betting()
    first, second, third = (scene.bet("player", seat=seat) for seat in range(1, 4))
    scene.change(first, 2_000 * HKD)
    scene.change(second, 1_000 * HKD, "banker")
    scene.withdraw(third)
    scene.no_more_bets()
    scene.no_more_bets()
    scene.finish()
    assert (scene.codes, scene.round().bets, scene.bet_of(second).bet) == ([], 2, "banker")


def test_bet_that_is_not_on_the_layout() -> None:
    """Art. 13: placed there, or moved there."""
    scene = betting()
    scene.bet("dragon_seven", 500 * HKD, seat=1)
    scene.change(scene.bet("player", seat=2), 1_000 * HKD, "banker_ez")
    scene.change(scene.bet("player", seat=3), 1_000 * HKD, "banker")
    assert [(alert.code, alert.evidence.bet) for alert in scene.alerts] == [
        ("bet_not_offered", "dragon_seven"),
        ("bet_not_offered", "banker_ez"),
    ]


def test_offers_begin_and_end_with_a_gaming_day() -> None:
    """Art. 13: what is on offer is a matter of the day on which the round begins."""
    dated = [
        BetOffer(bet="player", minimum=100, maximum=10**9),
        BetOffer(bet="small_six", minimum=100, maximum=10**9, effective_from=date(2026, 3, 3)),
        BetOffer(bet="big_six", minimum=100, maximum=10**9, effective_until=date(2026, 3, 2)),
    ]
    scene = betting(with_changes(MACAU, bets=dated))
    scene.bet("small_six")
    scene.bet("big_six")
    scene.finish()
    scene.wait(24 * 3600)
    scene.begin()
    scene.bet("small_six")
    scene.bet("big_six")
    assert [(alert.round, alert.evidence.bet) for alert in scene.alerts if alert.code == "bet_not_offered"] == [
        (1, "small_six"),
        (2, "big_six"),
    ]
    assert scene.rounds[0].gaming_day == "2026-03-02"


# -- the house's limits ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("configuration", "bet", "stake", "codes"),
    [
        (MACAU, "player", 300 * HKD - 1, ["below_minimum"]),
        (MACAU, "player", 300 * HKD, []),
        (MACAU, "tie", 30_000 * HKD, []),
        (MACAU, "tie", 30_000 * HKD + 1, ["above_maximum"]),
        (SJM, "player", 301 * HKD, []),
        (SJM, "banker", 301 * HKD, ["stake_not_multiple"]),
        (SJM, "banker", 600 * HKD, []),
    ],
)
def test_stakes_within_the_limits(configuration: TableConfiguration, bet: str, stake: int, codes: list[str]) -> None:
    """SJM(1)."""
    scene = betting(configuration)
    scene.bet(bet, stake)
    assert scene.codes == []
    scene.no_more_bets()
    assert scene.codes == codes


def test_limits_are_judged_at_the_close() -> None:
    """SJM(1): a stake that was raised in time was never too low."""
    scene = betting()
    scene.change(scene.bet("player", 100), 300 * HKD)
    scene.no_more_bets()
    assert scene.codes == []


@pytest.mark.parametrize(("more", "codes"), [(0, []), (1, ["differential_exceeded"])])
def test_differential(more: int, codes: list[str]) -> None:
    """Art. 14: the table takes up to the differential, and every event that made it shows it."""
    scene = betting()
    scene.bet("player", 1_000 * HKD, seat=1)
    scene.bet("banker", 201_000 * HKD + more, seat=2)
    scene.bet("tie", 10_000 * HKD, seat=3)
    scene.no_more_bets()
    assert scene.codes == codes
    if codes:
        alert = scene.alert("differential_exceeded")
        assert (alert.evidence.expected, alert.evidence.actual) == ("200,000", "200,000.01")
        assert len(alert.evidence.event_ids) == 2


def test_table_without_a_differential() -> None:
    """Art. 14: where none is set, none is exceeded."""
    scene = betting(with_changes(MACAU, differential=None))
    scene.bet("banker", 300_000 * HKD)
    scene.no_more_bets()
    assert scene.codes == []


# -- whose bets they are ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "second", "codes"),
    [
        ({"seat": 1, "patron_id": "P-7"}, {"seat": 2, "patron_id": "P-7"}, ["both_sides"]),
        ({"seat": 1, "patron_id": None}, {"seat": 1, "patron_id": None}, ["both_sides"]),
        ({"seat": 1, "patron_id": "P-7"}, {"seat": 1, "patron_id": None}, ["both_sides"]),
        ({"seat": 1, "patron_id": "P-7"}, {"seat": 1, "patron_id": "P-8"}, []),
        ({"seat": 1, "patron_id": None}, {"seat": 2, "patron_id": None}, []),
        (
            {"seat": 1, "patron_id": None, "posture": "standing", "area": "shared"},
            {"seat": 1, "patron_id": None, "posture": "standing", "area": "shared"},
            [],
        ),
        (
            {"seat": 1, "patron_id": "P-7"},
            {"seat": 1, "patron_id": None, "posture": "standing", "area": "shared"},
            [],
        ),
    ],
    ids=["known", "seated", "known and seated", "two known", "two seats", "two standing", "seated and standing"],
)
def test_one_patron_on_both_sides(first: dict[str, object], second: dict[str, object], codes: list[str]) -> None:
    """Wiki(2): nobody is accused who may be two persons; those standing behind one seat may be."""
    scene = betting()
    scene.bet("player", **first)  # type: ignore[arg-type]  # a seat and whose it is
    scene.bet("banker", **second)  # type: ignore[arg-type]  # the same
    scene.no_more_bets()
    assert scene.codes == codes


def test_both_sides_where_the_house_minds_not() -> None:
    """Wiki(2) is a house rule."""
    scene = betting(with_changes(MACAU, one_side_per_patron=False))
    scene.bet("player")
    scene.bet("banker")
    scene.no_more_bets()
    assert scene.codes == []


def test_seated_patron_is_known_by_the_seat() -> None:
    """A bet that names nobody is its seat's patron's, as long as that patron sits there."""
    scene = playing()
    scene.send("patron_seated", seat=4, patron_id="P-77")
    scene.begin()
    scene.bet("player", seat=4, patron_id=None)
    scene.bet("tie", seat=4, posture="standing", area="shared")
    scene.finish()
    scene.send("patron_left", seat=4, patron_id="P-77")
    scene.begin()
    scene.bet("player", seat=4, patron_id=None)
    scene.finish()
    assert [scene.bet_of("B1", 1).patron_id, scene.bet_of("B2", 1).patron_id, scene.bet_of("B3", 2).patron_id] == [
        "P-77",
        "",
        "",
    ]


@pytest.mark.parametrize(
    ("mains", "codes"),
    [
        ([], ["side_bet_alone"]),
        (["player"], []),
        (["banker_commission_free"], []),
        (["player", "banker_commission_free"], ["both_sides", "side_bet_alone"]),
    ],
)
def test_lucky_six_comes_with_one_side(mains: list[str], codes: list[str]) -> None:
    """Wiki(1)."""
    scene = betting(FREE)
    scene.bet("lucky_six", 100 * HKD)
    for main in mains:
        scene.bet(main)
    scene.no_more_bets()
    assert scene.codes == codes


@pytest.mark.parametrize(
    ("main", "lucky"),
    [("P-7", None), (None, "P-7")],
    ids=["main bet named", "lucky six named"],
)
def test_lucky_six_finds_its_main_bet_by_the_seat(main: str | None, lucky: str | None) -> None:
    """Wiki(1): chips of one seat are one patron's, whichever of them the table could name."""
    scene = betting(FREE)
    scene.bet("lucky_six", 100 * HKD, seat=2, patron_id=lucky)
    scene.bet("player", seat=2, patron_id=main)
    scene.no_more_bets()
    assert scene.codes == []


def test_lucky_six_of_somebody_standing_is_nobodys() -> None:
    """Wiki(1): whose main bet it belongs to can't be told."""
    scene = betting(FREE)
    scene.bet("lucky_six", 100 * HKD, posture="standing", area="shared")
    scene.no_more_bets()
    assert scene.codes == []


@pytest.mark.parametrize(
    ("posture", "area", "codes"),
    [
        ("standing", "reserved", ["reserved_place"]),
        ("standing", "shared", []),
        ("seated", "reserved", []),
        ("seated", "shared", []),
    ],
)
def test_reserved_places(posture: str, area: str, codes: list[str]) -> None:
    """Art. 15."""
    scene = betting()
    scene.bet("player", posture=posture, area=area)
    assert scene.codes == codes


# -- art. 16: who holds the cards ------------------------------------------------------------------------------------


def holding(seat: int, configuration: TableConfiguration = MACAU) -> Scene:
    """Return a table at which three patrons bet on the banker, and a seat is given the banker's cards."""
    scene = betting(configuration)
    scene.bet("banker", 3_000 * HKD, seat=1)
    scene.bet("banker", 2_000 * HKD, seat=2)
    scene.bet("banker", 1_500 * HKD, seat=2)
    scene.bet("banker", 9_000 * HKD, seat=3, posture="standing", area="shared")
    scene.bet("player", 9_000 * HKD, seat=4)
    scene.no_more_bets()
    scene.bet("banker", 9_000 * HKD, seat=5)
    scene.of_round("cards_held_by", hand="banker", seat=seat)
    return scene


@pytest.mark.parametrize("seat", [2, 0], ids=["highest", "dealer"])
def test_highest_seated_bettor_holds_the_cards(seat: int) -> None:
    """Art. 16(2): all of a seat's stakes on that hand count, standing and late ones don't."""
    assert "holder_not_highest" not in holding(seat).codes


@pytest.mark.parametrize("seat", [1, 3, 4, 5, 9], ids=["lower", "standing", "other hand", "late", "no bet"])
def test_somebody_else_holds_the_cards(seat: int) -> None:
    """Art. 16(2)."""
    alert = holding(seat).alert("holder_not_highest")
    assert (alert.seat, alert.evidence.expected, alert.evidence.actual) == (seat, "2", str(seat))


def test_cards_held_where_the_house_forbids_it() -> None:
    """Art. 16(1)."""
    alert = holding(2, with_changes(MACAU, patron_may_hold_cards=False)).alert("holder_not_highest")
    assert alert.evidence.expected == "0"


def test_cards_of_a_demonstration_may_be_held_by_anybody() -> None:
    """Art. 2(2): there are no stakes to compare."""
    scene = playing()
    scene.begin("demonstration")
    scene.of_round("cards_held_by", hand="banker", seat=3)
    assert "holder_not_highest" not in scene.codes


# -- art. 12: after a tie --------------------------------------------------------------------------------------------


def after_a_tie(configuration: TableConfiguration = WITH_TIE_CHANGES) -> Scene:
    """Return a table in the round after a tie; a main bet on each side stands, B1 and B2."""
    scene = playing(configuration)
    scene.play(TIE, ("player", 900 * HKD, 1), ("banker", 600 * HKD, 2), ("tie", 600 * HKD, 3))
    scene.begin()
    return scene


def test_stakes_stand_after_a_tie() -> None:
    """Art. 12(2): under their own ids, and settled with the next round."""
    scene = after_a_tie()
    scene.finish(BANKER_WINS)
    assert scene.codes == []
    carried = scene.bet_of("B2")
    assert (carried.carried, carried.net, carried.placed_at) == (True, 570 * HKD, scene.bet_of("B2", 1).placed_at)
    assert (scene.round(1).handle, scene.round(1).bets, scene.round(2).bets) == (600 * HKD, 3, 2)


def test_stakes_stand_through_several_ties() -> None:
    """Art. 12."""
    scene = after_a_tie()
    scene.finish(TIE)
    scene.play(PLAYER_WINS)
    assert (scene.codes, scene.bet_of("B1").net, scene.bet_of("B2").net) == ([], 900 * HKD, -600 * HKD)
    scene.play(PLAYER_WINS)
    assert scene.round().bets == 0


@pytest.mark.parametrize("answer", ["keep", "raise", "lower", "cancel", "move"])
def test_regulation_allows_every_answer_to_a_tie(answer: str) -> None:
    """Art. 12(1) to (3), with the permission of art. 19."""
    scene = after_a_tie()
    _answer(scene, answer)
    scene.no_more_bets()
    scene.finish(BANKER_WINS)
    assert scene.codes == []


def _answer(scene: Scene, answer: str) -> None:
    if answer == "cancel":
        scene.withdraw("B2")
    else:
        stake = {"raise": 1_200 * HKD, "lower": 300 * HKD}.get(answer, 600 * HKD)
        scene.change("B2", stake, "player" if answer == "move" else None)


@pytest.mark.parametrize(
    ("answer", "allowed"), [("keep", True), ("raise", True), ("lower", False), ("cancel", False), ("move", False)]
)
def test_sjm_allows_adding_only(answer: str, allowed: bool) -> None:
    """SJM(2)."""
    scene = after_a_tie(SJM)
    _answer(scene, answer)
    assert scene.codes == ([] if allowed else ["tie_change_forbidden"])


@pytest.mark.parametrize(
    ("answer", "asks"), [("keep", False), ("raise", False), ("lower", True), ("cancel", True), ("move", True)]
)
def test_options_after_a_tie_need_permission(answer: str, asks: bool) -> None:
    """Arts. 12 and 19, told once a shoe."""
    scene = after_a_tie(MACAU)
    _answer(scene, answer)
    scene.withdraw("B1")
    expected = ["option_without_approval"]
    assert scene.codes == expected
    assert scene.alerts[0].evidence.event_ids[0].endswith(str(scene.seq - 1 if asks else scene.seq))


def test_stake_moved_to_a_side_bet_is_moved_too_far() -> None:
    """Art. 12(3)(2): from one side to the other, nowhere else."""
    scene = after_a_tie()
    scene.change("B2", 600 * HKD, "tie")
    assert scene.codes == ["tie_change_forbidden"]


def test_new_stakes_after_a_tie_may_be_changed() -> None:
    """Art. 12 is about what a tie left."""
    scene = after_a_tie(SJM)
    scene.withdraw(scene.bet("player", seat=5))
    assert scene.codes == []


def test_stake_taken_in_at_a_tie_does_not_stand() -> None:
    """Art. 12: wrongly collected, and gone."""
    scene = playing()
    scene.begin()
    scene.bet("player")
    scene.no_more_bets()
    scene.deal(*TIE)
    scene.call()
    scene.settle(collected={"B1": 1_000 * HKD})
    scene.close()
    assert (scene.codes, scene.state.standing) == (["stake_wrongly_collected"], {})


def test_void_round_gives_back_what_a_tie_left() -> None:
    """Arts. 10 and 12."""
    scene = after_a_tie()
    scene.void()
    scene.close()
    scene.play(PLAYER_WINS)
    assert (scene.codes, scene.round().bets) == ([], 0)


@pytest.mark.parametrize("ending", ["shoe", "table"])
def test_no_stake_stands_from_shoe_to_shoe(ending: str) -> None:
    """Art. 12: the next round decides, in the same shoe."""
    scene = playing()
    scene.play(TIE, ("player",))
    assert scene.state.standing
    if ending == "shoe":
        scene.take_shoe_away()
    else:
        scene.send("table_closed")
    assert not scene.state.standing
    scene.load()
    scene.play(PLAYER_WINS)
    assert scene.round().bets == 0


# -- events that can't be used ---------------------------------------------------------------------------------------


def test_bet_placed_twice_is_refused() -> None:
    scene = betting()
    scene.bet("player", bet_id="B1")
    scene.bet("banker", bet_id="B1")
    (letter,) = scene.dead_letters
    assert (letter.reason, letter.event_id) == ("bet_exists", f"BAC-01:1:{scene.seq}")
    scene.finish()
    assert (scene.bet_of("B1").bet, scene.bet_of("B1").result) == ("player", "unknown")


@pytest.mark.parametrize("kind", ["bet_changed", "bet_withdrawn"])
def test_change_of_a_bet_that_does_not_stand_is_refused(kind: str) -> None:
    scene = betting()
    scene.of_round(kind, bet_id="B9", **({"stake": 100} if kind == "bet_changed" else {}))
    assert scene.refusals == ["no_such_bet"]


def test_bet_in_a_demonstration() -> None:
    """Art. 2(2): and its changes are no matter of any other article."""
    scene = playing(with_changes(MACAU, demonstrations=1))
    scene.begin("demonstration")
    scene.change(scene.bet("player", 200), 100)
    scene.no_more_bets()
    scene.change("B1", 300)
    assert scene.codes == ["bet_in_demonstration", "option_without_approval"]


def test_table_without_configuration_accuses_nobody_of_its_limits() -> None:
    """Nobody breaks a limit that nobody set; late is late all the same."""
    scene = Scene()
    scene.load()
    scene.begin()
    scene.bet("dragon_seven", 1)
    scene.bet("player", 10**9)
    scene.of_round("cards_held_by", hand="player", seat=9)
    scene.no_more_bets()
    scene.bet("tie", 1)
    assert scene.codes == ["late_bet"]
    scene.finish(TIE)
    scene.begin()
    scene.withdraw("B2")
    assert scene.codes == ["late_bet"]
    assert scene.round(1).configuration_id == ""
