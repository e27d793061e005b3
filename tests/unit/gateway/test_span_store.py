"""Spans that wait, in memory; the state of a store folder keeps the same promises."""

from __future__ import annotations

import math

import pytest

from ragnostic.gateway.span_store import MemorySpans
from ragnostic.store.state import State


@pytest.fixture(params=["memory", "state"])
def store(request, tmp_path):
    """Each kind of store."""
    if request.param == "memory":
        yield MemorySpans()
        return
    state = State(tmp_path / "state.sqlite")
    yield state
    state.close()


def test_spans_are_kept_until_they_are_dropped(store):
    """By trace; the same one again is no new one."""
    assert store.keep_spans([("t1", "a", b"1"), ("t1", "b", b"2"), ("t2", "a", b"3")], 5.0) == 3
    assert store.keep_spans([("t1", "a", b"4")], 9.0) == 0
    assert sorted(store.spans_of("t1")) == [b"2", b"4"]
    assert store.drop_traces(["t1", "t1", "t9"]) == 2
    assert store.spans_of("t1") == []
    assert store.spans_of("t2") == [b"3"]


def test_traces_that_wait_are_found(store):
    """All, or those that have been quiet."""
    store.keep_spans([("t1", "a", b"1"), ("t2", "a", b"1")], 5.0)
    store.keep_spans([("t2", "b", b"1")], 9.0)
    assert store.waiting_traces(7.0, 10) == ["t1"]
    assert sorted(store.waiting_traces(math.inf, 1 << 40)) == ["t1", "t2"]
    assert len(store.waiting_traces(math.inf, 1)) == 1
