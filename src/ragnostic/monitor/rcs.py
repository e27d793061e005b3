"""Is the reranker consistent? The same candidates, reranked again after small changes."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from zoneinfo import ZoneInfo

import pyarrow as pa

from ragnostic.errors import UsageError
from ragnostic.monitor.perturbations import perturb
from ragnostic.monitor.probes import PROBE_SCHEMA
from ragnostic.offline.calls import CallPolicy, Outcome, call_each
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.rerank_input import candidates_of, check_texts, reranked
from ragnostic.offline.stages import RERANK_STAGE, ask_all, stages_of_answers
from ragnostic.ports import Candidate, Progress, Reranker, Retriever, no_progress
from ragnostic.records import EvalQuery, Hits

Ranking = tuple[str, ...]
Task = tuple[int, str | None, str]
"""A query by its number, the perturbation (None: the query as it is), and the text asked."""


@dataclass(frozen=True, slots=True)
class Probed:
    """``pairs`` under :data:`~ragnostic.monitor.probes.PROBE_SCHEMA`. ``failed`` counts, by
    perturbation, pairs that a failed call broke, ``unchanged`` queries that it does not change,
    ``empty`` those without candidates. ``reasons``: why calls failed, each once.
    """

    pairs: pa.Table
    failed: Mapping[str, int]
    unchanged: Mapping[str, int]
    empty: int
    reasons: tuple[str, ...]


def probe_reranker(
    queries: Sequence[EvalQuery],
    workshop: Workshop,
    perturbations: Sequence[str],
    *,
    now: datetime,
    zone: str,
    seed: int = 0,
) -> Probed:
    """Rerank the candidates of every query once as it is asked and once after each perturbation.

    The candidates are those of the configured retriever, found once with the query as it is:
    whatever differs is the reranker's doing. ``now``, ``zone``: when, and where days begin.
    Raises UsageError without a reranker or candidate texts, RetrievalError where more than
    ``run.max_failed`` of the calls fail.
    """
    reranker = workshop.reranker()
    if reranker is None:
        raise UsageError(
            'there is no reranker: rerank.use is "none"', hint="choose one in [rerank]"
        )
    run = workshop.configuration.settings.run
    calls = Calls(run.retries, run.max_failed)
    top_k = workshop.configuration.settings.retrieve.top_k
    hits = found_last(workshop.retriever(), queries, top_k, calls, workshop.progress)
    texts = {chunk.id: chunk.searchable for chunk in workshop.chunks}
    name = workshop.configuration.choices["rerank"].name
    probe = Probe(tuple(perturbations), now, zone, seed, name)
    return probe_found(
        queries,
        hits,
        texts,
        reranker=reranker,
        probe=probe,
        calls=calls,
        progress=workshop.progress,
    )


@dataclass(frozen=True, slots=True)
class Calls:
    """How services are called: retries of one call, and the share of calls that may fail before
    all ends with a RetrievalError (1: it never does).
    """

    retries: int
    max_failed: float
    sleep: Callable[[float], None] = time.sleep

    def policy(self, workers: int, count: int) -> CallPolicy:
        """For ``count`` calls."""
        return CallPolicy(workers, self.retries, self.max_failed * count, self.sleep)


@dataclass(frozen=True, slots=True)
class Probe:
    """What all pairs of a run have in common."""

    kinds: tuple[str, ...]
    now: datetime
    zone: str
    seed: int
    reranker: str

    def row(
        self, query: EvalQuery, kind: str, first: Ranking | None, second: Ranking
    ) -> dict[str, Any]:
        """A row of :data:`~ragnostic.monitor.probes.PROBE_SCHEMA`."""
        return {
            "query_id": query.query_id,
            "query": query.query,
            "ts": self.now,
            "day": self.now.astimezone(ZoneInfo(self.zone)).date().isoformat(),
            "perturbation": kind,
            "first": first,
            "second": second,
            "seed": self.seed,
            "reranker": self.reranker,
        }


def found_last(
    retriever: Retriever,
    queries: Sequence[EvalQuery],
    top_k: int,
    calls: Calls,
    progress: Progress = no_progress,
) -> list[Hits]:
    """What the last stage of the retriever finds for each query; a failed call says so."""
    policy = calls.policy(retriever.workers, len(queries))
    answers = ask_all(retriever, queries, top_k, policy, progress)
    last = list(stages_of_answers(answers, top_k).values())[-1]
    return [found or Hits() for found in last]


def probe_found(
    queries: Sequence[EvalQuery],
    hits: Sequence[Hits],
    texts: Mapping[str, str],
    *,
    reranker: Reranker,
    probe: Probe,
    calls: Calls,
    progress: Progress = no_progress,
) -> Probed:
    """Rerank what was found for each query, as it is asked and after each perturbation.

    ``texts``: chunk id → text, where the hits hold none. Raises as :func:`probe_reranker`.
    """
    candidates = [candidates_of(found, texts) for found in hits]
    check_texts(candidates)
    new = dict.fromkeys(candidate.text for ranking in candidates for candidate in ranking)
    reranker.prepare(list(new), progress)
    tasks = _tasks(queries, candidates, probe.kinds, probe.seed)

    def call(task: Task) -> Ranking:
        index, _, text = task
        offered = candidates[index]
        answer = reranker.rerank(text, offered, len(offered))
        found = reranked(hits[index], answer, top_n=len(offered), took_ms=None)
        return tuple(id_ or "" for id_ in found.ids)

    policy = calls.policy(reranker.workers, len(tasks))
    outcomes = call_each(tasks, call, policy, label=RERANK_STAGE, progress=progress)
    return _probed(queries, tasks, outcomes, probe, candidates)


def _tasks(
    queries: Sequence[EvalQuery],
    candidates: Sequence[Sequence[Candidate]],
    perturbations: Sequence[str],
    seed: int,
) -> list[Task]:
    tasks: list[Task] = []
    for index, query in enumerate(queries):
        if not candidates[index]:
            continue
        changed = ((kind, perturb(kind, query.query, seed)) for kind in perturbations)
        tasks.append((index, None, query.query))
        tasks += [(index, kind, text) for kind, text in changed if text is not None]
    return tasks


def _probed(
    queries: Sequence[EvalQuery],
    tasks: Sequence[Task],
    outcomes: Sequence[Outcome[Ranking]],
    probe: Probe,
    candidates: Sequence[Sequence[Candidate]],
) -> Probed:
    first: dict[int, Ranking | None] = {}
    rows: list[dict[str, Any]] = []
    failed = dict.fromkeys(probe.kinds, 0)
    asked = dict.fromkeys(probe.kinds, 0)
    for (index, kind, _), outcome in zip(tasks, outcomes, strict=True):
        if kind is None:
            first[index] = outcome.answer
            continue
        asked[kind] += 1
        before = first[index]
        if before is None or outcome.answer is None:
            failed[kind] += 1
        else:
            rows.append(probe.row(queries[index], kind, before, outcome.answer))
    with_candidates = sum(bool(ranking) for ranking in candidates)
    return Probed(
        pairs=pa.Table.from_pylist(rows, PROBE_SCHEMA),
        failed=failed,
        unchanged={kind: with_candidates - count for kind, count in asked.items()},
        empty=len(queries) - with_candidates,
        reasons=tuple(dict.fromkeys(found.error for found in outcomes if found.error)),
    )
