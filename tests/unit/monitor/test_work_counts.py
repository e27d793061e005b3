"""What a worker has done, in numbers."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.monitor.work_counts import Work, chunk_counts, failure_reasons
from ragnostic.records import JUDGMENT_SCHEMA


def judgments(*rows):
    """Judgments with a status and evidence."""
    listed = [{"status": status, "evidence": evidence} for status, evidence in rows]
    return pa.Table.from_pylist(listed, JUDGMENT_SCHEMA)


def test_reasons_are_those_of_failures():
    """The first evidence of each; other verdicts have evidence too, which is no reason."""
    found = failure_reasons(
        judgments(
            ("failed", ["timed out", "x"]),
            ("failed", ["timed out"]),
            ("failed", None),
            ("judged", ["a span"]),
        )
    )
    assert found == {"timed out": 2, "no reason was given": 1}


def test_many_different_reasons_keep_the_most_frequent():
    """Sums stay small, however many reasons a service invents."""
    total = Work(failures={"often": 5})
    for number in range(100):
        total += Work(failures={f"at {number}": 1})
    assert len(total.failures) == 20
    assert total.failures["often"] == 5


def test_chunks_are_counted_where_there_is_a_snapshot():
    """A row that was scored without one says nothing of what is unknown."""
    scores = pa.table({"results": [5, 4, 3], "unknown": pa.array([2, None, 0], pa.int32())})
    assert chunk_counts(scores) == {"retrieved": 8, "unknown": 2}
