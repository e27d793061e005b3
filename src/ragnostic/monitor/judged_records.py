"""Records met with their judgments: one row for each record and judge."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.records import JUDGED_TYPE
from ragnostic.scoring.lookup import IdIndex
from ragnostic.scoring.strings import Indices

JUDGED, ABSTAINED = "judged", "abstained"
JUDGE_FAILED = "judge_failed"
"""A judge that failed is told from a retrieval that failed."""


def judged_pairs(record_ids: pa.Array, judgments: pa.Table) -> tuple[Indices, Indices]:
    """Which record meets which judgment: two parallel arrays of row numbers, by record.

    A record without a judgment stands there once, with -1; one that several judges judged, once
    for each. Of two judgments of one judge the later row counts; a judgment of an unknown record
    is left out.

    >>> ids = pa.array(["a", "b"])
    >>> rows = {"record_id": ["b", "b"], "judge": ["gold", "span"]}
    >>> [found.tolist() for found in judged_pairs(ids, pa.table(rows))]
    [[0, 1, 1], [-1, 0, 1]]
    """
    known = _flat(judgments["record_id"])
    if known.equals(record_ids):  # one judge, in the order of the records
        every = np.arange(len(record_ids))
        return every, every
    places = IdIndex.of(record_ids).find(known)
    judges = judgments["judge"].combine_chunks().dictionary_encode()
    codes = pc.fill_null(judges.indices.cast(pa.int64()), len(judges.dictionary))
    keys = places * (len(judges.dictionary) + 1) + codes.to_numpy(zero_copy_only=False)
    rows = np.flatnonzero(places >= 0)[::-1]
    rows = rows[np.unique(keys[rows], return_index=True)[1]]
    alone = np.setdiff1d(np.arange(len(record_ids)), places[rows])
    records = np.concatenate([places[rows], alone])
    order = np.argsort(records, kind="stable")
    return records[order], np.concatenate([rows, np.full(len(alone), -1)])[order]


def judged_columns(judgments: pa.Table, rows: Indices) -> dict[str, pa.Array]:
    """The columns that judgments add to records: ``judged`` (null where nothing was judged),
    ``judge``, ``judge_version``, and ``judgment``: the judge's status, ``judge_failed`` for its
    own failure, null for no judgment.

    ``rows``: the judgment of each record, -1 for none.
    """
    if len(rows) == judgments.num_rows and bool((rows == np.arange(len(rows))).all()):
        taken = judgments
    else:
        taken = judgments.take(pa.array(rows, mask=rows < 0))
    status = _flat(taken["status"])
    said = pc.fill_null(pc.equal(status, JUDGED), fill_value=False)
    members = [_member(taken, field) for field in JUDGED_TYPE]
    if not pc.all(said).as_py():  # nothing may lie hidden below a null
        members = [pc.if_else(said, member, pa.scalar(None, member.type)) for member in members]
    judged = pa.StructArray.from_arrays(members, fields=list(JUDGED_TYPE), mask=pc.invert(said))
    return {
        "judged": judged,
        "judge": _flat(taken["judge"]),
        "judge_version": _flat(taken["version"]),
        "judgment": pc.if_else(pc.equal(status, "failed"), JUDGE_FAILED, status),
    }


def status_of(scored: pa.Array, judgment: pa.Array) -> pa.Array:
    """The status of a row: as it was scored, or why the judge said nothing.

    >>> status_of(pa.array(["ok", "unjudged", "unjudged"]), pa.array(["judged", "refused", None]))
    ... # doctest: +ELLIPSIS
    <pyarrow.lib.StringArray object at ...>
    [
      "ok",
      "refused",
      "unjudged"
    ]
    """
    silent = pc.and_(pc.equal(scored, "unjudged"), pc.is_valid(judgment))
    return pc.if_else(silent, judgment, scored)


def _member(table: pa.Table, field: pa.Field) -> pa.Array:
    if field.name not in table.column_names:
        return pa.nulls(table.num_rows, field.type)
    return _flat(table[field.name]).cast(field.type)


def _flat(column: pa.ChunkedArray) -> pa.Array:
    return column.combine_chunks()
