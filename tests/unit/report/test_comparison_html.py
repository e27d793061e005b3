"""The comparison page as HTML: escaped, bounded, the same bytes every time."""

from __future__ import annotations

import json
import re
import runpy
from pathlib import Path

import pytest

from ragnostic.report import RunData, render_comparison
from ragnostic.stats.comparison import QueryChange

VIEWS = runpy.run_path(str(Path(__file__).parent / "comparison_sample.py"))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_same_view_gives_the_same_bytes(language):
    """No clock, no hash order."""
    first = render_comparison(VIEWS["sample_view"](), language)
    assert first == render_comparison(VIEWS["sample_view"](), language)


def test_there_is_no_script_and_no_address():
    """The policy forbids both; the page does not try."""
    found = render_comparison(VIEWS["sample_view"](), "en")
    assert "default-src 'none'" in found
    assert "<script" not in found
    assert re.search(r"(?:src|href)=\"(?!#)", found) is None


@pytest.mark.shared
def test_text_is_never_markup(shared, make_run):
    """The case report-html-escape: queries, ids, chunks, settings, slices and names."""
    case = json.loads((shared / "cases" / "report-html-escape.json").read_text("utf-8"))
    evil = case["given"]["answers"]["q1"] + case["given"]["answers"]["q2"]
    run = make_run(
        [{"id": evil, "query": evil, "gold": {evil: 1.0}, "retrieve": [evil, "x"]}],
        texts={evil: evil},
    )
    view = VIEWS["values_view"](
        {evil: 1.0, evil + "2": 1.0},
        {evil: 0.0, evil + "3": 1.0},
        base_run=run,
        candidate_run=run,
        settings=[VIEWS["setting"](evil, evil, {"a": evil})],
        announced=[evil],
        warnings=[evil],
        missing={"base": [evil], "candidate": [evil]},
    )
    found = render_comparison(view, "en")
    for markup in case["expect"]["html_must_not_contain"]:
        assert markup not in found
    assert "&lt;img src=x onerror=alert(1)&gt;" in found


@pytest.mark.shared
def test_fifty_thousand_queries_stay_below_ten_megabytes(shared):
    """The case report-large-table: every query differs, with long texts on both sides."""
    case = json.loads((shared / "cases" / "report-large-table.json").read_text("utf-8"))
    size, limit = case["given"]["rows"], case["expect"]["html_bytes_at_most"]
    run = long_run(size)
    ids = run.records["query_id"].to_pylist()
    view = VIEWS["values_view"](
        dict.fromkeys(ids, 1.0), dict.fromkeys(ids, 0.0), base_run=run, candidate_run=run
    )
    assert len(view.changes) == size
    found = render_comparison(view, "zh")
    assert len(found.encode()) < limit
    assert "显示 200 条，共 50,000 条" in found


def long_run(size: int) -> RunData:
    """One record of the sample many times, under ids of its own, with texts of 5,000 signs."""
    sample = VIEWS["SAMPLE"]()
    records = sample.records.take([0] * size)
    for name, values in (
        ("query_id", [f"query-{number:06}" for number in range(size)]),
        ("query", ["长" * 200] * size),
    ):
        records = records.set_column(records.schema.get_field_index(name), name, [values])
    texts = ["答" * 5000] * sample.chunks.num_rows
    at = sample.chunks.schema.get_field_index("text")
    return RunData({}, records, sample.chunks.set_column(at, "text", [texts]), sample.scores)


def test_each_filter_has_its_rule_and_its_count():
    """Radio buttons and a selector each; no script."""
    found = render_comparison(VIEWS["sample_view"](), "en")
    for kind in ("worse", "better", "lost", "found"):
        assert f'id="show-{kind}"' in found
        assert f"#changes:has(#show-{kind}:checked) .changes > li:not(.is-{kind})" in found


def test_a_page_of_values_alone_reads():
    """No drawing of ranks, no rankings to open."""
    found = render_comparison(VIEWS["values_view"]({"q1": 1.0}, {"q1": 0.5}), "en")
    assert 'class="closed"' in found
    assert 'id="slopes-title"' not in found
    assert "No setting is known to differ." in found


def test_nothing_differs():
    """A run compared with itself."""
    found = render_comparison(VIEWS["values_view"]({"q1": 0.5}, {"q1": 0.5}), "en")
    assert "No difference: MRR@5 is 0.500 on both sides" in found
    assert "No query to show." in found


def test_no_metric_at_all():
    """An empty comparison still says so."""
    view = VIEWS["values_view"]({"q1": 1.0}, {"q2": 1.0})
    assert "Nothing to compare" in render_comparison(view, "en")


def test_a_side_without_a_ranking_says_so():
    """Only one run is at hand."""
    found = render_comparison(VIEWS["sample_view"](candidate_run=None), "en")
    assert "no ranking at hand" in found


def test_more_lines_than_are_shown_are_counted():
    """Announcements and warnings beyond fifty."""
    view = VIEWS["values_view"](
        {"q1": 1.0},
        {"q1": 0.5},
        announced=[f"line {number}" for number in range(70)],
        warnings=[f"remark {number}" for number in range(60)],
        missing={"base": [f"q{number}" for number in range(90)]},
    )
    found = render_comparison(view, "en")
    for more in (20, 10, 40):
        assert f"More: {more}; --json lists all." in found


def test_ids_that_look_like_addresses_are_no_trouble():
    """They are text, also beside charts."""
    view = VIEWS["values_view"]({"https://example.org/a": 1.0}, {"https://example.org/a": 0.5})
    assert "https://example.org/a" in render_comparison(view, "en")


def test_deep_ranks_have_a_place(make_run):
    """A first relevant chunk at rank 400 and one that is not there at all."""
    ids = [f"c{number}" for number in range(500)]
    base = make_run(
        [
            {"id": "q1", "gold": {"c399": 1.0}, "retrieve": ids},
            {"id": "q2", "gold": {"c0": 1.0}, "retrieve": ids},
        ]
    )
    candidate = make_run(
        [
            {"id": "q1", "gold": {"c399": 1.0}, "retrieve": ["c399"]},
            {"id": "q2", "gold": {"c0": 1.0}, "retrieve": ["c5"]},
        ]
    )
    view = VIEWS["values_view"](
        {"q1": 0.0, "q2": 1.0}, {"q1": 1.0, "q2": 0.0}, base_run=base, candidate_run=candidate
    )
    found = render_comparison(view, "en")
    assert "rank 400 → 1" in found
    assert "rank 1 → none" in found


def test_changes_of_one_query_make_a_bar():
    """One bucket, one bar."""
    view = VIEWS["values_view"]({"q1": 0.0}, {"q1": 0.001})
    assert view.changes == [QueryChange("q1", 0.0, 0.001)]
    assert "+0.0" in render_comparison(view, "en")
