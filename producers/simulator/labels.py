"""What the simulator knows to be wrong in its own streams, so that what Pitwatch finds can be held against it.

Labels never travel in the events. A label names the deviation by the codes of `schemas.alerts` that it must raise: the
cause itself, and what follows from it by necessity.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Final, Literal

import msgspec

from schemas.alerts import ALERTS

CONSEQUENCES: Final = frozenset({"uncorrected_round_paid", "round_incomplete"})
"""Codes that never come alone: the first follows a dealing error that was paid out, the second a gap in a round."""

TELEMETRY_CODES: Final = frozenset({"telemetry_gap", "clock_skew"})
"""Codes brought about by `telemetry`, on the way from the table to the log."""

UNSIMULATED: Final = frozenset({"controller_replaced", "round_left_open", "configuration_unknown"})
"""Codes of what no simulated table does."""

INJECTABLE: Final[tuple[str, ...]] = tuple(
    code for code in ALERTS if code not in CONSEQUENCES | TELEMETRY_CODES | UNSIMULATED
)
"""Codes that `deviations` brings about at the table itself, in the order of the alert catalogue."""


class Label(msgspec.Struct, frozen=True, kw_only=True):
    """One deviation: where it is, the codes it must raise, and the event that shows it.

    `round` is 0 for what belongs to no round, and `shoe` then the one in play. What shows by its absence (a bet not
    paid, say) is shown by the round's closing. `status` is that of the alert for the first code, as facts spell it.
    """

    table_id: str
    shoe: int
    round: int
    codes: tuple[str, ...]
    status: Literal["raised", "corrected"] = "raised"
    bet_id: str = ""
    seat: int | None = None
    event_id: str
    occurred_at: datetime
    description: str


def encode_label(label: Label) -> bytes:
    """Return the label as one line of JSON, without a line end."""
    return msgspec.json.encode(label)


def read_labels(path: Path) -> Iterator[Label]:
    """Yield the labels of a file, one a line. Raises `OSError` and `msgspec.ValidationError`."""
    decoder = msgspec.json.Decoder(Label)
    with path.open("rb") as lines:
        for line in lines:
            yield decoder.decode(line)
