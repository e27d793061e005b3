"""Which queries are listed, what became of them, and how they are spread."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.report.comparison_changes import (
    SHOWN,
    by_size,
    choose,
    filters,
    histogram,
    kinds_of,
)
from ragnostic.stats.comparison import QueryChange


def change(before: float, after: float, query_id: str = "q") -> QueryChange:
    """A query that differs."""
    return QueryChange(query_id, before, after)


def test_a_query_is_lost_when_nothing_relevant_is_left():
    """RR@5 of 0 says that the top 5 hold nothing relevant."""
    assert kinds_of(change(0.5, 0.0), "RR@5", turned=False) == ("worse", "lost")
    assert kinds_of(change(0.0, 0.2), "RR@5", turned=False) == ("better", "found")
    assert kinds_of(change(1.0, 0.5), "RR@5", turned=False) == ("worse",)


def test_a_metric_that_cannot_tell_says_neither_lost_nor_found():
    """Bpref of 0 may still have found something."""
    assert kinds_of(change(0.5, 0.0), "bpref", turned=False) == ("worse",)


def test_where_lower_is_better_more_is_worse():
    """A false retrieval is a loss."""
    assert kinds_of(change(0.0, 1.0), "FalseRetrieval@5", turned=True) == ("worse",)


@given(st.integers(0, 3 * SHOWN), st.integers(0, 3 * SHOWN))
def test_half_of_the_list_is_losses_where_both_abound(losses, gains):
    """As many as there is room for, losses first, no more of either than there are."""
    found = [change(1.0, 0.5, f"l{at}") for at in range(losses)]
    found += [change(0.5, 1.0, f"g{at}") for at in range(gains)]
    chosen = choose(by_size(found))
    worse = [entry for entry in chosen if entry.after < entry.before]
    assert len(chosen) == min(SHOWN, losses + gains)
    assert chosen[: len(worse)] == worse
    assert len(worse) >= min(losses, SHOWN // 2)
    assert len(chosen) - len(worse) >= min(gains, SHOWN // 2)


def test_the_largest_changes_come_first_and_ties_by_id():
    """The same list for the same changes, whatever their order."""
    found = [change(1.0, 0.5, "b"), change(1.0, 0.0, "c"), change(1.0, 0.5, "a")]
    assert [entry.query_id for entry in by_size(found)] == ["c", "a", "b"]


def test_filters_count_what_is_there_and_what_is_shown():
    """All five, since RR tells lost and found."""
    found = [change(1.0, 0.0, "a"), change(0.2, 1.0, "b")]
    kinds = {entry.query_id: kinds_of(entry, "RR@5", turned=False) for entry in found}
    counts = [(one.kind, one.total, one.shown) for one in filters(found, found[:1], kinds, "RR@5")]
    assert counts == [
        ("all", 2, 1),
        ("worse", 1, 1),
        ("better", 1, 0),
        ("lost", 1, 1),
        ("found", 0, 0),
    ]


def test_the_histogram_counts_every_changed_query_once():
    """Buckets of one width, 0 between two of them; an end belongs to the bucket nearer to 0."""
    found = [change(1.0, 0.0), change(0.0, 0.2), change(0.0, 0.25), change(0.0, 0.05)]
    drawn = histogram(found, "RR@5", 7, turned=False)
    assert drawn.bars == ((-1.0, -0.8, 1), (0.0, 0.2, 2), (0.2, 0.4, 1))
    assert drawn.equal == 7


def test_without_a_change_there_is_no_histogram():
    """An empty drawing says nothing."""
    assert histogram([], "RR@5", 7, turned=False) is None


@given(st.lists(st.floats(-1, 1).filter(lambda value: abs(value) > 1e-6), min_size=1))
def test_no_query_falls_out_of_the_histogram(values):
    """Each lies within the bucket that counts it."""
    bars = histogram([change(0.0, value) for value in values], "x", 0, turned=False).bars
    assert sum(count for *_, count in bars) == len(values)
    assert len(bars) <= 16
    for low, high, count in bars:
        inside = [value for value in values if low - 1e-9 <= value <= high + 1e-9]
        assert len(inside) >= count
