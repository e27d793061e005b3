"""RCS and RBO of stored pairs."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from ragnostic.monitor.probes import PROBE_SCHEMA, RETRIEVAL, probe_summary


@pytest.mark.shared
def test_the_case_of_short_lists(shared):
    """Compared as they are; two empty lists have no value."""
    case = json.loads((shared / "cases/metric-rcs-short-lists.json").read_text(encoding="utf-8"))
    rows = [
        {"query_id": query, "perturbation": "seed", "first": pair["A"], "second": pair["B"]}
        for query, pair in case["given"]["rerankings"].items()
    ]
    found = probe_summary(pa.Table.from_pylist(rows, PROBE_SCHEMA))["metrics"]["RCS@10"]
    expect = case["expect"]
    assert found["mean"] == pytest.approx(expect["mean"]["RCS@10"])
    assert (found["n"], found["unscored"]) == (expect["n"]["in_mean"], expect["n"]["unscored"])


def test_pairs_of_one_query_are_averaged_first():
    """A query that was probed often weighs no more."""

    def pair(query, second):
        return {"query_id": query, "perturbation": "seed", "first": ["a"], "second": second}

    rows = [pair("q", ["b"]), pair("q", ["b"]), pair("q", ["b"]), pair("r", ["a", "b"])]
    found = probe_summary(pa.Table.from_pylist(rows, PROBE_SCHEMA))["metrics"]["RCS@10"]
    assert (found["mean"], found["n"]) == (0.25, 2)
    assert found["low"] < 0.25 < found["high"]


def test_no_pairs_are_no_data():
    """Null, and why."""
    found = probe_summary(PROBE_SCHEMA.empty_table())
    assert found["pairs"] == 0
    assert found["metrics"]["RCS@10"]["reason"] == "no pair of rerankings was probed"


def retrieval(query, first, second):
    """A row of the retrieval sentinel."""
    return {
        "query_id": query,
        "perturbation": RETRIEVAL,
        "first": first,
        "second": second,
        "reranker": "bm25",
    }


def test_rankings_of_retrieval_are_not_mixed_with_rerankings():
    """They have figures of their own, and RCS and RBO are what they are without them."""
    pair = {"query_id": "q", "perturbation": "seed", "first": ["a"], "second": ["b"]}
    alone = probe_summary(pa.Table.from_pylist([pair], PROBE_SCHEMA))
    others = [retrieval("q", ["a", "b"], ["a", "b"]), retrieval("r", None, ["a"])]
    both = probe_summary(pa.Table.from_pylist([pair, *others], PROBE_SCHEMA))
    assert alone["retrieval"] is None
    assert {**both, "retrieval": None} == alone
    found = both["retrieval"]
    assert (found["compared"], found["new"], found["retrievers"]) == (1, 1, ["bm25"])
    overlap = found["metrics"]["RetrievalOverlap@10"]
    assert (overlap["mean"], overlap["n"], overlap["unscored"]) == (1.0, 1, 1)


def test_without_an_earlier_run_there_is_no_overlap():
    """Null, and why; nor is there a pair of rerankings."""
    rows = [retrieval("q", None, ["a"])]
    found = probe_summary(pa.Table.from_pylist(rows, PROBE_SCHEMA))
    assert found["retrieval"]["metrics"]["RetrievalRBO(p=0.9)@10"]["mean"] is None
    assert "earlier run" in found["retrieval"]["metrics"]["RetrievalOverlap@10"]["reason"]
    assert found["metrics"]["RCS@10"]["reason"] == "no pair of rerankings was probed"
