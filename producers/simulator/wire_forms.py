"""A configuration as the wire's fast twin, which is what the event's fast constructor takes."""

from functools import lru_cache

import msgspec

from schemas.configuration import TableConfiguration
from schemas.structs import struct_of


@lru_cache(maxsize=256)
def configuration_on_the_wire(configuration: TableConfiguration) -> TableConfiguration:
    """Return the struct twin of a configuration."""
    return msgspec.convert(configuration.model_dump(mode="python"), struct_of(TableConfiguration), strict=False)
