"""`pitwatch import-hands`: hands of a file, dealt again by the pipeline and compared with it; nobody accused."""

import gzip
import json
from pathlib import Path
from typing import Any

import pytest

from tests.pitwatch.command_line import Answer, CommandLine

HEADER = "session,shoe,hand,player_cards,banker_cards,player_total,banker_total,result"
HANDS = [
    "S,1,1,8H 8S,QC QH 8C,6,8,B",
    "S,1,2,9H KS,7C QH,9,7,P",
    "S,2,1,2H 3S 5C,6D KH,0,6,B",
    "T,1,1,4H 4S,4C 4D,8,8,T",
]


def written(path: Path, *hands: str) -> Path:
    path.write_text("\n".join([HEADER, *hands, ""]))
    return path


def found(answer: Answer) -> tuple[int, list[dict[str, Any]]]:
    told = json.loads(answer.out)
    assert list(told) == ["hands", "mismatches"]
    return told["hands"], told["mismatches"]


def test_hands_that_are_right(pitwatch: CommandLine, tmp_path: Path) -> None:
    data, file = tmp_path / "data", written(tmp_path / "hands.csv", *HANDS)
    answer = pitwatch("import-hands", file, "--decks", "6", "--data", data, "--json")
    assert (answer.exit_code, found(answer), answer.err) == (0, (4, []), "")
    again = pitwatch("import-hands", file, "--decks", "6", "--data", data)
    assert again == (0, b"4 hands, 0 mismatches\n", "")
    rounds = pitwatch("sql", "SELECT table_id, shoe, round, outcome, status FROM rounds ORDER BY ALL", "--data", data)
    assert rounds.out.decode().splitlines()[1:] == [
        "import.S\t1\t1\tbanker\tsettled",
        "import.S\t1\t2\tplayer\tsettled",
        "import.S\t2\t1\tbanker\tsettled",
        "import.T\t1\t1\ttie\tsettled",
    ]


@pytest.mark.parametrize(
    ("doctored", "expected"),
    [
        ("S,1,2,9H KS,7C QH,9,7,B", [("outcome", "banker", "player")]),
        ("S,1,2,9H KS,7C QH,8,7,P", [("player_total", "8", "9")]),
        ("S,1,2,9H KS,7C QH,9,0,P", [("banker_total", "0", "7")]),
        ("S,1,2,2H 3S,6C QH,5,6,B", [("tableau", "", "player 9(1)")]),
    ],
    ids=["outcome", "player's total", "banker's total", "missed card"],
)
def test_doctored_hand_is_found(
    pitwatch: CommandLine, tmp_path: Path, doctored: str, expected: list[tuple[str, str, str]]
) -> None:
    file = written(tmp_path / "hands.csv", HANDS[0], doctored, *HANDS[2:])
    answer = pitwatch("import-hands", file, "--decks", "6", "--data", tmp_path / "data", "--json")
    hands, mismatches = found(answer)
    assert (answer.exit_code, hands) == (1, 4)
    assert [(one["what"], one["file"], one["pipeline"]) for one in mismatches] == expected
    assert [(one["line"], one["session"], one["shoe"], one["hand"]) for one in mismatches] == [(3, "S", 1, 2)]
    plain = pitwatch("import-hands", file, "--decks", "6", "--data", tmp_path / "data")
    assert (plain.exit_code, plain.out) == (1, b"4 hands, 1 mismatch\n")
    what, in_file, in_pipeline = expected[0]
    assert plain.err == f"line 3: S shoe 1 hand 2: {what}: file {in_file or '-'}, pipeline {in_pipeline}\n"


def test_session_that_was_imported_before_with_other_hands(pitwatch: CommandLine, tmp_path: Path) -> None:
    data, file = tmp_path / "data", written(tmp_path / "hands.csv", *HANDS)
    assert pitwatch("import-hands", file, "--data", data).exit_code == 0
    other = written(tmp_path / "other.csv", HANDS[0], "S,1,2,9S KS,7C QH,9,7,P", *HANDS[2:])
    answer = pitwatch("import-hands", other, "--data", data)
    assert (answer.exit_code, answer.out) == (2, b"")
    assert answer.err == (
        "pitwatch: session S was imported before with other hands (1 events conflict): "
        "use another --data, or another session name\n"
    )
    assert pitwatch("import-hands", file, "--data", data) == (0, b"4 hands, 0 mismatches\n", ""), "the first stand"
    renamed = written(tmp_path / "renamed.csv", *(hand.replace("S,", "U,", 1) for hand in HANDS[:2]))
    assert pitwatch("import-hands", renamed, "--data", data).exit_code == 0


def test_other_hands_are_found_however_long_ago_they_were_dealt(pitwatch: CommandLine, tmp_path: Path) -> None:
    """Farther back than the pipeline remembers what it was sent."""
    hands = [f"S,{1 + number // 50},{1 + number % 50},9H KS,7C QH,9,7,P" for number in range(120)]
    data, file = tmp_path / "data", written(tmp_path / "hands.csv", *hands)
    assert pitwatch("import-hands", file, "--data", data).exit_code == 0
    other = written(tmp_path / "other.csv", hands[0].replace("9H", "9S"), *hands[1:])
    answer = pitwatch("import-hands", other, "--data", data)
    assert answer.exit_code == 2
    assert "session S was imported before with other hands (1 events conflict)" in answer.err


def test_packed_file_and_standard_input(pitwatch: CommandLine, tmp_path: Path) -> None:
    file = written(tmp_path / "hands.csv", *HANDS)
    packed = tmp_path / "hands.csv.gz"
    packed.write_bytes(gzip.compress(file.read_bytes()))
    for name, stdin in ((packed, b""), ("-", file.read_bytes())):
        assert found(pitwatch("import-hands", name, "--data", tmp_path / "data", "--json", stdin=stdin)) == (4, [])


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["missing.csv"], "does not exist"),
        (["."], "is a directory"),
        (["hands.csv", "--decks", "5"], "--decks"),
        (["broken.csv"], "line 3, column result: 'X' is no result"),
    ],
)
def test_call_that_cannot_be_used(
    pitwatch: CommandLine, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], complaint: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "hands.csv", *HANDS)
    written(tmp_path / "broken.csv", HANDS[0], HANDS[1].replace(",P", ",X"))
    answer = pitwatch("import-hands", *arguments, "--data", "data")
    assert (answer.exit_code, answer.out) == (2, b"")
    assert complaint in answer.err


def test_played_hands_of_six_decks(pitwatch: CommandLine, tmp_path: Path, vectors: Path) -> None:
    data = tmp_path / "data"
    answer = pitwatch("import-hands", vectors / "hands_6deck.csv", "--decks", "6", "--data", data, "--json")
    assert (answer.exit_code, found(answer)) == (0, (3145, []))
    counted = pitwatch(
        "sql",
        "SELECT (SELECT count() FROM alerts), (SELECT count() FROM dead_letters), count() FROM rounds",
        "--data",
        data,
    )
    assert counted.out.splitlines()[1] == b"0\t0\t3145", "a file that knows no cuts, burns and bets accuses nobody"
