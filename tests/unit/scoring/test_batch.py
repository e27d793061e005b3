"""``score_batch``: status, views, columns and what cannot be scored."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.errors import DataError
from ragnostic.metrics import Metric
from ragnostic.records import record_schema
from ragnostic.scoring import ChunkTokens, Plan, score, score_batch
from ragnostic.scoring import batch as batch_module
from ragnostic.scoring.lookup import IdIndex


def plan(*names, **options):
    """A plan of metrics by name."""
    return Plan(tuple(Metric.parse(name) for name in names), **options)


def records(*rows):
    """A record batch with one stage."""
    named = [{"query_id": f"q{i}", **row} for i, row in enumerate(rows)]
    return pa.RecordBatch.from_pylist(named, record_schema(["retrieve"]))


A = {"ids": ["a"]}


def test_each_row_has_its_status():
    """METRICS 1.2 and 9."""
    batch = records(
        {"judged": A, "retrieve": A},
        {"judged": A},
        {"judged": {"ids": ["a"], "grades": [0]}, "retrieve": A},
        {"retrieve": A},
        {"judged": A, "retrieve": {"status": "failed"}},
        {"judged": A, "retrieve": A, "answerable": False},
        {"judged": {"ids": []}},
    )
    found = score_batch(batch, plan("RR@5"))
    statuses = ["ok", "missing", "unscored", "unjudged", "failed", "unanswerable", "unscored"]
    assert found["status"].to_pylist() == statuses
    assert found["RR@5"].to_pylist() == [1.0, 0.0, None, None, None, None, None]
    assert found["judged"].to_pylist()[:2] == [1, 0]
    skipped = score_batch(batch, plan("RR@5", missing="skip"))
    assert skipped["RR@5"].to_pylist()[:2] == [1.0, None]


def test_an_empty_ranking_scores_nought_and_is_not_missing():
    """It came back with nothing."""
    found = score_batch(records({"judged": A, "retrieve": {"ids": []}}), plan("RR@5", "nDCG"))
    assert found["status"].to_pylist() == ["ok"]
    assert found["RR@5"].to_pylist() == found["nDCG"].to_pylist() == [0.0]


def test_a_metric_deeper_than_top_k_is_null():
    """The stage was not asked for it; a list that just ended is scored."""
    found = score_batch(
        records(
            {"judged": A, "retrieve": {"ids": ["x", "a"], "top_k": 5}},
            {"judged": A, "retrieve": {"ids": ["x", "a"]}},
        ),
        plan("R@5", "R@10", "AP"),
    )
    assert found["R@5"].to_pylist() == [1.0, 1.0]
    assert found["R@10"].to_pylist() == [None, 1.0]
    assert found["AP"].to_pylist() == [0.5, 0.5]
    assert found["top_k"].to_pylist() == [5, None]


def test_what_stands_below_top_k_is_cut():
    """The relevant one at rank 2 was not asked for."""
    batch = records({"judged": A, "retrieve": {"ids": ["x", "a"], "top_k": 1}})
    assert score_batch(batch, plan("RR"))["RR"].to_pylist() == [0.0]


def test_facets_are_scored_beside_the_whole():
    """Status and judged counts are those of the overall judgments, whatever is asked."""
    batch = records(
        {
            "retrieve": {"ids": ["b", "a"]},
            "judged": {"ids": ["a", "a", "b"], "grades": [1, 2, 1],
                       "facets": [None, "basis", "procedure"]},
        }
    )  # fmt: skip
    names = ("nDCG(facet=basis)", "RR(facet=procedure)", "coverage@1", "coverage@2", "RR")
    found = score_batch(batch, plan(*names)).to_pylist()[0]
    assert found["nDCG(facet=basis)"] == pytest.approx(0.6309, abs=1e-4)
    assert found["RR(facet=procedure)"] == 1
    assert (found["coverage@1"], found["coverage@2"], found["RR"]) == (0.5, 1.0, 0.5)
    alone = score_batch(batch, plan("nDCG(facet=none)")).to_pylist()[0]
    assert (alone["status"], alone["judged"], alone["nDCG(facet=none)"]) == ("ok", 1, None)


def test_a_plan_without_metrics_still_tells_the_status():
    """Counts of missing queries need no metric."""
    assert score_batch(records({"judged": A}), plan())["status"].to_pylist() == ["missing"]


def test_budgets_and_token_precision_read_the_chunks_tokens():
    """Gold tokens where known, whole relevant chunks otherwise; unknown chunks end the budget."""
    index = IdIndex.of(pa.array(["a", "x"]))
    tokens = ChunkTokens(index, np.array([100.0, 300.0]), {("q0", "a"): 40.0})
    batch = records(
        {"judged": A, "retrieve": {"ids": ["x", "a"]}},
        {"judged": A, "retrieve": {"ids": ["a", "x"]}},
        {"judged": A, "retrieve": {"ids": ["unknown", "a"]}},
    )
    names = ("R(budget=350)", "R(budget=400)", "TokenPrecision(budget=400)")
    found = score_batch(batch, plan(*names, tokens=tokens))
    assert found[names[0]].to_pylist() == [0.0, 1.0, 0.0]
    assert found[names[1]].to_pylist() == [1.0, 1.0, 0.0]
    assert found[names[2]].to_pylist() == [0.1, 0.25, 0.0]
    whole = ChunkTokens(index, np.array([100.0, 300.0]))
    again = score_batch(batch, plan(names[2], tokens=whole))
    assert again[names[2]].to_pylist()[0] == 0.25


def test_weights_are_read_where_a_metric_asks_for_them():
    """RR(weight=soft) with a soft chunk at rank 1."""
    judged = {"ids": ["s", "a"], "grades": [0, 1], "weights": [0.3, 1]}
    batch = records({"judged": judged, "retrieve": {"ids": ["s", "x", "x2", "a"]}})
    found = score_batch(batch, plan("RR(weight=soft)@5", "RR@5")).to_pylist()[0]
    assert found["RR(weight=soft)@5"] == pytest.approx(0.3)
    assert found["RR@5"] == 0.25


def test_a_curve_is_a_list_down_to_its_depth():
    """Null where a query is not scored, and not hidden by top_k."""
    batch = records({"judged": A, "retrieve": {"ids": ["x", "a"], "top_k": 2}}, {"retrieve": A})
    found = score_batch(batch, plan("RR", curve_depth=3))
    assert found["RecallCurve@3"].to_pylist()[0] == [0.0, 1.0, 1.0]
    assert found["RecallCurve@3"].to_pylist()[1] == [None] * 3


def test_deep_rankings_are_scored_in_slices(monkeypatch):
    """The same values, whatever the size of a slice."""
    rows = [
        {"judged": A, "retrieve": {"ids": [*(f"x{i}" for i in range(n)), "a"]}} for n in range(9)
    ]
    whole = score_batch(records(*rows), plan("RR", "AP", curve_depth=4))
    monkeypatch.setattr(batch_module, "CELLS", 10)
    assert score_batch(records(*rows), plan("RR", "AP", curve_depth=4)) == whole


def test_an_empty_batch_gives_an_empty_batch():
    """With all columns."""
    found = score_batch(records(), plan("RR@5", curve_depth=2))
    assert found.num_rows == 0
    assert {"RR@5", "RecallCurve@2", "Judged@5"} <= set(found.schema.names)
    assert score([], plan("RR@5", curve_depth=2)).table.schema.names == found.schema.names


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"judged": [A]}, "no stage 'retrieve'"),
        ({"retrieve": [A]}, "no judgments"),
        ({"judged": [A], "retrieve": ["a"]}, "is no stage"),
        ({"judged": [A], "retrieve": [{"x": 1}]}, "is no stage"),
        ({"judged": ["a"], "retrieve": [A]}, "no struct"),
        ({"judged": [{"x": 1}], "retrieve": [A]}, "no member 'ids'"),
    ],
)
def test_records_that_cannot_be_scored_are_refused(columns, said):
    """With what is missing."""
    batch = pa.RecordBatch.from_pydict({"query_id": ["q"], **columns})
    with pytest.raises(DataError, match=said):
        score_batch(batch, plan("RR@5"))


@pytest.mark.parametrize(
    "kind",
    [
        pa.large_list(pa.large_string()),
        pa.list_(pa.string_view()),
        pa.list_(pa.dictionary(pa.int32(), pa.string())),
    ],
)
def test_stages_as_other_tools_write_them(kind):
    """Wide lists, views and dictionaries."""
    stage = pa.array([{"ids": ["x", "a"]}], pa.struct([("ids", kind)]))
    batch = pa.RecordBatch.from_pydict(
        {"query_id": ["q"], "retrieve": stage, "judged": pa.array([A])}
    )
    assert score_batch(batch, plan("RR"))["RR"].to_pylist() == [0.5]


def test_ids_that_are_numbers_are_their_text():
    """A service with whole-number ids."""
    stage = pa.array([{"ids": [8, 7]}])
    batch = pa.RecordBatch.from_pydict(
        {"query_id": ["q"], "retrieve": stage, "judged": pa.array([{"ids": ["7"]}])}
    )
    assert score_batch(batch, plan("RR"))["RR"].to_pylist() == [0.5]
