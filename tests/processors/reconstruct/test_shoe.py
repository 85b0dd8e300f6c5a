"""A shoe from its loading to its end: arts. 1, 2, 3 and 8, and the options of art. 19."""

from datetime import date
from typing import get_args

import pytest

from schemas.configuration import Approval, Option
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

CONTINUOUS = with_changes(MACAU, shuffling="continuous")
PERMISSIONS = [
    Approval(option=option, approval_id=f"DICJ-{number}", applied_on=date(2026, 1, 5), effective_on=date(2026, 2, 2))
    for number, option in enumerate(get_args(Option))
]


def first_round(scene: Scene) -> Scene:
    """Open the shoe's first round, which is when its opening is judged."""
    scene.begin()
    return scene


# -- arts. 1 and 2: opened by the book -------------------------------------------------------------------------------


def test_shoe_opened_by_the_book() -> None:
    """Arts. 1 and 2(1)."""
    scene = first_round(playing())
    assert scene.codes == []
    fact = scene.shoe_fact()
    assert (fact.status, fact.complete, fact.decks, fact.shuffling) == ("loaded", True, 8, "shoe")
    scene.finish()
    fact = scene.shoe_fact()
    assert (fact.status, fact.burned, fact.cards_out, fact.cut_by, fact.cards_behind_cut) == (
        "in_play",
        8,
        12,
        "patron",
        14,
    )


@pytest.mark.parametrize(("decks", "codes"), [(8, []), (6, ["shoe_refused"]), (5, ["shoe_refused"])])
def test_decks_of_the_configuration(decks: int, codes: list[str]) -> None:
    """Art. 1(1)."""
    scene = Scene().open()
    scene.load(decks=decks)
    assert scene.codes == codes


@pytest.mark.parametrize(("decks", "codes"), [(6, []), (12, []), (5, ["shoe_refused"]), (13, ["shoe_refused"])])
def test_decks_without_a_configuration(decks: int, codes: list[str]) -> None:
    """Art. 1(1): six to twelve."""
    scene = Scene()
    scene.load(decks=decks)
    assert scene.codes == codes


@pytest.mark.parametrize(("cut", "codes"), [(12, []), (11, ["cut_depth"]), (None, ["shoe_not_cut"])])
def test_cut(cut: int | None, codes: list[str]) -> None:
    """Art. 2(1): some twelve cards from the end, or deeper."""
    scene = Scene().open()
    scene.load(cut=cut)
    first_round(scene)
    assert scene.codes == codes
    assert [alert.round for alert in scene.alerts] == [0] * len(codes)


def test_every_cut_is_judged() -> None:
    """Art. 2(1): two cuts too shallow are two deviations."""
    scene = Scene().open()
    scene.load(cut=3)
    scene.send("shoe_cut", shoe=1, cut_by="dealer", cards_behind=4)
    assert scene.codes == ["cut_depth", "cut_depth"]


@pytest.mark.parametrize(("burned", "codes"), [(8, []), (7, ["burn_count"]), (9, ["burn_count"])])
def test_burned_as_many_as_decks(burned: int, codes: list[str]) -> None:
    """Art. 2(1)."""
    scene = Scene().open()
    scene.load(burned=burned)
    assert first_round(scene).codes == codes


@pytest.mark.parametrize(
    ("burned", "codes"),
    [
        (["3S", "", "", ""], []),
        (["3S", "", ""], ["burn_count"]),
        (["KS"] + [""] * 10, []),
        (["AS", ""], []),
        (["", "", ""], []),
    ],
    ids=["three more", "two more", "court card: ten more", "ace: one more", "face not seen"],
)
def test_burned_by_the_first_card(burned: list[str], codes: list[str]) -> None:
    """Art. 2(1): the card that is shown, and as many more as its face says."""
    scene = Scene().open(with_changes(MACAU, burn="first_card", approvals=PERMISSIONS))
    scene.load(burned=burned)
    assert first_round(scene).codes == codes


def test_opening_is_judged_once() -> None:
    """Art. 2(1): at the first round, not at every one."""
    scene = Scene().open()
    scene.load(burned=7)
    scene.play()
    scene.play()
    assert scene.codes == ["burn_count"]


def test_continuous_shuffler_skips_the_opening() -> None:
    """Arts. 2(3) and 7(2): no cut, no burn, and cards go back."""
    scene = Scene().open(with_changes(CONTINUOUS, approvals=PERMISSIONS))
    scene.load()
    scene.play(BANKER_WINS)
    scene.burn("KS")
    scene.burn()
    scene.begin()
    scene.deal("2S 4H", "7D KC")
    scene.misread("player", 1, "3S")
    scene.call()
    scene.close()
    fact = scene.shoe_fact()
    assert (scene.codes, fact.shuffling, fact.cards_out, fact.seen) == ([], "continuous", 0, {})


# -- art. 2(2): demonstrations ---------------------------------------------------------------------------------------


def demonstrating(allowed: int = 2) -> Scene:
    return playing(with_changes(MACAU, demonstrations=allowed, approvals=PERMISSIONS))


def test_demonstrations_carry_no_money() -> None:
    """Art. 2(2): counted apart from rounds, in no hour and on no road."""
    scene = demonstrating()
    scene.demonstrate()
    scene.demonstrate()
    scene.play(TIE)
    fact = scene.shoe_fact()
    assert (scene.codes, fact.demonstrations, fact.rounds, fact.ties) == ([], 2, 1, 1)
    assert scene.round(1).kind == "demonstration"
    assert ([hour.rounds for hour in scene.hours], [cell.round for cell in scene.roads]) == ([1], [3])


def test_too_many_demonstrations() -> None:
    """Art. 2(2): each one too many is told of."""
    scene = demonstrating()
    for _ in range(4):
        scene.demonstrate()
    assert [(alert.code, alert.round) for alert in scene.alerts] == [
        ("demonstrations_exceeded", 3),
        ("demonstrations_exceeded", 4),
    ]


def test_demonstration_after_play() -> None:
    """Art. 2(2): they come when a shoe is begun; the count is no second deviation."""
    scene = demonstrating(1)
    scene.demonstrate()
    scene.play()
    scene.demonstrate()
    assert scene.codes == ["demonstration_after_play"]


# -- art. 3: the end -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("more", "first_wrong"), [(0, 2), (1, 3)])
def test_rounds_after_the_white_card(more: int, first_wrong: int) -> None:
    """Art. 3(1): the round in play is the last, or one more."""
    scene = playing(with_changes(MACAU, rounds_after_cut_card=more, approvals=PERMISSIONS))
    scene.begin()
    scene.white_card()
    scene.finish()
    for _ in range(3):
        scene.play()
    assert [(alert.code, alert.round) for alert in scene.alerts] == [
        ("round_after_cut_card", number) for number in range(first_wrong, 5)
    ]
    assert scene.shoe_fact().cut_card_round == 1


def test_white_card_between_rounds() -> None:
    """Art. 3(1): the round to come is then the last."""
    scene = playing()
    scene.play()
    scene.white_card(2)
    scene.play()
    assert scene.codes == []
    scene.play()
    assert scene.codes == ["round_after_cut_card"]


def test_shoe_taken_away_after_a_round() -> None:
    """Art. 3(2)."""
    scene = playing()
    scene.play()
    closed = scene.take_shoe_away("damaged_cards")
    fact = scene.shoe_fact()
    assert (scene.codes, fact.status, fact.close_reason) == ([], "closed", "damaged_cards")
    assert fact.closed_at == fact.occurred_at
    assert closed.endswith(str(scene.seq))


@pytest.mark.parametrize("how", ["taken away", "another loaded"])
@pytest.mark.parametrize(
    ("moment", "codes"),
    [
        ("betting", ["round_left_open"]),
        ("cards", ["shoe_changed_in_round"]),
        ("called", ["round_left_open"]),
        ("void", ["shoe_changed_in_round"]),
    ],
)
def test_shoe_changed_in_a_round(moment: str, codes: list[str], how: str) -> None:
    """Art. 3(2): between its first card and its result."""
    scene = playing()
    scene.begin()
    if moment != "betting":
        scene.deal(*PLAYER_WINS)
    if moment == "called":
        scene.call()
    if moment == "void":
        scene.void()
    if how == "taken away":
        scene.take_shoe_away()
    else:
        scene.load()
    assert scene.codes == codes
    assert [alert.round for alert in scene.alerts] == [1] * len(codes)


# -- art. 8: burning before a round ----------------------------------------------------------------------------------


def test_cards_burned_before_a_round() -> None:
    """Art. 8: they count with the round that follows, whether its betting was open or not."""
    scene = playing()
    scene.burn("2C")
    scene.begin()
    scene.burn()
    scene.finish()
    assert (scene.codes, scene.round().burned_cards, scene.shoe_fact().cards_out) == ([], 2, 14)
    scene.play()
    assert scene.round().burned_cards == 0


@pytest.mark.parametrize("over", ["called", "void"])
def test_cards_burned_once_the_round_is_decided(over: str) -> None:
    """Art. 8: the round before need not be closed in the books for the next one to be prepared."""
    scene = playing()
    scene.begin()
    scene.deal(*PLAYER_WINS)
    scene.call() if over == "called" else scene.void()
    scene.burn()
    scene.close()
    scene.play()
    assert (scene.codes, scene.round(1).burned_cards, scene.round(2).burned_cards) == ([], 0, 1)


def test_card_burned_within_a_round() -> None:
    """Art. 8."""
    scene = playing()
    scene.begin()
    scene.draw("player", "9S")
    scene.burn()
    scene.burn()
    assert scene.codes == ["burned_in_round", "burned_in_round"]
    assert scene.alerts[0].evidence.actual == "1"


# -- art. 1: copies of a card ----------------------------------------------------------------------------------------


def shoe_with_copies(count: int) -> Scene:
    """Return a table with six decks of which so many kings of spades were burned face up."""
    scene = Scene().open(with_changes(MACAU, decks=6))
    scene.load()
    for _ in range(count):
        scene.burn("KS")
    scene.begin()
    return scene


def test_one_copy_too_many() -> None:
    """Art. 1: six decks hold six kings of spades; each further one is told of."""
    scene = shoe_with_copies(5)
    scene.draw("player", "KS")
    assert scene.codes == []
    scene.draw("banker", "KS")
    scene.draw("player", "KS")
    assert [
        (alert.code, alert.evidence.card, alert.evidence.expected, alert.evidence.actual) for alert in scene.alerts
    ] == [
        ("excess_copies", "KS", "6", "7"),
        ("excess_copies", "KS", "6", "8"),
    ]


def test_copy_too_many_that_was_misread() -> None:
    """Arts. 1 and 10: read anew, there is none too many."""
    scene = shoe_with_copies(6)
    scene.draw("player", "KS")
    assert scene.codes == ["excess_copies"]
    scene.misread("player", 1, "KC")
    assert scene.codes == []
    assert scene.state.shoe is not None
    assert (scene.state.shoe.seen, scene.state.shoe.cards_out) == ({"KS": 6, "KC": 1}, 13)


def test_copy_too_many_that_was_misdealt_stays() -> None:
    """Art. 10: it is out of the hand, and was in the shoe."""
    scene = shoe_with_copies(6)
    scene.draw("player", "KS")
    scene.misdeal("player", 1, "KC")
    assert scene.codes == ["excess_copies"]


def test_copies_are_counted_shoe_by_shoe() -> None:
    """Art. 1."""
    scene = shoe_with_copies(6)
    scene.close()
    scene.load()
    scene.burn("KS")
    assert scene.codes == ["round_incomplete"]


# -- art. 19: options ------------------------------------------------------------------------------------------------


OPTIONS: dict[str, dict[str, object]] = {
    "burn_by_first_card": {"burn": "first_card"},
    "demonstration_rounds": {"demonstrations": 3},
    "continuous_shuffler": {"shuffling": "continuous"},
    "one_more_round": {"rounds_after_cut_card": 1},
}


@pytest.mark.parametrize("permitted", [True, False])
@pytest.mark.parametrize("option", OPTIONS)
def test_options_need_permission(option: str, permitted: bool) -> None:
    """Art. 19: told of once a shoe."""
    approvals = PERMISSIONS if permitted else []
    scene = Scene().open(with_changes(MACAU, approvals=approvals, **OPTIONS[option]))
    scene.load(burned=["AS", ""] if option == "burn_by_first_card" else None)
    if option == "demonstration_rounds":
        scene.demonstrate()
        scene.demonstrate()
    if option == "one_more_round":
        scene.begin()
        scene.white_card()
        scene.finish()
    scene.play()
    assert scene.codes == ([] if permitted else ["option_without_approval"])
    if not permitted:
        assert scene.alerts[0].evidence.actual == option


def test_permission_holds_from_its_day_on() -> None:
    """Art. 19: a shoe of the day on which it begins to hold is loaded under it, though no round was played yet."""
    late = [
        Approval(
            option="continuous_shuffler", approval_id="D-1", applied_on=date(2026, 1, 5), effective_on=date(2026, 3, 3)
        )
    ]
    scene = Scene().open(with_changes(CONTINUOUS, approvals=late))
    scene.wait(24 * 3600)
    scene.load()
    assert "option_without_approval" not in scene.codes


def test_permission_asked_for_too_late_is_none() -> None:
    """Art. 19: three working days ahead."""
    hasty = [
        Approval(
            option="continuous_shuffler", approval_id="D-1", applied_on=date(2026, 2, 27), effective_on=date(2026, 3, 2)
        )
    ]
    scene = Scene().open(with_changes(CONTINUOUS, approvals=hasty))
    scene.load()
    assert scene.codes == ["option_without_approval"]


# -- roads and sums --------------------------------------------------------------------------------------------------


def test_roads_grow_with_every_live_round() -> None:
    """A tie counts on the newest cell of the big road, which is emitted anew."""
    scene = playing()
    for hands in (BANKER_WINS, TIE, BANKER_WINS, PLAYER_WINS):
        scene.play(hands)
    big = [(cell.index, cell.column, cell.row, cell.mark, cell.ties) for cell in scene.roads if cell.road == "big_road"]
    assert big == [(0, 0, 0, "B", 1), (1, 0, 1, "B", 0), (2, 1, 0, "P", 0)]
    assert [cell.mark for cell in scene.roads if cell.road == "bead_plate"] == ["B", "T", "B", "P"]
    fact = scene.shoe_fact()
    assert (fact.rounds, fact.banker_wins, fact.player_wins, fact.ties) == (4, 2, 1, 1)


def test_pairs_stand_on_the_roads() -> None:
    """Art. 13(4)."""
    scene = playing()
    scene.play(("4S 4H", "7D 7C"), ("player",))
    fact = scene.round()
    assert (fact.player_pair, fact.banker_pair, fact.natural) == (True, True, True)
    assert {(cell.player_pair, cell.banker_pair) for cell in scene.roads} == {(True, True)}


def test_hour_sums_up_the_rounds_that_began_in_it() -> None:
    """A round counts in the hour it began, in which it need not end."""
    scene = playing()
    scene.play(PLAYER_WINS, ("player", 1_000 * HKD), ("banker", 500 * HKD, 2))
    scene.wait(3600 - (scene.now.minute * 60 + scene.now.second) - 5)
    scene.begin()
    scene.bet("banker", 1_000 * HKD)
    scene.finish(BANKER_WINS)
    scene.wait(100)
    scene.play(TIE, ("tie", 100 * HKD, 2), ("player", 100 * HKD, 3))
    first, second = scene.hours
    assert (first.rounds, first.bets, first.handle, first.house_win, first.commission_due) == (
        2,
        3,
        2_500 * HKD,
        -1_450 * HKD,
        50 * HKD,
    )
    assert (second.rounds, second.handle, second.house_win, second.cards) == (1, 100 * HKD, -800 * HKD, 4)
    assert (first.paid, first.collected) == (1_950 * HKD, 500 * HKD)


def test_clock_set_back_finds_its_hours_again() -> None:
    """Sums given out are never begun anew: hours that come back go on from where they stood."""
    scene = playing()
    scene.play()
    scene.wait(3600)
    scene.play()
    scene.wait(-3600)
    scene.play()
    assert sorted(hour.rounds for hour in scene.hours) == [1, 2]
    assert "clock_skew" in scene.codes


def test_only_so_many_hours_are_remembered() -> None:
    scene = playing()
    for _ in range(50):
        scene.play()
        scene.wait(3600)
    assert len(scene.state.hours) == 48
    assert len(scene.hours) == 50
