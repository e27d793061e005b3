"""Content codings taken off the copy, within a bound."""

from __future__ import annotations

import gzip
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.decoding import decode


@given(st.binary(max_size=2000), st.lists(st.sampled_from(["gzip", "deflate", "identity"])))
def test_codings_come_off_in_reverse(body, codings):
    """However many there are."""
    packed = body
    for coding in codings:
        if coding != "identity":
            packed = gzip.compress(packed) if coding == "gzip" else zlib.compress(packed)
    assert decode(packed, codings, 1 << 20) == (body, None)


@given(st.binary(min_size=1, max_size=200), st.sampled_from(["gzip", "deflate", "x-gzip"]))
def test_no_bytes_break_it(body, coding):
    """They come from outside."""
    decoded = decode(body, [coding], 1000)
    assert len(decoded.body) <= 1000


def test_a_copy_that_was_cut_gives_its_beginning():
    """As far as it goes."""
    packed = gzip.compress(bytes(range(256)) * 100, compresslevel=1)
    decoded = decode(packed[: len(packed) // 2], ["gzip"], 1 << 20)
    assert decoded.body
    assert bytes(range(256)).startswith(decoded.body[:256])


@pytest.mark.parametrize(
    ("coding", "told"), [("snappy", "'snappy' is not known"), ("br", "needs a package")]
)
def test_what_cannot_be_read_is_told(coding, told):
    """And nothing of it is taken for the body."""
    decoded = decode(b"abc", [coding], 1000)
    assert decoded.body == b""
    assert told in (decoded.fault or "")


def test_a_bomb_is_cut_at_every_level():
    """The bound holds for each coding, so the second sees little."""
    bomb = gzip.compress(gzip.compress(b"a" * 10_000_000))
    decoded = decode(bomb, ["gzip", "gzip"], 5000)
    assert len(decoded.body) <= 5000
    assert decoded.fault
