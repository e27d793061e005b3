"""What makes two runs incomparable (METRICS 11): another judge, another question, another gold.

A run of a million queries is checked by columns, never row by row.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import UsageError, counted
from ragnostic.offline.run_schema import ASKED
from ragnostic.offline.run_source import RunSource
from ragnostic.offline.settings_diff import settings_diff
from ragnostic.report.run import mapping, text

NAMED = 5
"""Ids that a message names."""

_HINT = "compare runs of one evaluation set and one judge; a changed query needs a new id"

Bools = npt.NDArray[np.bool_]


def check_comparable(
    base: RunSource, base_asked: pa.Table, candidate: RunSource, candidate_asked: pa.Table
) -> None:
    """Raise UsageError, all reasons at once, where the judges differ or a query id that both
    runs have asks for something else.

    ``*_asked``: tables of ``query_id`` and, as far as known, ``query`` and ``asked_sha256``. The
    gold of runs without ``asked_sha256`` is compared where both searched the same corpus.
    """
    reasons = [
        *_other_judge(base, candidate),
        *_other_questions(base, base_asked, candidate, candidate_asked),
    ]
    if reasons:
        head = f"{base.name} and {candidate.name} cannot be compared:"
        raise UsageError("\n    ".join([head, *reasons]), hint=_HINT)


def some_ids(ids: list[str] | tuple[str, ...]) -> str:
    """The first ids, and how many more there are.

    >>> some_ids(["a", "b"]), some_ids(list("abcdefg"))
    ('a, b', 'a, b, c, d, e and 2 more')
    """
    more = f" and {len(ids) - NAMED} more" if len(ids) > NAMED else ""
    return ", ".join(ids[:NAMED]) + more


def _other_judge(base: RunSource, candidate: RunSource) -> Iterator[str]:
    judges = [mapping(source.meta.get("judge")) for source in (base, candidate)]
    if not all(judges):
        return  # announced: it cannot be known
    for change in settings_diff(*judges):
        yield f"another judge: {change}"


def _other_questions(
    base: RunSource, base_asked: pa.Table, candidate: RunSource, candidate_asked: pa.Table
) -> Iterator[str]:
    known = base_asked["query_id"].combine_chunks()
    rows = pc.index_in(candidate_asked["query_id"], value_set=known)
    after = candidate_asked.filter(pc.is_valid(rows))
    before = base_asked.take(rows.drop_null())
    other_text = _differs(before, after, "query")
    other_gold = _differs(before, after, ASKED.name) & ~other_text
    same_corpus = _corpus(base) is not None and _corpus(base) == _corpus(candidate)
    if same_corpus and not (_has(before, ASKED.name) and _has(after, ASKED.name)):
        other_gold |= _other_gold(base, candidate, after["query_id"]) & ~other_text
    for what, differing in (("text", other_text), ("gold", other_gold)):
        ids = after["query_id"].filter(pa.array(differing)).to_pylist()
        if ids:
            number = counted(len(ids), "shared query has", "shared queries have")
            yield f"{number} another {what}: {some_ids(ids)}"


def _has(table: pa.Table, column: str) -> bool:
    return column in table.column_names and table[column].null_count < max(table.num_rows, 1)


def _differs(before: pa.Table, after: pa.Table, column: str) -> Bools:
    if column not in before.column_names or column not in after.column_names:
        return np.zeros(after.num_rows, dtype=np.bool_)
    return _bools(pc.not_equal(before[column], after[column]).fill_null(False))  # noqa: FBT003 - pyarrow's signature


def _bools(column: pa.Array | pa.ChunkedArray) -> Bools:
    return np.asarray(column.to_numpy(), dtype=np.bool_)


def _corpus(source: RunSource) -> str | None:
    data = mapping(source.meta.get("data"))
    return text(mapping(data.get("corpus")).get("sha256"))


def _other_gold(base: RunSource, candidate: RunSource, query_ids: pa.ChunkedArray) -> Bools:
    """Whether a query's judged chunks or their grades differ, their order aside."""
    wanted = query_ids.combine_chunks()
    entries = [_gold_entries(source, wanted) for source in (base, candidate)]
    sizes = [np.bincount(rows["row"], minlength=len(wanted)) for rows in entries]
    differs = np.asarray(sizes[0] != sizes[1], dtype=np.bool_)
    # Both are ordered by query, so where the sizes agree entry stands beside entry.
    before, after = (rows.filter(pa.array(~differs[rows["row"].to_numpy()])) for rows in entries)
    same = pc.and_(
        pc.equal(before["id"], after["id"]), pc.equal(before["grade"], after["grade"])
    ).fill_null(False)  # noqa: FBT003 - pyarrow's signature
    differs[before["row"].to_numpy()[~_bools(same)]] = True
    return differs


def _gold_entries(source: RunSource, wanted: pa.Array) -> pa.Table:
    """(row among ``wanted``, id, grade) of all judgments, sorted."""
    table = source.judged(wanted)
    ids = table["query_id"].combine_chunks()
    judged = table["judged"].take(pc.index_in(wanted, value_set=ids)).combine_chunks()
    lists = pc.struct_field(judged, "ids")
    grades = pc.list_flatten(pc.struct_field(judged, "grades"))
    chunks = pc.list_flatten(lists).fill_null("")
    if len(grades) != len(chunks):
        grades = pa.array(np.ones(len(chunks), dtype=np.float32))
    entries = pa.table(
        {"row": pc.list_parent_indices(lists), "id": chunks, "grade": grades.fill_null(0.0)}
    )
    return entries.sort_by([("row", "ascending"), ("id", "ascending"), ("grade", "ascending")])
