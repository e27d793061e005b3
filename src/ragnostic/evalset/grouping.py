"""Long tables (a row a judgment or a hit) to the record layout (a row a query). Pure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import Fault, counted
from ragnostic.records import JUDGED_TYPE, STAGE_TYPE
from ragnostic.scoring.judgments import has_repeats
from ragnostic.scoring.strings import Strings

Indices = npt.NDArray[np.int64]
ScoreOrder = Literal["similarity", "distance"]
ScorePrecision = Literal["float64", "float32"]


@dataclass(frozen=True, slots=True)
class Queries:
    """The query of each row of a long table: ``ids`` the distinct ones by first appearance,
    ``codes`` (m,) the row's index in them.
    """

    ids: pa.Array
    codes: Indices

    @classmethod
    def of(cls, query_ids: pa.Array) -> Self:
        """Codes of a query id column.

        >>> found = Queries.of(pa.array(["b", "a", "b"]))
        >>> found.ids.to_pylist(), found.codes.tolist()
        (['b', 'a'], [0, 1, 0])
        """
        # Rows of a query mostly stand together, so few runs need to be told apart.
        runs = pc.run_end_encode(query_ids, run_end_type=pa.int64())
        encoded = pc.dictionary_encode(runs.values)
        lengths = np.diff(runs.run_ends.to_numpy(), prepend=0)
        codes = np.repeat(encoded.indices.to_numpy().astype(np.int64), lengths)
        return cls(encoded.dictionary, codes)

    def group(self, order: Indices | None = None) -> Grouped:
        """Rows by query, queries by first appearance; ``order`` (m,) sorts rows within them.

        >>> found = Queries.of(pa.array(["b", "a", "b"])).group()
        >>> found.rows.tolist(), found.offsets.tolist()
        ([0, 2, 1], [0, 2, 3])
        """
        rows = np.arange(len(self.codes)) if order is None else order
        if (np.diff(self.codes[rows]) < 0).any():
            rows = rows[np.argsort(self.codes[rows], kind="stable")]
        counts = np.bincount(self.codes[rows], minlength=len(self.ids))
        return Grouped(self.ids, rows, np.concatenate([[0], np.cumsum(counts)]))


@dataclass(frozen=True, slots=True)
class Grouped:
    """Rows in query order: ``rows`` (m,) index the long table, ``offsets`` (n + 1,) the queries."""

    query_ids: pa.Array
    rows: Indices
    offsets: Indices

    def lists(self, values: pa.Array) -> pa.ListArray:
        """A long column as one list a query."""
        in_order = len(self.rows) == len(values) and bool((np.diff(self.rows) == 1).all())
        picked = values if in_order else values.take(self.rows)
        return pa.ListArray.from_arrays(pa.array(self.offsets, pa.int32()), picked)


def rank_order(
    codes: Indices, chunk_ids: pa.Array, scores: npt.NDArray[np.float64]
) -> tuple[Indices, int]:
    """The one place where a ranking is made from scores (METRICS 1.4).

    Rows by ``codes`` ascending, score descending, ties by chunk id descending by code point.
    Returns the order of the rows, and the number of rows that tie with the row before them.

    >>> order, ties = rank_order(np.array([0, 0]), pa.array(["fr-02", "fr-11"]), np.ones(2))
    >>> order.tolist(), ties
    ([1, 0], 1)
    """
    order = np.arange(len(codes))
    step = np.diff(codes)
    # Compared, not subtracted: infinite scores have no difference.
    if ((step < 0) | ((step == 0) & (scores[1:] > scores[:-1]))).any():
        order = np.lexsort((-scores, codes))
    ordered = scores[order]
    same = (np.diff(codes[order]) == 0) & (ordered[1:] == ordered[:-1])
    ties = int(same.sum())
    if ties:
        tied = np.zeros(len(order), dtype=np.bool_)
        tied[:-1] |= same
        tied[1:] |= same
        places = np.flatnonzero(tied)
        rows = order[places]
        # UTF-8 sorts by code point, so Arrow's byte order is the order wanted.
        by_id = pc.sort_indices(chunk_ids.take(rows)).to_numpy()
        id_rank = np.empty(len(rows), dtype=np.int64)
        id_rank[by_id] = np.arange(len(rows))
        order[places] = rows[np.lexsort((-id_rank, -scores[rows], codes[rows]))]
    return order, ties


def rank_batch(
    query_ids: pa.Array,
    chunk_ids: pa.Array,
    scores: npt.NDArray[np.float64],
    *,
    stage: str = "retrieve",
    score_order: ScoreOrder = "similarity",
    score_precision: ScorePrecision = "float64",
) -> tuple[pa.RecordBatch, int]:
    """Hits with scores to one ranking a query: ``query_id`` and the stage's struct; and the ties.

    ``score_precision="float32"`` rounds first, as trec_eval does; ``score_order="distance"``: lower
    is better.

    >>> batch, ties = rank_batch(pa.array(["q", "q"]), pa.array(["a", "b"]), np.array([1.0, 2.0]))
    >>> batch["retrieve"][0]["ids"].as_py(), ties
    (['b', 'a'], 0)
    """
    compared = scores
    if score_precision == "float32":
        with np.errstate(over="ignore"):  # beyond float32 is infinite there, too
            compared = scores.astype(np.float32).astype(np.float64)
    compared = -compared if score_order == "distance" else compared
    queries = Queries.of(query_ids)
    order, ties = rank_order(queries.codes, chunk_ids, compared)
    return ranking_batch(queries.group(order), chunk_ids, pa.array(scores), stage), ties


def rank_faults(
    query_ids: pa.Array,
    scores: npt.NDArray[np.float64],
    ranks: npt.NDArray[np.float64],
    score_order: ScoreOrder,
) -> list[Fault]:
    """Queries whose rank column and scores say different things (the scores are believed).

    ``ranks`` (m,), NaN where unknown; tied scores agree with any rank.
    """
    queries = Queries.of(query_ids)
    order = np.lexsort((ranks, queries.codes))
    better = scores[order] if score_order == "similarity" else -scores[order]
    codes, places = queries.codes[order], ranks[order]
    wrong = (np.diff(codes) == 0) & (better[1:] > better[:-1]) & (places[1:] > places[:-1])
    names = queries.ids.take(np.unique(codes[1:][wrong])).to_pylist()
    if not names:
        return []
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    text = (
        f"the rank column disagrees with the scores (ranked by score) in "
        f"{counted(len(names), 'query', 'queries')}: "
        f"{', '.join(names[:_NAMED])}{more}"
    )
    return [Fault("rank_disagrees_with_score", text, ids=tuple(names), count=len(names))]


def ranking_batch(
    grouped: Grouped, chunk_ids: pa.Array, scores: pa.Array | None, stage: str
) -> pa.RecordBatch:
    """Grouped hits as ``query_id`` and a stage column."""
    size = len(grouped.query_ids)
    members = {"ids": grouped.lists(chunk_ids)}
    if scores is not None:
        members["scores"] = grouped.lists(scores)
    columns = [members.get(f.name, pa.nulls(size, f.type)) for f in STAGE_TYPE]
    struct = pa.StructArray.from_arrays(columns, fields=list(STAGE_TYPE))
    return pa.RecordBatch.from_pydict({"query_id": grouped.query_ids, stage: struct})


def judged_table(
    query_ids: pa.Array, chunk_ids: pa.Array, grades: npt.NDArray[np.float64]
) -> tuple[pa.Table, list[Fault]]:
    """Judgments to one row a query: ``query_id`` and ``judged`` (METRICS 1.3, 1.5, 1.6).

    A pair given twice counts once with its highest grade; a null or empty id is no judgment. Both
    are reported. A query that loses all its rows stays, with nothing judged.

    >>> table, faults = judged_table(
    ...     pa.array(["q", "q"]), pa.array(["a", "a"]), np.array([1.0, 2.0])
    ... )
    >>> table["judged"][0]["grades"].as_py(), faults[0].kind
    ([2.0], 'duplicate_gold')
    """
    faults = _grade_faults(grades)
    empty = np.array(pc.fill_null(pc.equal(chunk_ids, ""), pa.scalar(value=True)))
    kept = ~empty
    if empty.any():
        faults.append(
            _fault("null_gold_id", "null or empty gold id (left out)", query_ids, None, empty)
        )
    queries = Queries.of(query_ids)
    repeated, highest = _repeated(queries.codes, chunk_ids, grades)
    if repeated.any():
        text = "gold id is given twice (counted once, highest grade)"
        faults.append(_fault("duplicate_gold", text, query_ids, chunk_ids, repeated & kept))
        kept &= ~repeated
    grouped = queries.group(np.flatnonzero(kept))
    size = len(queries.ids)
    values = {
        "ids": grouped.lists(chunk_ids),
        "grades": grouped.lists(pa.array(highest.astype(np.float32))),
    }
    columns = [values.get(f.name, pa.nulls(size, f.type)) for f in JUDGED_TYPE]
    judged = pa.StructArray.from_arrays(columns, fields=list(JUDGED_TYPE))
    return pa.table({"query_id": queries.ids, "judged": judged}), faults


def _grade_faults(grades: npt.NDArray[np.float64]) -> list[Fault]:
    negative, large = int((grades < 0).sum()), int((grades > 3).sum())
    found = []
    if negative:
        text = f"{counted(negative, 'negative grade counts', 'negative grades count')} as 0"
        found.append(Fault("negative_grade", text, count=negative))
    if large:
        found.append(Fault("large_grade", f"{counted(large, 'grade')} above 3", count=large))
    return found


def _repeated(
    codes: Indices, chunk_ids: pa.Array, grades: npt.NDArray[np.float64]
) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.float64]]:
    """Rows that repeat an earlier (query, id), and grades with each pair's highest at its first."""
    repeated = np.zeros(len(codes), dtype=np.bool_)
    hashes = Strings.of(chunk_ids).hashes()
    if not has_repeats(hashes ^ (codes.astype(np.uint64) * np.uint64(0xD6E8FEB86659FD93))):
        return repeated, grades
    highest = grades.copy()
    order = np.lexsort((hashes, codes))
    run = (np.diff(codes[order]) == 0) & (hashes[order][1:] == hashes[order][:-1])
    suspects = np.unique(np.concatenate([order[1:][run], order[:-1][run]]))
    first: dict[tuple[int, str], int] = {}
    for row, chunk in zip(suspects.tolist(), chunk_ids.take(suspects).to_pylist(), strict=True):
        if not chunk:
            continue
        start = first.setdefault((int(codes[row]), chunk), row)
        if start != row:
            repeated[row] = True
            highest[start] = max(highest[start], grades[row])
    return repeated, highest


_NAMED = 20


def _fault(
    kind: str, text: str, query_ids: pa.Array, chunk_ids: pa.Array | None, rows: npt.NDArray[Any]
) -> Fault:
    places = np.flatnonzero(rows)
    queries = query_ids.take(places).to_pylist()
    chunks = [""] * len(places) if chunk_ids is None else chunk_ids.take(places).to_pylist()
    pairs = [f"{q} ({c})" if c else q for q, c in zip(queries, chunks, strict=True)]
    more = f" and {len(pairs) - _NAMED} more" if len(pairs) > _NAMED else ""
    message = f"{len(pairs)} × {text}: {', '.join(pairs[:_NAMED])}{more}"
    return Fault(kind, message, ids=tuple(dict.fromkeys(queries)), count=len(pairs))
