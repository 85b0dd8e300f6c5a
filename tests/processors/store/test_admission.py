"""Which statements in ClickHouse's normal form are admitted. What the engine does with them: the contract suite."""

import pytest

from processors.store.admission import admit, has_format
from processors.store.port import QueryRefused

TEXTS = ("'INTO OUTFILE '", "'it\\'s file('", "`PARALLEL WITH`", "'a\\\\'", "`b\\`c`", "'\\\\\\''")


@pytest.mark.parametrize("text", TEXTS)
def test_what_is_quoted_is_not_read(text: str) -> None:
    admit(f"SELECT {text} FROM rounds")


@pytest.mark.parametrize("text", TEXTS)
def test_quotes_hide_nothing_behind_them(text: str) -> None:
    with pytest.raises(QueryRefused, match="OUTFILE"):
        admit(f"SELECT {text}, 1 INTO OUTFILE 'x'")
    with pytest.raises(QueryRefused, match="function file"):
        admit(f"SELECT {text}, file('x')")


@pytest.mark.parametrize(
    "name", ["file", "FILE", "`file`", "aiGenerate", "AIEmbed", "python", "eval", "sleepEachRow", "cluster"]
)
def test_functions_that_reach_outside_are_refused(name: str) -> None:
    with pytest.raises(QueryRefused, match="not allowed"):
        admit(f"SELECT {name}('x')")


@pytest.mark.parametrize("name", ["profile", "filesystemAvailable", "evaluate", "mail", "argMax"])
def test_functions_with_similar_names_are_not(name: str) -> None:
    admit(f"SELECT {name}(x)")


@pytest.mark.parametrize(
    "statement", ["", "select 1", "SELECTED", "INSERT INTO t FORMAT Values", "``", "(SELECT 1)", "SYSTEM STOP MERGES"]
)
def test_statements_that_do_not_begin_with_a_reading_word_are_refused(statement: str) -> None:
    with pytest.raises(QueryRefused, match="only reading"):
        admit(statement)


@pytest.mark.parametrize(
    ("statement", "own"),
    [
        ("SELECT 1 FORMAT CSV", True),
        ("SELECT 1 FORMAT CSV SETTINGS max_threads = 1", True),
        ("SELECT 1", False),
        ("SELECT ' FORMAT CSV'", False),
        ("SELECT 1 AS ` FORMAT CSV`", False),
        ("SELECT a AS FORMAT FROM t", False),
    ],
)
def test_own_format_is_told_from_texts(statement: str, own: bool) -> None:
    assert has_format(statement) is own
