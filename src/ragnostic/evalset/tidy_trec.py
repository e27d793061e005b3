"""Tidy TREC runs, read by Arrow: one blank between six columns, nothing odd anywhere.

A run of millions of lines is almost always tidy. What is not is left to the line reader in
:mod:`ragnostic.evalset.rows`, which says what is wrong and where.
"""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.corpus.files import whole_lines

_COLUMNS = ("query", "iteration", "chunk", "rank", "score", "tag")
_ODD = (b"\r", b"\0", b"  ", b" \n", b"\n ", b"\xef\xbb\xbf", b'"', b"{")

Hits = tuple[pa.Array, pa.Array, npt.NDArray[np.float64], npt.NDArray[np.float64]]
"""Query ids, chunk ids, scores, ranks (NaN where the column is no number)."""


def tidy_hits(path: Path) -> list[Hits] | None:
    """All hits of a tidy run, or None where any line asks for a closer look.

    Gives exactly what the line reader gives; a test compares the two on random files.
    """
    found: list[Hits] = []
    for block in whole_lines(path):
        hits = _hits(block)
        if hits is None:
            return None
        found.append(hits)
    return found or None


def _hits(block: bytes) -> Hits | None:
    delimiter = b"\t" if b"\t" in block else b" "
    mixed = delimiter == b"\t" and b" " in block
    if mixed or block[:1] in b" \t" or b"\t\t" in block or any(odd in block for odd in _ODD):
        return None
    table = _table(block, delimiter.decode())
    if table is None or table.num_rows != block.count(b"\n") + (not block.endswith(b"\n")):
        return None
    queries, chunks = table["query"], table["chunk"]
    scores = np.asarray(table["score"].to_numpy())
    empty = pc.any(pc.or_(pc.equal(queries, ""), pc.equal(chunks, ""))).as_py()
    if empty or np.isnan(scores).any():
        return None
    try:
        ranks = np.asarray(table["rank"].cast(pa.float64()).to_numpy())
    except pa.ArrowInvalid:
        return None
    return queries.combine_chunks(), chunks.combine_chunks(), scores, ranks


def _table(block: bytes, delimiter: str) -> pa.Table | None:
    from pyarrow import csv  # noqa: PLC0415  loaded only where a text run is read

    try:
        return csv.read_csv(
            io.BytesIO(block),
            read_options=csv.ReadOptions(
                column_names=list(_COLUMNS), block_size=len(block) + 1, use_threads=False
            ),
            parse_options=csv.ParseOptions(
                delimiter=delimiter, quote_char=False, ignore_empty_lines=False
            ),
            convert_options=csv.ConvertOptions(
                column_types={
                    name: pa.float64() if name == "score" else pa.string() for name in _COLUMNS
                },
                null_values=[],
                include_columns=["query", "chunk", "rank", "score"],
            ),
        )
    except pa.ArrowInvalid:
        return None
