"""Every relevance metric against pytrec_eval, query by query, on random tie-free data."""

from __future__ import annotations

import gzip
import json
import random

import pytest
import pytrec_eval

from ragnostic.evalset.qrels import load_qrels
from ragnostic.evalset.runs import Run
from ragnostic.offline.evaluation import evaluate

PAIRS = {
    "nDCG@5": "ndcg_cut_5",
    "nDCG@10": "ndcg_cut_10",
    "nDCG": "ndcg",
    "AP": "map",
    "AP@20": "map_cut_20",
    "RR": "recip_rank",
    "P@5": "P_5",
    "P@20": "P_20",
    "R@5": "recall_5",
    "R@20": "recall_20",
    "Rprec": "Rprec",
    "bpref": "bpref",
    "Success@1": "success_1",
    "Success@5": "success_5",
}


def random_case(seed: int) -> tuple[dict[str, dict[str, int]], dict[str, dict[str, float]]]:
    """A hundred queries with 1-30 judged and 0-60 retrieved chunks; no two scores are equal."""
    draw = random.Random(seed)
    qrels, run = {}, {}
    for number in range(100):
        pool = [f"文档{number}-{i}" if i % 7 == 0 else f"d{number}.{i}" for i in range(80)]
        judged = draw.sample(pool, draw.randint(1, 30))
        qrels[f"q{number}"] = {chunk: draw.choice([0, 0, 1, 2, 3]) for chunk in judged}
        qrels[f"q{number}"][judged[0]] = draw.choice([1, 2, 3])
        results = draw.sample(pool, draw.randint(1, 60))
        run[f"q{number}"] = {chunk: float(len(results) - i) for i, chunk in enumerate(results)}
    return qrels, run


def test_values_equal_pytrec_eval_on_ten_thousand_random_queries():
    """14 metrics, 10,000 queries, every per-query value within 1e-9."""
    for seed in range(100):
        qrels, run = random_case(seed)
        expected = pytrec_eval.RelevanceEvaluator(qrels, set(PAIRS.values())).evaluate(run)
        found = evaluate(qrels, run, list(PAIRS)).per_query.to_pylist()
        assert [row["query_id"] for row in found] == list(qrels)
        for row in found:
            for ours, theirs in PAIRS.items():
                value = expected[row["query_id"]][theirs]
                assert row[ours] == pytest.approx(value, abs=1e-9), (seed, row["query_id"], ours)


@pytest.mark.parametrize(
    ("qrels", "run", "expected", "missing"),
    [
        ("qrels.test", "results.test", "expected.json", "skip"),
        ("qrels.test", "results.trunc", "expected.complete-trunc.json", "zero"),
    ],
)
@pytest.mark.shared
def test_trec_evals_own_sample_gives_its_own_numbers(shared, qrels, run, expected, missing):
    """Untidy files, junk, ties: means and per-topic values agree to 4 places."""
    folder = shared / "data/trec/trec_eval"
    known = json.loads((folder / expected).read_text())
    names = {name: theirs for name, theirs in PAIRS.items() if theirs in known["all"]}
    names |= {f"R@{k}": f"recall_{k}" for k in (10, 15, 100, 1000)}
    result = evaluate(folder / qrels, folder / run, list(names), missing=missing)
    for ours, theirs in names.items():
        assert result[ours].mean == pytest.approx(known["all"][theirs], abs=6e-5), ours
    rows = {row["query_id"]: row for row in result.per_query.to_pylist()}
    for topic, values in known["per_query"].items():
        for ours, theirs in names.items():
            if theirs in values:
                assert rows[topic][ours] == pytest.approx(values[theirs], abs=6e-5), (topic, ours)


@pytest.mark.shared
def test_trec_evals_level_two_is_rel_two(shared):
    """``rel=2`` is trec_eval's ``-l2``; nDCG keeps its graded gains."""
    folder = shared / "data/trec/trec_eval"
    known = json.loads((folder / "expected.level2.json").read_text())["all"]
    names = {"AP(rel=2)": "map", "P(rel=2)@10": "P_10", "RR(rel=2)": "recip_rank"}
    names |= {"nDCG@10": "ndcg_cut_10", "R(rel=2)@100": "recall_100"}
    result = evaluate(
        folder / "qrels.rel_level", folder / "results.test", list(names), missing="skip"
    )
    for ours, theirs in names.items():
        assert result[ours].mean == pytest.approx(known[theirs], abs=6e-5), ours


@pytest.mark.shared
@pytest.mark.parametrize("name", ["pircRBa1", "aplrob03a"])
def test_robust_runs_with_thousands_of_ties_agree(shared, name):
    """TREC 2003 Robust: every shared measure of every topic within 1e-6 (float32 scores)."""
    folder = shared / "data/trec/robust03"
    with gzip.open(folder / "qrels.txt.gz", "rt") as file:
        lines = [line.split() for line in file]
    with gzip.open(folder / f"{name}.run.gz", "rt") as file:
        hits = [line.split() for line in file]
    qrels: dict[str, dict[str, int]] = {}
    run: dict[str, dict[str, float]] = {}
    for query, _, chunk, grade in lines:
        qrels.setdefault(query, {})[chunk] = int(grade)
    for query, _, chunk, _, score, _ in hits:
        run.setdefault(query, {})[chunk] = float(score)
    expected = pytrec_eval.RelevanceEvaluator(qrels, set(PAIRS.values())).evaluate(run)
    judged = load_qrels(folder / "qrels.txt.gz")
    rankings = Run(folder / f"{name}.run.gz", score_precision="float32")
    found = evaluate(judged, rankings, list(PAIRS), missing="skip").per_query.to_pylist()
    compared = 0
    for row in found:
        for ours, theirs in PAIRS.items():
            if row[ours] is not None:
                value = expected[row["query_id"]][theirs]
                assert row[ours] == pytest.approx(value, abs=1e-6), (row["query_id"], ours)
                compared += 1
    assert compared > 1000
