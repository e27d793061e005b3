"""The words of a report are pinned; ``UPDATE_GOLDEN=1`` writes them anew."""

from __future__ import annotations

import os
import runpy
from html.parser import HTMLParser
from pathlib import Path

import pytest

from ragnostic.report import build_page, render_markdown, render_page

HERE = Path(__file__).parent
SAMPLE = runpy.run_path(str(HERE.parent / "unit" / "report" / "sample_run.py"))["sample_run"]
BLOCKS = {"p", "li", "tr", "h1", "h2", "h3", "h4", "summary", "title", "desc", "dd", "text"}
SKIPPED = {"style", "text"}


class Words(HTMLParser):
    """The readable text of a page, a line a block; numbers inside charts are left out, since
    their places depend on the fonts of the machine.
    """

    def __init__(self) -> None:
        super().__init__()
        self.lines = [""]
        self.skipping = 0

    def handle_starttag(self, tag, attrs):
        """A cell begins with a gap; styles and chart texts are skipped."""
        self.skipping += tag in SKIPPED
        if tag in {"td", "th", "dt", "dd", "span", "code", "bdi", "b"}:
            self.lines[-1] += " "

    def handle_endtag(self, tag):
        """A block ends its line."""
        self.skipping -= tag in SKIPPED
        if tag in BLOCKS:
            self.lines.append("")

    def handle_data(self, data):
        """Text that is not skipped."""
        if not self.skipping:
            self.lines[-1] += data


def words(html: str) -> str:
    """The lines of a page, white space folded."""
    parser = Words()
    parser.feed(html)
    lines = (" ".join(line.split()) for line in parser.lines)
    return "\n".join(line for line in lines if line) + "\n"


def pin(name: str, text: str) -> None:
    """Compare with the golden file, or write it."""
    path = HERE / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), f"{name} differs; UPDATE_GOLDEN=1 rewrites it"


@pytest.fixture(scope="module")
def page():
    """A small two-stage run, the worst query in full."""
    return build_page(SAMPLE(queries=14), 1)


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_text_of_the_page_is_as_pinned(page, language):
    """Every word of the page in both languages."""
    pin(f"report.{language}.txt", words(render_page(page, language=language)))


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_markdown_summary_is_as_pinned(page, language):
    """What a CI page shows."""
    pin(f"report.{language}.md", render_markdown(page, language=language))
