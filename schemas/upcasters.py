"""Old versions of event types, lifted to the current one.

An upcaster takes the JSON object of version *n* of a type and returns that of version *n + 1*. Readers know only the
newest version; writers may lag behind for as long as their devices take to update.
"""

from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

JsonObject = dict[str, JsonValue]
Upcaster = Callable[[JsonObject], JsonObject]


def _bet_placed_1_to_2(event: JsonObject) -> JsonObject:
    """Version 1 said only whether the patron stood; version 2 also says whose place the chips lie on (art. 15).

    A table that couldn't tell places apart must not accuse anybody of using a reserved one: a standing patron's
    bet of version 1 counts as lying on a shared place.
    """
    standing = event.pop("standing", False)
    if not isinstance(standing, bool):
        return event | {"posture": None, "schema_version": 2}  # which the model refuses, naming the field
    return event | {
        "posture": "standing" if standing else "seated",
        "area": "shared" if standing else "reserved",
        "schema_version": 2,
    }


UPCASTERS: Final[dict[tuple[str, int], Upcaster]] = {
    ("bet_placed", 1): _bet_placed_1_to_2,
}
"""Type and version → the step to the next version."""


def upcast(event: JsonObject) -> JsonObject:
    """Return `event` in the newest version there is a path to; an event already there comes back as it is."""
    while True:
        kind, version = event.get("type"), event.get("schema_version")
        # JSON's `true` is no version, though Python counts it as 1.
        step = UPCASTERS.get((kind, version)) if isinstance(kind, str) and type(version) is int else None
        if step is None:
            return event
        event = step(dict(event))
