"""`pitwatch roads`: what it accepts, what it refuses, its JSON, and a drawing whose columns are straight."""

import io
import json
import unicodedata

import pytest
import typer
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from rich.console import Console
from typer.testing import CliRunner

from pitwatch.commands.roads import MAX_ROUNDS, read_outcomes, roads
from pitwatch.road_drawing import TITLES, draw_road, drawing
from processors.rules.road_layout import ROADS, Road
from processors.rules.roads import Roads, roads_of

runner = CliRunner()
app = typer.Typer()
app.command()(roads)


def printed(drawn: Roads, width: int) -> str:
    console = Console(width=width, file=io.StringIO(), record=True)
    console.print(drawing(drawn, width=width))
    return console.export_text()


def test_json_holds_places_marks_and_answers() -> None:
    result = runner.invoke(app, ["TBBTPP", "--json"])
    assert result.exit_code == 0
    assert json.loads(result.stdout) == {
        "leading_ties": 1,
        "bead_plate": [[0, 0, "T"], [0, 1, "B"], [0, 2, "B"], [0, 3, "T"], [0, 4, "P"], [0, 5, "P"]],
        "big_road": [[0, 0, "B", 1], [0, 1, "B", 1], [1, 0, "P", 0], [1, 1, "P", 0]],
        "big_eye_boy": {"marks": "R", "cells": [[0, 0, "R"]]},
        "small_road": {"marks": "", "cells": []},
        "cockroach_pig": {"marks": "", "cells": []},
        "ask": {
            "banker": {"big_eye_boy": "R", "small_road": None, "cockroach_pig": None},
            "player": {"big_eye_boy": "B", "small_road": None, "cockroach_pig": None},
        },
    }


def test_rows_and_tail_reach_the_roads() -> None:
    arguments = ["B" * 4 + "P" * 5, "--rows", "3", "--json"]
    redrop = json.loads(runner.invoke(app, arguments).stdout)["big_road"]
    stick = json.loads(runner.invoke(app, [*arguments, "--tail", "stick"]).stdout)["big_road"]
    assert redrop[-2:] == [[2, 2, "P", 0], [3, 2, "P", 0]]
    assert stick[-2:] == [[3, 1, "P", 0], [4, 1, "P", 0]]


@pytest.mark.parametrize("text", ["BPTB", "bptb", "B P\tT\nB", "b,p-T，B", "莊閒和莊", "庄闲和庄", "庄閑、和 B"])
def test_letters_of_any_case_and_chinese_words_with_separators_are_read(text: str) -> None:
    assert read_outcomes(text) == "BPTB"


@pytest.mark.parametrize(("text", "position"), [("X", 1), ("BPX", 3), ("B, 莊-7P", 6)])
def test_anything_else_is_refused_with_its_position(text: str, position: int) -> None:
    result = runner.invoke(app, [text], env={"COLUMNS": "200"})
    assert result.exit_code == 2
    assert f"{text[position - 1]!r} at position {position} is no outcome" in result.stderr
    assert result.stdout == ""


def test_the_number_of_rounds_is_limited() -> None:
    assert len(read_outcomes("B " * MAX_ROUNDS)) == MAX_ROUNDS
    with pytest.raises(typer.BadParameter, match="10001 rounds are more than 10000"):
        read_outcomes("B" * (MAX_ROUNDS + 1))


@pytest.mark.parametrize("option", [["--rows", "0"], ["--tail", "up"]])
def test_an_impossible_layout_is_refused(option: list[str]) -> None:
    assert runner.invoke(app, ["B", *option]).exit_code == 2


def test_the_drawing_shows_every_road_in_both_languages_and_the_answers() -> None:
    result = runner.invoke(app, ["TTBBPP"])
    assert result.exit_code == 0
    for title in TITLES.values():
        assert title in result.stdout
    assert "6 局 rounds · 莊 banker 2 · 閒 player 2 · 和 tie 2 · 開局和 leading ties 2" in result.stdout
    assert "莊 if banker   大眼仔 ○r   小路 —   曱甴路 —" in result.stdout
    assert "閒 if player   大眼仔 ○b   小路 —   曱甴路 —" in result.stdout


def test_leading_ties_are_mentioned_only_where_there_are_any() -> None:
    assert printed(roads_of("BTP"), 80).splitlines()[0] == "3 局 rounds · 莊 banker 1 · 閒 player 1 · 和 tie 1"


def grid(road: Road, outcomes: str, pairs: list[tuple[bool, bool]] | None = None) -> list[str]:
    drawn = roads_of(outcomes, pairs=pairs)
    return [line.plain.rstrip(" ·・") for line in draw_road(road, drawn.cells[road], rows=6, width=80)[1:]]


def test_ties_stand_beside_their_ring() -> None:
    assert grid("big_road", "BTPTTTB" + "T" * 12)[0] == "○B/○P3○B+"


def test_pairs_fill_their_side_of_the_ring_and_dot_their_corner_of_the_bead() -> None:
    pairs = [(False, False), (False, True), (True, False), (True, True)]
    assert grid("big_road", "BBBB", pairs)[:4] == ["○B", "◐B", "◑B", "●B"]
    assert grid("bead_plate", "BPTB", pairs)[:4] == [" 莊", "'閒", " 和.", "'莊."]


def test_derived_marks_say_their_colour_in_letters_too() -> None:
    outcomes = "BPPBBPBPP"
    assert grid("big_eye_boy", outcomes)[0] == "○b ○r ○b ○r ○b"
    assert grid("small_road", outcomes)[0] == "●b"
    assert grid("cockroach_pig", outcomes)[0] == "╱r ╱b ╱r"


def test_colours_are_the_house_s() -> None:
    (line, *_) = draw_road("big_road", roads_of("BP").cells["big_road"], rows=1, width=80)[1:]
    styles = {line.plain[span.start : span.end]: str(span.style) for span in line.spans}
    assert styles["○B"] == "bold #E24D42"
    assert styles["○P"] == "bold #3F7FE8"


def test_a_road_wider_than_the_terminal_shows_its_latest_columns_and_says_so() -> None:
    title, line, *_ = draw_road("big_road", roads_of("BP" * 20 + "T").cells["big_road"], rows=6, width=31)
    assert title.plain == "大路 Big road  10 of 40 columns 欄"
    assert line.plain.rstrip() == "○B ○P " * 4 + "○B ○P/"


def test_rows_that_nothing_uses_are_left_out_below_the_sixth() -> None:
    assert len(draw_road("big_road", roads_of("B", rows=4).cells["big_road"], rows=4, width=80)) == 1 + 4
    assert len(draw_road("big_road", roads_of("B", rows=99).cells["big_road"], rows=99, width=80)) == 1 + 6
    assert len(draw_road("big_road", roads_of("B" * 8, rows=99).cells["big_road"], rows=99, width=80)) == 1 + 8


@given(
    st.lists(st.tuples(st.sampled_from("BPT"), st.booleans(), st.booleans()), max_size=60),
    st.sampled_from(ROADS),
    st.integers(4, 120),
)
def test_the_lines_of_a_grid_are_equally_wide_in_every_terminal(
    rounds: list[tuple[str, bool, bool]], road: Road, width: int
) -> None:
    drawn = roads_of([outcome for outcome, _, _ in rounds], pairs=[(player, banker) for _, player, banker in rounds])
    lines = [line.plain for line in draw_road(road, drawn.cells[road], rows=6, width=width)[1:]]
    assert len({cell_len(line) for line in lines}) == 1
    assert cell_len(lines[0]) <= width
    # East Asian terminals draw symbols of ambiguous width two columns wide: each line must hold equally many.
    assert len({sum(unicodedata.east_asian_width(character) == "A" for character in line) for line in lines}) == 1


@pytest.mark.parametrize("width", [20, 80, 160])
def test_no_printed_line_is_wider_than_the_terminal(width: int) -> None:
    lines = printed(roads_of("TT" + "B" * 12 + "PPBTPBBB" * 12), width).splitlines()
    assert max(cell_len(line) for line in lines) <= width
    assert sum(line.startswith("○") for line in lines) > 0
