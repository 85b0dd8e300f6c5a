"""What a phone shows."""

from datetime import timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.notify.message import MAX_CODES, Mention, Standing, render, render_summary
from processors.notify.port import Message, Tone
from processors.notify.routing import Languages
from schemas.alerts import ALERTS, SEVERITIES, Severity
from schemas.facts import Evidence
from tests.processors.notify.samples import NOON, alert

MACAU = timedelta(hours=8)

BODIES: dict[Languages, tuple[str, str]] = {
    "en": (
        "CRITICAL · B07 · shoe 3 round 12",
        """\
Banker overpaid: due 1,000, paid 2,000
due HKD 1,000.00 · paid HKD 2,000.50
player 9♥ 4♦ · banker K♠ 7♣ 10♦
dealer D17 · seat 5
PIT-1 · art. 17 · 12:00:01""",
    ),
    "zh": (
        "危急 · B07 · 靴 3 局 12",
        """\
莊 多派：應派 1,000，實派 2,000
應派 HKD 1,000.00 · 實派 HKD 2,000.50
閒 9♥ 4♦ · 莊 K♠ 7♣ 10♦
荷官 D17 · 座位 5
PIT-1 · art. 17 · 12:00:01""",
    ),
    "both": (
        "危急 CRITICAL · B07 · 靴 shoe 3 局 round 12",
        """\
莊 多派：應派 1,000，實派 2,000
Banker overpaid: due 1,000, paid 2,000
應派 due HKD 1,000.00 · 實派 paid HKD 2,000.50
閒 player 9♥ 4♦ · 莊 banker K♠ 7♣ 10♦
荷官 dealer D17 · 座位 seat 5
PIT-1 · art. 17 · 12:00:01""",
    ),
}


@pytest.mark.parametrize("languages", BODIES)
def test_an_alert_in_its_languages(languages: Languages) -> None:
    assert render(alert(12), "raised", languages, MACAU) == Message(*BODIES[languages], "alarm")


@pytest.mark.parametrize(
    ("standing", "title"),
    [
        ("corrected", "已更正 Corrected · 危急 CRITICAL · B07 · 靴 shoe 3 局 round 1"),
        ("withdrawn", "已撤回 Withdrawn · 危急 CRITICAL · B07 · 靴 shoe 3 局 round 1"),
    ],
)
def test_what_became_of_an_alert_stands_first(standing: Standing, title: str) -> None:
    assert render(alert(), standing, "both", MACAU).title == title


def test_what_an_alert_does_not_name_takes_no_room() -> None:
    silent = alert(1, "table_silent", pit="", round=0, seat=None, dealer_id="", evidence=Evidence())
    assert render(silent, "raised", "en", timedelta(0)) == Message(
        "SERIOUS · B07", "Banker overpaid: due 1,000, paid 2,000\ntelemetry · 04:00:01", "alarm"
    )


@pytest.mark.parametrize(
    ("severity", "tone"), [("critical", "alarm"), ("serious", "alarm"), ("warning", "warning"), ("info", "info")]
)
def test_tone_is_as_grave_as_the_alert_unless_it_was_put_right(severity: Severity, tone: Tone) -> None:
    told = alert(severity=severity)
    tones = [render(told, standing, "both", MACAU).tone for standing in get_args(Standing)]
    assert tones == [tone, "relief", "relief"]


@pytest.mark.parametrize(
    ("minor", "text"), [(0, "0.00"), (5, "0.05"), (-5, "-0.05"), (-123_456, "-1,234.56"), (10**9, "10,000,000.00")]
)
def test_amounts_are_exact(minor: int, text: str) -> None:
    body = render(alert(evidence=Evidence(due=minor)), "raised", "en", MACAU).body
    assert f"due HKD {text}\n" in body


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("underpaid", "應派 due HKD 1,000.00 · 實派 paid HKD 2,000.50"),
        ("losing_stake_not_collected", "應收 due HKD 1,000.00 · 實收 collected HKD 2,000.50"),
        ("stake_wrongly_collected", "應收 due HKD 1,000.00 · 實收 collected HKD 2,000.50"),
        ("commission_missing", "應收佣金 due HKD 1,000.00 · 實收佣金 charged HKD 2,000.50"),
        ("commission_wrong", "應收佣金 due HKD 1,000.00 · 實收佣金 charged HKD 2,000.50"),
        ("commission_unsettled", "應收佣金 due HKD 1,000.00 · 實收佣金 charged HKD 2,000.50"),
        ("void_round_paid", "應派 due HKD 1,000.00 · 派彩或收注 paid or collected HKD 2,000.50"),
        ("float_unexplained", "應有 expected HKD 1,000.00 · 實點 counted HKD 2,000.50"),
    ],
)
def test_amounts_are_called_what_they_are(code: str, line: str) -> None:
    assert line in render(alert(1, code), "raised", "both", MACAU).body.splitlines()


@pytest.mark.parametrize("code", ALERTS)
def test_every_alert_of_the_catalogue_fits_a_locked_screen(code: str) -> None:
    message = render(alert(999, code), "corrected", "both", MACAU)
    assert len(message.title) <= 80
    assert len(message.body.splitlines()) <= 6


def mention(
    number: int = 1, code: str = "overpaid", standing: Standing = "raised", severity: Severity = "critical"
) -> Mention:
    return Mention(standing, severity, code, f"B{number:02}", 3, number, NOON + timedelta(minutes=number))


def test_a_summary_counts_and_names_the_gravest_first() -> None:
    mentions = [
        mention(9, "burn_count", severity="warning"),
        *(mention(number) for number in range(1, 6)),
        mention(6, "late_bet"),
        mention(6, "late_bet"),
        mention(7, "overpaid", "corrected"),
        Mention("raised", "serious", "table_silent", "B08", 0, 0, NOON),
    ]
    message = render_summary(mentions, "en", MACAU)
    assert (message.title, message.tone) == ("Alert summary · 10 alerts", "alarm")
    assert message.body.splitlines() == [
        "CRITICAL 8 · SERIOUS 1 · WARNING 1",
        "5× overpaid: B01 3/1, B02 3/2, B03 3/3, +2",
        "2× late_bet: B06 3/6",
        "1× overpaid (Corrected): B07 3/7",
        "1× table_silent: B08",
        "1× burn_count: B09 3/9",
        "03-01 12:00:00 – 03-01 12:09:00",
    ]


def test_tone_of_a_summary_is_that_of_the_gravest_that_stands() -> None:
    put_right = [mention(1, standing="corrected"), mention(2, standing="withdrawn")]
    assert render_summary(put_right, "en", MACAU).tone == "relief"
    assert render_summary([*put_right, mention(3, severity="warning")], "en", MACAU).tone == "warning"


def test_a_summary_has_room_for_so_many_codes() -> None:
    codes = sorted(ALERTS)[: MAX_CODES + 3]
    lines = render_summary([mention(1, code) for code in codes], "both", MACAU).body.splitlines()
    assert len(lines) == MAX_CODES + 3
    assert lines[0] == f"危急 CRITICAL {MAX_CODES + 3}"
    assert lines[-2] == "+3"


@given(
    st.lists(
        st.builds(
            mention,
            st.integers(1, 40),
            st.sampled_from(sorted(ALERTS)),
            st.sampled_from(["raised", "corrected", "withdrawn"]),
            st.sampled_from(SEVERITIES),
        ),
        min_size=1,
    )
)
def test_a_summary_stays_short_and_counts_every_alert(mentions: list[Mention]) -> None:
    message = render_summary(mentions, "en", MACAU)
    assert message.title == f"Alert summary · {len(mentions)} alert{'s' * (len(mentions) > 1)}"
    graveness = message.body.splitlines()[0].split(" · ")
    assert sum(int(part.split()[1]) for part in graveness) == len(mentions)
    assert len(message.body.splitlines()) <= MAX_CODES + 3
