"""A whole floor as its events tell it: the same every time, numbered, in order, and with every chip accounted for."""

from collections import Counter, defaultdict
from datetime import timedelta
from itertools import islice, pairwise

import pytest

from producers.simulator import Arrival, FloorSettings, mixed_floor, simulate, table_stream
from schemas.events import EVENT_TYPES, SYSTEM_EVENT_TYPES, Event
from schemas.wire import decode_event, encode


def by_table(arrivals: list[Arrival]) -> dict[str, list[Event]]:
    tables = defaultdict(list)
    for arrival in arrivals:
        tables[arrival.event.table_id].append(arrival.event)
    return tables


def number(event: Event, name: str) -> int:
    return int(getattr(event, name))


def test_the_same_floor_is_the_same_bytes(clean_settings: FloorSettings, clean: list[Arrival]) -> None:
    again = islice(simulate(clean_settings), 20_000)
    assert all(encode(one.event) == encode(other.event) for one, other in zip(again, clean, strict=False))


def test_another_seed_is_another_floor(clean_settings: FloorSettings, clean: list[Arrival]) -> None:
    other = simulate(clean_settings.model_copy(update={"seed": 99}))
    assert [arrival.event for arrival in islice(other, 500)] != [arrival.event for arrival in clean[:500]]


def test_a_table_does_not_depend_on_its_neighbours(clean_settings: FloorSettings, clean: list[Arrival]) -> None:
    alone = clean_settings.model_copy(update={"tables": clean_settings.tables[3:4]})
    table_id = alone.tables[0].table_id
    assert [arrival.event for arrival in table_stream(alone, 0)] == by_table(clean)[table_id]


def test_a_year_of_a_large_floor_begins_at_once(clean_settings: FloorSettings) -> None:
    year = mixed_floor(seed=1, start=clean_settings.start, hours=24 * 365, tables=200)
    assert len(list(islice(simulate(year), 2_000))) == 2_000


def test_arrivals_are_in_order(clean: list[Arrival], dirty: list[Arrival]) -> None:
    for arrivals in (clean, dirty):
        assert all(one.arrives_at <= next_one.arrives_at for one, next_one in pairwise(arrivals))


def test_every_event_is_one_of_the_contracts(clean: list[Arrival], dirty: list[Arrival]) -> None:
    for arrival in (*clean[:20_000], *dirty[:20_000]):
        assert decode_event(encode(arrival.event)) == arrival.event


def test_every_table_numbers_its_events_densely_from_its_first_boot(clean: list[Arrival], dirty: list[Arrival]) -> None:
    for events in (*by_table(clean).values(), *by_table(dirty).values()):
        assert [(event.epoch, event.seq) for event in events] == [(1, seq) for seq in range(1, len(events) + 1)]
        assert events[0].follows == (0, 0)
        assert all(event.follows is None for event in events[1:])
        assert all(one.occurred_at < other.occurred_at for one, other in pairwise(events))


def test_every_type_a_table_sends_occurs(clean: list[Arrival], dirty: list[Arrival]) -> None:
    """Real procedure: corrections are a supervisor's answer to an error, so a clean floor has none."""
    sent = {arrival.event.type for arrival in clean}
    assert EVENT_TYPES.keys() - sent == SYSTEM_EVENT_TYPES | {"correction"}
    assert EVENT_TYPES.keys() - {arrival.event.type for arrival in dirty} == SYSTEM_EVENT_TYPES


def test_rounds_are_as_busy_as_real_ones(clean: list[Arrival]) -> None:
    count = Counter(arrival.event.type for arrival in clean)
    assert 25 < len(clean) / count["round_opened"] < 36
    assert 8 < count["bet_placed"] / count["round_opened"] < 14


def test_tables_keep_their_pace(clean_settings: FloorSettings, clean: list[Arrival]) -> None:
    """Domain: 40 to 72 rounds an hour at a big table, up to 200 at a mini one."""
    for table, events in zip(clean_settings.tables, by_table(clean).values(), strict=True):
        rounds = sum(event.type == "round_closed" for event in by_table(clean)[table.table_id])
        per_hour = rounds / clean_settings.hours
        assert len(events) > 0
        assert (90 < per_hour < 200) if table.seconds_per_round < 30 else (30 < per_hour < 72), table.table_id


def test_shoes_and_rounds_are_counted_from_one(clean: list[Arrival], dirty: list[Arrival]) -> None:
    for events in (*by_table(clean).values(), *by_table(dirty).values()):
        shoes = [number(event, "shoe") for event in events if event.type == "shoe_loaded"]
        assert shoes == list(range(1, len(shoes) + 1))
        rounds: dict[int, list[int]] = defaultdict(list)
        bets: dict[int, list[str]] = defaultdict(list)
        for event in events:
            if event.type == "round_opened":
                rounds[number(event, "shoe")].append(number(event, "round"))
            elif event.type == "bet_placed":
                bets[number(event, "shoe")].append(str(getattr(event, "bet_id", "")))
        assert all(numbers == list(range(1, len(numbers) + 1)) for numbers in rounds.values())
        assert all(len(ids) == len(set(ids)) for ids in bets.values())


_INTO_THE_TRAY = {
    "stake_collected": 1,
    "commission_settled": 1,
    "fill": 1,
    "payout_made": -1,
    "buy_in": -1,
    "credit": -1,
}
_COUNTED = {"table_opened": "opening_float", "float_counted": "amount", "table_closed": "closing_float"}


def counts_of(arrivals: list[Arrival]) -> list[tuple[Arrival, int, int]]:
    """Return every count of a tray: its arrival, what the movements give, and what was counted."""
    corrected = {
        str(getattr(arrival.event, "target_event_id", "")): dict(getattr(arrival.event, "changes", {}))
        for arrival in arrivals
        if arrival.event.type == "correction"
    }
    expected: dict[str, int] = {}
    counts = []
    for arrival in arrivals:
        event, table = arrival.event, arrival.event.table_id
        if event.type in _INTO_THE_TRAY:
            amount = corrected.get(event.event_id, {}).get("amount", number(event, "amount"))
            expected[table] += _INTO_THE_TRAY[event.type] * int(amount)
        elif event.type in _COUNTED:
            counted = number(event, _COUNTED[event.type])
            counts.append((arrival, expected.get(table, counted), counted))
            expected[table] = counted
    return counts


def test_the_tray_closes_exactly(clean: list[Arrival]) -> None:
    """The float changes only by cash exchange, pay and collect, fill, credit and commission."""
    counts = counts_of(clean)
    assert len(counts) > 24
    assert [count for count in counts if count[1] != count[2]] == []


def test_the_tray_is_short_where_a_label_says_so(dirty: list[Arrival]) -> None:
    short = {arrival.event.event_id for arrival, expected, counted in counts_of(dirty) if expected != counted}
    labelled = {
        label.event_id for arrival in dirty for label in arrival.labels if label.codes == ("float_unexplained",)
    }
    assert short == labelled != set()


def test_the_box_holds_what_was_bought_in(clean: list[Arrival]) -> None:
    for events in by_table(clean).values():
        bought = sum(number(event, "amount") for event in events if event.type == "buy_in")
        assert bought == sum(number(event, "amount") for event in events if event.type == "drop_counted")


def test_marked_commission_is_all_paid_when_a_shoe_ends(clean: list[Arrival]) -> None:
    """Art. 18: marked at the position, settled when the patron leaves or the shoe ends."""
    events = by_table(clean)["BAC-106"]
    owed = 0
    shoes = 0
    for event in events:
        if event.type == "commission_charged":
            owed += number(event, "amount")
        elif event.type == "commission_settled":
            owed -= number(event, "amount")
        elif event.type == "shoe_closed":
            assert owed == 0
            shoes += 1
    assert shoes > 0


def test_a_clean_floor_has_no_labels(clean: list[Arrival]) -> None:
    assert [arrival.labels for arrival in clean if arrival.labels] == []


def test_a_clean_table_is_never_silent(clean_settings: FloorSettings, clean: list[Arrival]) -> None:
    for table in clean_settings.tables:
        limit = timedelta(seconds=table.configuration.silence_limit_seconds)
        events = by_table(clean)[table.table_id]
        assert all(other.occurred_at - one.occurred_at <= limit for one, other in pairwise(events))


@pytest.mark.parametrize("index", range(8))
def test_stakes_are_within_limits_and_differential_when_betting_closes(
    clean_settings: FloorSettings, clean: list[Arrival], index: int
) -> None:
    """Art. 14, and the limits of each bet."""
    table = clean_settings.tables[index]
    offers = {str(offer.bet): offer for offer in table.configuration.bets}
    bets: dict[str, tuple[str, int]] = {}
    for event in by_table(clean)[table.table_id]:
        bet_id = str(getattr(event, "bet_id", ""))
        if event.type in {"bet_placed", "bet_changed"}:
            before = bets.get(bet_id, ("", 0))[0]
            bets[bet_id] = (getattr(event, "bet", None) or before, number(event, "stake"))
        elif event.type == "bet_withdrawn":
            del bets[bet_id]
        elif event.type == "betting_closed":
            sides = Counter[str]()
            for bet, stake in bets.values():
                offer = offers[bet]
                assert offer.minimum <= stake <= offer.maximum
                assert stake % (offer.multiple or 1) == 0
                if bet.partition("_")[2] in {"", "commission_free", "ez"} and bet != "tie":
                    sides[bet.partition("_")[0]] += stake
            assert abs(sides["player"] - sides["banker"]) <= (table.configuration.differential or 0)
        elif event.type in {"stake_collected", "payout_made"}:
            bets.pop(bet_id, None)
        elif event.type in {"round_voided", "shoe_closed"}:
            bets.clear()
        elif event.type == "round_closed":
            bets = {
                bet_id: (bet, stake)
                for bet_id, (bet, stake) in bets.items()
                if bet in {"player", "banker", "banker_commission_free", "banker_ez"}
            }
