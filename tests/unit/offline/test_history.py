"""The runs of a folder by what they asked: best, easy queries, trend."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ragnostic.errors import UsageError
from ragnostic.offline.best_run import best_run
from ragnostic.offline.easy_queries import easy_queries
from ragnostic.offline.history import read_history, tag_run
from ragnostic.offline.run_folder import list_runs
from ragnostic.offline.trend import trend

past_run = runpy.run_path(str(Path(__file__).parent / "past_runs.py"))["past_run"]

OLD = Path(__file__).resolve().parents[2] / "data" / "run-schema-1"
GOOD, POOR = [1] * 20, [1] * 8 + [5] * 12


def test_runs_are_grouped_by_what_they_asked(tmp_path):
    """The set of the newest run is the last; names and fingerprints choose."""
    past_run(tmp_path, 2, POOR)
    past_run(tmp_path, 1, GOOD)
    other = past_run(tmp_path, 3, [1, 2], name="small")
    found = read_history(tmp_path)
    assert [one.name for one in found.sets] == ["handbook", "small"]
    assert [run.name[:8] for run in found.sets[0].runs] == ["20260301", "20260302"]
    assert found.one(None).runs[0].folder == other
    assert found.one("handbook").name == "handbook"
    assert found.one(found.sets[1].sha256[:6]).name == "small"
    assert len(found.matching(None)) == 2
    with pytest.raises(UsageError, match=r"'x'(.|\n)*handbook \([0-9a-f]{8}, 2 runs\), small"):
        found.one("x")
    with pytest.raises(UsageError, match="holds no runs of an evaluation set"):
        read_history(tmp_path / "no").one(None)


def test_a_set_that_grew_is_another_set(tmp_path):
    """Two of one name are told apart by their fingerprints."""
    past_run(tmp_path, 1, [1, 2])
    past_run(tmp_path, 2, [1, 2, 3])
    found = read_history(tmp_path)
    assert len(found.matching("handbook")) == 2
    with pytest.raises(UsageError, match=r"fits 2 evaluation sets(.|\n)*by its fingerprint"):
        found.one("handbook")
    assert len(found.one(None).runs[0].side(("RR@5",)).query_ids) == 3


def test_runs_of_another_judge_and_unreadable_ones_are_named(tmp_path):
    """Never ranked beside the others, never dropped silently."""
    past_run(tmp_path, 1, GOOD, overlap=0.9)
    past_run(tmp_path, 2, POOR)
    broken = past_run(tmp_path, 3, GOOD)
    (broken / "run.json").write_text("{")
    unknown = past_run(tmp_path, 4, GOOD)
    (unknown / "run.json").write_text('{"schema": 2}')
    found = read_history(tmp_path)
    (run_set,) = found.sets
    assert [run.name[:8] for run in run_set.runs] == ["20260302"]
    assert [run.name[:8] for run in run_set.others] == ["20260301"]
    assert [name for name, _ in found.unreadable] == [broken.name]
    assert found.unknown == (unknown.name,)


def test_the_best_run_is_tested_against_the_second(tmp_path):
    """Significant where 12 of 20 queries differ; runs without the metric are counted."""
    past_run(tmp_path, 1, POOR)
    good = past_run(tmp_path, 2, GOOD)
    past_run(tmp_path, 3, POOR, metrics=("R@5",))
    tag_run(tmp_path, good, "baseline")
    found = best_run(read_history(tmp_path).one(None), "mrr@5")
    assert [one.run.name[:8] for one in found.ranked] == ["20260302", "20260301"]
    assert (found.metric, found.without) == ("RR@5", 1)
    assert found.lead is not None
    assert found.lead.finding == "better"
    assert found.lead.difference.value == pytest.approx(12 * 0.8 / 20)
    shown = found.as_json()
    assert shown["best"]["tags"] == ["baseline"]
    assert shown["best"]["mean"] == 1.0
    assert shown["lead"]["finding"] == "better"
    assert (shown["runs"], shown["without_metric"], shown["measured_otherwise"]) == (2, 1, 0)


def test_equal_runs_cannot_be_told_apart_and_the_older_is_first(tmp_path):
    """A difference of one query of twenty is not beyond chance."""
    for day, ranks in enumerate([GOOD, GOOD, [*GOOD[:-1], 2]], 1):
        past_run(tmp_path, day, ranks)
    found = best_run(read_history(tmp_path).one(None), "RR@5")
    assert [one.run.name[6:8] for one in found.ranked] == ["01", "02", "03"]
    assert found.lead is not None
    assert found.lead.finding == "same"
    for folder in list_runs(tmp_path)[:2]:
        (folder / "run.json").unlink()
    alone = best_run(read_history(tmp_path).one(None), "RR@5")
    assert (alone.lead, alone.as_json()["second"]) == (None, None)


def test_a_stage_can_be_named(tmp_path):
    """The final stage counts without it; runs that lack it are counted."""
    past_run(tmp_path, 1, GOOD, rerank=POOR)
    past_run(tmp_path, 2, POOR)
    run_set = read_history(tmp_path).one(None)
    assert best_run(run_set, "RR@5").ranked[0].stage == "rerank"
    by_first = best_run(run_set, "RR@5", "retrieve")
    assert (by_first.ranked[0].run.name[:8], by_first.ranked[0].mean) == ("20260301", 1.0)
    assert by_first.lead is not None
    assert by_first.lead.finding == "better"
    assert best_run(run_set, "RR@5", "rerank").without == 1
    assert best_run(run_set, "R@5").ranked == ()
    assert run_set.metrics("rerank") == ("RR@5", "Success@1")


def test_easy_queries_are_first_in_every_one_of_the_last_runs(tmp_path):
    """Of fewer runs than asked for all count; by a metric its best value does."""
    past_run(tmp_path, 1, [2, 2, 2])
    past_run(tmp_path, 2, [1, 1, 2])
    past_run(tmp_path, 3, [2, 1, 1], rerank=[1, 1, 1])
    run_set = read_history(tmp_path).one(None)
    found = easy_queries(run_set, last=2)
    assert [(one.query_id, one.text) for one in found.queries] == [
        ("q0", "question 0"),
        ("q1", "question 1"),
    ]
    assert found.asked == 3
    assert found.as_json()["easy"][0] == {"query_id": "q0", "query": "question 0"}
    assert easy_queries(run_set).queries == ()
    by_metric = easy_queries(run_set, last=2, metric="mrr@5")
    assert [one.query_id for one in by_metric.queries] == ["q0", "q1"]
    assert by_metric.metric == "RR@5"
    with pytest.raises(UsageError, match=r"run 20260302-\S+ has no R@5 at stage retrieve"):
        easy_queries(run_set, last=2, metric="R@5")


def test_a_trend_shows_values_changes_best_and_turns(tmp_path):
    """A drop of 12 of 20 queries is a turn, a single query is none."""
    past_run(tmp_path, 1, GOOD, settings={"retrieve": {"top_k": 20}})
    past_run(tmp_path, 2, [*GOOD[:-1], 2], settings={"retrieve": {"top_k": 50}})
    past_run(tmp_path, 3, POOR, settings={"retrieve": {"top_k": 50}, "report": {"worst": 3}})
    view = trend(read_history(tmp_path).one(None), page=tmp_path / "pages" / "trend.html")
    assert view.metrics == ("RR@5", "Success@1")
    assert [run.name[:8] for run in view.runs] == ["20260301", "20260302", "20260303"]
    assert [run.settings_changed for run in view.runs] == [
        (),
        (("retrieve.top_k", "20", "50"),),
        (),
    ]
    assert view.runs[2].values["RR@5"].mean == pytest.approx(0.52)
    assert view.runs[0].link == f"../{view.runs[0].name}/report.html"
    assert {name: run[:8] for name, run in view.best.items()} == {
        "RR@5": "20260301",
        "Success@1": "20260301",
    }
    assert [(turn.metric, turn.run[:8]) for turn in view.turns] == [
        ("RR@5", "20260303"),
        ("Success@1", "20260303"),
    ]
    assert view.turns[0].difference < 0
    assert (len(view.easy), view.last) == (8, 3)


def test_a_run_without_a_metric_is_passed_over(tmp_path):
    """The change is that against the last run that has it."""
    past_run(tmp_path, 1, GOOD)
    past_run(tmp_path, 2, GOOD, metrics=("R@5",))
    past_run(tmp_path, 3, POOR)
    run_set = read_history(tmp_path).one(None)
    view = trend(run_set, metrics=["mrr@5"])
    assert [turn.run[:8] for turn in view.turns] == ["20260303"]
    assert view.runs[1].values == {}
    assert view.runs[1].link is None
    with pytest.raises(UsageError, match=r"has a mean of P@5(.|\n)*there are: RR@5, Success@1"):
        trend(run_set, metrics=["P@5"])


def test_old_folders_take_part():
    """A folder of the first schema has its place in the history."""
    run_set = read_history(OLD).one("house rules")
    assert best_run(run_set, "RR@4").ranked[0].mean == 1.0
    assert [one.text for one in easy_queries(run_set).queries] == [
        "How many days of paid leave?",
        "What may a hotel cost?",
    ]
    assert trend(run_set).best["RR@4"] == run_set.runs[0].name
