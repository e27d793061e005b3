"""What a sweep will run: order, names, metrics, baseline, what is the same."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragnostic import config, plugins
from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.offline.run_folder import META
from ragnostic.offline.sweep_grid import parse_axes
from ragnostic.offline.sweep_plan import SweepPlan, plan_sweep
from ragnostic.offline.sweep_state import read_state, sweep_name, write_state


@pytest.fixture
def plan(tmp_path):
    """``plan(grids, sets, metric)`` over a small configuration."""
    (tmp_path / "eval.jsonl").write_text('{"query_id": "q", "query": "x", "gold": ["a"]}\n')
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "x"}\n')
    file = tmp_path / "eval.toml"
    file.write_text(
        '[dataset]\npath = "eval.jsonl"\ncorpus = "corpus.jsonl"\n[chunk]\nby = "fixed"\n'
        '[rerank]\nuse = "none"\n[score]\nmetrics = ["RR@5", "AP@5"]\n'
    )

    def make(*grids: str, sets: tuple[str, ...] = (), metric: str | None = None) -> SweepPlan:
        def load(overrides):
            return config.load(
                file, find_plugin=plugins.load, check_metric=Metric.parse, sets=overrides
            )

        return plan_sweep(load, parse_axes(grids, sets), sets, metric=metric)

    return make


def test_what_shares_most_runs_side_by_side(plan):
    """A corpus is cut once for each way of cutting, and indexed once for each retriever."""
    found = plan("retrieve.top_k=5,9", "retrieve.bm25.k1=1,2", "chunk.max_tokens=50,90")
    order = [one.sets for one in found.in_running_order(found.combinations)]
    settings = [[part.partition("=")[2] for part in sets] for sets in order]
    assert settings == [
        [top_k, k1, tokens] for tokens in ("50", "90") for k1 in "12" for top_k in "59"
    ]


def test_a_combination_is_named_and_keeps_all_else(plan):
    """The name stands in the settings; metrics that are asked for are added."""
    (one, _) = plan("retrieve.top_k=5,9", metric="ndcg@3").combinations
    assert one.configuration.settings.run.name == one.name == "retrieve.top_k=5"
    assert one.configuration.settings.score.metrics == ("RR@5", "AP@5", "nDCG@3")
    assert one.configuration.settings.retrieve.top_k == 5


@pytest.mark.parametrize(
    ("grid", "metric", "ranking", "beside"),
    [
        ("retrieve.top_k=5,9", None, "RR@5", ("AP@5",)),
        ("retrieve.top_k=5,9", "AP@5", "AP@5", ("RR@5",)),
        ("chunk.max_tokens=50,90", None, "R(budget=2000)", ("TokenPrecision", "RR@5", "AP@5")),
        ("chunk.max_tokens=50,90", "AP@5", "R(budget=2000)", ("TokenPrecision", "AP@5", "RR@5")),
        (
            "chunk.max_tokens=50,90",
            "R(budget=500)",
            "R(budget=500)",
            ("R(budget=2000)", "TokenPrecision", "RR@5", "AP@5"),
        ),
        ("chunk.max_tokens=50", None, "RR@5", ("AP@5",)),
    ],
)
def test_what_ranks_and_what_stands_beside(plan, grid, metric, ranking, beside):
    """Where chunkers differ only a budget metric ranks; one way of cutting is no difference."""
    found = plan(grid, metric=metric)
    assert (found.metric, found.beside) == (ranking, beside)
    assert found.chunkers_differ == grid.endswith("50,90")


def test_a_curve_ranks_nothing(plan):
    """There is no one mean to rank by."""
    with pytest.raises(UsageError, match="RecallCurve is no mean"):
        plan("retrieve.top_k=5,9", metric="RecallCurve")


def test_the_configuration_as_written_is_found_among_the_combinations(plan):
    """With its --set; None where it is none of them, or is not whole without the grid."""
    found = plan("retrieve.top_k=5,9", sets=("chunk.max_tokens=50",))
    assert found.written is None
    found = plan("retrieve.top_k=5,20", sets=("chunk.max_tokens=50",))
    assert found.written == found.combinations[1].key
    sets = ("rerank.use=python",)
    assert plan("rerank.python.target=a:b,c:d", sets=sets).written is None


def test_settings_that_are_not_used_make_no_second_combination(plan):
    """The first of the same stays, the other is named with it."""
    found = plan("chunk.by=none,fixed", "chunk.max_tokens=50,90")
    assert [one.name for one in found.combinations] == [
        "chunk.by=none, chunk.max_tokens=50",
        "chunk.by=fixed, chunk.max_tokens=50",
        "chunk.by=fixed, chunk.max_tokens=90",
    ]
    assert found.left_out == (
        ("chunk.by=none, chunk.max_tokens=90", "chunk.by=none, chunk.max_tokens=50"),
    )


def test_the_name_of_a_sweep_stands_for_settings_grid_and_data(plan, tmp_path):
    """The same for the same; any change is another."""
    name = sweep_name(plan("retrieve.top_k=5,9"))
    assert name == sweep_name(plan("retrieve.top_k=5,9"))
    others = {
        sweep_name(plan("retrieve.top_k=5,8")),
        sweep_name(plan("retrieve.top_k=5,9", sets=("retrieve.bm25.k1=2",))),
        sweep_name(plan("retrieve.top_k=5,9", metric="nDCG@3")),
    }
    (tmp_path / "corpus.jsonl").write_text('{"_id": "a", "text": "y"}\n')
    others.add(sweep_name(plan("retrieve.top_k=5,9")))
    assert len(others | {name}) == 5


def test_runs_of_others_and_damaged_ones_are_no_part_of_the_state(plan, tmp_path):
    """Only a run that names this sweep is; one that the state names must be there."""
    out: Path = tmp_path / "runs"
    found = plan("retrieve.top_k=5,9")
    for name, text in (("a", "{"), ("b", '{"schema": 2, "sweep": {"id": "sweep-other"}}')):
        (out / name).mkdir(parents=True)
        (out / name / META).write_text(text)
    key = found.combinations[0].key
    mine = f'{{"schema": 2, "sweep": {{"id": "{sweep_name(found)}", "combination": "{key}"}}}}'
    (out / "c").mkdir()
    (out / "c" / META).write_text(mine)
    state = read_state(out, found)
    assert state.runs == {key: "c"}
    write_state(out, state.with_run(found.combinations[1].key, "gone"))
    assert read_state(out, found).runs == {key: "c"}
