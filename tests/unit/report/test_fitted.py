"""Markdown that keeps to a number of bytes."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.report.catalogue import catalogue
from ragnostic.report.fitted import Section, fitted

LINES = st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=("Cs",))))
SECTIONS = st.lists(st.builds(Section, LINES, LINES, st.integers(0, 99)))


@given(SECTIONS, st.integers(0, 3000), st.sampled_from(["zh", "en"]))
def test_no_text_is_larger_than_its_limit(sections, limit, language):
    """In bytes, not characters, for any limit."""
    assert len(fitted(sections, limit, catalogue(language)).encode()) <= limit


@given(st.lists(st.text("长a", min_size=1), min_size=1), st.integers(300, 900))
def test_every_row_is_shown_or_counted(rows, limit):
    """Rows are cut from the end."""
    text = fitted([Section(["# t"], rows)], limit, catalogue("en"))
    lines = text.splitlines()
    left = int(lines[-1].split()[2]) if lines[-1].startswith("… and ") else 0
    kept = lines[1 : 1 + len(rows) - left]
    assert kept == rows[: len(rows) - left]


def test_a_section_that_does_not_fit_is_told():
    """And what came before it stays."""
    text = fitted([Section(["# a"]), Section(["x" * 900])], 500, catalogue("en"))
    assert text == "# a\n\nThe rest does not fit into this summary.\n"


def test_a_lone_surrogate_does_no_harm():
    """It cannot be written as UTF-8, but it has a size."""
    assert "\ud800" in fitted([Section(["\ud800"])], 500, catalogue("en"))
