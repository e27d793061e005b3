"""Judging tables of records: what a judge says, and what is kept where it could not say it."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import RagnosticError
from ragnostic.ports import RecordJudge
from ragnostic.records import JUDGMENT_SCHEMA

FAILED = "failed"
_PLACED = ("ts", "day", "revision")
"""Columns that judgments take from their records: the lake sorts and replaces by them."""


def judge_records(judge: RecordJudge | None, records: pa.Table) -> pa.Table:
    """The judgments of records, with their ``ts``, ``day`` and ``revision``; none without a judge.

    A judge that raises loses nothing: its records get the status ``failed``, with the error as
    evidence, and are judged again later.
    """
    if judge is None or not records.num_rows:
        fields = [records.schema.field(name) for name in _PLACED]
        return pa.schema([*JUDGMENT_SCHEMA, *fields]).empty_table()
    try:
        judged = judge.judge_records(records)
    except Exception as error:  # noqa: BLE001 - any fault of a judge is one of its own
        judged = _failed(judge, records, error)
    return with_places(judged, records)


def with_places(judged: pa.Table, records: pa.Table) -> pa.Table:
    """Judgments parallel to records, with the columns that the lake needs."""
    for name in _PLACED:
        judged = judged.append_column(records.schema.field(name), records[name])
    return judged


def failed_by_day(judgments: pa.Table) -> dict[str, int]:
    """Failed judgments by the day of their record."""
    failed = judgments.filter(pc.equal(judgments["status"], FAILED))
    counts = pc.value_counts(failed["day"]).to_pylist()
    return {entry["values"]: entry["counts"] for entry in counts}


def _failed(judge: RecordJudge, records: pa.Table, error: Exception) -> pa.Table:
    said = (
        error.message if isinstance(error, RagnosticError) else f"{type(error).__name__}: {error}"
    )
    size = records.num_rows
    return pa.Table.from_pydict(
        {
            "record_id": records["record_id"],
            "judge": _same(judge.name, size),
            "version": _same(judge.version, size),
            "snapshot": pa.nulls(size, pa.string()),
            "status": _same(FAILED, size),
            **{
                name: pa.nulls(size, JUDGMENT_SCHEMA.field(name).type)
                for name in ("ids", "grades", "weights", "items")
            },
            "evidence": pa.array([[said]] * size, JUDGMENT_SCHEMA.field("evidence").type),
        },
        JUDGMENT_SCHEMA,
    )


def _same(text: str, size: int) -> pa.Array:
    return pa.array([text] * size, pa.string())
