"""`pitwatch run` in a process of its own, and the tables that send it events."""

import json
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx

from producers.gateway.auth import mint_token
from tests.pitwatch.command_line import ndjson, start
from tests.producers.table import event

TABLE = "B01"
TOKEN = mint_token(TABLE)

# What a table sends at its opening; the shoe was neither cut nor burned from, which the house asks for.
OPENING = [
    event(1, TABLE, type="table_opened", follows=(0, 0)),
    event(2, TABLE, type="shoe_loaded", shoe=1, decks=8),
]


def round_of(number: int, seq: int) -> list[bytes]:
    """Return a round, the player's nine against the banker's seven, numbered from `seq`."""
    where = {"shoe": 1, "round": number}
    cards = [("player", 1, "9H"), ("banker", 1, "7C"), ("player", 2, "KS"), ("banker", 2, "QH")]
    told: list[dict[str, Any]] = [
        {"type": "round_opened"},
        {"type": "betting_closed"},
        *({"type": "card_drawn", "hand": hand, "position": position, "card": card} for hand, position, card in cards),
        {"type": "result_called", "outcome": "player"},
        {"type": "round_closed"},
    ]
    return [event(seq + place, TABLE, **(fields | where)) for place, fields in enumerate(told)]


def rounds(count: int) -> list[bytes]:
    """Return the opening and so many rounds."""
    return OPENING + [line for number in range(1, count + 1) for line in round_of(number, 3 + 8 * (number - 1))]


def write_config(folder: Path, more: str = "", **pipeline: int) -> Path:
    """Write the settings of a floor of one table; its data are in ``folder/data``."""
    config = folder / "floor.toml"
    lines = [f"{name} = {value}" for name, value in pipeline.items()]
    config.write_text(
        "\n".join(
            [
                f'data_directory = "{folder / "data"}"',
                "[gateway]",
                "port = 0",
                "[pipeline]",
                *lines,
                "[[floor.tables]]",
                f'table_id = "{TABLE}"',
                'configuration = "macau"',
                f'tokens_sha256 = ["{TOKEN.entry.sha256}"]',
                more,
            ]
        )
    )
    return config


class RunningFloor:
    """A floor that takes events, and what it logs."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.logs: list[dict[str, Any]] = []
        self.url = self.wait_for_log("running")["gateway"]

    def wait_for_log(self, event: str, **fields: object) -> dict[str, Any]:
        """Read on in the log until there is a line with this event and these fields; return it."""
        assert self.process.stderr is not None
        for line in self.process.stderr:
            entry: dict[str, Any] = json.loads(line)
            self.logs.append(entry)
            if entry["event"] == event and fields.items() <= entry.items():
                return entry
        raise AssertionError(f"it ended without telling of {event}: {self.logs}")

    def post(self, lines: Sequence[bytes]) -> httpx.Response:
        """Send events as the table does."""
        headers = {"Authorization": f"Bearer {TOKEN.secret}", "Content-Type": "application/x-ndjson"}
        return httpx.post(f"{self.url}/v1/events", content=ndjson(lines), headers=headers, timeout=120)

    def health(self) -> int:
        """Return the status that the gateway gives of its health."""
        return httpx.get(f"{self.url}/healthz", timeout=120).status_code

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """Ask it to stop; return its exit code, with all it had still to say in `logs`."""
        self.process.send_signal(how)
        out, err = self.process.communicate()
        assert out == ""
        self.logs += [json.loads(line) for line in err.splitlines()]
        return self.process.returncode


@contextmanager
def running(repository: Path, config: Path) -> Iterator[RunningFloor]:
    """Run a floor for the length of the block, which should stop it."""
    with start(repository, "run", "--config", config) as process:
        try:
            yield RunningFloor(process)
        finally:
            process.kill()
