"""Files as lines of bytes: plain, gzip or standard input, of which never more than one line is in memory."""

import gzip
import sys
import zlib
from collections.abc import Iterator
from contextlib import ExitStack
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, Final, NamedTuple, cast

from schemas.errors import PitwatchError

STDIN: Final = Path("-")
"""Stands for standard input wherever a file is asked for."""

_GZIP_MAGIC: Final = b"\x1f\x8b"
_SKIP_BYTES: Final = 65_536


class UnreadableFile(PitwatchError):
    """Raised when a file can't be opened, or not be read to its end; the lines before that were good."""


class Line(NamedTuple):
    """One line without its end. `too_long` says that it went on beyond what is here; `number` counts from one."""

    number: int
    text: bytes
    too_long: bool


class Progress(NamedTuple):
    """How far a file is read: bytes as they lie on the disk, of `size_bytes`.

    Of standard input nobody knows the size; its bytes are those of the lines.
    """

    path: Path
    bytes_read: int
    size_bytes: int | None
    lines: int


class LineSource:
    """The lines of one file: gzip where its name ends in ``.gz``, or its first bytes say so.

    For one ``for`` loop, which raises `UnreadableFile`.
    """

    def __init__(self, path: Path, max_line_bytes: int) -> None:
        self._path = path
        self._max_line_bytes = max_line_bytes
        self._lines = 0
        self._bytes = 0
        self._file: BinaryIO | None = None
        self._size: int | None = None

    def progress(self) -> Progress:
        """Return how far the file is read."""
        return Progress(self._path, self._bytes, self._size, self._lines)

    def __iter__(self) -> Iterator[Line]:
        try:
            with ExitStack() as stack:
                stream = self._open(stack)
                while text := stream.readline(self._max_line_bytes + 2):
                    self._lines += 1
                    line = self._cut(stream, text)
                    self._bytes = self._file.tell() if self._file else self._bytes + len(text)
                    yield line
        except (OSError, EOFError, zlib.error) as error:
            where = f"after line {self._lines}" if self._lines else "at its beginning"
            why = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise UnreadableFile(f"{self._path}: {why} ({where})") from error

    def _open(self, stack: ExitStack) -> BinaryIO:
        if self._path == STDIN:
            stream = sys.stdin.buffer
        else:
            stream = self._file = stack.enter_context(self._path.open("rb"))
            self._size = self._path.stat().st_size
        assert isinstance(stream, BufferedReader)
        compressed = self._path.suffix == ".gz" or stream.peek(2).startswith(_GZIP_MAGIC)
        return stack.enter_context(_gunzip(stream)) if compressed else stream

    def _cut(self, stream: BinaryIO, text: bytes) -> Line:
        """Return the line, reading over the rest of one that is too long."""
        complete = text.endswith(b"\n")
        line = text.removesuffix(b"\n").removesuffix(b"\r")
        too_long = len(line) > self._max_line_bytes
        while too_long and not complete:
            rest = stream.readline(_SKIP_BYTES)
            complete = not rest or rest.endswith(b"\n")
        return Line(self._lines, line[: self._max_line_bytes], too_long)


def _gunzip(stream: BinaryIO) -> BinaryIO:
    return cast(BinaryIO, gzip.GzipFile(fileobj=stream))
