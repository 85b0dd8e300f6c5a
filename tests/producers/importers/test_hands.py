"""Hands from a CSV file: read exactly, or refused with the line and the column."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from producers.importers.hands import HandRow, InvalidHandsFile, read_hands
from producers.importers.sources import LineSource

HEADER = "session,shoe,hand,player_cards,banker_cards,player_total,banker_total,result"
GOOD = "S,1,1,8H 8S,QC QH 8C,6,8,B"


def rows(tmp_path: Path, content: str | bytes) -> list[HandRow]:
    path = tmp_path / "hands.csv"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return list(read_hands(LineSource(path, 4_096)))


def test_hands_are_read(tmp_path: Path) -> None:
    found = rows(tmp_path, f'{HEADER}\n{GOOD}\n\n"night, 2",3,14,"10d, t♠ as",2c 3c,1,5,T\r\n')
    assert found == [
        HandRow(2, "S", 1, 1, ("8H", "8S"), ("QC", "QH", "8C"), 6, 8, "banker"),
        HandRow(4, "night, 2", 3, 14, ("10D", "10S", "AS"), ("2C", "3C"), 1, 5, "tie"),
    ]


def test_columns_may_stand_in_any_order_among_others(tmp_path: Path) -> None:
    content = (
        "\ufeffresult,note, session ,hand,shoe,banker_total,player_total,banker_cards,player_cards\n"
        "P,x,S,2,1,1,2,AH JC JC,4D 6S 2S\n"
    )
    assert rows(tmp_path, content) == [HandRow(2, "S", 1, 2, ("4D", "6S", "2S"), ("AH", "JC", "JC"), 2, 1, "player")]


@pytest.mark.parametrize(
    ("change", "column", "what"),
    [
        (("S,", ","), "session", "empty"),
        ((",1,1,", ",0,1,"), "shoe", "'0' is no whole number from 1 to 1000000000"),
        ((",1,1,", ",1,1.5,"), "hand", "'1.5' is no whole number"),
        ((",1,1,", ",1,٣,"), "hand", "no whole number"),
        ((",1,1,", ",1," + "9" * 5_000 + ","), "", "longer than 4096 bytes"),
        ((",1,1,", ",1," + "9" * 4_000 + ","), "hand", "no whole number"),
        (("8H 8S", "8H"), "player_cards", "1 cards; a hand has two or three"),
        (("8H 8S", "8H 8S 8C 8D"), "player_cards", "4 cards"),
        (("8H 8S", "8H 8X"), "player_cards", "'8X' is no card"),
        (("QC QH 8C", "QC Q 8C"), "banker_cards", "'Q' has no suit"),
        (("QC QH 8C", ""), "banker_cards", "0 cards"),
        ((",6,", ",10,"), "player_total", "'10' is no whole number from 0 to 9"),
        ((",8,B", ",-1,B"), "banker_total", "'-1' is no whole number"),
        ((",B", ",X"), "result", "'X' is no result; write P, B, T"),
        ((",B", ",b"), "result", "'b' is no result"),
        ((",B", ""), "", "7 cells; the first line names 8 columns"),
        ((",B", ",B,"), "", "9 cells"),
        (("S,", '"S,'), "", "no CSV"),
        (("S,", "\udcff,"), "", "no UTF-8 at byte 1"),
    ],
)  # fmt: skip
def test_fault_is_named_by_line_and_column(tmp_path: Path, change: tuple[str, str], column: str, what: str) -> None:
    text = f"{HEADER}\n{GOOD}\n{GOOD.replace(*change)}\n"
    with pytest.raises(InvalidHandsFile) as caught:
        rows(tmp_path, text.encode("utf-8", "surrogateescape"))
    assert (caught.value.line, caught.value.column) == (3, column)
    place = f"line 3, column {column}: " if column else "line 3: "
    assert str(caught.value).startswith(place)
    assert what in str(caught.value)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize(
    ("content", "line", "column", "what"),
    [
        ("", 1, "", "the file is empty; its first line must name session, shoe"),
        ("\n\n", 1, "", "the file is empty"),
        (GOOD, 1, "session", "missing; the first line must name session, shoe"),
        ("\n" + HEADER.replace("shoe", "hand"), 2, "shoe", "missing"),
        (HEADER + ",hand\n", 1, "hand", "named twice"),
    ],
    ids=["empty", "blank", "no header", "column missing", "column twice"],
)
def test_file_without_its_columns_is_refused(tmp_path: Path, content: str, line: int, column: str, what: str) -> None:
    with pytest.raises(InvalidHandsFile, match=what) as caught:
        rows(tmp_path, content)
    assert (caught.value.line, caught.value.column) == (line, column)


def test_header_alone_has_no_hands(tmp_path: Path) -> None:
    assert rows(tmp_path, HEADER) == []


@settings(max_examples=80, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.one_of(
        st.binary(max_size=120),
        st.text(max_size=120).map(str.encode),
        st.lists(st.text(alphabet='PBT0123456789HSDCAQ ",\n', max_size=8), min_size=8, max_size=8).map(
            lambda cells: ",".join(cells).encode()
        ),
    )
)
def test_any_bytes_are_hands_or_refused(tmp_path: Path, content: bytes) -> None:
    try:
        places = [row.line for row in rows(tmp_path, HEADER.encode() + b"\n" + content)]
    except InvalidHandsFile as error:
        places = [error.line]
    assert all(line >= 2 for line in places)
