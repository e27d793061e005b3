"""The words about several evaluation sets are pinned; ``UPDATE_GOLDEN=1`` writes them anew."""

from __future__ import annotations

import os
import runpy
from pathlib import Path

import pytest

from ragnostic.cli.set_table import print_sets
from ragnostic.report import build_page, render_markdown, render_page

HERE = Path(__file__).parent
UNIT = HERE.parent / "unit" / "report"
SAMPLE = runpy.run_path(str(UNIT / "sample_run.py"))["sample_run"]
WITH_SETS = runpy.run_path(str(UNIT / "sets_run.py"))["with_sets"]
WORDS = runpy.run_path(str(HERE / "test_report_text.py"))["words"]


@pytest.fixture(scope="module")
def page():
    """A small run with a frozen and a fresh set that differ beyond chance."""
    return build_page(WITH_SETS(SAMPLE(queries=14), 0.05, ("frozen", "fresh")), 1)


def _pin(name, text):
    path = HERE / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), f"{name} differs; UPDATE_GOLDEN=1 rewrites it"


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_section_and_the_markdown_are_as_pinned(page, language):
    """Only what is about the sets."""
    html = render_page(page, language=language)
    section = html.partition('<section id="sets">')[2].partition("</section>")[0]
    summary = render_markdown(page, language=language)
    title = {"zh": "**评测集**", "en": "**Evaluation sets**"}[language]
    block = title + summary.partition(title)[2].partition("\n- ")[0]
    _pin(f"sets.{language}.txt", f"{WORDS(section)}\n{block}\n")


def test_the_table_of_the_terminal_is_as_pinned(page, capsys):
    """Plain, as in a pipe."""
    print_sets(page.sets)
    _pin("sets.terminal.txt", capsys.readouterr().out)
