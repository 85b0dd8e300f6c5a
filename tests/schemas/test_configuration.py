"""Table configuration: presets, limits, offers by date, and everything that can't be computed with refused."""

import json
from datetime import date
from fractions import Fraction
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from schemas.catalogue import CATALOGUE, checked_odds
from schemas.configuration import (
    HKD,
    PRESETS,
    Approval,
    BetName,
    BetOffer,
    Commission,
    GamingDay,
    Shift,
    TableConfiguration,
    TableEntry,
    UnknownPreset,
    exact,
    preset,
)
from schemas.fields import Ratio
from schemas.money import MAX_ODDS, MINOR_DIGITS
from schemas.terms import CommissionTerms
from schemas.wire import EVENT_STRUCTS, decode_event, encode
from tests.schemas.messages import as_bytes, event

RATIO_PATTERN = next(field.pattern for meta in get_args(Ratio)[1:] for field in meta.metadata)
ratios = st.from_regex(RATIO_PATTERN.strip("^$"), fullmatch=True)


def offer(**changes: Any) -> BetOffer:  # noqa: ANN401  fields of every kind
    return BetOffer.model_validate({"bet": "player", "minimum": 100, "maximum": 1000} | changes)


def configuration(**changes: Any) -> TableConfiguration:  # noqa: ANN401
    return TableConfiguration.model_validate({"configuration_id": "x", "bets": (offer(),)} | changes)


@pytest.mark.parametrize("name", PRESETS)
def test_preset_is_found_by_its_name_which_is_its_id(name: str) -> None:
    assert preset(name) is PRESETS[name]
    assert preset(name).configuration_id == name


def test_unknown_preset_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(UnknownPreset, match="no preset is called 'vegas'; there are: macau, sjm, commission_free"):
        preset("vegas")


@pytest.mark.parametrize("name", PRESETS)
def test_preset_comes_through_the_log_unchanged(name: str) -> None:
    plain = PRESETS[name].model_dump(mode="json")
    decoded: Any = decode_event(as_bytes(event("configuration_published", configuration=plain)))
    assert isinstance(decoded, EVENT_STRUCTS["configuration_published"])
    assert json.loads(encode(decoded))["configuration"] == plain
    assert decode_event(encode(decoded)) == decoded


def test_a_configuration_needs_little_and_its_defaults_come_through_the_log() -> None:
    least = {"configuration_id": "x", "bets": [{"bet": "player", "minimum": 1, "maximum": 1}]}
    decoded: Any = decode_event(as_bytes(event("configuration_published", configuration=least)))
    assert json.loads(encode(decoded))["configuration"] == json.loads(
        TableConfiguration.model_validate_json(json.dumps(least)).model_dump_json()
    )


def test_macau_preset_is_the_regulation() -> None:
    macau = preset("macau")
    assert (macau.decks, macau.burn, macau.rounds_after_cut_card, macau.demonstrations) == (8, "decks", 0, 0)
    assert (macau.commission.rate, macau.tie_policy, macau.approvals) == ("0.05", "regulation", ())
    assert [bet.bet for bet in macau.bets] == ["player", "banker", "tie", "player_pair", "banker_pair"]
    assert {bet.odds for bet in macau.bets} == {None}


def test_sjm_preset_takes_banker_stakes_in_multiples_and_only_raises_after_a_tie() -> None:
    sjm = preset("sjm")
    multiples = {bet.bet: bet.multiple for bet in sjm.bets}
    assert multiples == {"player": None, "banker": 300 * HKD, "tie": None, "player_pair": None, "banker_pair": None}
    assert sjm.tie_policy == "add_only"


def test_commission_free_preset_offers_the_bets_of_the_2018_despacho() -> None:
    names = [bet.bet for bet in preset("commission_free").bets]
    assert "banker" not in names
    assert {"banker_commission_free", "lucky_six"} <= set(names)


def test_bets_on_offer_are_those_of_the_catalogue() -> None:
    assert get_args(BetName) == tuple(CATALOGUE)
    with pytest.raises(ValidationError, match="bet"):
        offer(bet="roulette")


@given(ratios)
def test_ratio_is_read_exactly(text: str) -> None:
    whole, slash, denominator = text.partition("/")
    assert exact(text) == (Fraction(int(whole), int(denominator)) if slash else Fraction(whole))


@given(ratios)
def test_commission_is_accepted_where_it_can_be_computed_with(rate: str) -> None:
    if exact(rate) > 1:
        with pytest.raises(ValidationError, match=r"is more than was won: write 5 % as 0\.05"):
            Commission(rate=rate)
    else:
        assert CommissionTerms(exact(Commission(rate=rate).rate)).rate == Fraction(rate)


@given(st.sampled_from(list(CATALOGUE)), st.lists(ratios, max_size=9))
def test_odds_are_accepted_where_they_can_be_computed_with(bet: str, odds: list[str]) -> None:
    values = tuple(exact(ratio) for ratio in odds)
    fits = all(0 < value <= MAX_ODDS for value in values)
    if len(odds) != CATALOGUE[bet].paying_rules or not fits:
        with pytest.raises(ValidationError, match=f"{bet} needs {CATALOGUE[bet].paying_rules} odds above zero"):
            offer(bet=bet, odds=odds)
    else:
        accepted = offer(bet=bet, odds=odds).odds
        assert accepted is not None
        assert checked_odds(bet, tuple(map(exact, accepted))) == values


def test_longest_odds() -> None:
    assert offer(bet="tie", odds=["1000"]).odds == ("1000",)
    with pytest.raises(ValidationError, match="tie needs 1 odds above zero and up to 1,000, such as 8"):
        offer(bet="tie", odds=["1000.1"])


def test_hand_of_the_lucky_six() -> None:
    """Despacho 56/2018: on the banker, where nothing else is said."""
    assert offer(bet="lucky_six").sides is None
    assert offer(bet="lucky_six", sides=["player", "banker"]).sides == ("player", "banker")
    for bet, sides in (("tiger", ["player"]), ("player", ["player"]), ("lucky_six", ["player", "player"])):
        with pytest.raises(ValidationError, match=f"{bet}: sides are for the lucky six, each hand once"):
            offer(bet=bet, sides=sides)
    for wrong in ([], ["player", "banker", "player"], ["tie"]):
        with pytest.raises(ValidationError):
            offer(bet="lucky_six", sides=wrong)


def test_minimum_may_not_be_above_the_maximum() -> None:
    assert offer(minimum=5, maximum=5).maximum == 5
    with pytest.raises(ValidationError, match="player: minimum 6 is above maximum 5"):
        offer(minimum=6, maximum=5)


def test_offer_holds_on_both_its_dates_and_between() -> None:
    april = offer(effective_from="2024-04-01", effective_until="2024-04-30")
    days = [date(2024, 3, 31), date(2024, 4, 1), date(2024, 4, 30), date(2024, 5, 1)]
    assert [april.in_force(day) for day in days] == [False, True, True, False]
    assert [offer(effective_from="2024-04-01").in_force(day) for day in days] == [False, True, True, True]
    assert [offer(effective_until="2024-04-30").in_force(day) for day in days] == [True, True, True, False]
    assert [offer().in_force(day) for day in days] == [True] * 4


def test_offer_may_not_end_before_it_begins() -> None:
    assert offer(effective_from="2024-04-01", effective_until="2024-04-01").in_force(date(2024, 4, 1))
    with pytest.raises(ValidationError, match="player: the offer ends on 2024-03-31, before it begins"):
        offer(effective_from="2024-04-01", effective_until="2024-03-31")


dates = st.none() | st.dates(date(2024, 1, 1), date(2024, 1, 8))
terms = st.tuples(dates, dates).filter(lambda pair: pair[0] is None or pair[1] is None or pair[0] <= pair[1])


@given(st.lists(terms, min_size=1, max_size=4))
def test_a_bet_is_offered_once_on_any_day(pairs: list[tuple[date | None, date | None]]) -> None:
    offers = tuple(offer(effective_from=first, effective_until=last) for first, last in pairs)
    days = [date(2023, 12, 31), *(date(2024, 1, day) for day in range(1, 10))]
    if any(sum(one.in_force(day) for one in offers) > 1 for day in days):
        with pytest.raises(ValidationError, match="player is offered twice on the same days"):
            configuration(bets=offers)
    else:
        accepted = configuration(bets=(offer(bet="banker"), *offers))
        for day in days:
            found = accepted.offer("player", day)
            assert [one for one in offers if one.in_force(day)] == ([found] if found else [])
            assert accepted.offer("tie", day) is None


@pytest.mark.parametrize("currency", MINOR_DIGITS)
def test_currencies_of_the_floor_are_accepted(currency: str) -> None:
    assert configuration(currency=currency).currency == currency


@pytest.mark.parametrize("currency", ["XXX", "hkd", "HKD\n", "HKDX", ""])
def test_other_currencies_are_refused(currency: str) -> None:
    with pytest.raises(ValidationError, match="currency"):
        configuration(currency=currency)


@pytest.mark.parametrize(
    ("shifts", "fault"),
    [
        ([("day", 6), ("day", 14)], "two shifts have the same name"),
        ([("day", 6), ("night", 6)], "two shifts have the same hour"),
        ([], "at least 1 item"),
        ([("day", 24)], "less than or equal to 23"),
    ],
)
def test_shifts_follow_each_other(shifts: list[tuple[str, int]], fault: str) -> None:
    plain = [{"name": name, "begins_at_hour": hour} for name, hour in shifts]
    with pytest.raises(ValidationError, match=fault):
        GamingDay.model_validate({"shifts": plain})


def test_one_shift_may_last_the_whole_day() -> None:
    assert GamingDay(shifts=(Shift(name="all", begins_at_hour=6),)).utc_offset_hours == 8


@pytest.mark.parametrize(
    ("field", "good", "bad"),
    [
        ("decks", [6, 12], [5, 13]),  # art. 1
        ("seats", [7, 14], [6, 15]),  # art. 1
        ("cut_card_depth", [12, 208], [11, 209]),  # art. 2(1)
        ("demonstrations", [0, 3], [-1, 4]),  # art. 2(2)
        ("rounds_after_cut_card", [0, 1], [-1, 2]),  # art. 3(1)
        ("silence_limit_seconds", [5, 86_400], [4, 86_401]),
        ("clock_tolerance_ms", [100, 3_600_000], [99, 3_600_001]),
        ("differential", [0, None, 10**15], [-1, 10**15 + 1]),  # art. 14
        ("tie_policy", ["regulation", "add_only"], ["anything"]),  # art. 12
        ("road_tail", ["redrop", "stick"], ["up"]),
        ("bets", [(offer(),)], [(), (offer(),) * 41]),
    ],
)
def test_options_stay_within_the_regulation(field: str, good: list[object], bad: list[object]) -> None:
    for value in good:
        assert getattr(configuration(**{field: value}), field) == value
    for value in bad:
        with pytest.raises(ValidationError, match=field):
            configuration(**{field: value})


@pytest.mark.parametrize("model", [TableConfiguration, BetOffer, Commission, GamingDay, Approval, TableEntry])
def test_a_misspelt_field_is_no_silent_default(model: Any) -> None:  # noqa: ANN401  a model
    with pytest.raises(ValidationError, match="minimun\n  Extra inputs are not permitted"):
        model.model_validate({"minimun": 1})


def test_a_floor_names_its_tables() -> None:
    entry = TableEntry(table_id="BAC-01", configuration=preset("macau"))
    assert TableEntry.model_validate_json(entry.model_dump_json()) == entry
