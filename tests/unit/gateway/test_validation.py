"""What a row may hold."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from decimal import Decimal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.validation import check_row

TS = 1767225600
EAST = timezone(timedelta(hours=8))
GOOD = {"query": "q", "ts": TS, "latency_ms": 5}


def refused(row):
    """The reason why a row is refused."""
    with pytest.raises(RowError) as found:
        check_row({**GOOD, **row})
    return str(found.value)


@pytest.mark.parametrize(
    "ts",
    [TS, TS * 10**3, TS * 10**6, TS * 10**9, float(TS), np.int64(TS), Decimal(TS),
     "2026-01-01T00:00:00Z", "2026-01-01T08:00:00+08:00", "2026-01-01T08:00:00",
     datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 1, 8, tzinfo=EAST)],
)  # fmt: skip
def test_times_of_every_form_are_one_instant(ts):
    """Units by magnitude, text with and without an offset, Python's and numpy's types."""
    row = check_row({"query": "q", "ts": ts}, "Asia/Shanghai").row
    assert row["ts"] == "2026-01-01T00:00:00+00:00"


@pytest.mark.parametrize(
    ("row", "reason"),
    [
        ({"ts": 176722}, "ts 176722 is no plausible time"),
        ({"ts": "noon"}, "ts 'noon' is no ISO 8601 time"),
        ({"ts": None}, "has no ts"),
        ({"ts": True}, "ts True is no time"),
        ({"query": None}, "is no record"),
        ({"query": ["q"]}, "query must be text, not ['q']"),
        ({"query_id": 7.5}, "query_id must be text, not a number"),
        ({"query_id": "x" * 1025}, "query_id holds an id of 1025 characters"),
        ({"latency_ms": float("nan")}, "latency_ms must be a finite number, not nan"),
        ({"latency_ms": 10**400}, "latency_ms must be a finite number"),
        ({"latency_ms": "5"}, "latency_ms must be a number, not a string"),
        ({"fanout": 0}, "fanout must be a whole number from 1"),
        ({"fanout": 1.5}, "fanout must be a whole number"),
        ({"revision": -1}, "revision must be a whole number from 0"),
        ({"outcome": "fine"}, "outcome must be one of ok, failed"),
        ({"answerable": 1}, "answerable must be true or false"),
        ({"searched": [1]}, "searched must be a list of texts"),
        ({"context_ids": "c1"}, "context_ids must be a list, not a string"),
        ({"labels": ["a"]}, "labels must be an object"),
        ({"stages": ["retrieve"]}, "stages must be an object"),
        ({"stages": {"retrieve": ["a"]}}, "stage retrieve must be an object with ids"),
        ({"stages": {"retrieve": {}}}, "stage retrieve has no ids"),
        ({"stages": {"a b": {"ids": []}}}, "'a b' is no name of a stage"),
        ({"stages": {"query": {"ids": []}}}, "stage name 'query' is a fixed name"),
        ({"stages": {f"s{i}": {"ids": []} for i in range(33)}}, "33 stages, more than 32"),
        ({"retrieve": {"ids": "abc"}}, "retrieve.ids must be a list, not a string"),
        ({"retrieve": {"ids": {"a": 1}}}, "retrieve.ids must be a list, not an object"),
        ({"retrieve": {"ids": [["a"]]}}, "retrieve.ids must be text, not an array"),
        ({"retrieve": {"ids": [1.0]}}, "retrieve.ids must be text, not a number"),
        ({"retrieve": {"ids": [b"a"]}}, "retrieve.ids must be text, not a bytes"),
        ({"retrieve": {"ids": ["a"] * 10_001}}, "10001 ids, more than 10000"),
        ({"retrieve": {"ids": ["a"], "scores": [1, 2]}}, "retrieve.scores holds 2 values for 1"),
        ({"retrieve": {"ids": ["a"], "scores": [float("inf")]}}, "must be a finite number"),
        ({"retrieve": {"ids": ["a"], "scores": ["1"]}}, "must be a number, not a string"),
        ({"retrieve": {"ids": ["a"], "texts": [1]}}, "retrieve.texts must hold texts"),
        ({"retrieve": {"ids": ["a"], "truncated": [1]}}, "must hold true or false"),
        ({"retrieve": {"ids": [], "top_k": -1}}, "retrieve.top_k must be a whole number"),
        ({"retrieve": {"ids": [], "status": "slow"}}, "retrieve.status must be ok or failed"),
        ({"started": "noon"}, "the start or end 'noon' is no ISO"),
    ],
)  # fmt: skip
def test_what_cannot_be_a_record_is_refused_with_the_reason(row, reason):
    """One line for a person."""
    if "started" in row:
        row = {**row, "latency_ms": None, "ended": TS}
    assert reason in refused(row)


def test_a_row_must_be_an_object():
    """Anything else has no fields."""
    with pytest.raises(RowError, match="must be an object, not a list"):
        check_row([1])


@pytest.mark.parametrize("name", ["extra", "capture", "feedback", "labels"])
def test_what_is_nested_too_deep_is_refused(name):
    """Every later walk may recurse then."""
    deep: dict = {}
    for _ in range(70):
        deep = {"a": deep, "b": 1}
    assert "nested more than 64 deep" in refused({name: deep})


def test_the_one_form_of_a_row():
    """Stages in order under stages, unknown keys under labels, ids as text, nulls away."""
    found = check_row(
        {
            "query": 12345,
            "ts": TS,
            "user_id": 7,
            "trace_id": "",
            "searched": "q",
            "feedback": {"thumb": "up"},
            "session_id": None,
            "shop": "b",
            "labels": {"shop": "a", "none": None},
            "stages": {"retrieve": {"ids": [1, "x"], "shard": 3, "took_ms": 2}},
            "rerank": {"status": "failed", "error": {"code": 500}},
            "fanout": np.float64(2.0),
        }
    )
    assert found.row == {
        "query": "12345",
        "ts": "2026-01-01T00:00:00+00:00",
        "user_id": "7",
        "trace_id": None,
        "searched": ["q"],
        "feedback": '{"thumb": "up"}',
        "fanout": 2,
        "stages": {
            "retrieve": {"ids": ["1", "x"], "took_ms": 2.0},
            "rerank": {"ids": [], "status": "failed", "error": '{"code": 500}'},
        },
        "labels": {"shop": "a", "retrieve.shard": 3},
    }
    assert found.faults == ()


def test_null_and_empty_ids_keep_their_rank():
    """As unjudged results (METRICS 1.6)."""
    row, faults = check_row({**GOOD, "retrieve": {"ids": ["a", None, ""], "scores": [3, None, 1]}})
    assert row["stages"]["retrieve"] == {"ids": ["a", None, ""], "scores": [3.0, None, 1.0]}
    assert faults == ("null_id",)


@pytest.mark.parametrize(
    ("row", "latency", "faults"),
    [
        ({"started": 1767225600_000, "ended": 1767225600_200}, 200.0, ()),
        ({"started": 1767225601_000, "ended": 1767225600_900}, None, ("negative_duration",)),
        ({"started": datetime(2026, 1, 1, tzinfo=UTC), "ended": 0}, None, ("no_end",)),
        ({"started": 1767225600_000}, None, ("no_end",)),
        ({"latency_ms": -0.1}, None, ("negative_duration",)),
        ({"latency_ms": 0}, 0.0, ()),
        ({}, None, ("no_duration",)),
    ],
)
def test_durations_that_cannot_be_have_no_value(row, latency, faults):
    """Neither negative nor zero nor wrapped; the row stays (METRICS 6)."""
    found = check_row({"query": "q", "ts": TS, **row})
    assert found.row.get("latency_ms") == latency
    assert found.faults == faults


def test_a_stage_has_its_own_duration():
    """From its times, or as it says; a negative one is no value."""
    stages = {
        "a": {"ids": [], "started": 1767225600_000, "ended": 1767225600_250},
        "b": {"ids": [], "took_ms": -1},
    }
    found = check_row({"query": "q", "ts": TS, "stages": stages})
    assert found.row["stages"] == {"a": {"ids": [], "took_ms": 250.0}, "b": {"ids": []}}
    assert found.faults == ("negative_duration",)


def test_started_is_the_time_of_a_row_that_has_no_other():
    """As spans have it."""
    found = check_row({"query": "q", "started": TS, "ended": TS + 1})
    assert found.row["ts"] == "2026-01-01T00:00:00+00:00"


@given(
    st.dictionaries(
        st.sampled_from(["query", "ts", "retrieve", "stages", "labels", "fanout", "capture", "x"])
        | st.text(max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=5),
            lambda inner: (
                st.lists(inner, max_size=3)
                | st.dictionaries(st.sampled_from(["ids", "scores", "a"]), inner, max_size=3)
            ),
            max_leaves=8,
        ),
    )
)
def test_no_row_raises_anything_else(row):
    """Good or refused, whatever comes."""
    try:
        found = check_row(row)
    except RowError:
        return
    assert found.row["ts"]
