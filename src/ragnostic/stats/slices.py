"""By what queries can be sliced: each record's category, language, length, traffic, labels."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.metrics.recall import in_tail
from ragnostic.text import words

LENGTHS = ("≤3", "4–11", "≥12")
"""Buckets of the query length in tokens (METRICS 10)."""
_STORED = ("category", "language", "source", "set")


def slice_columns(records: pa.Table) -> dict[str, pa.Array]:
    """The value of each record in every column that queries can be sliced by.

    String arrays as long as ``records``, null where unknown: ``category``, ``language``,
    ``source`` and ``set`` where any record has one, ``length`` (:data:`LENGTHS`), ``traffic``
    (``head`` or ``tail`` by METRICS 3, where frequencies are known), and ``labels.<key>`` for each
    key of the records' labels.

    >>> found = slice_columns(pa.table({"query": ["reset my vpn password"], "language": ["en"]}))
    >>> {name: column.to_pylist() for name, column in found.items()}
    {'language': ['en'], 'length': ['4–11']}
    """
    found = {name: _strings(records[name]) for name in _STORED if name in records.column_names}
    if "query" in records.column_names:
        found["length"] = _buckets(records["query"])
    if "frequency" in records.column_names:
        found["traffic"] = traffic(records["frequency"])
    if "labels" in records.column_names:
        found |= _labels(records["labels"])
    return {name: column for name, column in found.items() if column.null_count < len(column)}


def query_lengths(queries: pa.ChunkedArray) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """Tokens of each query, Chinese segmented; (n,), NaN where there is no text.

    >>> query_lengths(pa.chunked_array([["reset my vpn", None]])).tolist()
    [3.0, nan]
    """
    distinct = {text: len(words(text)) for text in pc.unique(queries).to_pylist() if text}
    counts = [
        float("nan") if text is None else distinct.get(text, 0) for text in queries.to_pylist()
    ]
    return np.array(counts, dtype=np.float64)


def bucket(tokens: float) -> str:
    """The bucket of a query of so many tokens.

    >>> bucket(3), bucket(4), bucket(12)
    ('≤3', '4–11', '≥12')
    """
    return LENGTHS[0] if tokens <= 3 else LENGTHS[1] if tokens < 12 else LENGTHS[2]


def traffic(frequency: pa.ChunkedArray) -> pa.Array:
    """``head`` or ``tail`` of each query by how often it is asked, null where unknown (METRICS 3).

    >>> traffic(pa.chunked_array([[80, 10, None, 10]])).to_pylist()
    ['head', 'tail', None, 'tail']
    """
    counts = frequency.cast(pa.float64()).fill_null(float("nan")).to_numpy()
    known = ~np.isnan(counts)
    names = np.full(len(counts), None, dtype=object)
    if counts[known].sum() > 0:
        names[known] = np.where(in_tail(counts[known]), "tail", "head")
    return pa.array(names, pa.string())


def _buckets(queries: pa.ChunkedArray) -> pa.Array:
    lengths = query_lengths(queries)
    return pa.array([None if np.isnan(n) else bucket(n) for n in lengths], pa.string())


def _strings(column: pa.ChunkedArray) -> pa.Array:
    found = column.cast(pa.string())
    return found.combine_chunks() if isinstance(found, pa.ChunkedArray) else found


def _labels(column: pa.ChunkedArray) -> dict[str, pa.Array]:
    if pa.types.is_null(column.type):
        return {}
    rows = [dict(row or ()) for row in column.to_pylist()]
    keys = sorted({key for row in rows for key in row})
    return {f"labels.{key}": pa.array([row.get(key) for row in rows], pa.string()) for key in keys}
