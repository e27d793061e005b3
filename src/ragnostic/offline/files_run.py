"""Single queries of a run given by qrels and rankings, as a run that pages can show."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.evalset.grouping import ScoreOrder
from ragnostic.evalset.judged_run import JudgedRun
from ragnostic.evalset.python_input import run_from
from ragnostic.evalset.qrels import Qrels
from ragnostic.evalset.runs import Run
from ragnostic.offline.evaluation import Evaluation
from ragnostic.offline.summary import SCORES_SCHEMA
from ragnostic.records import CHUNK_SCHEMA, record_schema
from ragnostic.report.run import RunData


def run_of_files(
    name: str,
    qrels: Qrels,
    given: Any,
    found: Evaluation,
    query_ids: Sequence[str],
    *,
    score_order: ScoreOrder = "similarity",
) -> RunData:
    """The rankings and judgments of these queries; ``given`` is read again for them.

    ``found`` is what evaluating it gave. There are no texts, since none were given.
    """
    wanted = pa.array(query_ids, pa.string())
    stage = found.scored.plan.stage
    judged = qrels.table.filter(pc.is_in(qrels.table["query_id"], value_set=wanted))
    rankings = replace(given) if isinstance(given, Run) else given
    source = run_from(rankings, score_order=score_order)
    joined = JudgedRun(judged, _only(source.batches(), wanted), stage)
    schema = record_schema([stage])
    batches = list(joined.batches())
    table = pa.Table.from_batches(batches) if batches else schema.empty_table()
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    metrics = [str(metric) for metric in found.scored.plan.metrics]
    meta = {"run": name, "settings": {"score": {"metrics": metrics}}}
    return RunData(
        meta,
        pa.table(columns, schema=schema),
        CHUNK_SCHEMA.empty_table(),
        SCORES_SCHEMA.empty_table(),
    )


def _only(batches: Iterator[pa.RecordBatch], wanted: pa.Array) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        part = batch.filter(pc.is_in(batch["query_id"], value_set=wanted))
        if part.num_rows:
            yield part
