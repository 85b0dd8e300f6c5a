"""The five roads against the trade's worked examples, published vectors, and an oracle that reads the whole shoe."""

import json
from collections.abc import Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.rules.road_layout import ROADS, TAILS, Cell, Road, Tail, window
from processors.rules.roads import DERIVED, Roads, RoadState, add, ask, merge, roads_of

# Random shoes rarely hold a dragon, so streaks of up to fourteen are drawn as such.
streaks = st.lists(st.tuples(st.sampled_from("BPT"), st.integers(1, 14)), max_size=14)
shoes = st.one_of(
    st.text("BPT", max_size=60), streaks.map(lambda runs: "".join(letter * length for letter, length in runs))
)
row_counts = st.integers(1, 8)
tails = st.sampled_from(TAILS)


def marks(drawn: Roads, road: Road) -> str:
    return "".join(cell.mark for cell in drawn.cells[road])


def places(cells: Sequence[Cell]) -> list[tuple[int, int]]:
    return [(cell.column, cell.row) for cell in cells]


# The oracle: the rules read word for word, over the whole shoe at once.


def run_lengths(winners: str) -> list[int]:
    return [len(list(run)) for _, run in groupby(winners)]


def derived_marks(winners: str, k: int) -> str:
    lengths = run_lengths(winners)
    colours = ""
    for c, length in enumerate(lengths):
        for r in range(length):
            if r == 0 and c - 1 - k >= 0:
                colours += "R" if lengths[c - 1] == lengths[c - 1 - k] else "B"
            elif r >= 1 and c - k >= 0:
                colours += "B" if r == lengths[c - k] else "R"
    return colours


def drawn_at(road_marks: str, rows: int, tail: Tail) -> list[tuple[int, int]]:
    taken: list[tuple[int, int]] = []
    head = -1
    for _, run in groupby(road_marks):
        head += 1
        while (head, 0) in taken:
            head += 1
        column, row, turned = head, 0, False
        taken.append((column, row))
        for _ in list(run)[1:]:
            below_free = row + 1 < rows and (column, row + 1) not in taken
            if below_free and not (turned and tail == "stick"):
                row += 1
            else:
                column, turned = column + 1, True
            assert (column, row) not in taken
            taken.append((column, row))
    return taken


def tie_counts(outcomes: str) -> list[int]:
    counts: list[int] = []
    leading = 0
    for outcome in outcomes:
        if outcome != "T":
            counts.append(0 if counts else leading)
        elif counts:
            counts[-1] += 1
        else:
            leading += 1
    return counts


@given(shoes, row_counts, tails)
def test_marks_places_and_ties_are_the_oracle_s(outcomes: str, rows: int, tail: Tail) -> None:
    drawn = roads_of(outcomes, rows=rows, tail=tail)
    winners = outcomes.replace("T", "")
    expected: dict[Road, str] = {"big_road": winners, **{road: derived_marks(winners, k) for road, k in DERIVED}}
    for road, road_marks in expected.items():
        assert marks(drawn, road) == road_marks
        assert places(drawn.cells[road]) == drawn_at(road_marks, rows, tail)
    assert marks(drawn, "bead_plate") == outcomes
    assert places(drawn.cells["bead_plate"]) == [divmod(index, rows) for index in range(len(outcomes))]
    assert [cell.ties for cell in drawn.cells["big_road"]] == tie_counts(outcomes)
    assert drawn.leading_ties == len(outcomes) - len(outcomes.lstrip("T"))


@given(shoes, row_counts, tails)
def test_no_two_cells_of_a_road_share_a_place_and_none_leaves_the_rows(outcomes: str, rows: int, tail: Tail) -> None:
    for cells in roads_of(outcomes, rows=rows, tail=tail).cells.values():
        assert len(set(places(cells))) == len(cells)
        assert all(0 <= cell.row < rows and cell.column >= 0 for cell in cells)
        assert [cell.index for cell in cells] == list(range(len(cells)))


@given(shoes)
def test_a_derived_road_marks_every_decided_round_from_its_reference_column_on(outcomes: str) -> None:
    drawn = roads_of(outcomes)
    lengths = run_lengths(outcomes.replace("T", ""))
    for road, k in DERIVED:
        assert len(drawn.cells[road]) == sum(lengths[k + 1 :]) + sum(length - 1 for length in lengths[k : k + 1])


@given(shoes, row_counts, tails)
def test_ties_change_nothing_but_the_bead_plate_and_the_tie_counts(outcomes: str, rows: int, tail: Tail) -> None:
    with_ties = roads_of(outcomes, rows=rows, tail=tail)
    without = roads_of(outcomes.replace("T", ""), rows=rows, tail=tail)
    assert with_ties.ask == without.ask
    for road in ROADS[1:]:
        assert places(with_ties.cells[road]) == places(without.cells[road])
        assert marks(with_ties, road) == marks(without, road)


@given(shoes, st.sampled_from([("banker", "B"), ("player", "P")]))
def test_ask_the_road_answers_what_the_next_round_then_marks(outcomes: str, won: tuple[str, str]) -> None:
    hand, letter = won
    before, after = roads_of(outcomes), roads_of(outcomes + letter)
    for road, _ in DERIVED:
        assert marks(after, road) == marks(before, road) + (before.ask[hand][road] or "")


@given(shoes, row_counts, tails)
def test_a_state_restored_from_its_snapshot_goes_on_as_if_never_stored(outcomes: str, rows: int, tail: Tail) -> None:
    state = RoadState(rows=rows, tail=tail)
    cells: dict[Road, list[Cell]] = {road: [] for road in ROADS}
    for round_no, outcome in enumerate(outcomes, start=1):
        state = msgspec.json.decode(msgspec.json.encode(state), type=RoadState)
        merge(cells, add(state, outcome, False, False, round_no))
    assert cells == roads_of(outcomes, rows=rows, tail=tail).cells
    assert ask(state) == roads_of(outcomes).ask


@given(shoes.map(lambda outcomes: outcomes[:40]), row_counts, tails)
def test_a_round_returns_exactly_the_cells_it_changed(outcomes: str, rows: int, tail: Tail) -> None:
    state = RoadState(rows=rows, tail=tail)
    for round_no, outcome in enumerate(outcomes, start=1):
        before = roads_of(outcomes[: round_no - 1], rows=rows, tail=tail).cells
        after = roads_of(outcomes[:round_no], rows=rows, tail=tail).cells
        changed = add(state, outcome, False, False, round_no)
        assert changed == [cell for road in ROADS for cell in after[road] if cell not in before[road]]


@given(st.lists(st.tuples(st.sampled_from("BPT"), st.booleans(), st.booleans()), max_size=40))
def test_pairs_and_round_numbers_stay_with_the_round_that_made_the_mark(rounds: list[tuple[str, bool, bool]]) -> None:
    drawn = roads_of([outcome for outcome, _, _ in rounds], pairs=[(player, banker) for _, player, banker in rounds])
    seen = [(cell.mark, cell.player_pair, cell.banker_pair, cell.round) for cell in drawn.cells["bead_plate"]]
    numbered = [(*played, number) for number, played in enumerate(rounds, start=1)]
    assert seen == numbered
    decided = [(cell.mark, cell.player_pair, cell.banker_pair, cell.round) for cell in drawn.cells["big_road"]]
    assert decided == [played for played in numbered if played[0] != "T"]


def test_the_state_keeps_five_runs_and_the_overhang_of_tails_however_long_the_shoe() -> None:
    state = RoadState()
    for round_no, outcome in enumerate(("B" * 9 + "P" * 7 + "BTPP") * 200, start=1):
        add(state, outcome, False, False, round_no)
    assert state.rounds == 4_000
    assert len(state.lengths) == 5
    assert all(len(trail.skyline) < 12 for trail in (state.big_road, *state.derived))


# Worked examples.


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        ("BPB", "R"),
        ("BBPP", "R"),
        ("BBPPP", "RB"),
        ("BBPPPP", "RBR"),
        ("PBB", "B"),
        ("BBPBB", "BB"),
        ("BP", ""),
        ("", ""),
    ],
)
def test_big_eye_boy_examples_known_by_heart(outcomes: str, expected: str) -> None:
    assert marks(roads_of(outcomes), "big_eye_boy") == expected


def test_each_derived_road_starts_one_column_after_the_one_before() -> None:
    drawn = roads_of("BPBPB")
    assert [marks(drawn, road) for road, _ in DERIVED] == ["RRR", "RR", "R"]


def test_a_tail_goes_down_again_where_it_can() -> None:
    tail = places(roads_of("B" * 9 + "P" * 10).cells["big_road"])[9:]
    assert tail == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4), (4, 4), (4, 5), (5, 5)]


def test_a_sticking_tail_keeps_its_row() -> None:
    tail = places(roads_of("B" * 9 + "P" * 10, tail="stick").cells["big_road"])[9:]
    assert tail == [(1, 0), (1, 1), (1, 2), (1, 3), (1, 4), (2, 4), (3, 4), (4, 4), (5, 4), (6, 4)]


def test_a_new_column_starts_under_no_tail_but_right_of_the_head() -> None:
    assert places(roads_of("B" * 9 + "P").cells["big_road"])[-1] == (1, 0)


def test_a_tail_on_the_top_row_pushes_the_next_column_right() -> None:
    assert places(roads_of("BBBPPB", rows=2).cells["big_road"]) == [(0, 0), (0, 1), (1, 1), (1, 0), (2, 0), (3, 0)]


def test_with_one_row_a_road_is_a_line() -> None:
    assert places(roads_of("BBPPPB", rows=1).cells["big_road"]) == [(column, 0) for column in range(6)]


def test_leading_ties_are_kept_apart_and_shown_on_the_first_cell() -> None:
    state = RoadState()
    assert [cell.road for cell in add(state, "T", False, False, 1)] == ["bead_plate"]
    assert (state.leading_ties, state.latest) == (1, None)
    add(state, "P", True, False, 2)
    changed = add(state, "T", False, True, 3)
    assert changed[1] == Cell("big_road", 0, 0, 0, "P", 2, True, False, 2)
    assert state.leading_ties == 1


def test_before_any_decided_round_the_roads_have_no_answer() -> None:
    nothing: dict[Road, str | None] = {road: None for road, _ in DERIVED}
    assert roads_of("TT").ask == {"banker": nothing, "player": nothing}


# Refusals.


@pytest.mark.parametrize("outcome", ["", "b", "BP", "X", "banker"])
def test_an_unknown_outcome_is_refused_and_changes_nothing(outcome: str) -> None:
    state = RoadState()
    with pytest.raises(ValueError, match="is no outcome: write B, P or T"):
        add(state, outcome, False, False, 1)
    assert state == RoadState()


def test_fewer_than_one_row_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one row, not 0"):
        roads_of("B", rows=0)


def test_an_unknown_tail_is_refused_in_a_snapshot_too() -> None:
    with pytest.raises(ValueError, match="choose redrop or stick"):
        roads_of("B", tail="up")  # type: ignore[arg-type]  # what a caller without a type checker may pass
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(b'{"rows": 0}', type=RoadState)


def test_pairs_must_match_the_outcomes() -> None:
    with pytest.raises(ValueError, match="shorter"):
        roads_of("BP", pairs=[(False, False)])


# Published vectors.

ROAD_NAMES: dict[str, Road] = {
    "beadPlate": "bead_plate",
    "bead": "bead_plate",
    "bigRoad": "big_road",
    "big": "big_road",
}


def logical_columns(drawn: Roads) -> list[int]:
    winners = marks(drawn, "big_road")
    return [column for column, length in enumerate(run_lengths(winners)) for _ in range(length)]


def published_form(entry: dict[str, Any], drawn: Roads) -> dict[str, object]:
    """Write our road in each form in which the entry states what it expects."""
    name = entry.get("road") or entry["method"]
    road = ROAD_NAMES.get(name, name)
    cells = drawn.cells[road]
    if entry.get("config"):
        cells = window(cells, entry["config"]["columns"])
    text = marks(drawn, road)
    if entry.get("method") == "bigRoad":
        full = [[c.column, c.row, c.mark, n, c.ties] for c, n in zip(cells, logical_columns(drawn), strict=True)]
    else:
        full = [[cell.column, cell.row, cell.mark] for cell in cells]
    expected = entry.get("published_expected")
    width = len(expected[0]) if isinstance(expected, list) else 0
    return {
        "published_expected": text if isinstance(expected, str) else [cell[:width] for cell in full],
        "published_expected_last3": [list(place) for place in places(cells)[-3:]],
        "published_expected_columns": ["".join(run) for _, run in groupby(text)],
        "published_expected_count": len(cells),
        "published_expected_cells": len(cells),
        "published_expected_ties": [cell.ties for cell in cells],
        "published_expected_lengths": run_lengths(text),
        "column_lengths": run_lengths(marks(drawn, "big_road")),
    }


def test_published_vectors_are_met_as_far_as_their_verdict_lets_them_count(vectors: Path) -> None:
    entries = json.loads((vectors / "roads.json").read_text(encoding="utf-8"))
    counted = [e for e in entries if not any(w in e.get("verdict", "") for w in ("stale", "suffix", "non-standard"))]
    assert counted
    for entry in counted:
        rows = (entry.get("config") or {}).get("rows", 6)
        ours = published_form(entry, roads_of(entry["rounds"], rows=rows))
        stated = {key: value for key, value in entry.items() if key in ours}
        assert stated, entry["id"]
        assert {key: ours[key] for key in stated} == stated, entry["id"]
