"""`pitwatch feed`: a simulated floor, dealing in the present, at the tables of the settings."""

import json
import os
import signal
import threading
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Annotated, Final

import structlog
import typer

from pitwatch.logs import configure_logs
from schemas.errors import PitwatchError

if TYPE_CHECKING:
    from producers.feeding import Clock, TableFeed
    from producers.simulator import FloorSettings
    from schemas.configuration import TableEntry

TOKENS: Final = "PITWATCH_FEED_TOKENS"
"""Environment variable with the tables' tokens: a JSON object of table and token."""

LONGEST_HOURS: Final = 24 * 366
FLOOR_FILE: Final = "floor.json"
DEVIATIONS_PER_ROUND: Final = 0.03
DEVIATIONS_PER_SHOE: Final = 0.2


class UnusableFeed(PitwatchError):
    """Raised for tables, tokens or a state that no floor can be fed with; the message says what to do."""


def feed(
    url: Annotated[str, typer.Argument(help="The gateway, such as http://127.0.0.1:8600.")],
    config: Annotated[Path, typer.Option("--config", help="Settings, TOML: the tables to deal at.", dir_okay=False)],
    state: Annotated[Path, typer.Option("--state", help="Folder that keeps how far it has dealt.", file_okay=False)],
    seed: Annotated[int, typer.Option(help="The same seed deals the same cards.")] = 1,
    past_hours: Annotated[
        float,
        typer.Option("--past-hours", min=0, max=24, help="How long the floor was open before its first start."),
    ] = 1.0,
) -> None:
    """Deal at the settings' tables as if they were real, half of them with deviations, until SIGTERM or SIGINT.

    The tables' tokens come from the environment: PITWATCH_FEED_TOKENS='{"B01": "..."}'.
    """
    from processors.settings_file import load_settings

    configure_logs()
    logger = structlog.get_logger(__name__)
    entries = load_settings(config).floor.entries()
    tokens = tokens_for(entries, os.environ.get(TOKENS, ""))
    floor = remembered_floor(state, entries, seed, datetime.now(UTC) - timedelta(hours=past_hours))
    stop = threading.Event()

    def ask(_number: int, _frame: FrameType | None) -> None:
        stop.set()

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, ask)
    logger.info("feeding", gateway=url, tables=len(entries), since=floor.start.isoformat())
    run_all(feeds_of(floor, url, tokens, state, lambda: datetime.now(UTC)), stop)
    logger.info("stopped")


def tokens_for(entries: "tuple[TableEntry, ...]", text: str) -> dict[str, str]:
    """Return the token of each table, read from `text`, a JSON object. Raises `UnusableFeed`."""
    if not entries:
        raise UnusableFeed("the settings list no tables ([[floor.tables]]) to deal at")
    try:
        found = json.loads(text or "{}")
    except ValueError as error:
        raise UnusableFeed(f"{TOKENS} is no JSON: {error}") from None
    if not isinstance(found, dict) or not all(isinstance(token, str) for token in found.values()):
        raise UnusableFeed(f"{TOKENS} must be a JSON object of table and token")
    if missing := [entry.table_id for entry in entries if entry.table_id not in found]:
        raise UnusableFeed(f"{TOKENS} has no token for table {missing[0]}; `pitwatch token {missing[0]}` makes one")
    return {entry.table_id: found[entry.table_id] for entry in entries}


def remembered_floor(state: Path, entries: "tuple[TableEntry, ...]", seed: int, start: datetime) -> "FloorSettings":
    """Return the floor that `state` was made for, or one that opens at `start` where it is new.

    Raises `UnusableFeed`.
    """
    from pydantic import ValidationError

    from producers.simulator import FloorSettings

    path = state / FLOOR_FILE
    try:
        if path.exists():
            known = FloorSettings.model_validate_json(path.read_bytes())
            if new_floor(entries, seed, known.start) != known:
                raise UnusableFeed(f"{state} belongs to a floor of other tables or another seed: name another folder")
            return known
        floor = new_floor(entries, seed, start)
        state.mkdir(parents=True, exist_ok=True)
        path.write_text(floor.model_dump_json(), encoding="utf-8")
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        raise UnusableFeed(f"this floor can't be simulated: {first['msg']}") from None
    except OSError as error:
        raise UnusableFeed(f"{state} can't be used: {error}") from error
    return floor


def new_floor(entries: "tuple[TableEntry, ...]", seed: int, start: datetime) -> "FloorSettings":
    """Return a floor at these tables: every second one makes mistakes, every fourth has a bad line as well."""
    from pitwatch.demonstration.plan import FAULTY_LINE
    from producers.simulator import Deviations, FloorSettings, SimulatedTable, Telemetry

    wrong = Deviations(per_round=DEVIATIONS_PER_ROUND, per_shoe=DEVIATIONS_PER_SHOE)
    tables = tuple(
        SimulatedTable(
            table_id=entry.table_id,
            configuration=entry.configuration,
            deviations=wrong if place % 2 else None,
            telemetry=FAULTY_LINE if place % 4 == 2 else Telemetry(),
        )
        for place, entry in enumerate(entries)
    )
    opening = start.replace(second=0, microsecond=0)
    return FloorSettings(seed=seed, start=opening, hours=LONGEST_HOURS, tables=tables)


def feeds_of(
    floor: "FloorSettings", url: str, tokens: Mapping[str, str], state: Path, clock: "Clock"
) -> "list[TableFeed]":
    """Return each table's feed, going on where `state` says."""
    from producers.feeding import Count, TableFeed
    from producers.simulator import table_stream
    from producers.transports import HttpTransport

    return [
        TableFeed(
            table.table_id,
            table_stream(floor, place),
            HttpTransport(url, tokens[table.table_id]),
            Count(state / f"{table.table_id}.count"),
            clock,
        )
        for place, table in enumerate(floor.tables)
    ]


def run_all(feeds: "list[TableFeed]", stop: threading.Event) -> None:
    """Run every feed in a thread of its own until `stop` is set, or all are over. Raises what one of them died of."""
    died: list[BaseException] = []

    def work(one: "TableFeed") -> None:
        try:
            one.run(stop)
        except BaseException as error:  # noqa: BLE001 - not swallowed: raised below
            died.append(error)
            stop.set()
        finally:
            one.close()

    threads = [threading.Thread(target=work, args=[one], name=f"feed-{one.table_id}", daemon=True) for one in feeds]
    for thread in threads:
        thread.start()
    for thread in threads:
        # In slices, so that the main thread gets to its signals.
        while thread.is_alive():
            thread.join(0.25)
    if died:
        raise died[0]
