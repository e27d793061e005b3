"""Queries that a comparison leaves out, in lines of text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ragnostic.errors import counted
from ragnostic.offline.compare_checks import some_ids
from ragnostic.stats.comparison import Comparison


def lacking_lines(found: Comparison) -> list[str]:
    """Queries that one side lacks (METRICS 11): how many, and the first ids.

    >>> lacking_lines(Comparison("a", "b", ("retrieve",) * 2, (), 9, only_base=("q1", "q2")))
    ['2 queries only in the base, not compared: q1, q2']
    """
    return id_lines(
        [
            ("only in the base, not compared", found.only_base),
            ("only in the candidate, not compared", found.only_candidate),
        ]
    )


def id_lines(parts: Iterable[tuple[str, Sequence[str]]]) -> list[str]:
    """A line for each kind of query that there is: count, what they are, the first ids."""
    return [
        f"{counted(len(ids), 'query', 'queries')} {what}: {some_ids(tuple(ids))}"
        for what, ids in parts
        if ids
    ]
