"""``python -m benchmarks.dashboard``: how long screens' questions take in a store of a hundred million rounds.

The rounds are made by the engine itself: a property of 600 tables that play day and night for as many days as it takes.
Their cards and money mean nothing; what matters is how many there are, and how they lie.
"""

import argparse
import json
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from clickhouse_connect.driver.binding import DT64Param
from rich.console import Console
from rich.table import Table

from benchmarks.latency import percentile
from pitwatch.progress import counting_bar
from processors.settings import StoreSettings
from processors.store.clickhouse import ClickHouseStore
from processors.store.connections import to_folder
from processors.store.port import Parameters

TABLES: Final = 600
ROUNDS_PER_HOUR: Final = 70
ROUNDS_PER_SHOE: Final = 70
PITS: Final = 20
DEALERS: Final = 2_000
UNTIL: Final = datetime(2026, 11, 1, tzinfo=UTC)
"""When the last round was played."""

ROUNDS_PER_INSERT: Final = 2_000_000
LIMIT_MS: Final = 300

ROUNDS_SQL: Final = f"""
INSERT INTO rounds_versions
(table_id, shoe, round, occurred_at, gaming_day, shift, pit, kind, status, opened_at, dealer_id, currency, player_cards,
 banker_cards, player_total, banker_total, outcome, called_outcome, tableau_errors, bets, stakes, handle, house_win,
 paid, collected, alerts, revision, retracted, src_topic, src_partition, src_offset)
SELECT
    concat('B', leftPad(toString(number % {TABLES} + 1), 4, '0')), intDiv(played, {ROUNDS_PER_SHOE}) + 1,
    played % {ROUNDS_PER_SHOE} + 1, at, toString(toDate(at)), toString(intDiv(toHour(at), 8)),
    concat('P', toString(number % {PITS})), 'live', 'settled', at,
    concat('D', toString(cityHash64(number) % {DEALERS})), 'HKD',
    ['9H', '10S'], ['3D', 'KC', '2H'], 9, 5, ['player', 'banker', 'tie'][number % 3 + 1],
    ['player', 'banker', 'tie'][number % 3 + 1], if(number % 997 = 0, ['player 9(3)(2)'], []), 8, 800000, 700000,
    toInt64(cityHash64(number) % 200000) - 98000, 300000, 310000, number % 499 = 0, 0, false, 'table-events', 0, number
FROM
(
    SELECT number, intDiv(number, {TABLES}) AS played,
        {{since:DateTime64(6, 'UTC')}} + toIntervalSecond(intDiv(played * 3600, {ROUNDS_PER_HOUR})) AS at
    FROM numbers({{first:UInt64}}, {{count:UInt64}})
)
"""  # noqa: S608  figures of ours

HOURS_SQL: Final = """
INSERT INTO table_hours_versions
(table_id, hour, occurred_at, gaming_day, shift, pit, currency, rounds, voids, cards, bets, handle, house_win,
 commission_due, paid, collected, dealing_errors, alerts, revision, retracted, src_topic, src_partition, src_offset)
SELECT table_id, toStartOfHour(opened_at) AS start, max(occurred_at), any(gaming_day), any(shift), any(pit), 'HKD',
    count(), 0,
    count() * 5, sum(bets), sum(handle), sum(house_win), 0, sum(paid), sum(collected), sum(length(tableau_errors)),
    sum(alerts), 0, false, 'table-events', 0, 0
FROM rounds_versions
WHERE utc_day = {day:Date}
GROUP BY table_id, start
"""


class Question(NamedTuple):
    """What a screen asks, and how it is asked of one place and moment after the other."""

    name: str
    sql: str
    parameters: Callable[[Random, int], Parameters]


def _table(chance: Random) -> str:
    return f"B{chance.randint(1, TABLES):04}"


def _window(hours: float) -> Parameters:
    return {"since": UNTIL - timedelta(hours=hours), "until": UNTIL}


QUESTIONS: Final = (
    Question(
        "floor: the gaming day by pit",
        "SELECT pit, sum(rounds), sum(handle), sum(house_win), sum(alerts) FROM table_hours"
        " WHERE hour >= {since:DateTime64(6, 'UTC')} AND hour < {until:DateTime64(6, 'UTC')} GROUP BY pit",
        lambda _chance, _shoes: _window(24),
    ),
    Question(
        "pit: rounds and win by quarter of an hour, 8 hours",
        "SELECT toStartOfFifteenMinutes(opened_at) AS quarter, count(), sum(handle), sum(house_win)"
        " FROM rounds_between(since = {since:DateTime64(6, 'UTC')}, until = {until:DateTime64(6, 'UTC')})"
        " WHERE pit = {pit:String} GROUP BY quarter ORDER BY quarter",
        lambda chance, _shoes: {**_window(8), "pit": f"P{chance.randrange(PITS)}"},
    ),
    Question(
        "table: the road of a shoe",
        "SELECT round, outcome, player_pair, banker_pair FROM rounds"
        " WHERE table_id = {table:String} AND shoe = {shoe:UInt64} ORDER BY round",
        lambda chance, shoes: {"table": _table(chance), "shoe": chance.randint(1, shoes)},
    ),
    Question(
        "table: its last 30 rounds",
        "SELECT shoe, round, opened_at, outcome, house_win, alerts"
        " FROM rounds_between(since = {since:DateTime64(6, 'UTC')}, until = {until:DateTime64(6, 'UTC')})"
        " WHERE table_id = {table:String} ORDER BY shoe DESC, round DESC LIMIT 30",
        lambda chance, _shoes: {**_window(8), "table": _table(chance)},
    ),
    Question(
        "dealers: error rate of a day, the worst twenty",
        "SELECT dealer_id, count() AS n, countIf(notEmpty(tableau_errors)) / n AS rate"
        " FROM rounds_between(since = {since:DateTime64(6, 'UTC')}, until = {until:DateTime64(6, 'UTC')})"
        " GROUP BY dealer_id ORDER BY rate DESC LIMIT 20",
        lambda _chance, _shoes: _window(24),
    ),
    Question(
        "table: win and handle by hour, 30 days",
        "SELECT hour, handle, house_win FROM table_hours WHERE table_id = {table:String}"
        " AND hour >= {since:DateTime64(6, 'UTC')} AND hour < {until:DateTime64(6, 'UTC')} ORDER BY hour",
        lambda chance, _shoes: {**_window(24 * 30), "table": _table(chance)},
    ),
)


def fill(path: Path, database: str, rounds: int, advance: Callable[[int], None]) -> None:
    """Have the engine that keeps `path` make the rounds, and the hours that they add up to."""
    client = to_folder(path)({"max_partitions_per_insert_block": 0})
    client.database = database
    days = rounds / TABLES / ROUNDS_PER_HOUR / 24
    since = UNTIL - timedelta(days=days)
    for first in range(0, rounds, ROUNDS_PER_INSERT):
        count = min(ROUNDS_PER_INSERT, rounds - first)
        client.command(ROUNDS_SQL, parameters={"since": DT64Param(since), "first": first, "count": count})
        advance(first + count)
    for day in range(int(days) + 2):
        client.command(HOURS_SQL, parameters={"day": (since + timedelta(days=day)).date()})
    client.close()


def ask(store: ClickHouseStore, rounds: int, times: int) -> Iterator[tuple[str, list[float]]]:
    """Yield each question with the seconds it took, sorted."""
    shoes = rounds // TABLES // ROUNDS_PER_SHOE
    chance = Random(20040512)
    for question in QUESTIONS:
        taken = []
        for _ in range(times):
            parameters = question.parameters(chance, shoes)
            begun = time.perf_counter()
            if not store.query(question.sql, parameters):
                raise AssertionError(f"{question.name}: nothing was found")
            taken.append(time.perf_counter() - begun)
        yield question.name, sorted(taken)


def main() -> None:
    """Measure what the command line says."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.dashboard", description=__doc__)
    parser.add_argument("--rounds", type=int, default=100_000_000, help="rounds in the store")
    parser.add_argument("--times", type=int, default=20, help="times each question is asked")
    parser.add_argument("--json", action="store_true", help="print the figures as JSON")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="pitwatch-bench-") as folder:
        path, settings = Path(folder) / "clickhouse", StoreSettings()
        store = ClickHouseStore.embedded(path, settings)
        try:
            store.migrate()
            with counting_bar("making rounds", arguments.rounds, "rounds") as advance:
                fill(path, settings.database, arguments.rounds, advance)
            found = dict(ask(store, arguments.rounds, arguments.times))
        finally:
            store.close()
    together = sorted(seconds for taken in found.values() for seconds in taken)
    if arguments.json:
        times = {name: (statistics.median(taken), percentile(taken, 0.95)) for name, taken in found.items()}
        print(json.dumps({name: {"p50": middle, "p95": high} for name, (middle, high) in times.items()}))
        return
    table = Table(title=f"{arguments.rounds:,} rounds, each question {arguments.times} times", title_justify="left")
    for heading in ("question", "p50", "p95"):
        table.add_column(heading, justify="left" if heading == "question" else "right")
    for name, taken in (*found.items(), (f"all (target: p95 ≤ {LIMIT_MS} ms)", together)):
        table.add_row(name, f"{statistics.median(taken) * 1000:,.0f} ms", f"{percentile(taken, 0.95) * 1000:,.0f} ms")
    Console().print(table)


if __name__ == "__main__":
    main()
