"""A run for the report from files alone: qrels and a run, or records; no pipeline needed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.corpus.documents import load_documents
from ragnostic.corpus.fingerprint import fingerprint_file
from ragnostic.errors import DataError, Fault
from ragnostic.evalset.judged_run import JudgedRun
from ragnostic.evalset.qrels import load_qrels
from ragnostic.evalset.record_files import read_records, record_stages
from ragnostic.evalset.runs import Run
from ragnostic.metrics import Metric
from ragnostic.offline.bad_rows import check_share
from ragnostic.offline.provenance import versions
from ragnostic.offline.run_schema import RUN_SCHEMA
from ragnostic.offline.shown_queries import queries_beside, with_queries
from ragnostic.offline.summary import fault_row, score_run
from ragnostic.records import BASE_FIELDS, CHUNK_SCHEMA, rank_score_stages, record_schema, stages_of
from ragnostic.report.run import RunData
from ragnostic.text import count_tokens

DEFAULT_METRICS = ("nDCG@10", "RR@10", "R@10", "Success@1", "Success@5")
_PACKAGES = ("ragnostic", "numpy", "pyarrow")
"""Nothing else takes part where only files are read and scored."""


@dataclass(frozen=True, slots=True)
class Shown:
    """What the page shows beside ids and scores: ``corpus`` texts, ``queries`` (a BEIR
    queries.jsonl or an evaluation set; without it those beside a BEIR corpus).
    """

    corpus: Path | None = None
    queries: Path | None = None


def run_from_qrels(
    qrels: Path, run: Path, shown: Shown, metrics: Sequence[str] = DEFAULT_METRICS
) -> RunData:
    """A one-stage run from qrels and a run file. Raises DataError as the readers do."""
    judged = load_qrels(qrels)
    rankings = Run(run)
    joined = JudgedRun(judged.table, rankings.batches())
    table = pa.Table.from_batches(list(joined.batches()))
    for path, source in ((qrels, judged), (run, rankings)):
        check_share(path, source.faults, good=source.rows)
    records = _as_records(table, [joined.stage])
    faults = [*judged.faults, *rankings.faults, *joined.faults]
    return _run(records, shown, metrics, faults, {"qrels": qrels, "run": run})


def run_from_records(path: Path, shown: Shown, metrics: Sequence[str] = DEFAULT_METRICS) -> RunData:
    """A run of all stages of a records file that holds judgments."""
    faults: list[Fault] = []
    stages = record_stages(path)
    batches = list(read_records(path, stages, faults))
    if not batches:
        raise DataError(f"{path}: no usable record")
    table = pa.Table.from_batches(batches)
    check_share(path, faults, good=table.num_rows)
    if "judged" not in table.column_names:
        raise DataError(f"{path}: the records hold no judgments", hint="add a column judged")
    records = _as_records(table, stages)
    return _run(records, shown, metrics, faults, {"records": path})


def _as_records(table: pa.Table, stages: Sequence[str]) -> pa.Table:
    """The table under the schema of records; columns that we do not know are kept."""
    extra = [f for f in table.schema if f.name not in BASE_FIELDS and f.name not in stages]
    schema = record_schema(stages, extra, rank_score_stages(table.schema))
    rows = table.num_rows
    columns = [
        table[f.name].cast(f.type) if f.name in table.column_names else pa.nulls(rows, f.type)
        for f in schema
    ]
    return pa.table(columns, schema=schema)


def _run(
    records: pa.Table,
    shown: Shown,
    metrics: Sequence[str],
    faults: Iterable[Fault],
    sources: Mapping[str, Path],
) -> RunData:
    found = list(faults)
    name = " × ".join(path.name for path in sources.values())
    queries_path = shown.queries or (queries_beside(shown.corpus) if shown.corpus else None)
    if queries_path is not None:
        records = with_queries(records, queries_path, found)
    scores = score_run(records, [Metric.parse(metric) for metric in metrics])
    chunks, documents = _chunks(records, shown.corpus, found)
    answerable = [found is not False for found in records["answerable"].to_pylist()]
    queries = {"path": name, "queries": records.num_rows, "answerable": sum(answerable)}
    meta: dict[str, Any] = {
        "schema": RUN_SCHEMA,
        "run": name,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "settings": {"score": {"metrics": [str(Metric.parse(metric)) for metric in metrics]}},
        "versions": versions(_PACKAGES),
        "data": {
            "evaluation_set": queries,
            "corpus": _corpus(records, chunks, shown.corpus, documents),
            **{
                kind: {"path": str(path), "sha256": fingerprint_file(path)}
                for kind, path in sources.items()
            },
        },
        "stages": scores.stages,
        "account": scores.account,
        "warnings": [fault_row(fault) for fault in found],
    }
    return RunData(meta, records, chunks, scores.table)


def _corpus(
    records: pa.Table, chunks: pa.Table, path: Path | None, documents: int
) -> dict[str, Any] | None:
    """What the run was retrieved from; None where the texts given do not hold all results."""
    if path is None or not _retrieved(records) <= set(chunks["id"].to_pylist()):
        return None
    return {"path": str(path), "sha256": fingerprint_file(path), "documents": documents}


def _chunks(records: pa.Table, corpus: Path | None, faults: list[Fault]) -> tuple[pa.Table, int]:
    """The texts of what occurs, from a corpus whose ids are those of the results; and how many
    documents that corpus has.
    """
    if corpus is None:
        return CHUNK_SCHEMA.empty_table(), 0
    occurring = _ids(records["judged"].to_pylist()) | _retrieved(records)
    documents = load_documents(corpus, faults=faults)
    rows = [
        {
            "id": document.doc_id,
            "doc_id": document.doc_id,
            "start": 0,
            "end": len(document.text),
            "tokens": count_tokens(document.text),
            "text": f"{document.title} {document.text}" if document.title else document.text,
        }
        for document in documents
        if document.doc_id in occurring
    ]
    return pa.Table.from_pylist(rows, schema=CHUNK_SCHEMA), len(documents)


def _retrieved(records: pa.Table) -> set[str]:
    columns = (records[stage].to_pylist() for stage in stages_of(records.schema))
    return {id_ for column in columns for id_ in _ids(column)}


def _ids(rows: Iterable[Mapping[str, Any] | None]) -> set[str]:
    return {id_ for row in rows if row for id_ in row["ids"] or () if id_}
