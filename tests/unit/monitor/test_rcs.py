"""The same candidates reranked again: pairs, what failed, what a perturbation does not change."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ragnostic import config, plugins
from ragnostic.errors import RetrievalError, UsageError
from ragnostic.metrics import Metric
from ragnostic.monitor.rcs import probe_reranker
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import load_inputs
from ragnostic.ports import no_progress
from ragnostic.records import EvalQuery

NOW = datetime(2026, 3, 1, 16, tzinfo=UTC)
CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[retrieve]
top_k = 12
[rerank]
use = "python"
[rerank.python]
target = "probed_rerankers:{}"
[run]
retries = 0
max_failed = {}
"""
CODE = """
import itertools
calls = itertools.count()

def steady(query, candidates, top_n):
    return [c["id"] for c in candidates]

def turning(query, candidates, top_n):
    order = [c["id"] for c in candidates]
    return order if query.endswith("?") else order[::-1]

def failing(query, candidates, top_n):
    if "MASK" in query:
        raise RuntimeError("no masks here")
    if query.startswith("salary"):
        raise RuntimeError("no pay")
    return [c["id"] for c in candidates]

def wrong(query, candidates, top_n):
    return ["nobody"]
"""


@pytest.fixture
def workshop(tmp_path):
    """Builds a workshop around one of the rerankers."""
    rows = [f'{{"_id": "c{i}", "text": "annual leave and salary, part {i}"}}' for i in range(14)]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
    row = '{"query_id": "q", "query": "leave", "gold": ["c1"]}\n'
    (tmp_path / "eval.jsonl").write_text(row, encoding="utf-8")
    (tmp_path / "probed_rerankers.py").write_text(CODE, encoding="utf-8")

    def build(function, max_failed=1.0, **sets):
        path = tmp_path / "eval.toml"
        path.write_text(CONFIG.format(function, max_failed), encoding="utf-8")
        given = [f"{key.replace('__', '.')}={value}" for key, value in sets.items()]
        loaded = config.load(path, find_plugin=plugins.load, check_metric=Metric.parse, sets=given)
        return Workshop(loaded, load_inputs(loaded, no_progress).chunks)

    return build


def probed(workshop, kinds, *texts):
    """The pairs of some queries."""
    queries = [EvalQuery(f"q{number}", text) for number, text in enumerate(texts)]
    return probe_reranker(queries, workshop, kinds, now=NOW, zone="Asia/Shanghai", seed=5)


def test_a_pair_holds_both_rankings_of_the_same_candidates(workshop):
    """One row a query and perturbation, of the local day, with the seed and the reranker."""
    found = probed(workshop("turning"), ["seed", "punctuation"], "annual leave", "salary?")
    rows = found.pairs.to_pylist()
    assert [(row["query_id"], row["perturbation"]) for row in rows] == [
        ("q0", "seed"),
        ("q0", "punctuation"),
        ("q1", "seed"),
        ("q1", "punctuation"),
    ]
    assert rows[0]["first"] == rows[0]["second"]
    assert rows[1]["first"] == rows[1]["second"][::-1]
    assert len(rows[0]["first"]) == 12
    assert (rows[0]["day"], rows[0]["seed"], rows[0]["reranker"]) == ("2026-03-02", 5, "python")
    assert (found.failed, found.empty, found.reasons) == ({"seed": 0, "punctuation": 0}, 0, ())


def test_what_a_perturbation_does_not_change_is_counted(workshop):
    """There is nothing to compare; a query without candidates is counted apart."""
    found = probed(workshop("steady"), ["case", "mask"], "annual LEAVE", "salary", "zzz")
    assert found.pairs["perturbation"].to_pylist() == ["case", "mask"]
    assert found.unchanged == {"case": 1, "mask": 1}
    assert found.empty == 1


def test_a_failed_call_breaks_its_pair_only(workshop):
    """Unless it is the one of the query as it is; the reasons are told."""
    found = probed(workshop("failing"), ["seed", "mask"], "annual leave", "salary and leave")
    assert found.pairs["query_id"].to_pylist() == ["q0"]
    assert found.failed == {"seed": 1, "mask": 2}
    assert any("no masks here" in reason for reason in found.reasons)


def test_too_many_failures_end_it(workshop):
    """As in an evaluation."""
    with pytest.raises(RetrievalError, match="nobody"):
        probed(workshop("wrong", max_failed=0.1), ["seed"], "annual leave")


def test_without_a_reranker_there_is_nothing_to_probe(workshop):
    """Said with the setting."""
    with pytest.raises(UsageError, match="no reranker"):
        probed(workshop("steady", rerank__use="none"), ["seed"], "leave")
