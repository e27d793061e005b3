"""A side: values a query from a long table or a mapping, repeats averaged within the query."""

from __future__ import annotations

import json
import math

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import DataError, UsageError
from ragnostic.stats import average_sides, side_from_scores, side_from_values


def table(*rows: tuple[str, str, str, float | None, str]) -> pa.Table:
    """A score table from rows of query, stage, metric, value, status."""
    names = ("query_id", "stage", "metric", "value", "status")
    types = (pa.string(), pa.string(), pa.string(), pa.float64(), pa.string())
    columns = zip(*rows, strict=True) if rows else ([] for _ in names)
    arrays = [pa.array(list(c), t) for c, t in zip(columns, types, strict=True)]
    return pa.table(dict(zip(names, arrays, strict=True)))


def plain(values: np.ndarray) -> list[float | None]:
    """Numbers with None for NaN."""
    return [None if math.isnan(value) else round(value, 9) for value in values.tolist()]


@pytest.mark.shared
def test_repeats_of_a_query_are_averaged_and_stay_countable(shared):
    """The shared case: mean, spread, rows, and not the last row."""
    case = json.loads((shared / "cases/compare-repeats.json").read_text())
    given_, expect = case["given"], case["expect"]
    rows = [
        (query, "retrieve", given_["metric"], value, "ok")
        for query, values in given_["repeats"].items()
        for value in values
    ]
    side = side_from_scores("a", table(*rows), stages=["retrieve"])
    key = ("retrieve", given_["metric"])
    ids = side.query_ids.to_pylist()
    means = dict(zip(ids, side.values[key], strict=True))
    assert means == pytest.approx(expect["per_query_mean"])
    assert dict(zip(ids, side.spreads[key], strict=True)) == pytest.approx(
        expect["per_query_spread"]
    )
    assert side.values[key].mean() == pytest.approx(expect["mean"])
    assert (len(ids), side.rows) == (expect["n"], expect["rows"])


def test_blocks_of_other_orders_and_queries_meet_at_their_query():
    """The second metric has another order, and a query that the first lacks."""
    side = side_from_scores(
        "a",
        table(
            ("q1", "retrieve", "RR@5", 1.0, "ok"),
            ("q2", "retrieve", "RR@5", 0.5, "ok"),
            ("q3", "retrieve", "AP", 0.3, "ok"),
            ("q2", "retrieve", "AP", 0.2, "ok"),
            ("q1", "retrieve", "AP", None, "unscored"),
        ),
        stages=["retrieve"],
    )
    assert side.query_ids.to_pylist() == ["q1", "q2", "q3"]
    assert plain(side.values["retrieve", "RR@5"]) == [1.0, 0.5, None]
    assert plain(side.values["retrieve", "AP"]) == [None, 0.2, 0.3]
    assert side.statuses["retrieve"].to_pylist() == ["ok", "ok", None]
    assert side.metrics_of("retrieve") == ["RR@5", "AP"]
    assert side.spreads == {}


def test_only_the_wanted_stages_and_metrics_are_kept_in_their_order():
    """By any name of the metric; the last stage is the final one; an absent one has no values."""
    rows = [
        ("q1", stage, metric, 1.0, "ok")
        for metric in ("AP", "RR@5", "Judged@5")
        for stage in ("rerank", "retrieve")
    ]
    side = side_from_scores(
        "a", table(*rows), stages=["retrieve", "rerank", "fuse"], metrics=["mrr@5", "AP", "P@5"]
    )
    assert list(side.values) == [
        ("retrieve", "RR@5"),
        ("retrieve", "AP"),
        ("rerank", "RR@5"),
        ("rerank", "AP"),
    ]
    assert side.final_stage == "fuse"
    assert side.rows == 1


def test_a_repeat_without_a_value_leaves_the_mean_to_the_others():
    """And a query none of whose repeats has one stays undefined, in mean and spread."""
    side = side_from_scores(
        "a",
        table(
            ("q1", "retrieve", "AP", None, "failed"),
            ("q1", "retrieve", "AP", 0.4, "ok"),
            ("q2", "retrieve", "AP", None, "unscored"),
            ("q2", "retrieve", "AP", None, "unscored"),
        ),
        stages=["retrieve"],
    )
    assert plain(side.values["retrieve", "AP"]) == [0.4, None]
    assert plain(side.spreads["retrieve", "AP"]) == [0.0, None]
    assert side.statuses["retrieve"].to_pylist() == ["ok", "unscored"]


def test_slice_columns_follow_their_queries():
    """Given by record, in another order, with repeats and gaps; the first row of a query counts."""
    side = side_from_scores(
        "a",
        table(("q1", "retrieve", "AP", 1.0, "ok"), ("q2", "retrieve", "AP", 1.0, "ok")),
        stages=["retrieve"],
        columns={
            "query_id": pa.chunked_array([["q2", "q3"], ["q2"]]),
            "category": pa.array(["hr", "it", "law"]),
        },
    )
    assert {name: column.to_pylist() for name, column in side.columns.items()} == {
        "category": [None, "hr"]
    }


def test_an_encoded_table_in_chunks_is_the_same_side():
    """As Parquet gives it: dictionaries that differ from chunk to chunk."""
    rows = [(f"q{n}", "retrieve", m, n / 10, "ok") for m in ("AP", "P@5") for n in range(6)]
    whole = table(*rows)
    parts = []
    for start in range(0, 12, 5):
        part = whole.slice(start, 5)
        for name in ("stage", "metric", "status", "query_id"):
            place = part.schema.get_field_index(name)
            part = part.set_column(place, name, part[name].dictionary_encode())
        parts.append(part)
    one = side_from_scores("a", whole, stages=["retrieve"])
    two = side_from_scores("a", pa.concat_tables(parts), stages=["retrieve"])
    assert two.query_ids.equals(one.query_ids)
    assert two.statuses["retrieve"].equals(one.statuses["retrieve"])
    for key, values in one.values.items():
        assert two.values[key].tolist() == values.tolist()


def test_an_empty_table_is_an_empty_side():
    """No rows, no values; it can still be compared, and says that there is nothing."""
    side = side_from_scores("a", table(), stages=["retrieve"])
    assert (len(side.query_ids), side.values, side.rows) == (0, {}, 0)


def test_what_cannot_be_compared_is_refused_by_name():
    """A null query id, an infinite value, no stage."""
    with pytest.raises(DataError, match="no query id"):
        side_from_scores("a", table((None, "retrieve", "AP", 1.0, "ok")), stages=["retrieve"])
    with pytest.raises(DataError, match="AP of query q7 is infinite"):
        side_from_scores("a", table(("q7", "retrieve", "AP", math.inf, "ok")), stages=["retrieve"])
    with pytest.raises(UsageError, match="has no stage"):
        side_from_scores("a", table(), stages=[])


def test_values_come_as_a_mapping_by_any_name():
    """None and NaN are undefined; queries in the order of their first appearance."""
    side = side_from_values(
        "a", {"hit_rate@5": {"q2": 1, "q1": None}, "AP": {"q1": float("nan"), "q3": 0.5}}
    )
    assert side.query_ids.to_pylist() == ["q2", "q1", "q3"]
    assert plain(side.values["retrieve", "Success@5"]) == [1.0, None, None]
    assert plain(side.values["retrieve", "AP"]) == [None, None, 0.5]
    assert side.statuses["retrieve"].to_pylist() == ["ok", "unscored", "ok"]
    assert side_from_values("a", {}, stage="rerank").final_stage == "rerank"


@pytest.mark.parametrize("value", [math.inf, -math.inf, "0.5", "x", [0.5]])
def test_a_value_that_is_no_finite_number_is_refused(value):
    """With the metric and the query."""
    with pytest.raises(DataError, match="AP of query q1"):
        side_from_values("a", {"AP": {"q1": value}})


def test_ids_are_text_and_a_metric_is_given_once():
    """7 is not "7"; mrr@5 is RR@5."""
    with pytest.raises(DataError, match="query id 7 is no text"):
        side_from_values("a", {"AP": {7: 1.0}})
    with pytest.raises(UsageError, match="RR@5 is given twice"):
        side_from_values("a", {"mrr@5": {"q1": 1.0}, "RR@5": {"q1": 1.0}})


def test_runs_of_one_system_are_averaged_within_each_query():
    """A query that one run lacks is averaged over the others; statuses, columns and spreads too."""
    rows = [("q1", "retrieve", "AP", 0.2, "ok"), ("q2", "retrieve", "AP", 0.5, "missing")]
    columns = {"query_id": pa.array(["q1"]), "category": pa.array(["hr"])}
    more = [("q2", "retrieve", "AP", 0.7, "ok"), ("q3", "retrieve", "AP", None, "failed")]
    beside = {"query_id": pa.array(["q1", "q2"]), "category": pa.array(["it", "law"])}
    first = side_from_scores("a", table(*rows), stages=["retrieve"], columns=columns)
    second = side_from_scores("b", table(*more), stages=["retrieve"], columns=beside)
    whole = average_sides([first, second])
    assert whole.name == "a + b"
    assert whole.query_ids.to_pylist() == ["q1", "q2", "q3"]
    assert plain(whole.values["retrieve", "AP"]) == [0.2, 0.6, None]
    assert plain(whole.spreads["retrieve", "AP"]) == [0.0, 0.2, None]
    assert whole.statuses["retrieve"].to_pylist() == ["ok", "ok", "failed"]
    assert whole.columns["category"].to_pylist() == ["hr", "law", None]
    assert whole.rows == 4
    assert average_sides([first]) is first


def test_the_spread_within_a_run_is_not_lost_by_averaging_runs():
    """The wider of both is kept."""
    rows = [("q1", "retrieve", "AP", value, "ok") for value in (0.0, 1.0)]
    wide = side_from_scores("a", table(*rows), stages=["retrieve"])
    even = side_from_values("a", {"AP": {"q1": 0.5, "q2": 0.1}})
    assert plain(average_sides([even, wide]).spreads["retrieve", "AP"]) == [1.0, 0.0]


def test_runs_of_other_queries_have_no_spread():
    """Each query comes once: nothing is averaged."""
    runs = [side_from_values("a", {"AP": {query: 0.5}}) for query in ("q1", "q2")]
    whole = average_sides(runs)
    assert plain(whole.values["retrieve", "AP"]) == [0.5, 0.5]
    assert (whole.name, whole.spreads) == ("a", {})


def test_runs_that_are_not_of_one_system_are_refused():
    """None at all, other stages, other metrics."""
    one = side_from_values("a", {"AP": {"q1": 1.0}})
    with pytest.raises(UsageError, match="no run"):
        average_sides([])
    with pytest.raises(UsageError, match="not runs of one system"):
        average_sides([one, side_from_values("b", {"AP": {"q1": 1.0}}, stage="rerank")])
    with pytest.raises(UsageError, match="a has AP at stage retrieve, b has not"):
        average_sides([one, side_from_values("b", {"P@5": {"q1": 1.0}})])
    with pytest.raises(UsageError, match="b has P@5 at stage retrieve, a has not"):
        average_sides([one, side_from_values("b", {"AP": {"q1": 1.0}, "P@5": {"q1": 1.0}})])


ROWS = st.lists(
    st.tuples(st.sampled_from("abcd"), st.sampled_from(["AP", "P@5"]), st.none() | st.floats(0, 1)),
    min_size=1,
    max_size=30,
)


@given(ROWS)
def test_a_side_is_what_a_dictionary_would_hold(rows):
    """Any rows in any order, against plain Python."""
    long = table(*((q, "retrieve", metric, value, "ok") for q, metric, value in rows))
    side = side_from_scores("a", long, stages=["retrieve"])
    ids = side.query_ids.to_pylist()
    assert sorted(ids) == sorted({query for query, _, _ in rows})
    for (_, metric), values in side.values.items():
        for query, value in zip(ids, plain(values), strict=True):
            own = [v for q, m, v in rows if (q, m) == (query, metric) and v is not None]
            assert value == (pytest.approx(sum(own) / len(own), abs=1e-8) if own else None)
