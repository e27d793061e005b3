"""Live judges held against a labelled sample: agreement, and their means corrected (METRICS 12)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError
from ragnostic.judges.quality import JudgeQuality, judge_quality
from ragnostic.metrics import Metric
from ragnostic.monitor.score_rows import metrics_of
from ragnostic.monitor.signals import SignalScorer
from ragnostic.monitor.windows import Window
from ragnostic.ports import RecordStore
from ragnostic.records import JUDGMENT_SCHEMA, stages_of

LABELS = "labels"
"""The judge in whose name the labels are scored."""
_NAMED_ONLY = frozenset({"grader"})
"""Judges that speak of the chunks they name, and not of the whole corpus."""
_KEYS = ("record_id", "trace_id", "query_id")
_COMPARED = ("ok", "missing", "unscored", "abstained")


@dataclass(frozen=True, slots=True)
class StageQuality:
    """How good a judge is at one stage."""

    judge: str
    stage: str
    quality: JudgeQuality

    def as_json(self) -> dict[str, Any]:
        """For strict JSON; null where undefined."""
        return {"judge": self.judge, "stage": self.stage, **self.quality.as_json()}


def label_sample(
    store: RecordStore, window: Window, labels: pa.Table, *, metrics: Sequence[Metric] | None = None
) -> list[StageQuality]:
    """Each judge and stage of a window, held against labels; the last stage comes last.

    ``labels``: ``query_id`` and ``judged``, as :func:`~ragnostic.evalset.qrels.load_qrels` reads
    them; a query id is the id of a record, of its trace, or of the query that several records
    asked, taken in this order. The sample must be drawn at random from the window for the
    correction to hold. Where no label is 0, the labels are taken to name all that is relevant:
    what else was retrieved is irrelevant.

    A record for which the judge found nothing relevant counts 0 in its mean here, as it has a
    value under labels; refusals and failures are left out. Raises DataError where no record of the
    window is labelled.
    """
    records = store.read("records", start=window.start, end=window.end)
    truth = _truth(records, labels) if records.num_rows else JUDGMENT_SCHEMA.empty_table()
    if not truth.num_rows:
        raise DataError(
            f"none of the {labels.num_rows} labelled ids is a record of the window",
            hint="the ids of the labels are record ids, trace ids or query ids of live records",
        )
    judgments = store.read("judgments", start=window.start, end=window.end)
    scores = store.read("scores", start=window.start, end=window.end)
    measured = tuple(metrics_of(scores) if metrics is None else metrics)
    labelled = records.filter(pc.is_in(records["record_id"], truth["record_id"].combine_chunks()))
    by_labels = SignalScorer(measured, None, window.zone).score(labelled, truth)
    explicit = 0.0 in pc.list_flatten(truth["grades"]).to_pylist()
    found = []
    for judge, stage, rows in _judged(scores):
        retrieved = None if explicit else _retrieved(labelled, stage)
        quality = judge_quality(
            judgments.filter(pc.equal(judgments["judge"], judge)),
            truth.select(["record_id", "ids", "grades"]),
            whole_corpus=judge not in _NAMED_ONLY,
            retrieved=retrieved,
            scores=_with_zeros(rows, measured),
            labelled_scores=_columns(
                by_labels.filter(pc.equal(by_labels["stage"], stage)), measured
            ),
        )
        found.append(StageQuality(judge, stage, quality))
    return found


def _truth(records: pa.Table, labels: pa.Table) -> pa.Table:
    """The labels as judgments of the records that they are about."""
    judged = dict(zip(labels["query_id"].to_pylist(), labels["judged"].to_pylist(), strict=True))
    named = [records[name].to_pylist() for name in _KEYS if name in records.column_names]
    rows = []
    for record_id, *others in zip(*named, strict=True):
        said = next((judged[key] for key in (record_id, *others) if key in judged), None)
        if said is not None:
            lists = {name: said[name] for name in ("ids", "grades", "weights", "items")}
            rows.append({"record_id": record_id, "judge": LABELS, "status": "judged", **lists})
    return pa.Table.from_pylist(rows, JUDGMENT_SCHEMA)


def _judged(scores: pa.Table) -> Iterator[tuple[str, str, pa.Table]]:
    """Judge, stage and rows, in the order of names and of the pipeline."""
    known = scores.filter(pc.is_valid(scores["judge"]))
    groups = known.group_by(["judge", "stage"]).aggregate([("stage_place", "min")]).to_pylist()
    for group in sorted(groups, key=lambda row: (row["judge"], row["stage_place_min"])):
        same = pc.and_(
            pc.equal(known["judge"], group["judge"]), pc.equal(known["stage"], group["stage"])
        )
        yield group["judge"], group["stage"], known.filter(same)


def _retrieved(records: pa.Table, stage: str) -> pa.Table | None:
    """What a stage returned, as a table of ids."""
    if stage not in stages_of(records.schema):
        return None
    ids = pc.struct_field(records[stage], "ids")
    return pa.table({"record_id": records["record_id"], "ids": ids})


def _with_zeros(rows: pa.Table, metrics: Sequence[Metric]) -> pa.Table:
    """The judge's values, 0 where it looked and found nothing relevant."""
    rows = rows.filter(pc.is_in(rows["status"], pa.array(_COMPARED)))
    columns = {
        str(metric): pc.if_else(
            pc.equal(rows["any_relevant"].fill_null(fill_value=False), pa.scalar(value=True)),
            rows[str(metric)],
            pc.fill_null(rows[str(metric)], 0.0),
        )
        for metric in metrics
    }
    return pa.table({"record_id": rows["record_id"], **columns})


def _columns(rows: pa.Table, metrics: Sequence[Metric]) -> pa.Table:
    return rows.select(["record_id", *map(str, metrics)])
