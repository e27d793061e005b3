"""Is the reranker consistent? The same candidates, reranked again after small changes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
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
from ragnostic.ports import Candidate, Reranker
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
    hits, candidates = _candidates(queries, workshop)
    check_texts(candidates)
    texts = dict.fromkeys(candidate.text for ranking in candidates for candidate in ranking)
    reranker.prepare(list(texts), workshop.progress)
    tasks = _tasks(queries, candidates, perturbations, seed)
    outcomes = _rerankings(tasks, reranker, hits, candidates, workshop)
    return _probed(
        queries, tasks, outcomes, _Run(workshop, tuple(perturbations), now, zone, seed), candidates
    )


def _candidates(
    queries: Sequence[EvalQuery], workshop: Workshop
) -> tuple[list[Hits], list[list[Candidate]]]:
    settings = workshop.configuration.settings
    retriever = workshop.retriever()
    allowed = settings.run.max_failed * len(queries)
    policy = CallPolicy(retriever.workers, settings.run.retries, allowed)
    top_k = settings.retrieve.top_k
    answers = ask_all(retriever, queries, top_k, policy, workshop.progress)
    last = list(stages_of_answers(answers, top_k).values())[-1]
    hits = [found or Hits() for found in last]
    texts = {chunk.id: chunk.searchable for chunk in workshop.chunks}
    return hits, [candidates_of(found, texts) for found in hits]


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


def _rerankings(
    tasks: Sequence[Task],
    reranker: Reranker,
    hits: Sequence[Hits],
    candidates: Sequence[Sequence[Candidate]],
    workshop: Workshop,
) -> list[Outcome[Ranking]]:
    run = workshop.configuration.settings.run

    def call(task: Task) -> Ranking:
        index, _, text = task
        offered = candidates[index]
        answer = reranker.rerank(text, offered, len(offered))
        found = reranked(hits[index], answer, top_n=len(offered), took_ms=None)
        return tuple(id_ or "" for id_ in found.ids)

    policy = CallPolicy(reranker.workers, run.retries, run.max_failed * len(tasks))
    return call_each(tasks, call, policy, label=RERANK_STAGE, progress=workshop.progress)


@dataclass(frozen=True, slots=True)
class _Run:
    workshop: Workshop
    kinds: tuple[str, ...]
    now: datetime
    zone: str
    seed: int

    def row(self, query: EvalQuery, kind: str, first: Ranking, second: Ranking) -> dict[str, Any]:
        return {
            "query_id": query.query_id,
            "query": query.query,
            "ts": self.now,
            "day": self.now.astimezone(ZoneInfo(self.zone)).date().isoformat(),
            "perturbation": kind,
            "first": first,
            "second": second,
            "seed": self.seed,
            "reranker": self.workshop.configuration.choices["rerank"].name,
        }


def _probed(
    queries: Sequence[EvalQuery],
    tasks: Sequence[Task],
    outcomes: Sequence[Outcome[Ranking]],
    run: _Run,
    candidates: Sequence[Sequence[Candidate]],
) -> Probed:
    first: dict[int, Ranking | None] = {}
    rows: list[dict[str, Any]] = []
    failed = dict.fromkeys(run.kinds, 0)
    asked = dict.fromkeys(run.kinds, 0)
    for (index, kind, _), outcome in zip(tasks, outcomes, strict=True):
        if kind is None:
            first[index] = outcome.answer
            continue
        asked[kind] += 1
        before = first[index]
        if before is None or outcome.answer is None:
            failed[kind] += 1
        else:
            rows.append(run.row(queries[index], kind, before, outcome.answer))
    with_candidates = sum(bool(ranking) for ranking in candidates)
    return Probed(
        pairs=pa.Table.from_pylist(rows, PROBE_SCHEMA),
        failed=failed,
        unchanged={kind: with_candidates - count for kind, count in asked.items()},
        empty=len(queries) - with_candidates,
        reasons=tuple(dict.fromkeys(found.error for found in outcomes if found.error)),
    )
