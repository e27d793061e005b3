"""Copies of what passes."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.capture import Budget, Copy, Exchange
from ragnostic.gateway.counters import GatewayCounters


@given(st.lists(st.binary(max_size=20)), st.integers(0, 40))
def test_a_copy_is_the_beginning_and_knows_the_whole(pieces, limit):
    """However it comes in pieces."""
    whole = b"".join(pieces)
    copy = Copy(limit, Budget(1000))
    for piece in pieces:
        copy.add(piece)
    assert copy.body == whole[:limit]
    assert copy.facts() == {
        "bytes": len(whole),
        "sha256": hashlib.sha256(whole).hexdigest(),
        "truncated": len(whole) > limit,
    }


def test_memory_is_shared_and_given_back():
    """A copy without memory keeps what it has, and says that it starved."""
    budget = Budget(5)
    first, second = Copy(100, budget), Copy(100, budget)
    first.add(b"abc")
    second.add(b"abc")
    second.add(b"a")
    assert (first.starved, second.starved, second.body) == (False, True, b"")
    first.release()
    third = Copy(100, budget)
    third.add(b"abcde")
    assert third.body == b"abcde"


def test_marks_are_bounded():
    """An endless stream must not fill memory with times."""
    copy = Copy(1 << 20, Budget(1 << 20))
    for _ in range(10_000):
        copy.add(b"x")
    assert len(copy.marks) == 4096


def test_the_first_word_on_an_exchange_holds():
    """Later ones come from cleaning up."""
    budget = Budget(100)
    one = Exchange(
        method="GET",
        target=b"/",
        request_headers=(),
        request=Copy(9, budget),
        response=Copy(9, budget),
    )
    assert one.after_ms(None) is None
    one.end("client_abort", "client disconnected")
    one.end("ok")
    assert (one.outcome, one.error) == ("client_abort", "client disconnected")


def test_counters_balance_and_name_what_they_know():
    """Nothing is lost without a count."""
    counters = GatewayCounters()
    counters.add({"requests": 5, "spans_kept": 2})
    counters.count("captured", 5)
    counters.drop("queue_full", 2)
    counters.drop("store_failed", 0)
    counters.settle({"stored": 1, "duplicate": 0, "quarantined": 0, "dropped": 1})
    assert counters.as_json() == {
        "requests": 5,
        "captured": 5,
        "stored": 1,
        "duplicate": 0,
        "quarantined": 0,
        "dropped": 3,
        "dropped_by": {"intake": 1, "queue_full": 2},
        "waiting": 1,
        "running": 0,
        "spans_kept": 2,
    }
