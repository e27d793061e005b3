"""What ``answers show`` prints, and the words of its section; ``UPDATE_GOLDEN=1`` writes anew."""

from __future__ import annotations

import json
import os
import runpy
from pathlib import Path

import pytest

from ragnostic.cli.answer_table import print_answer_link
from ragnostic.report import render_run
from ragnostic.report.answer_link import answer_link

HERE = Path(__file__).parent
RUN = runpy.run_path(str(HERE.parent / "unit" / "report" / "answered_run.py"))["answered_run"]
WORDS = runpy.run_path(str(HERE / "test_report_text.py"))["words"]


def pin(name: str, text: str) -> None:
    """Compare with the golden file, or write it."""
    path = HERE / name
    if os.environ.get("UPDATE_GOLDEN") == "1":
        path.write_text(text, "utf-8")
    assert text == path.read_text("utf-8"), f"{name} differs; UPDATE_GOLDEN=1 rewrites it"


def test_the_tables_are_as_pinned(capsys):
    """Means, exchange rate, and the telling queries."""
    print_answer_link(answer_link(RUN()))
    pin("answers.txt", capsys.readouterr().out)


def test_the_json_is_as_pinned():
    """Every key that a program may read."""
    found = answer_link(RUN()).as_json()
    pin("answers.json", json.dumps(_rounded(found), ensure_ascii=False, indent=1) + "\n")


def _rounded(value):
    """Numbers to 9 places: the last bits are the machine's."""
    if isinstance(value, float):
        return round(value, 9)
    if isinstance(value, dict):
        return {key: _rounded(inner) for key, inner in value.items()}
    return [_rounded(inner) for inner in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("language", ["zh", "en"])
def test_the_section_of_the_report_is_as_pinned(language):
    """In both languages; hostile texts are escaped."""
    html = render_run(RUN(), language=language)
    assert "<b>Where</b>" not in html
    section = html.partition('<section id="answers">')[2].partition("</section>")[0]
    pin(f"answers.{language}.txt", WORDS(section))
