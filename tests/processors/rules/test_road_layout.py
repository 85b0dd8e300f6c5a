"""Windows over a road: whole columns, the right end, and the latest mark always in view."""

from hypothesis import given
from hypothesis import strategies as st

from processors.rules.road_layout import Cell, window
from processors.rules.roads import roads_of

shoes = st.lists(st.tuples(st.sampled_from("BP"), st.integers(1, 14)), max_size=12).map(
    lambda runs: "".join(letter * length for letter, length in runs)
)


def big_road(outcomes: str) -> list[Cell]:
    return roads_of(outcomes).cells["big_road"]


def test_a_road_that_fits_is_shown_whole() -> None:
    cells = big_road("BBPB")
    assert window(cells, 3) == cells
    assert window([], 3) == []


def test_a_longer_road_scrolls_to_its_end_by_whole_columns() -> None:
    shown = window(big_road("BBPBBPP"), 2)
    assert [(cell.column, cell.row, cell.mark) for cell in shown] == [
        (0, 0, "B"),
        (0, 1, "B"),
        (1, 0, "P"),
        (1, 1, "P"),
    ]


def test_a_new_column_under_a_long_tail_stays_in_view() -> None:
    shown = window(big_road("B" * 20 + "P"), 5)
    assert (shown[-1].column, shown[-1].row, shown[-1].mark) == (0, 0, "P")
    assert [cell.column for cell in shown[:-1]] == [0, 1, 2, 3, 4]


@given(shoes, st.integers(1, 20))
def test_a_window_shifts_columns_and_changes_nothing_else(outcomes: str, columns: int) -> None:
    cells = big_road(outcomes)
    shown = window(cells, columns)
    shifts = {cells[cell.index].column - cell.column for cell in shown}
    assert len(shifts) == (1 if cells else 0)
    assert all(0 <= cell.column < columns for cell in shown)
    assert all((cell.mark, cell.row) == (cells[cell.index].mark, cells[cell.index].row) for cell in shown)
    assert [cell.index for cell in shown[-1:]] == [cell.index for cell in cells[-1:]]
    inside = {cell.index for cell in cells for shift in shifts if 0 <= cell.column - shift < columns}
    assert inside == {cell.index for cell in shown}
