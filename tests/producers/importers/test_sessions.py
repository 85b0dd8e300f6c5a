"""Hands become the events that a table would have sent, and nothing that the file doesn't know."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from producers.importers.hands import HandRow, InvalidHandsFile
from producers.importers.sessions import MAX_TABLE_ID, import_hands, table_id_of
from producers.importers.sources import Progress, UnreadableFile
from schemas.cards import total
from schemas.events import (
    CardDrawn,
    Event,
    ResultCalled,
    RoundEvent,
    ShoeClosed,
    ShoeEvent,
    ShoeLoaded,
)
from schemas.ids import TABLE_ID_PATTERN
from schemas.wire import decode_event, encode

NOON = datetime(2026, 1, 15, 12, tzinfo=UTC)
HEADER = "session,shoe,hand,player_cards,banker_cards,player_total,banker_total,result"


def imported(tmp_path: Path, *lines: str, decks: int = 6) -> list[tuple[HandRow, list[Event]]]:
    path = tmp_path / "hands.csv"
    path.write_text("\n".join([HEADER, *lines]), encoding="utf-8")
    return list(import_hands(path, decks, NOON))


def types(events: list[Event]) -> list[str]:
    return [event.type for event in events]


CARDS = ["card_drawn"]
OPENING = ["table_opened", "shoe_loaded"]


def test_one_hand_is_a_whole_table(tmp_path: Path) -> None:
    ((row, events),) = imported(tmp_path, "S,3,7,8H 8S,QC QH 8C,6,8,B")
    assert (row.shoe, row.hand, row.outcome) == (3, 7, "banker")
    played = ["round_opened", "betting_closed", *CARDS * 5, "result_called", "round_closed"]
    assert types(events) == [*OPENING, *played, "shoe_closed", "table_closed"]
    drawn = [(event.hand, event.position, event.card) for event in events if isinstance(event, CardDrawn)]
    assert drawn == [
        ("player", 1, "8H"),
        ("banker", 1, "QC"),
        ("player", 2, "8S"),
        ("banker", 2, "QH"),
        ("banker", 3, "8C"),
    ]
    assert [event.outcome for event in events if isinstance(event, ResultCalled)] == ["banker"]
    assert [(event.shoe, event.round) for event in events if isinstance(event, RoundEvent)] == [(3, 7)] * 9
    (loaded,) = (event for event in events if isinstance(event, ShoeLoaded))
    assert (loaded.shoe, loaded.decks, loaded.shuffling) == (3, 6, "shoe")


def test_shoes_change_and_sessions_run_side_by_side(tmp_path: Path) -> None:
    hand = "8H 8S,QC QH 8C,6,8,B"
    parts = imported(tmp_path, f"A,1,1,{hand}", f"B,4,2,{hand}", f"A,1,3,{hand}", f"A,2,1,{hand}")
    heads = [types(events)[: types(events).index("round_opened")] for _, events in parts]
    assert heads == [OPENING, OPENING, [], ["shoe_closed", "shoe_loaded"]]
    tables = [{event.table_id for event in events} for _, events in parts]
    assert tables == [{"import.A"}, {"import.B"}, {"import.A"}, {"import.A", "import.B"}]
    closing = [(event.table_id, event.type) for event in parts[-1][1][-4:]]
    assert closing == [(table, kind) for table in ("import.A", "import.B") for kind in ("shoe_closed", "table_closed")]
    reasons = [event.reason for _, events in parts for event in events if isinstance(event, ShoeClosed)]
    assert reasons == ["house_choice", "table_closed", "table_closed"]


def test_every_table_numbers_its_events_and_its_clock_runs_on(tmp_path: Path) -> None:
    hand = "8H 8S,QC QH 8C,6,8,B"
    parts = imported(tmp_path, *(f"{session},{shoe},1,{hand}" for shoe in (1, 2) for session in "AB"))
    for table_id in ("import.A", "import.B"):
        events = [event for _, part in parts for event in part if event.table_id == table_id]
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert [event.follows for event in events] == [(0, 0)] + [None] * (len(events) - 1)
        assert events[0].occurred_at == NOON
        gaps = [later.occurred_at - earlier.occurred_at for earlier, later in pairwise(events)]
        assert all(timedelta(0) < gap <= timedelta(minutes=1) for gap in gaps), "no silence where nothing was silent"


def test_events_are_the_contracts(tmp_path: Path) -> None:
    ((_, events),) = imported(tmp_path, "S,1,1,8H 8S,QC QH 8C,6,8,B", decks=12)
    assert types([decode_event(encode(event)) for event in events]) == types(events)
    assert [event.decks for event in events if isinstance(event, ShoeLoaded)] == [12]


def test_the_file_is_believed_even_where_it_contradicts_itself(tmp_path: Path) -> None:
    ((row, events),) = imported(tmp_path, "S,1,1,8H 8S,QC QH 8C,0,1,T")
    assert (row.player_total, row.banker_total) == (0, 1)
    assert [event.outcome for event in events if isinstance(event, ResultCalled)] == ["tie"]


@pytest.mark.parametrize(
    ("second", "column", "what"),
    [
        ("S,2,5,", "hand", "hand 5 of shoe 2 comes after 5"),
        ("S,2,4,", "hand", "hand 4 of shoe 2 comes after 5"),
        ("S,1,6,", "shoe", "shoe 1 comes after shoe 2"),
    ],
)
def test_hands_out_of_order_are_refused_after_those_before_them(
    tmp_path: Path, second: str, column: str, what: str
) -> None:
    hand = "8H 8S,QC QH 8C,6,8,B"
    path = tmp_path / "hands.csv"
    path.write_text(f"{HEADER}\nS,2,5,{hand}\n{second}{hand}\n")
    parts: list[tuple[HandRow, list[Event]]] = []
    with pytest.raises(InvalidHandsFile, match=what) as caught:
        parts.extend(import_hands(path, 6, NOON))
    assert (caught.value.line, caught.value.column) == (3, column)
    assert [row.line for row, _ in parts] == [2]


def test_fault_of_a_row_comes_after_the_hands_before_it(tmp_path: Path) -> None:
    path = tmp_path / "hands.csv"
    hand = "8H 8S,QC QH 8C,6,8,B"
    path.write_text(f"{HEADER}\nS,1,1,{hand}\nS,1,2,{hand}\nS,1,x,{hand}\n")
    parts: list[tuple[HandRow, list[Event]]] = []
    with pytest.raises(InvalidHandsFile, match="line 4, column hand"):
        parts.extend(import_hands(path, 6, NOON))
    assert [row.line for row, _ in parts] == [2, 3]


def test_too_many_sessions_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("producers.importers.sessions.MAX_SESSIONS", 1)
    hand = "1,1,8H 8S,QC QH 8C,6,8,B"
    with pytest.raises(InvalidHandsFile, match="line 3, column session: more than 1 sessions"):
        imported(tmp_path, f"A,{hand}", f"B,{hand}")


@pytest.mark.parametrize("decks", [5, 13])
def test_no_shoe_has_so_many_decks(tmp_path: Path, decks: int) -> None:
    with pytest.raises(ValueError, match=r"6 to 12 decks \(art. 1\)"):
        list(import_hands(tmp_path / "hands.csv", decks, NOON))


@pytest.mark.parametrize("prefix", ["", ".x", "a b", "x" * 17])
def test_prefix_must_begin_a_table_id(tmp_path: Path, prefix: str) -> None:
    with pytest.raises(ValueError, match="can't begin a table id"):
        list(import_hands(tmp_path / "hands.csv", 6, NOON, prefix=prefix))


def test_file_that_is_missing_or_empty(tmp_path: Path) -> None:
    with pytest.raises(UnreadableFile):
        list(import_hands(tmp_path / "hands.csv", 6, NOON))
    assert imported(tmp_path) == []


def test_progress_is_told_after_each_hand(tmp_path: Path) -> None:
    path = tmp_path / "hands.csv"
    path.write_text(f"{HEADER}\nS,1,1,8H 8S,QC QH 8C,6,8,B\nS,1,2,8H 8S,QC QH 8C,6,8,B\n")
    told: list[Progress] = []
    assert len(list(import_hands(path, 6, NOON, on_progress=told.append))) == 2
    assert [progress.lines for progress in told] == [2, 3]


def test_table_shows_its_sessions_name() -> None:
    assert table_id_of("Bet_on_Last_Hand", "import.", set()) == "import.Bet_on_Last_Hand"
    assert table_id_of("夜 1", "import.", set()).startswith("import.--1-")


@given(st.lists(st.text(max_size=60), unique=True, max_size=20))
def test_no_two_sessions_share_a_table(sessions: list[str]) -> None:
    taken: set[str] = set()
    for session in sessions:
        table_id = table_id_of(session, "import.", taken)
        assert table_id not in taken
        assert re.fullmatch(TABLE_ID_PATTERN, table_id)
        assert len(table_id) <= MAX_TABLE_ID
        taken.add(table_id)


def test_name_that_is_taken_still_gets_a_table() -> None:
    first = table_id_of("a b", "import.", set())
    pretender = first.removeprefix("import.")
    assert table_id_of(pretender, "import.", {first}) not in {first, "import." + pretender}


def test_kept_hands_all_come_in(vectors: Path) -> None:
    """Played hands of six decks: every card is in the events, and the totals they call follow from them."""
    parts = list(import_hands(vectors / "hands_6deck.csv", 6, NOON))
    assert len(parts) == 3_145
    events = [event for _, part in parts for event in part]
    counts = Counter(event.type for event in events)
    assert counts["card_drawn"] == sum(len(row.player_cards + row.banker_cards) for row, _ in parts)
    assert counts["round_opened"] == counts["result_called"] == counts["round_closed"] == 3_145
    assert counts["shoe_loaded"] == counts["shoe_closed"] == 55
    assert counts["table_opened"] == counts["table_closed"] == 5
    assert all((total(row.player_cards), total(row.banker_cards)) == row[6:8] for row, _ in parts)
    outside_shoes = {event.type for event in events if not isinstance(event, ShoeEvent)}
    assert outside_shoes == {"table_opened", "table_closed"}
