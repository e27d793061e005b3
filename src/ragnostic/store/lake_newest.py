"""The newest revision of each row: a record may come twice, and may be corrected later."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.ports import RecordKind

KEYS: Mapping[RecordKind, tuple[str, ...]] = {
    "records": ("record_id",),
    "judgments": ("record_id", "judge"),
    "scores": ("record_id", "judge", "stage"),
    "rollups": ("ts", "judge", "stage", "slice", "value", "metric"),
    "probes": ("query_id", "ts", "perturbation", "seed", "reranker"),
}
"""What makes rows the same row."""
REVISION = "revision"


def newest(table: pa.Table, kind: RecordKind) -> npt.NDArray[np.bool_]:
    """Which rows stay: of those with one key the one with the highest ``revision`` (0 where there
    is none), of several the last. A row whose first key column is null stands for itself.

    >>> rows = pa.table({"record_id": ["a", "b", "a", None, None], "revision": [1, 0, 0, 0, 0]})
    >>> newest(rows, "records").tolist()
    [True, True, False, True, True]
    """
    stays = np.ones(table.num_rows, np.bool_)
    names = [name for name in KEYS[kind] if name in table.column_names]
    if KEYS[kind][0] not in names or not table.num_rows:
        return stays
    codes = _codes(table, names)
    named = table[names[0]].is_valid().to_numpy(zero_copy_only=False)
    codes[~named] = -1 - np.arange(int((~named).sum()))
    if len(np.unique(codes)) == len(codes):
        return stays
    order = np.lexsort((_revisions(table), codes))
    codes = codes[order]
    stays[order[:-1][codes[:-1] == codes[1:]]] = False
    return stays


def _codes(table: pa.Table, names: Sequence[str]) -> npt.NDArray[np.int64]:
    """Equal numbers for equal keys, from 0."""
    codes = np.zeros(table.num_rows, np.int64)
    for name in names:
        column = table[name].combine_chunks()
        values = pc.dictionary_encode(column, null_encoding="encode").indices
        found = values.to_numpy(zero_copy_only=False).astype(np.int64)
        # Made dense again, so that the product of many columns does not run over.
        _, codes = np.unique(codes * (int(found.max()) + 1) + found, return_inverse=True)
    return codes


def _revisions(table: pa.Table) -> npt.NDArray[np.int64]:
    if REVISION not in table.column_names:
        return np.zeros(table.num_rows, np.int64)
    values = table[REVISION].cast(pa.int64()).fill_null(0)
    return np.asarray(values.to_numpy(), np.int64)
