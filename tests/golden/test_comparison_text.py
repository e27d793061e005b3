"""The words of the comparison page and of the trend page are pinned; ``UPDATE_GOLDEN=1`` writes
them anew.
"""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ragnostic.report import render_comparison, render_trend

HERE = Path(__file__).parent
PINNING = runpy.run_path(str(HERE / "test_report_text.py"))
VIEWS = runpy.run_path(str(HERE.parent / "unit" / "report" / "comparison_sample.py"))
pin, words = PINNING["pin"], PINNING["words"]


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_comparison_page_is_as_pinned(language):
    """Every word in both languages; the first query of the list in full."""
    view = VIEWS["sample_view"]()
    short = VIEWS["sample_view"](changes=view.changes[:1])
    pin(f"comparison.{language}.txt", words(render_comparison(short, language)))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_trend_page_is_as_pinned(language):
    """Every word in both languages."""
    pin(f"trend.{language}.txt", words(render_trend(VIEWS["trend_view"](), language)))
