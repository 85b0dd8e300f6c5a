"""Shoes, calls, voids, places and holders against their articles, and the time to ask for an option."""

from datetime import date, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.rules.articles import ARTICLES
from processors.rules.findings import Finding
from processors.rules.hands import view
from processors.rules.procedure import (
    BurnMethod,
    burn_before_round,
    burn_count,
    called_result,
    cards_to_burn,
    cut_depth,
    demonstration_time,
    demonstrations,
    holder,
    latest_application,
    option_use,
    reserved_place,
    round_after_cut_card,
    shoe_change,
    shoe_decks,
    void_grounds,
)
from schemas.alerts import ALERTS
from schemas.catalogue import Outcome
from schemas.configuration import Approval, Option

days = st.dates(date(2020, 1, 1), date(2030, 12, 31))


def test_a_shoe_holds_six_to_twelve_decks() -> None:
    """Art. 1(1)."""
    assert [decks for decks in range(15) if shoe_decks(decks) is None] == [6, 7, 8, 9, 10, 11, 12]
    assert shoe_decks(5) == Finding("shoe_refused", "1", "6 to 12", 5)


def test_a_shoe_holds_the_tables_decks() -> None:
    assert shoe_decks(8, 8) is None
    assert shoe_decks(6, 8) == Finding("shoe_refused", "1", 8, 6)
    assert shoe_decks(13, 13) == Finding("shoe_refused", "1", "6 to 12", 13)


def test_the_white_card_goes_in_at_least_twelve_from_the_end() -> None:
    """Art. 2(1)."""
    assert cut_depth(12) is None
    assert cut_depth(11) == Finding("cut_depth", "2(1)", 12, 11)
    assert cut_depth(15, 16) == Finding("cut_depth", "2(1)", 16, 15)


@pytest.mark.parametrize(
    ("method", "first_card", "included", "cards"),
    [
        ("decks", None, False, 8), ("decks", "KS", True, 8), ("first_card", "AS", False, 2),
        ("first_card", "AS", True, 1), ("first_card", "9H", False, 10), ("first_card", "KD", False, 11),
        ("first_card", "10C", True, 10), ("first_card", None, False, None),
    ],
)  # fmt: skip
def test_as_many_cards_are_burned_as_decks_or_as_the_first_face_says(
    method: BurnMethod, first_card: str | None, included: bool, cards: int | None
) -> None:
    """Art. 2(1): the card shown, then as many more as it says; or itself among them."""
    assert cards_to_burn(method, 8, first_card, included) == cards


def test_too_few_or_too_many_burned_cards_are_found() -> None:
    assert burn_count(8, "decks", 8) is None
    assert burn_count(7, "decks", 8) == Finding("burn_count", "2(1)", 8, 7)
    assert burn_count(6, "first_card", 8, "5H") is None
    assert burn_count(5, "first_card", 8, "5H", first_included=True) is None
    assert burn_count(5, "first_card", 8, "5H") == Finding("burn_count", "2(1)", 6, 5)


def test_an_unseen_first_card_says_nothing() -> None:
    assert burn_count(5, "first_card", 8, None) is None


def test_at_most_three_demonstrations_a_shoe() -> None:
    """Art. 2(2)."""
    assert demonstrations(3) is None
    assert demonstrations(4) == Finding("demonstrations_exceeded", "2(2)", 3, 4)
    assert demonstrations(1, 0) == Finding("demonstrations_exceeded", "2(2)", 0, 1)
    assert demonstrations(4, 9) == Finding("demonstrations_exceeded", "2(2)", 3, 4)


def test_demonstrations_come_before_live_rounds() -> None:
    """Art. 2(2)."""
    assert demonstration_time(0) is None
    assert demonstration_time(2) == Finding("demonstration_after_play", "2(2)", 0, 2)


def test_the_round_of_the_white_card_is_the_last_or_one_more_follows() -> None:
    """Art. 3(1)."""
    assert round_after_cut_card(70, 70) is None
    assert round_after_cut_card(71, 70) == Finding("round_after_cut_card", "3(1)", 0, 1)
    assert round_after_cut_card(71, 70, 1) is None
    assert round_after_cut_card(72, 70, 1) == Finding("round_after_cut_card", "3(1)", 1, 2)


def test_a_shoe_is_changed_after_a_round_and_never_within_one() -> None:
    """Art. 3(2)."""
    assert shoe_change(False) is None
    assert shoe_change(True) == Finding("shoe_changed_in_round", "3(2)", "after the round", "in the round")


def test_cards_are_burned_before_a_round_and_never_within_one() -> None:
    """Art. 8."""
    assert burn_before_round(0) is None
    assert burn_before_round(2) == Finding("burned_in_round", "8", 0, 2)


@pytest.mark.parametrize(
    ("banker", "called", "finding"),
    [
        ("7S", "player", None),
        ("7S", "tie", Finding("result_mismatch", "11", "player", "tie")),
        ("8S", "tie", None),
        ("8S", "banker", Finding("result_mismatch", "12", "tie", "banker")),
    ],
)
def test_the_call_is_what_the_cards_say(banker: str, called: Outcome, finding: Finding | None) -> None:
    """Arts. 11 and 12."""
    assert called_result(called, view(("8H", "KH"), (banker, "KS"))) == finding


def test_a_round_is_void_for_an_error_and_not_for_a_card_face_up() -> None:
    """Arts. 4 and 10."""
    assert void_grounds(1, 0) is None
    assert void_grounds(1, 2) is None
    assert void_grounds(0, 1) == Finding("void_without_error", "4", "a valid round", "void")
    assert void_grounds(0, 0) == Finding("void_without_error", "10", "a valid round", "void")


def test_a_standing_patron_keeps_off_the_seats_places() -> None:
    """Art. 15."""
    assert reserved_place(3, "reserved", "seated") is None
    assert reserved_place(3, "shared", "standing") is None
    assert reserved_place(3, "reserved", "standing") == Finding("reserved_place", "15", "shared", 3)


def test_the_highest_seated_bettor_holds_the_cards() -> None:
    """Art. 16(2)."""
    stakes = {5: 300, 1: 100, 3: 300}
    assert holder(3, stakes) is None
    assert holder(5, stakes) is None
    assert holder(1, stakes) == Finding("holder_not_highest", "16(2)", "3, 5", "1")
    assert holder(7, stakes) == Finding("holder_not_highest", "16(2)", "3, 5", "7")


def test_where_no_seat_has_a_stake_the_dealer_opens_the_cards() -> None:
    assert holder(0, {}) is None
    assert holder(0, {3: 100}) is None
    assert holder(3, {}) == Finding("holder_not_highest", "16(2)", "0", "3")
    assert holder(3, {3: 0}) == Finding("holder_not_highest", "16(2)", "0", "3")


def test_the_house_may_keep_the_cards_to_the_dealer() -> None:
    """Art. 16(1)."""
    assert holder(0, {3: 100}, allowed=False) is None
    assert holder(3, {3: 100}, allowed=False) == Finding("holder_not_highest", "16(1)", "0", "3")


@pytest.mark.parametrize(
    ("effective", "latest"),
    [
        (date(2026, 3, 5), date(2026, 3, 2)),  # Thursday: Monday
        (date(2026, 3, 4), date(2026, 2, 27)),  # Wednesday: Friday before
        (date(2026, 3, 2), date(2026, 2, 25)),  # Monday: Wednesday before
        (date(2026, 3, 8), date(2026, 3, 4)),  # Sunday: Wednesday
    ],
)
def test_an_option_is_asked_for_three_working_days_ahead(effective: date, latest: date) -> None:
    """Art. 19."""
    assert latest_application(effective) == latest


def test_a_holiday_is_no_working_day() -> None:
    assert latest_application(date(2026, 3, 5), {date(2026, 3, 3)}) == date(2026, 2, 27)


@given(days, st.frozensets(days, max_size=5))
def test_exactly_three_working_days_lie_from_the_latest_application_to_the_day_before(
    effective: date, holidays: frozenset[date]
) -> None:
    latest = latest_application(effective, holidays)
    between = [latest + timedelta(days=ahead) for ahead in range((effective - latest).days)]
    assert sum(day.weekday() < 5 and day not in holidays for day in between) == 3
    assert latest.weekday() < 5
    assert latest not in holidays


APPROVED = Approval(
    option="tie_changes", approval_id="DICJ-1", applied_on=date(2026, 3, 2), effective_on=date(2026, 3, 5)
)
LATE = APPROVED.model_copy(update={"applied_on": date(2026, 3, 3)})


@pytest.mark.parametrize(
    ("option", "day", "approvals", "allowed"),
    [
        ("tie_changes", date(2026, 3, 5), [APPROVED], True),
        ("tie_changes", date(2026, 3, 4), [APPROVED], False),
        ("tie_changes", date(2026, 3, 5), [LATE], False),
        ("tie_changes", date(2026, 3, 5), [LATE, APPROVED], True),
        ("one_more_round", date(2026, 3, 5), [APPROVED], False),
        ("one_more_round", date(2026, 3, 5), [], False),
    ],
)
def test_an_option_needs_permission_in_force_and_asked_for_in_time(
    option: Option, day: date, approvals: list[Approval], allowed: bool
) -> None:
    """Art. 19."""
    finding = option_use(option, day, approvals)
    assert finding == (None if allowed else Finding("option_without_approval", "19", "approval in force", option))


def test_every_finding_is_an_alert_and_names_an_article_there_is() -> None:
    findings = [
        shoe_decks(5), cut_depth(0), burn_count(0, "decks", 8), demonstrations(4), demonstration_time(1),
        round_after_cut_card(2, 1), shoe_change(True), burn_before_round(1), void_grounds(0, 0), void_grounds(0, 1),
        called_result("tie", view(("8H", "KH"), ("7S", "KS"))),
        called_result("banker", view(("8H", "KH"), ("8S", "KS"))),
        reserved_place(1, "reserved", "standing"), holder(1, {}), holder(1, {}, allowed=False),
        *(option_use(option, date(2026, 3, 5), []) for option in get_args(Option)),
    ]  # fmt: skip
    for finding in findings:
        assert finding is not None
        assert finding.kind in ALERTS
        assert finding.article in ARTICLES
