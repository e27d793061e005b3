"""One evaluation from configuration to run: load, run the stages, judge, score, summarise."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.config import Configuration
from ragnostic.errors import DataError, Fault
from ragnostic.judges.gold import GoldJudge
from ragnostic.metrics import Metric
from ragnostic.offline.budget_faults import budget_faults
from ragnostic.offline.chunks_table import chunks_table
from ragnostic.offline.evaluation_sets import sets_meta
from ragnostic.offline.gold_tokens import chunk_tokens, gold_tokens
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import GOLD_HINT, Inputs, check_gold, load_inputs
from ragnostic.offline.memo import Key, Memo, corpus_key
from ragnostic.offline.pipeline import Durations, PipelineResult, run_pipeline, timed
from ragnostic.offline.provenance import git_state, versions
from ragnostic.offline.records_table import Judgments, records_table
from ragnostic.offline.run_folder import run_name
from ragnostic.offline.run_schema import RUN_SCHEMA
from ragnostic.offline.summary import fault_row, score_run
from ragnostic.ports import Progress, no_progress
from ragnostic.report.run import RunData


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class Job:
    """What one evaluation is told beside its configuration.

    ``memo`` holds the parts that it shares with other evaluations; ``sample`` picks the queries
    that are asked, all where it is None.
    """

    progress: Progress = no_progress
    fresh: bool = False
    memo: Memo = field(default_factory=Memo)
    sample: Callable[[Inputs], Inputs] | None = None
    now: Callable[[], datetime] = field(default=_now)


def evaluate(configuration: Configuration, job: Job | None = None) -> RunData:
    """Run an evaluation; ``meta["run"]`` is the name that its folder should have.

    Nothing is written. Raises DataError for data that cannot be scored, RetrievalError when too
    many queries fail.
    """
    job = job or Job()
    created = job.now()
    durations: Durations = {}
    metrics = unique_metrics(configuration.settings.score.metrics)
    with timed(durations, "load", job.memo):
        inputs = load_inputs(configuration, job.progress, job.memo)
    inputs = inputs if job.sample is None else job.sample(inputs)
    check_gold(inputs)
    workshop = Workshop(configuration, inputs.chunks, job.progress, fresh=job.fresh, memo=job.memo)
    result = run_pipeline(inputs, workshop, durations)
    with timed(durations, "judge", job.memo):
        judge, judgments = _judged(configuration, inputs, result, job.memo)
    records = records_table(inputs.queries, result.stages, judgments, judge.name, inputs.sets)
    chunks = chunks_table(
        result.stages,
        judgments,
        {chunk.id: chunk for chunk in inputs.chunks},
        store_text=configuration.settings.run.store_text,
    )
    with timed(durations, "score"):
        scores = score_run(
            records,
            metrics,
            missing=configuration.settings.score.missing,
            tokens=chunk_tokens(chunks, gold_tokens(inputs, judgments, metrics)),
            dangling=judge.dangling,
        )
    _check_scorable(scores.table, judge.faults)
    over = budget_faults(metrics, result.stages, chunks, inputs.queries)
    faults = (*inputs.faults, *result.faults, *judge.faults, *over)
    settings = _settings(configuration, metrics)
    meta = {
        "schema": RUN_SCHEMA,
        "name": configuration.settings.run.name,
        "settings": settings,
        "data": job.memo.once(
            "fingerprints", _inputs_key(configuration, inputs), inputs.fingerprints
        ),
        "judge": {
            "name": judge.name,
            "parameters": {"overlap": configuration.settings.score.overlap},
        },
        "stages": scores.stages,
        "account": scores.account,
        **sets_meta(inputs.queries, inputs.sets, scores.table, list(scores.stages), metrics),
        "rerank": result.rerank,
        "warnings": [fault_row(fault) for fault in faults],
        "durations": durations,
        **_origin(configuration, created, settings),
    }
    return RunData(meta, records, chunks, scores.table)


def unique_metrics(names: Iterable[str]) -> list[Metric]:
    """The metrics by name, each once, in order.

    >>> [str(metric) for metric in unique_metrics(["mrr@5", "RR@5", "R@5"])]
    ['RR@5', 'R@5']
    """
    return list(dict.fromkeys(Metric.parse(name) for name in names))


def _judged(
    configuration: Configuration, inputs: Inputs, result: PipelineResult, memo: Memo
) -> tuple[GoldJudge, Judgments]:
    overlap = configuration.settings.score.overlap
    corpus = inputs.corpus

    def build() -> GoldJudge:
        return GoldJudge.build(
            inputs.queries,
            corpus.chunks if corpus else None,
            corpus.documents if corpus else None,
            overlap=overlap,
        )

    # Without a corpus a judge learns from the hits it is shown, so it belongs to one run.
    key = (*_inputs_key(configuration, inputs), overlap)
    judge = memo.once("judge", key, build) if corpus else build()
    judgments = [
        judge.judge(query, _hits_of(result, index)) for index, query in enumerate(inputs.queries)
    ]
    return judge, judgments


def _inputs_key(configuration: Configuration, inputs: Inputs) -> Key:
    return (*corpus_key(configuration), *(query.query_id for query in inputs.queries))


def _hits_of(result: PipelineResult, index: int) -> dict[str, Any]:
    found = {name: rankings[index] for name, rankings in result.stages.items()}
    return {name: hits for name, hits in found.items() if hits is not None}


def _check_scorable(scores: pa.Table, faults: Sequence[Fault]) -> None:
    """Raise DataError where no query can have a value: every mean would be empty."""
    if set(pc.unique(scores["status"]).to_pylist()) & {"ok", "missing", "failed"}:
        return
    first = "".join(f"\n    {fault}" for fault in faults[:3])
    raise DataError(
        f"nothing can be scored: no query has relevant gold{first}",
        hint=GOLD_HINT,
    )


def _settings(configuration: Configuration, metrics: Sequence[Metric]) -> dict[str, Any]:
    """The settings as resolved, metrics by their canonical names."""
    tables = configuration.as_json()
    score = {**tables["score"], "metrics": [str(metric) for metric in metrics]}
    return {**tables, "score": score}


def _origin(
    configuration: Configuration, created: datetime, settings: Mapping[str, Any]
) -> dict[str, Any]:
    git = git_state(configuration.base_dir)
    return {
        "run": run_name(created, git.commit, settings),
        "created": created.isoformat(timespec="seconds"),
        "versions": versions(),
        "git": {"commit": git.commit, "dirty": git.dirty},
    }
