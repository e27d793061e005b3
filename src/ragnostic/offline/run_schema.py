"""Versions of the run folder: what each added, and older ones read as the present one.

1: the first. 2: ``asked_sha256`` in records.parquet, ``sets`` and ``set_gaps`` in run.json.
Nothing on the disk is changed; a folder is brought up to date in memory, step by step.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow as pa

RUN_SCHEMA = 2
ASKED = pa.field("asked_sha256", pa.string())
"""16 hex digits of the question and its gold as the evaluation set gives them; null where the
run is older than the column."""


def upgraded_meta(meta: Mapping[str, Any]) -> dict[str, Any]:
    """run.json of any version up to ours, in the present shape; the input is not changed.

    >>> upgraded_meta({"schema": 1, "run": "r"})
    {'schema': 2, 'run': 'r', 'sets': None, 'set_gaps': None}
    """
    if meta["schema"] >= RUN_SCHEMA:
        return dict(meta)
    return {**meta, "schema": RUN_SCHEMA, "sets": None, "set_gaps": None}


def upgraded_records(records: pa.Table, schema: int) -> pa.Table:
    """Records of a folder of version ``schema``, with the columns of the present one.

    >>> upgraded_records(pa.table({"query_id": ["q"]}), 1).to_pylist()
    [{'query_id': 'q', 'asked_sha256': None}]
    """
    if schema >= RUN_SCHEMA:
        return records
    return records.append_column(ASKED, pa.nulls(records.num_rows, ASKED.type))
