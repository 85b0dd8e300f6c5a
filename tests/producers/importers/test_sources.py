"""Files as lines: whatever they hold, a line at a time and never more of it than was asked for."""

import gzip
import io
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from producers.importers.sources import STDIN, Line, LineSource, UnreadableFile

SETTINGS = settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])


def lines(path: Path, max_line_bytes: int = 10) -> list[Line]:
    return list(LineSource(path, max_line_bytes))


def feed(monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BufferedReader(io.BytesIO(content))))


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"", []),
        (b"\n", [Line(1, b"", False)]),
        (b"a\nb", [Line(1, b"a", False), Line(2, b"b", False)]),
        (b"a\r\n\r\nb\r", [Line(1, b"a", False), Line(2, b"", False), Line(3, b"b", False)]),
        (b"0123456789\n", [Line(1, b"0123456789", False)]),
        (b"0123456789\r\nz", [Line(1, b"0123456789", False), Line(2, b"z", False)]),
        (b"0123456789X\nz", [Line(1, b"0123456789", True), Line(2, b"z", False)]),
        (b"0123456789X\r\nz", [Line(1, b"0123456789", True), Line(2, b"z", False)]),
        (b"0123456789" * 20_000 + b"\nz", [Line(1, b"0123456789", True), Line(2, b"z", False)]),
        (b"0123456789" * 20_000, [Line(1, b"0123456789", True)]),
        (b"\x00\xff\n\x1f\x8b", [Line(1, b"\x00\xff", False), Line(2, b"\x1f\x8b", False)]),
    ],
    ids=[
        "empty",
        "blank",
        "no last end",
        "crlf",
        "limit",
        "limit crlf",
        "over",
        "over crlf",
        "far over",
        "last",
        "bytes",
    ],
)
def test_lines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, expected: list[Line]) -> None:
    plain, packed = tmp_path / "lines.ndjson", tmp_path / "lines.ndjson.gz"
    plain.write_bytes(content)
    packed.write_bytes(gzip.compress(content))
    assert lines(plain) == expected
    assert lines(packed) == expected
    plain.write_bytes(gzip.compress(content))
    assert lines(plain) == expected, "whatever its name is"
    for piped in (content, gzip.compress(content)):
        feed(monkeypatch, piped)
        assert lines(STDIN) == expected


@SETTINGS
@given(content=st.binary(max_size=200), limit=st.integers(1, 12))
def test_lines_are_those_of_the_file(tmp_path: Path, content: bytes, limit: int) -> None:
    path = tmp_path / "any.ndjson"
    # What begins like gzip is gzip; a blank before it makes a line of it.
    content = b" " * content.startswith(b"\x1f\x8b") + content
    path.write_bytes(content)
    whole = content.removesuffix(b"\n").split(b"\n") if content else []
    whole = [line.removesuffix(b"\r") for line in whole]
    found = lines(path, limit)
    assert [line.text for line in found] == [line[:limit] for line in whole]
    assert [line.too_long for line in found] == [len(line) > limit for line in whole]


def test_gzip_cut_short_gives_what_is_there_and_then_the_fault(tmp_path: Path) -> None:
    path = tmp_path / "cut.gz"
    path.write_bytes(gzip.compress(b"a\nb\n" * 5_000)[:-10])
    source = iter(LineSource(path, 10))
    taken = [next(source) for _ in range(100)]
    assert taken[-1] == Line(100, b"b", False)
    with pytest.raises(UnreadableFile, match=r"cut\.gz: Compressed file ended .* \(after line \d+\)"):
        list(source)


@SETTINGS
@given(content=st.binary(max_size=60), keep=st.integers(0, 60))
def test_any_bytes_called_gzip_are_read_or_refused(tmp_path: Path, content: bytes, keep: int) -> None:
    path = tmp_path / "any.gz"
    for broken in (content, gzip.compress(content)[:keep], gzip.compress(content)[:15] + content):
        path.write_bytes(broken)
        try:
            fault = f"none in {lines(path)}"
        except UnreadableFile as error:
            fault = str(error)
        assert fault.startswith((str(path), "none"))


@pytest.mark.parametrize("name", ["missing.ndjson", "."])
def test_what_cannot_be_opened_is_named(tmp_path: Path, name: str) -> None:
    with pytest.raises(UnreadableFile, match=r"(No such file|directory).*\(at its beginning\)"):
        lines(tmp_path / name)


def test_progress_counts_bytes_on_the_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packed = tmp_path / "lines.gz"
    packed.write_bytes(gzip.compress(b"a\n" * 10_000))
    size = packed.stat().st_size
    source = LineSource(packed, 10)
    assert source.progress() == (packed, 0, None, 0)
    assert len(list(source)) == 10_000
    assert source.progress() == (packed, size, size, 10_000)
    feed(monkeypatch, b"abc\nd\n")
    source = LineSource(STDIN, 10)
    list(source)
    assert source.progress() == (STDIN, 6, None, 2)
