"""The dashboard for Grafana: its layout, its words and its colours."""

from __future__ import annotations

from itertools import pairwise

import pytest

from ragnostic.monitor.alerts.health import Health
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.monitor.exported_dashboard import dashboard
from ragnostic.text import has_han

LANGUAGES = pytest.mark.parametrize("language", ["en", "zh"])


def panels(*health, language="en"):
    """Panels without the headings, by title."""
    found = dashboard(health, language)["panels"]
    return {panel["title"]: panel for panel in found if panel["type"] != "row"}


def steps(panel):
    """Colours from the lowest value up."""
    found = panel["fieldConfig"]["defaults"].get("thresholds", {"steps": []})["steps"]
    return [(step["value"], step["color"]) for step in found]


@LANGUAGES
def test_no_panel_covers_another_one(language):
    """And all are within the 24 columns, in three levels."""
    made = dashboard(load_rules(None).health, language)["panels"]
    assert sum(panel["type"] == "row" for panel in made) == 3
    assert [panel["id"] for panel in made] == list(range(1, len(made) + 1))
    cells = [
        (x, y)
        for panel in made
        for at in [panel["gridPos"]]
        for x in range(at["x"], at["x"] + at["w"])
        for y in range(at["y"], at["y"] + at["h"])
    ]
    assert len(cells) == len(set(cells))
    assert max(x for x, _ in cells) < 24
    tops = [panel["gridPos"]["y"] for panel in made]
    assert all(before <= after for before, after in pairwise(tops))


def test_a_language_is_not_mixed():
    """Titles are of one language, queries the same in both."""
    english, chinese = panels(language="en"), panels(language="zh")
    assert not any(map(has_han, english))
    assert all(map(has_han, chinese))
    queries = [
        [panel["targets"][0]["expr"] for panel in found.values()] for found in (english, chinese)
    ]
    assert queries[0] == queries[1]


def test_colours_are_those_of_the_rules():
    """One that depends on a baseline, which Grafana does not know, is left out."""
    mrr = Health(metric="RR@5", healthy_above=0.75, red_below=0.5)
    rds = Health(metric="RDS(norm=random)", red_rise=0.5)
    found = panels(mrr, rds)
    assert steps(found["First useful result: MRR@5"]) == [
        (None, "red"),
        (0.5, "orange"),
        (0.75, "green"),
    ]
    assert steps(found["Relevance skew: RDS"]) == []
    assert steps(found["Recall: R@10"]) == []


def test_several_stages_can_be_told_apart():
    """Whatever has a stage says it."""
    for title, panel in panels().items():
        query, legend = panel["targets"][0]["expr"], panel["targets"][0]["legendFormat"]
        if 'stage=~"$stage"' in query and "overlap" not in query:
            assert "{{stage}}" in legend, title


def test_pages_are_linked_where_there_are_any():
    """At the top."""
    assert dashboard((), pages="https://rag.example")["links"][0]["url"] == "https://rag.example"
    assert dashboard(())["links"] == []
