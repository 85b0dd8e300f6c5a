"""What readers' SQL may be: one statement that reads the database and touches nothing else.

ClickHouse's ``readonly=1`` is not enough. Measured on 26.9, embedded: it lets through ``INTO OUTFILE`` (writes any
file), the function ``file`` (reads any file), ``DESCRIBE url(...)`` (calls any address), ``SYSTEM STOP MERGES``, ``KILL
QUERY``, the table function ``python``, and several statements in a row. So each statement is first parsed by ClickHouse
itself, which writes it in one normal form; that form is judged here, and it is what runs.
"""

import re
from typing import Final

from processors.store.port import QueryRefused

READS: Final = frozenset({"SELECT", "WITH", "SHOW", "DESCRIBE", "EXISTS", "EXPLAIN"})
"""First words of the statements that readers may use."""

# Functions that reach outside the database, or only waste its time. The other table functions that do need rights which
# readonly=1 takes away; SAFE_TABLE_FUNCTIONS are those it leaves.
_OUTSIDE: Final = frozenset(
    {"cluster", "clusterallreplicas", "eval", "file", "input", "python", "sleep", "sleepeachrow"}
)
_AI: Final = re.compile(r"ai[a-z]+")

SAFE_TABLE_FUNCTIONS: Final = frozenset({
    "SQLStandardValues", "fuzzJSON", "fuzzQuery", "generateRandom", "generateSeries", "generate_series", "merge",
    "mergeTreeAnalyzeIndexes", "mergeTreeAnalyzeIndexesUUID", "mergeTreeCodecBlockCounts", "mergeTreeIndex",
    "mergeTreeProjection", "mergeTreeTextIndex", "null", "numbers", "numbers_mt", "primes", "values", "view",
    "viewIfPermitted", "zeros", "zeros_mt",
})  # fmt: skip
"""Table functions that readonly=1 lets through and that were found harmless."""

_QUOTED: Final = re.compile(r"'(?:[^'\\]|\\.)*'|`((?:[^`\\]|\\.)*)`(\()?", re.DOTALL)
_WORD: Final = re.compile(r"\w+")
_FORMAT: Final = re.compile(r" FORMAT (\w+)(?: SETTINGS .*)?$", re.DOTALL)
_WRITE: Final = re.compile(
    r"CREATE DATABASE IF|CREATE TABLE IF|CREATE VIEW IF|ALTER TABLE|OPTIMIZE TABLE|DROP TABLE|DROP VIEW|DROP DATABASE"
)
_ENGINE: Final = re.compile(r" ENGINE = (\w+)")
_INSERT: Final = re.compile(r"INSERT INTO [\w.`]+(?: \([^()]*\))?(?: SETTINGS [^()]*)? FORMAT \w+")


def admit(statement: str) -> None:
    """Check a statement that ClickHouse has put in its normal form. Raises `QueryRefused`."""
    bare = _bare(statement)
    found = _WORD.match(bare)
    word = found[0] if found else bare[:10]
    if word not in READS:
        raise QueryRefused(f"only reading is allowed here ({', '.join(sorted(READS))}); this begins with {word}")
    if " INTO OUTFILE " in bare:
        raise QueryRefused("INTO OUTFILE is not allowed here: take the answer and write the file yourself")
    if " PARALLEL WITH " in bare:
        raise QueryRefused("one statement at a time: PARALLEL WITH is not allowed here")
    if word == "DESCRIBE" and "(" in bare:
        raise QueryRefused("only a table or a view can be described here")
    if word == "EXPLAIN" and "SELECT" not in bare:
        raise QueryRefused("only a SELECT can be explained here")
    _admit_functions(bare)


def admit_write(statement: str) -> None:
    """Check a statement of somebody who may fill and change tables too: the schema's and the sink's, and reading.

    Rows come with the statement, tables are kept in the store's own way, and nothing outside is reached either.
    Raises `QueryRefused`.
    """
    bare = _bare(statement)
    if _INSERT.fullmatch(bare):
        return
    if not _WRITE.match(bare):
        admit(statement)
        return
    for engine in _ENGINE.findall(bare):
        if engine != "Atomic" and not engine.endswith("MergeTree"):
            raise QueryRefused(f"the engine {engine} is not allowed here: tables are kept in the store itself")
    _admit_functions(bare)


def format_of(statement: str) -> str:
    """Return the output format that a statement in normal form names itself, empty where it names none."""
    found = _FORMAT.search(_bare(statement))
    return found[1] if found else ""


def has_totals(statement: str) -> bool:
    """Tell whether the answer to a statement in normal form has rows of totals beside its rows."""
    return " WITH TOTALS" in _bare(statement)


def _admit_functions(bare: str) -> None:
    """Refuse functions that reach outside, called or handed to another (``APPLY file``, ``arrayMap(file, …)``).

    A function handed over stands without a bracket, so any bare word of that name is refused; a column of such a name
    can still be read when it is quoted.
    """
    for name in _WORD.findall(bare):
        if name.lower() in _OUTSIDE or _AI.fullmatch(name.lower()):
            raise QueryRefused(f"the function {name} is not allowed here: readers have the database and nothing else")


def _bare(statement: str) -> str:
    """Return the statement without what is quoted: texts and names, except the names of functions."""
    return _QUOTED.sub(lambda quoted: f"{quoted[1]}(" if quoted[2] else "``", statement)
