"""Views for the tests of the comparison page and of the trend page."""

from __future__ import annotations

import runpy
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace

import pyarrow as pa

from ragnostic.report import ComparisonView, RunData, TrendView
from ragnostic.report.trend_view import EasyQuery, TrendRun, TrendValue, Turn
from ragnostic.stats.comparison import changes, compare_sides
from ragnostic.stats.gate_rules import Rule
from ragnostic.stats.gates import judge_gate
from ragnostic.stats.sides import Side, side_from_scores, side_from_values

HERE = Path(__file__).parent
SAMPLE = runpy.run_path(str(HERE / "sample_run.py"))["sample_run"]
RULES = (
    "RR@5 >= -0.5",
    "abs:Success@5 >= 0.9",
    "lost <= 0.01",
    "RR@5{worst:category} >= -0.3",
)
METRICS = ("RR@5", "nDCG@5", "Success@5", "R@20")


def side(name: str, run: RunData) -> Side:
    """The values of a run, with categories and languages."""
    columns: dict[str, pa.Array] = {
        column: run.records[column].combine_chunks()
        for column in ("query_id", "category", "language")
    }
    return side_from_scores(name, run.scores, stages=run.stages, columns=columns)


def sample_view(rules: Sequence[str] = RULES, **members: object) -> ComparisonView:
    """Two runs over the same sixty queries; the candidate's rankings were drawn anew."""
    runs = SAMPLE(seed=7), SAMPLE(seed=11)
    base, candidate = side("run-a", runs[0]), side("run-b", runs[1])
    gate = judge_gate([Rule.parse(rule) for rule in rules], base, candidate, METRICS)
    known = {
        "comparison": compare_sides(base, candidate, METRICS),
        "gate": gate,
        "settings": [
            setting("retrieve.bm25.k1", 1.2, 0.9),
            setting("rerank.use", None, "embedding"),
            setting("retrieve.http.api_key", "s3cret-a", "s3cret-b"),
        ],
        "announced": ["the reranker differs: none → embedding"],
        "warnings": ["run-b: 1 query failed"],
        "missing": {"base": [], "candidate": ["q017"]},
        "changes": changes(base, candidate, METRICS[0]),
        "base_run": runs[0],
        "candidate_run": runs[1],
    }
    return ComparisonView(**(known | members))


def setting(key: str, base: object, candidate: object) -> SimpleNamespace:
    """A setting that differs."""
    return SimpleNamespace(key=key, base=base, candidate=candidate)


def values_view(
    base: dict[str, float], candidate: dict[str, float], metric: str = "RR@5", **members: object
) -> ComparisonView:
    """A comparison of which only the values are known."""
    sides = [side_from_values(name, {metric: of}) for name, of in (("a", base), ("b", candidate))]
    known = {
        "comparison": compare_sides(*sides, [metric]),
        "changes": changes(*sides, metric),
    }
    return ComparisonView(**(known | members))


def trend_view() -> TrendView:
    """Five runs: a tag, a fall, a gain, a metric that one run lacks, and two easy queries."""
    means = (0.50, 0.51, 0.42, 0.55, 0.54)
    runs = tuple(_trend_run(number, mean) for number, mean in enumerate(means, 1))
    return TrendView(
        evaluation_set="handbook",
        metrics=("RR@5", "R@20"),
        runs=runs,
        best={"RR@5": "run-4", "R@20": "run-4"},
        turns=(
            Turn("RR@5", "run-3", -0.09, -0.14, -0.03),
            Turn("RR@5", "run-4", 0.13, 0.08, 0.19),
            Turn("R@20", "run-4", 0.13, None, None),
        ),
        easy=(EasyQuery("q1", "年假有几天?"), EasyQuery("q2", None)),
        last=3,
    )


def _trend_run(number: int, mean: float) -> TrendRun:
    values = {"RR@5": TrendValue(mean, mean - 0.06, mean + 0.06, 186)}
    if number != 2:
        values["R@20"] = TrendValue(mean + 0.2, None, None, 186)
    return TrendRun(
        name=f"run-{number}",
        created=f"2026-11-0{number}T08:20:31Z",
        tags=("baseline", "release-1.4") if number == 2 else (),
        settings_changed={3: (("chunk.max_tokens", "400", "120"),)}.get(number, ()),
        values=values,
        stage="rerank",
        link=f"run-{number}/report.html" if number != 5 else None,
    )
