"""The short summary for CI pages."""

from __future__ import annotations

from ragnostic.report import build_page, render_markdown


def test_a_run_of_nothing_is_a_summary(make_run):
    """Nothing to say is said."""
    assert render_markdown(build_page(make_run())) == (
        "## Retrieval check-up\n\nNo query could be scored.\n"
    )


def test_data_cannot_break_out_of_a_cell_or_a_line(make_run):
    """Pipes, tags, mentions and line ends of a query stay text."""
    query = {"id": "q|1", "query": "a\n# b <img> @all", "gold": {"a": 1}, "retrieve": []}
    run = make_run([query], scores=[("q|1", "retrieve", "P|@5", 0.0)], meta={"run": "[x](y)"})
    text = render_markdown(build_page(run))
    assert "1. q\\|1 a \\# b \\<img\\> \\@all" in text
    assert "\\[x\\](y)" in text
    assert "P\\|\\@5" in text


def test_one_stage_has_no_column_for_a_gain(make_run):
    """The table has as many cells as its head."""
    run = make_run([{"id": "q"}], scores=[("q", "retrieve", "P@5", 0.5)])
    rows = [line for line in render_markdown(build_page(run)).splitlines() if line[:1] == "|"]
    assert rows[0] == "| Metric | Retrieval | n | 95% CI |"
    assert len({line.count("|") for line in rows}) == 1
