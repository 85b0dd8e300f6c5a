"""Which alerts concern which route, and what a route must not say."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import SecretStr, ValidationError

from processors.notify.routing import MAX_URLS, NotificationSettings, Route, concerns
from schemas.alerts import ALERTS, SEVERITIES
from tests.processors.notify.samples import alert, route, settings


@pytest.mark.parametrize(
    ("wish", "about", "wanted"),
    [
        ({}, {}, True),
        ({"pits": None}, {"pit": "PIT-9"}, True),
        ({"pits": ("PIT-1", "PIT-2")}, {"pit": "PIT-2"}, True),
        ({"pits": ("PIT-2",)}, {"pit": "PIT-1"}, False),
        ({"pits": ("PIT-2",)}, {"pit": ""}, True),
        ({"minimum_severity": "serious"}, {"severity": "serious"}, True),
        ({"minimum_severity": "critical"}, {"severity": "serious"}, False),
        ({"codes": ("overpaid", "late_bet")}, {}, True),
        ({"codes": ("late_bet",)}, {}, False),
        ({"codes": ("overpaid",), "minimum_severity": "critical"}, {"severity": "info"}, False),
    ],
)
def test_a_route_takes_what_it_asked_for(wish: dict[str, object], about: dict[str, object], wanted: bool) -> None:
    assert concerns(route(**wish), alert(**about)) is wanted


@given(code=st.sampled_from(sorted(ALERTS)), low=st.sampled_from(SEVERITIES), high=st.sampled_from(SEVERITIES))
def test_raising_the_least_severity_only_takes_alerts_away(code: str, low: str, high: str) -> None:
    if SEVERITIES.index(low) > SEVERITIES.index(high):
        low, high = high, low
    about = alert(1, code)
    assert concerns(route(minimum_severity=low), about) >= concerns(route(minimum_severity=high), about)


@pytest.mark.parametrize(
    ("field", "value", "fault"),
    [
        ("codes", ("overpiad",), "'overpiad' is no alert code"),
        ("codes", (), "an empty list asks for nothing"),
        ("pits", (), "an empty list asks for nothing"),
        ("urls", (), "an empty list asks for nothing"),
        ("minimum_severity", "grave", "'info', 'warning', 'serious' or 'critical'"),
        ("languages", "pt", "'zh', 'en' or 'both'"),
        ("alerts_per_ten_minutes", 0, "greater than or equal to 1"),
        ("summary_seconds", 601, "less than or equal to 600"),
        ("sumary_seconds", 60, "Extra inputs are not permitted"),
    ],
)
def test_a_route_with_a_fault_is_refused(field: str, value: object, fault: str) -> None:
    with pytest.raises(ValidationError, match=fault):
        route(**{field: value})


def test_routes_have_names_of_their_own() -> None:
    with pytest.raises(ValidationError, match="two routes are called 'bosses'"):
        settings(route("bosses"), route("bosses"))


def test_the_urls_of_all_routes_are_bounded() -> None:
    urls = [f"test://{number}" for number in range(16)]
    routes = [route(f"r{number}", *urls) for number in range(MAX_URLS // 16)]
    assert len(settings(*routes).routes) == MAX_URLS // 16
    with pytest.raises(ValidationError, match=f"{MAX_URLS + 1} URLs in all; {MAX_URLS} are allowed"):
        settings(*routes, route("more"))


def test_printing_settings_shows_no_url() -> None:
    printed = NotificationSettings(routes=(Route(name="bosses", urls=(SecretStr("json://token@host"),)),))
    for text in (repr(printed), printed.model_dump_json(), str(printed.model_dump())):
        assert "token" not in text
