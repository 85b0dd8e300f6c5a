"""The picture of the floor: exactly the screen's size, everything said in symbols and words, nothing left out."""

import io
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console
from rich.text import Text

from pitwatch.floor_cards import CARD_HEIGHT, FLASH_SECONDS, card
from pitwatch.floor_lines import strip
from pitwatch.floor_model import Floor
from pitwatch.floor_view import PAGE_SECONDS, Status, picture, screen
from pitwatch.floor_words import DIM, MARKS, STALE_SECONDS, age, bar, counts, fit
from schemas.facts import Fact
from tests.pitwatch.floor_facts import alert_fact, road_fact, round_fact, shoe_fact

SIZES = [(80, 24), (120, 40), (200, 60)]
STATUS = Status("模擬場 Simulated floor", speed=60, now=100.0, elapsed_seconds=12, rounds=80, events=1234)


def table_facts(table_id: str) -> Iterator[Fact]:
    yield shoe_fact(table_id, cards_out=200)
    yield round_fact(table_id, round=42, handle=123_456_700, house_win=-98_700, bets=9)
    for index, mark in enumerate("BBPTPPPB"):
        yield road_fact(mark, index, table_id)
    for index, mark in enumerate("BBPPPPB"):
        yield road_fact(mark, index, table_id, road="big_road", column=index // 2, row=index % 2, ties=int(index == 2))


def floor_of(tables: int, *more: Fact, heard_at: float = 99.8) -> Floor:
    floor = Floor()
    for number in range(tables):
        floor.take(list(table_facts(f"BAC-{101 + number}")), heard_at)
    floor.take(more, heard_at)
    return floor


def text_of(floor: Floor, width: int, height: int, status: Status = STATUS) -> str:
    console = Console(width=width, height=height, file=io.StringIO(), record=True, color_system="truecolor")
    console.print(screen(floor, status, width, height), end="")
    return console.export_text(styles=False)


@pytest.mark.parametrize("size", [*SIZES, (40, 8), (81, 25), (300, 100)], ids=str)
@pytest.mark.parametrize("tables", [0, 1, 8, 40, 300])
def test_a_picture_covers_the_screen_and_no_more(size: tuple[int, int], tables: int) -> None:
    width, height = size
    lines = picture(floor_of(tables, alert_fact("overpaid")), STATUS, width, height)
    assert len(lines) == height
    assert {line.cell_len for line in lines} == {width}


@given(width=st.integers(20, 220), height=st.integers(5, 70), tables=st.integers(0, 30), digits=st.integers(0, 13))
def test_no_amount_and_no_size_breaks_a_line(width: int, height: int, tables: int, digits: int) -> None:
    huge = round_fact("BAC-101", round=200, handle=10**digits, house_win=-(10**digits), dealer_id="D" * 64)
    lines = picture(floor_of(tables, huge, alert_fact("late_move")), STATUS, width, height)
    assert len(lines) == height
    assert {line.cell_len for line in lines} == {width}


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_a_table_shows_its_money_alerts_rounds_and_age(size: tuple[int, int]) -> None:
    text = text_of(floor_of(8, alert_fact("overpaid", "BAC-103")), *size)
    for shown in ("BAC-101", "BAC-108", "1,234,567", "-987", "■", "0.2 s"):
        assert shown in text


def test_the_header_sums_the_floor_up() -> None:
    text = text_of(floor_of(2, alert_fact("overpaid"), alert_fact("late_bet"), alert_fact("burn_count")), 120, 40)
    assert "Rounds 2/80" in text
    assert "HKD 2,469,134" in text
    assert "-1,974 -0.08 %" in text
    assert "■2 ◆1" in text
    assert "1,234 事件 events" in text
    assert "積壓 behind 0" in text
    # Macau is eight hours ahead of UTC.
    assert "2025-06-01 12:42:00" in text


def test_a_wide_header_names_the_severities() -> None:
    text = text_of(floor_of(2, alert_fact("overpaid"), alert_fact("late_bet"), alert_fact("burn_count")), 200, 60)
    assert "■ 危急 critical 2  ◆ 警告 warning 1" in text


def test_a_floor_at_full_speed_and_one_without_end_say_so() -> None:
    text = text_of(floor_of(1), 120, 40, STATUS._replace(speed=0, rounds=None))
    assert "最快 full speed" in text
    assert "Rounds 1 " in text


def test_trouble_is_said_in_the_header() -> None:
    assert "! sink: disk full" in text_of(floor_of(1), 120, 40, STATUS._replace(trouble="sink: disk full"))


@pytest.mark.parametrize("size", SIZES, ids=str)
def test_an_alert_is_told_in_both_languages_with_its_place_and_severity(size: tuple[int, int]) -> None:
    text = text_of(floor_of(8, alert_fact("overpaid", "BAC-105", round=7, status="corrected")), *size)
    line = next(line for line in text.splitlines() if "局7" in line)
    assert "BAC-105 靴1 局7" in line
    assert "■" in line
    assert "已更正 corrected: 中文 overpaid" in line
    assert "English overpaid" in text


def test_an_alert_about_no_round_names_none() -> None:
    assert "局0" not in text_of(floor_of(1, alert_fact("burn_count", round=0)), 120, 40)


def test_big_roads_are_drawn_where_cards_fit_and_letters_where_they_do_not() -> None:
    assert "○P/" in text_of(floor_of(8), 120, 40)
    assert "BBPTPPPB" in text_of(floor_of(8), 80, 24)
    assert "BBPTPPPB" in text_of(floor_of(40), 200, 60)


def test_a_shoe_says_how_far_it_is_played() -> None:
    assert "200/400" in text_of(floor_of(1), 120, 40)
    assert "洗牌 shuffling" in text_of(floor_of(1, shoe_fact(status="closed")), 120, 40)
    assert "連續 continuous" in text_of(floor_of(1, shoe_fact(shuffling="continuous")), 120, 40)
    assert "洗牌" in text_of(floor_of(8, shoe_fact(status="closed")), 80, 24)
    assert "連續" in text_of(floor_of(8, shoe_fact(shuffling="continuous")), 80, 24)


def test_a_table_without_a_round_yet_shows_dashes_and_no_money() -> None:
    floor = Floor()
    floor.take([shoe_fact()], 99.0)
    for size in SIZES:
        assert "—" in text_of(floor, *size)


def test_more_tables_than_lines_are_shown_page_by_page() -> None:
    floor = floor_of(40)
    pages = [text_of(floor, 80, 24, STATUS._replace(now=turn * PAGE_SECONDS)) for turn in range(3)]
    for number in range(101, 141):
        assert sum(f"BAC-{number}" in page for page in pages) == 1
    assert "檯 tables 16–30 / 40" in pages[1]


def test_a_frame_flashes_in_the_colour_of_a_fresh_alert_and_then_no_more() -> None:
    line = floor_of(1, alert_fact("overpaid"), heard_at=10.0).lines()[0]
    fresh, later = card(line, 60, 10.0), card(line, 60, 10.1 + FLASH_SECONDS)
    assert len(fresh) == CARD_HEIGHT
    assert str(fresh[0].spans[0].style) == f"bold {MARKS['critical'].colour}"
    assert str(later[0].spans[0].style) == DIM


def test_the_strip_keeps_the_newest_rounds() -> None:
    line = floor_of(1).lines()[0]
    assert strip(line, 3).plain == "PPB"


@pytest.mark.parametrize(
    ("seconds", "words"), [(0.04, "0.0 s"), (STALE_SECONDS, "3 s !"), (61, "1 min !"), (7300, "2 h !"), (9e4, "1 d !")]
)
def test_an_age_is_marked_where_it_is_long(seconds: float, words: str) -> None:
    assert age(seconds).plain == words


def test_counts_name_the_gravest_first_and_nothing_that_is_not_there() -> None:
    severities = floor_of(0, alert_fact("round_incomplete"), alert_fact("deal_order")).severities
    assert counts(severities).plain == "▲1 i1"
    assert counts(floor_of(0).severities).plain == "—"


@given(st.text(max_size=30), st.integers(0, 40), st.booleans())
def test_fitted_text_is_as_wide_as_asked(text: str, width: int, right: bool) -> None:
    fitted = fit(Text(text), width, right=right)
    assert fitted.cell_len == width
    assert fitted.plain.isprintable()


@given(st.integers(-5, 500), st.integers(0, 416), st.integers(0, 30))
def test_a_bar_is_as_wide_as_asked(done: int, whole: int, width: int) -> None:
    assert bar(done, whole, width).cell_len == width
