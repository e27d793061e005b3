"""What is drawn, and for whom."""

from __future__ import annotations

import io

import pytest

from ragnostic.cli.console import (
    in_background,
    phase_lines,
    plain_lines,
    print_json,
    print_table,
    print_warnings,
    progress_on,
)
from ragnostic.errors import RetrievalError


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


def test_without_a_terminal_progress_is_one_line_a_phase():
    """Logs stay short; a phase that begins again says nothing."""
    stream = io.StringIO()
    with progress_on(stream) as progress:
        for done in range(3):
            progress("retrieve", done, 2)
        progress("report", 0, 1)
        progress("retrieve", 0, 2)
    assert stream.getvalue() == "retrieving for 2 queries\nwriting the report\n"


def test_on_a_terminal_progress_shows_done_total_and_rate():
    """One bar a phase."""
    stream = _Terminal()
    with progress_on(stream) as progress:
        for done in range(21):
            progress("retrieve", done, 20)
        progress("embed", 3, 9)
    assert "20/20" in stream.getvalue()
    assert "3/9" in stream.getvalue()
    assert "/s" in stream.getvalue()


def test_a_piped_table_is_aligned_text(capsys):
    """No colours, no boxes, nothing invisible from the data."""
    print_table(["run", "set", "n"], [["a\x1b[31m", "手册", "7"], ["b", "x", "12"]], text_columns=2)
    lines = ["run     set    n", "a␛[31m  手册   7", "b       x     12"]
    assert capsys.readouterr().out.splitlines() == lines


def test_a_table_on_a_terminal_is_drawn(monkeypatch):
    """Square brackets of the data are text, not markup."""
    stream = _Terminal()
    monkeypatch.setattr("sys.stdout", stream)
    print_table(["metric", "[mean]"], [["[red]RR@5", "0.5"]])
    assert "[red]RR@5" in stream.getvalue()
    assert "┃" in stream.getvalue()


def test_warnings_are_said_once_and_not_without_end(capsys):
    """On stderr, so that stdout can be parsed."""
    print_warnings(["a", "a", "b", "c"], most=2)
    captured = capsys.readouterr()
    assert captured.err == "warning: a\nwarning: b\nwarning: … and 1 more, see the report\n"
    assert captured.out == ""


def test_json_is_strict_and_readable(capsys):
    """Chinese as it is, no NaN."""
    print_json({"名": None})
    assert capsys.readouterr().out == '{\n  "名": null\n}\n'
    with pytest.raises(ValueError, match="JSON"):
        print_json({"x": float("nan")})


def test_columns_line_up():
    """The last column has no trailing space."""
    assert plain_lines([["a", "b"], ["ccc", "d"]], 2) == ["a    b", "ccc  d"]


def test_an_error_in_the_background_comes_to_the_front():
    """As the same exception, an interruption too."""

    def work() -> int:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        in_background(work)


def test_a_long_phase_says_every_ten_seconds_how_far_it_is():
    """A log of an hour of embedding is no silence, and no flood."""
    stream, times = io.StringIO(), iter([0.0, 4.0, 11.0, 12.0, 30.0])
    progress = phase_lines(stream, lambda: next(times))
    for done in (0, 100, 300, 320, 999):
        progress("embed passage", done, 999)
    assert stream.getvalue().splitlines() == [
        "embedding 999 passages",
        "embedding passages: 300 of 999",
    ]


def test_a_plugin_does_not_end_the_program():
    """Where its index is built, for example; it would end in silence."""

    def work() -> int:
        raise SystemExit(3)

    with pytest.raises(RetrievalError, match="ended itself: SystemExit: 3"):
        in_background(work)
