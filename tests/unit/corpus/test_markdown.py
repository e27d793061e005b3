"""Sections, titles and unbreakable spans of Markdown."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.markdown import outline, title_of

LINES = st.lists(
    st.sampled_from(
        ["# A", "## B", "```", "~~~", "| r |", "x | y", "text", "", "===", "---", "title: T", "#"]
    ),
    max_size=15,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_sections_cover_the_text_and_whole_spans_are_sorted(lines, end):
    """Sections follow each other without a gap; spans to keep whole do not overlap."""
    text = end.join(lines)
    plan = outline(text)
    edges = [0] + [section.end for section in plan.sections]
    assert [section.start for section in plan.sections] == edges[:-1]
    assert edges[-1] == len(text)
    flat = [edge for span in plan.kept_whole for edge in span]
    assert flat == sorted(flat)


def test_headings_are_told_from_what_looks_like_them():
    """Fenced, unspaced and deep marks are no headings; underlined ones are."""
    text = "```\n# code\n```\n#tag\n####### seven\nTop\n===\nSub\r\n---\n- a\n---\n## **End** ##\n"
    paths = [section.path for section in outline(text).sections]
    assert paths == [(), ("Top",), ("Top", "Sub"), ("Top", "End")]


def test_a_fence_ends_only_at_its_own_mark():
    """A shorter or other mark, or one with words, does not close it."""
    text = "````\n```\n~~~~\n```` x\n````\nafter"
    assert outline(text).kept_whole == ((0, text.index("\nafter")),)
    assert outline("~~~\nopen").kept_whole == ((0, 8),)


def test_front_matter_is_no_heading():
    """Its closing line does not underline the line above."""
    text = "---\nauthor: x\n---\n# Real\nbody"
    sections = outline(text).sections
    assert [(section.path, section.has_body) for section in sections] == [
        ((), True),
        (("Real",), True),
    ]


def test_the_title_is_front_matter_or_first_heading():
    """Else there is none."""
    assert title_of('---\ntitle: "A b"\n---\n# C') == "A b"
    assert title_of("---\nx: y\n---\n## `C` d") == "C d"
    assert title_of("no heading") == ""
