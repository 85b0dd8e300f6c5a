"""Content codings: answers compressed piece by piece, and bodies unpacked within bounds."""

import re
import sys
import zlib
from collections.abc import Callable
from typing import Final, NamedTuple, Protocol, cast

import lz4.frame

from processors.sql.refusals import QUERY_IS_TOO_LARGE, UNSUPPORTED_CODING, Refused

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

GZIP: Final = 16 + zlib.MAX_WBITS
ZLIB_LEVEL: Final = 1
"""The quickest: answers are compressed while somebody waits, and mostly for a network that is quick too."""

_ACCEPTED: Final = re.compile(r"([a-z0-9*-]+)(?:\s*;\s*q\s*=\s*([0-9.]+))?", re.IGNORECASE)


class Compressor(Protocol):
    """Compresses a stream."""

    def compress(self, piece: bytes) -> bytes:
        """Take a piece; return what is ready of the stream."""
        ...

    def flush(self) -> bytes:
        """End the stream; return the rest of it."""
        ...


class Decompressor(Protocol):
    """Unpacks a stream, never more of it at a time than asked for; `eof` once its end was seen."""

    @property
    def eof(self) -> bool:
        """Tell whether the stream's end was seen."""
        ...

    def decompress(self, packed: bytes, limit: int) -> bytes:
        """Return at most `limit` bytes of what `packed` holds."""
        ...


class Coding(NamedTuple):
    """How to compress and how to unpack."""

    compressor: Callable[[], Compressor]
    decompressor: Callable[[], Decompressor]


class _Lz4Compressor:
    """An LZ4 frame, whose header the library wants to have written first."""

    def __init__(self) -> None:
        self._frame = lz4.frame.LZ4FrameCompressor()
        self._header = self._frame.begin()

    def compress(self, piece: bytes) -> bytes:
        header, self._header = self._header, b""
        return cast(bytes, header + self._frame.compress(piece))

    def flush(self) -> bytes:
        return cast(bytes, self._header + self._frame.flush())


CODINGS: Final[dict[str, Coding]] = {
    "lz4": Coding(_Lz4Compressor, lambda: cast(Decompressor, lz4.frame.LZ4FrameDecompressor())),
    "zstd": Coding(zstd.ZstdCompressor, lambda: cast(Decompressor, zstd.ZstdDecompressor())),
    "gzip": Coding(
        lambda: cast(Compressor, zlib.compressobj(ZLIB_LEVEL, wbits=GZIP)), lambda: zlib.decompressobj(GZIP)
    ),
    "deflate": Coding(lambda: cast(Compressor, zlib.compressobj(ZLIB_LEVEL)), zlib.decompressobj),
}
"""Content codings by name, the quickest first."""


def accepted(header: str) -> str:
    """Return the coding to answer a request with this ``Accept-Encoding`` in, ``""`` for none."""
    asked = {match[1].lower(): match[2] for match in _ACCEPTED.finditer(header)}
    return next((name for name in CODINGS if name in asked and float(asked[name] or 1) > 0), "")


def unpack(body: bytes, coding: str, max_bytes: int) -> bytes:
    """Return a body that came with this ``Content-Encoding``. Raises `Refused`, for more than `max_bytes` too."""
    coding = coding.strip().lower()
    if coding in ("", "identity"):
        return body
    if coding not in CODINGS:
        raise Refused(UNSUPPORTED_CODING, f"The coding {coding[:40]!r} is not known here, but {', '.join(CODINGS)}.")
    stream = CODINGS[coding].decompressor()
    try:
        unpacked = stream.decompress(body, max_bytes + 1)
    except (zlib.error, zstd.ZstdError, RuntimeError, EOFError) as error:
        raise Refused(UNSUPPORTED_CODING, f"The body is not {coding}: {error}.") from None
    if len(unpacked) > max_bytes:
        raise Refused(QUERY_IS_TOO_LARGE, f"A request has at most {max_bytes:,} bytes when it is unpacked.")
    if not stream.eof:
        raise Refused(UNSUPPORTED_CODING, f"The body is {coding}, but its end is missing.")
    return unpacked
