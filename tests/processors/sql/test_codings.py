"""Content codings, there and back, and within bounds."""

import gzip
import zlib

import lz4.frame
import pytest
from hypothesis import given
from hypothesis import strategies as st

from processors.sql.codings import CODINGS, accepted, unpack
from processors.sql.refusals import Refused

LIMIT = 100_000


@pytest.mark.parametrize("coding", CODINGS)
@given(pieces=st.lists(st.binary(max_size=200), max_size=8))
def test_what_was_packed_unpacks(coding: str, pieces: list[bytes]) -> None:
    compressor = CODINGS[coding].compressor()
    packed = b"".join([*map(compressor.compress, pieces), compressor.flush()])
    assert unpack(packed, coding, LIMIT) == b"".join(pieces)


@pytest.mark.parametrize("coding", CODINGS)
def test_little_that_unpacks_to_much_is_refused_before_it_is_unpacked(coding: str) -> None:
    compressor = CODINGS[coding].compressor()
    bomb = compressor.compress(bytes(50_000_000)) + compressor.flush()
    with pytest.raises(Refused, match="100,000 bytes"):
        unpack(bomb, coding, LIMIT)


@pytest.mark.parametrize("coding", CODINGS)
def test_exactly_as_much_as_is_allowed_is_taken(coding: str) -> None:
    compressor = CODINGS[coding].compressor()
    packed = compressor.compress(bytes(LIMIT)) + compressor.flush()
    assert len(unpack(packed, coding, LIMIT)) == LIMIT
    with pytest.raises(Refused, match="at most"):
        unpack(packed, coding, LIMIT - 1)


@pytest.mark.parametrize("coding", CODINGS)
@pytest.mark.parametrize("body", [b"", b"no such thing", b"\x1f\x8b\x08"])
def test_what_is_no_such_coding_is_refused(coding: str, body: bytes) -> None:
    with pytest.raises(Refused, match=coding):
        unpack(body, coding, LIMIT)


@pytest.mark.parametrize("coding", CODINGS)
def test_what_is_cut_off_is_refused(coding: str) -> None:
    compressor = CODINGS[coding].compressor()
    packed = compressor.compress(bytes(range(256)) * 50) + compressor.flush()
    with pytest.raises(Refused, match=coding):
        unpack(packed[:-1], coding, LIMIT)


def test_codings_are_those_of_everybody_else() -> None:
    assert unpack(gzip.compress(b"x"), "gzip", LIMIT) == unpack(zlib.compress(b"x"), " Deflate ", LIMIT) == b"x"
    assert unpack(lz4.frame.compress(b"x"), "lz4", LIMIT) == b"x"
    assert unpack(b"x", "", LIMIT) == unpack(b"x", "identity", LIMIT) == b"x"


def test_unknown_coding_is_refused() -> None:
    with pytest.raises(Refused, match="'br' is not known"):
        unpack(b"x", "br", LIMIT)


@pytest.mark.parametrize(
    ("header", "coding"),
    [
        ("", ""),
        ("identity", ""),
        ("br", ""),
        ("gzip", "gzip"),
        ("GZIP", "gzip"),
        ("gzip, deflate, br", "gzip"),
        ("lz4,zstd,gzip", "lz4"),
        ("gzip;q=0.5, zstd;q=1.0", "zstd"),
        ("gzip;q=0", ""),
        ("zstd; q=0 , gzip ; q=0.1", "gzip"),
    ],
)
def test_quickest_coding_that_is_accepted_is_taken(header: str, coding: str) -> None:
    assert accepted(header) == coding
