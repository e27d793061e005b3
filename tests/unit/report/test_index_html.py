"""The page of an index check, and its curve."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest

from ragnostic.cli.index_table import print_index_check
from ragnostic.corpus.index_check import IndexCheck
from ragnostic.corpus.index_findings import KINDS, IndexFinding
from ragnostic.corpus.index_recall import Point
from ragnostic.errors import StoreError, UsageError
from ragnostic.report.index_html import render_index, write_curve
from ragnostic.text import has_han

FACTS = {
    "several_versions": {"both_returned": 4.0, "newest_first": 1.0, "oldest_first": 3.0},
    "stale_vector": {"limit": 0.999, "lowest": 0.5},
    "other_model": {"cosine": 0.3},
    "dimension": {"index": 16.0, "embedder": 384.0},
    "not_unit": {"shortest": 0.5, "longest": 7.0},
    "direction": {"how": "scores", "is": "distance", "taken": "similarity"},
    "low_recall": {"recall": 0.8, "low": 0.7, "high": 0.9, "target": 0.95},
}
CURVE = tuple(
    Point(
        effort,
        usual=effort == 10,
        recall=recall,
        low=recall - 0.02,
        high=min(1.0, recall + 0.02),
        p50_ms=effort / 100,
        p95_ms=effort / 50,
        short=3,
    )
    for effort, recall in ((10, 0.8), (40, 0.96), (160, 1.0))
)
CHECK = IndexCheck(
    rows=1200,
    dimension=16,
    space="ip",
    effort="ef",
    expected=1201,
    compared=500,
    queries=40,
    k=10,
    target=0.95,
    findings=tuple(
        IndexFinding(kind, 3, 1200, ("<b>1</b>",), FACTS.get(kind, {})) for kind in KINDS
    ),
    curve=CURVE,
    listing={},
    untested=("unstable_ids",),
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_page_is_whole_and_safe(language):
    """Same bytes twice, ids escaped, a curve with all efforts, no address, no script."""
    page = render_index(CHECK, language)
    assert page == render_index(CHECK, language)
    assert "&lt;b&gt;1" in page
    assert "<b>1" not in page
    assert page.count('<tr><th scope="row">') == len(KINDS) + len(CURVE)
    assert page.count('class="chart"') == 1
    assert not re.search(r"https?:|<script|%\(", page)
    headings = re.findall(r"<h[12]>(.*?)</h[12]>", page)
    assert len(headings) == 4
    assert all(has_han(heading) == (language == "zh") for heading in headings)


def test_the_page_of_a_clean_index_says_so():
    """Without a table of findings, and the setting is praised where it is the best."""
    good = replace(CURVE[0], recall=0.99)
    page = render_index(replace(CHECK, findings=(), curve=(good,), untested=()), "en")
    assert "Nothing was found." in page
    assert "ef = 10, as it is set, is a good choice." in page
    assert 'id="findings"' not in page
    assert "<figure>" not in page


def test_the_page_says_what_to_set_or_that_nothing_suffices():
    """By the target."""
    assert "The quickest that reaches 0.95 is ef = 40." in render_index(CHECK, "en")
    never = replace(CHECK, curve=CURVE[:1])
    assert "No ef that was tried reaches 0.95." in render_index(never, "en")
    exact = replace(CHECK, effort="", curve=(replace(CURVE[0], effort=None),), expected=None)
    assert "that was tried" not in render_index(exact, "en")


def test_the_wrong_way_round_is_said_in_three_ways():
    """As it was found."""
    for facts, words in (
        ({"how": "farthest"}, "less like the query"),
        ({"how": "negated", "cosine": -0.9}, "point away"),
        ({"how": "scores", "is": "distance", "taken": "similarity"}, "takes it for a similarity"),
    ):
        one = IndexFinding("direction", 1, 2, facts=facts)
        assert words in render_index(replace(CHECK, findings=(one,)), "en")


@pytest.mark.parametrize(("name", "begin"), [("c.svg", b"<svg"), ("c.PNG", b"\x89PNG")], ids=str)
def test_the_curve_is_a_picture_of_its_own(tmp_path, name, begin):
    """With colours that need no page around it."""
    write_curve(tmp_path / "new" / name, CHECK, "en")
    drawn = (tmp_path / "new" / name).read_bytes()
    assert drawn.startswith(begin)
    assert b"var(" not in drawn


def test_without_efforts_there_is_no_curve(tmp_path):
    """Nor a file; and a file that cannot be written is told."""
    with pytest.raises(UsageError, match="no curve"):
        write_curve(tmp_path / "c.svg", replace(CHECK, curve=CURVE[:1]))
    (tmp_path / "file").write_text("")
    with pytest.raises(StoreError, match="cannot write"):
        write_curve(tmp_path / "file" / "c.svg", CHECK)


def test_the_table_says_what_was_found_and_what_to_do(capsys):
    """Every finding, the curve with its marks, and what was not tested."""
    print_index_check(CHECK)
    said = capsys.readouterr().out
    assert "1200 rows of 16 dimensions, compared by ip; held against 1201 chunks" in said
    assert "Lengths from 0.5 to 7." in said
    assert re.search(r"^10 .* as set$", said, re.MULTILINE)
    assert re.search(r"^40 .* quickest$", said, re.MULTILINE)
    assert "the quickest with a recall of 0.95: ef = 40" in said
    assert "not tested: Texts that changed their id" in said


def test_the_table_of_a_clean_index_is_short(capsys):
    """Nothing is advised where nothing is to be set."""
    exact = replace(CURVE[0], effort=None, recall=1.0)
    print_index_check(
        replace(CHECK, findings=(), effort="", curve=(exact,), untested=(), expected=None)
    )
    said = capsys.readouterr().out
    assert "held against –" in said
    assert "nothing found" in said
    assert "quickest" not in said
    print_index_check(replace(CHECK, findings=(), curve=CURVE[:1], untested=()))
    assert "no ef reaches a recall of 0.95" in capsys.readouterr().out
    print_index_check(replace(CHECK, findings=(), curve=(), untested=()))
    assert "recall of" not in capsys.readouterr().out
