"""The floor that facts add up to: upserts replace, retractions take back, a new shoe begins anew."""

from datetime import timedelta
from fractions import Fraction

from hypothesis import given
from hypothesis import strategies as st

from pitwatch.floor_model import Floor, Money
from schemas.facts import Fact
from tests.pitwatch.floor_facts import NOON, alert_fact, dead_letter, road_fact, round_fact, shoe_fact

HEARD = 17.5


def floor_of(*facts: Fact) -> Floor:
    floor = Floor()
    floor.take(facts, HEARD)
    return floor


def test_an_empty_floor_has_nothing() -> None:
    floor = Floor()
    assert (floor.rounds, floor.bets, floor.lines(), floor.totals(), floor.clock) == (0, 0, [], {}, None)


def test_a_round_tells_of_its_table() -> None:
    floor = floor_of(round_fact(round=3, handle=1000, house_win=-50, commission_due=5, bets=2))
    (line,) = floor.lines()
    assert (line.pit, line.dealer_id, line.currency, line.shoe, line.round) == ("PIT-1", "D-7", "HKD", 1, 3)
    assert line.money == Money(1000, -50, 5)
    assert (line.bets, line.heard_at) == (2, HEARD)


def test_a_revision_replaces_what_the_round_said_before() -> None:
    floor = floor_of(round_fact(handle=1000, house_win=100, bets=2), round_fact(handle=400, house_win=-40, bets=1))
    assert floor.totals() == {"HKD": Money(400, -40, 0)}
    assert (floor.rounds, floor.bets) == (1, 1)


def test_a_retracted_round_is_taken_back() -> None:
    floor = floor_of(round_fact(handle=1000, bets=2), round_fact(handle=1000, bets=2, retracted=True))
    assert floor.totals() == {"HKD": Money()}
    assert (floor.rounds, floor.bets) == (0, 0)


def test_demonstrations_are_no_rounds_of_play() -> None:
    floor = floor_of(round_fact(kind="demonstration"))
    assert floor.rounds == 0
    assert floor.lines()[0].round == 1


def test_currencies_are_never_added_up() -> None:
    floor = floor_of(round_fact(handle=100), round_fact("BAC-102", handle=7, currency="MOP"))
    assert floor.totals() == {"HKD": Money(100), "MOP": Money(7)}


def test_hold_is_win_by_handle() -> None:
    assert Money(400, -40).hold == Fraction(-1, 10)
    assert Money().hold is None


def test_tables_are_listed_by_name() -> None:
    floor = floor_of(round_fact("BAC-110"), round_fact("BAC-102"))
    assert [line.table_id for line in floor.lines()] == ["BAC-102", "BAC-110"]


def test_a_new_shoe_begins_its_roads_and_rounds_anew_and_keeps_the_money() -> None:
    floor = floor_of(shoe_fact(), round_fact(round=60, handle=500), road_fact("B", 0), shoe_fact(shoe=2))
    (line,) = floor.lines()
    assert (line.shoe, line.round, line.road("bead_plate")) == (2, 0, [])
    assert line.money.handle == 500


def test_a_late_revision_of_an_old_shoe_changes_the_money_alone() -> None:
    floor = floor_of(
        shoe_fact(shoe=2), road_fact("P", 0, shoe=2), road_fact("B", 5, shoe=1), round_fact(shoe=1, round=50, handle=9)
    )
    (line,) = floor.lines()
    assert (line.shoe, line.round, [cell.mark for cell in line.road("bead_plate")]) == (2, 0, ["P"])
    assert line.money.handle == 9
    floor.take([shoe_fact(shoe=1, cards_out=400)], HEARD)
    assert line.shoe_fact == shoe_fact(shoe=2)


def test_a_round_of_a_shoe_that_nobody_saw_loaded_begins_it() -> None:
    (line,) = floor_of(shoe_fact(), round_fact(shoe=2)).lines()
    assert (line.shoe, line.shoe_fact) == (2, None)


def test_roads_are_in_order_and_a_retracted_mark_is_gone() -> None:
    floor = floor_of(road_fact("P", 1), road_fact("B", 0), road_fact("T", 2), road_fact("T", 2, retracted=True))
    assert [cell.mark for cell in floor.lines()[0].road("bead_plate")] == ["B", "P"]
    floor.take([road_fact("T", 1)], HEARD)
    assert [cell.mark for cell in floor.lines()[0].road("bead_plate")] == ["B", "T"]


def test_a_shoe_is_played_until_its_cut_card() -> None:
    assert floor_of(shoe_fact(cards_out=100)).lines()[0].progress == (100, 400)
    assert floor_of(shoe_fact(cards_out=100, cards_behind_cut=None)).lines()[0].progress == (100, 416)
    assert floor_of(shoe_fact(shuffling="continuous")).lines()[0].progress is None
    assert floor_of(shoe_fact(), shoe_fact(retracted=True)).lines()[0].progress is None


def test_alerts_are_counted_by_severity_and_the_gravest_is_known() -> None:
    floor = floor_of(alert_fact("reserved_place"), alert_fact("overpaid", round=2), alert_fact("overpaid", round=3))
    (line,) = floor.lines()
    assert floor.severities == line.severities == {"warning": 1, "critical": 2}
    assert line.gravest == "critical"
    assert (line.alerted, line.alerted_at) == ("critical", HEARD)


def test_a_retracted_alert_is_gone_and_flashes_nothing() -> None:
    floor = floor_of(alert_fact("overpaid"))
    floor.take([alert_fact("overpaid", retracted=True)], HEARD + 60)
    (line,) = floor.lines()
    assert (floor.alerts, line.alerts, line.gravest) == ({}, {}, None)
    assert line.alerted_at == HEARD


def test_an_alert_told_anew_keeps_its_place() -> None:
    first, second = alert_fact("overpaid"), alert_fact("late_bet")
    put_right = alert_fact("overpaid", status="corrected")
    floor = floor_of(first, second, put_right)
    assert floor.latest_alerts(5) == [second, put_right]
    assert floor.latest_alerts(1) == [second]
    assert floor.latest_alerts(0) == []


def test_dead_letters_are_counted_by_their_place_in_the_log() -> None:
    floor = floor_of(dead_letter(4), dead_letter(4), dead_letter(9), dead_letter(9, retracted=True))
    assert floor.dead_letters == {(0, 4)}


def test_the_floor_clock_never_goes_back_and_is_not_the_log() -> None:
    floor = floor_of(
        dead_letter(1), round_fact(round=9), round_fact(round=2), dead_letter(2, at=NOON + timedelta(days=1))
    )
    assert floor.clock == round_fact(round=9).occurred_at
    assert floor.clock > NOON


amounts = st.integers(-1000, 1000)


@given(st.lists(st.tuples(st.integers(1, 3), st.integers(1, 4), amounts, st.booleans()), max_size=30))
def test_sums_are_those_of_the_newest_version_of_each_round(told: list[tuple[int, int, int, bool]]) -> None:
    floor = Floor()
    newest: dict[tuple[int, int], int] = {}
    for shoe, number, win, retracted in told:
        floor.take([round_fact(shoe=shoe, round=number, house_win=win, bets=1, retracted=retracted)], HEARD)
        newest.pop((shoe, number), None)
        if not retracted:
            newest[shoe, number] = win
    assert (floor.rounds, floor.bets) == (len(newest), len(newest))
    assert sum(money.house_win for money in floor.totals().values()) == sum(newest.values())
