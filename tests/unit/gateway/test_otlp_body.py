"""Bodies: bounded as sent and unpacked."""

from __future__ import annotations

import asyncio
import gzip
import random
import zlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.otlp_body import BodyError, SenderGoneError, inflated, read_body


def body_of(*messages, headers=None, most=10):
    """Reads a body that comes in these messages."""
    waiting = list(messages)

    async def receive():
        return waiting.pop(0)

    return asyncio.run(read_body(receive, headers or {}, most))


def piece(body, *, more=False):
    """A message with a piece of the body."""
    return {"type": "http.request", "body": body, "more_body": more}


def test_pieces_are_joined():
    """In order; an empty one is none."""
    assert (
        body_of(piece(b"ab", more=True), {"type": "http.request", "more_body": True}, piece(b"c"))
        == b"abc"
    )


def test_a_body_of_the_full_length_is_taken():
    """One byte more is not, told or not."""
    assert body_of(piece(b"x" * 10), headers={"content-length": "10"}) == b"x" * 10
    for headers in ({}, {"content-length": "nonsense"}):
        with pytest.raises(BodyError, match="more than 10 bytes") as error:
            body_of(piece(b"x" * 6, more=True), piece(b"x" * 5), headers=headers)
        assert error.value.status == 413
    with pytest.raises(BodyError, match="has 11 bytes"):
        body_of(piece(b"x" * 11), headers={"content-length": "11"})


def test_the_rest_of_a_long_body_is_let_pass_within_reason():
    """So that its sender reads the answer; not without end."""
    waiting = [piece(b"x" * 10, more=True)] * 100
    with pytest.raises(BodyError, match="more than 10 bytes"):
        asyncio.run(read_body(lambda: give(waiting), {}, 10))
    assert len(waiting) == 95


async def give(waiting):
    """The next message."""
    return waiting.pop()


def test_a_sender_that_goes_away_is_told_apart():
    """There is nobody to answer."""
    with pytest.raises(SenderGoneError):
        body_of(piece(b"x", more=True), {"type": "http.disconnect"})


@given(st.binary(max_size=5000), st.integers(1, 4), st.sampled_from(["gzip", "x-gzip"]))
def test_gzip_comes_out_as_it_went_in(body, copies, coding):
    """One file after another too."""
    packed = gzip.compress(body, mtime=0) * copies
    assert inflated(packed, coding, 20_000) == body * copies


def test_a_body_that_fills_the_bound_is_taken():
    """Whatever the size of the steps."""
    for size in (1 << 20, (1 << 20) + 1, 3 << 20):
        body = random.Random(size).randbytes(1000) * (size // 1000)
        assert inflated(gzip.compress(body, mtime=0), "gzip", len(body)) == body


def test_a_bomb_is_refused_without_being_unpacked():
    """A thousandfold, in one file or in many, and packed twice."""
    for packed in (gzip.compress(bytes(10**7)), gzip.compress(bytes(10**4)) * 1000):
        with pytest.raises(BodyError, match="more than 100000 bytes") as error:
            inflated(packed, "gzip", 100_000)
        assert error.value.status == 413


@pytest.mark.parametrize(
    ("body", "coding", "status", "reason"),
    [
        (b"plain", "gzip", 400, "no gzip"),
        (gzip.compress(b"spans", mtime=0)[:-3], "gzip", 400, "too early"),
        (gzip.compress(b"spans", mtime=0)[:5], "gzip", 400, "too early"),
        (gzip.compress(b"spans", mtime=0) + b"tail", "gzip", 400, "no gzip"),
        (gzip.compress(b"spans", mtime=0)[:-8] + bytes(8), "gzip", 400, "no gzip"),
        (zlib.compress(b"spans"), "deflate", 415, "'deflate' is not known"),
        (b"", "br, gzip", 415, "not known"),
    ],
)
def test_broken_and_unknown_codings_are_refused(body, coding, status, reason):
    """With the status that the protocol has for them."""
    with pytest.raises(BodyError, match=reason) as error:
        inflated(body, coding, 1000)
    assert error.value.status == status


def test_no_coding_changes_nothing():
    """The coding identity is none."""
    assert inflated(b"a", "", 9) == inflated(b"a", "identity", 9) == b"a"
    assert inflated(b"", "gzip", 9) == b""
