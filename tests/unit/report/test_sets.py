"""Evaluation sets side by side in every form of the report."""

from __future__ import annotations

import dataclasses
import runpy
from gettext import NullTranslations
from pathlib import Path

import pytest

from ragnostic.report import build_page, render_markdown, render_page
from ragnostic.report.catalogue import catalogue
from ragnostic.report.scorebook import ScoreBook
from ragnostic.report.set_words import set_sentences
from ragnostic.report.sets import SetGap, evaluation_sets

with_sets = runpy.run_path(str(Path(__file__).parent / "sets_run.py"))["with_sets"]


def test_a_run_of_one_set_has_no_section(sample):
    """Neither in the model nor on the page."""
    page = build_page(sample)
    assert page.sets is None
    assert 'id="sets"' not in render_page(page, language="en")
    assert evaluation_sets(sample, ScoreBook(sample)) is None


def test_the_first_set_of_the_settings_is_the_first_column(sample):
    """However run.json sorts its keys."""
    sets = build_page(with_sets(sample, 0.05)).sets
    assert sets is not None
    assert sets.names == ("z<frozen>", "a fresh")
    assert (sets.queries, sets.answerable) == ((40, 40), (38, 38))
    assert [value.mean for value in sets.rows[0].values] == [0.8, 0.6]
    assert sets.rows[0].gaps[0].against == "a fresh"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_a_gap_beyond_chance_is_named_on_page_and_in_markdown(sample, language):
    """In words of the page's language; names are escaped."""
    page = build_page(with_sets(sample, 0.05))
    words = {"en": "a sign of overfitting to", "zh": "过拟合的迹象"}[language]
    html = render_page(page, language=language)
    assert words in html
    assert "z&lt;frozen&gt;" in html
    assert "z<frozen>" not in html
    text = render_markdown(page, language=language)
    assert words in text
    assert "z\\<frozen\\>" in text
    assert "+0.2000" in text


def test_a_gap_that_chance_explains_is_said_too(sample):
    """The table stands, the sentence differs."""
    page = build_page(with_sets(sample, -0.05))
    assert "No metric has a gap that chance does not explain." in render_markdown(page)
    assert "overfitting" not in render_page(page, language="en")


def test_a_metric_whose_small_values_are_good_is_turned():
    """Fewer false retrievals on the frozen set are the sign."""
    good = SetGap("FalseRetrieval@5", "frozen", "fresh", -0.2, -0.3, -0.1)
    assert good.overfitted
    assert not dataclasses.replace(good, low=0.1, high=0.3).overfitted
    assert not dataclasses.replace(good, low=None, high=None).overfitted


def test_a_single_named_set_has_no_gap_to_speak_of(sample):
    """A table and no sentence; a metric without any value has no row."""
    found = with_sets(sample, 0.05)
    only = {"z<frozen>": found.meta["sets"]["z<frozen>"]}
    meta = {**found.meta, "sets": only, "set_gaps": []}
    sets = evaluation_sets(dataclasses.replace(found, meta=meta), ScoreBook(found))
    assert sets is not None
    assert sets.names == ("z<frozen>",)
    assert set_sentences(sets, NullTranslations()) == []
    assert set_sentences(sets, catalogue("zh")) == []
