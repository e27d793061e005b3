"""A run of the sentinel: the same queries asked again, a batch at a time, each kept at once."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError, UsageError
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.probes import PROBE_SCHEMA, RETRIEVAL
from ragnostic.monitor.rcs import Calls, Probe, Ranking, found_last, probe_found
from ragnostic.monitor.sentinel.earlier import Asked, earlier_rankings
from ragnostic.monitor.sentinel.head_queries import head_queries, named_queries
from ragnostic.monitor.sentinel.pace import Pace, PacedReranker, PacedRetriever
from ragnostic.monitor.sentinel.position import (
    STALE_S,
    Position,
    Tally,
    load_position,
    only_one,
    save_position,
)
from ragnostic.offline.implementations import Workshop
from ragnostic.ports import Clock, Reranker, Retriever
from ragnostic.records import EvalQuery, Hits

BATCH = 20
"""Queries that are done together; what a kill costs."""
ROW_SCHEMA = pa.schema([*PROBE_SCHEMA, ("sentinel", pa.string()), ("run", pa.string())])
"""Probes as the sentinel stores them: with whose they are."""
LABEL = "sentinel"


@dataclass(frozen=True, slots=True)
class Plan:
    """What a sentinel does. Two plans that differ in anything but ``rate`` (calls a second) are
    two sentinels, each with runs of its own.

    ``source``: where the configuration comes from. ``listed``: the queries, or None for the
    ``count`` most frequent ones of the last ``days`` of the store; ``listed_from`` names their
    file. ``kinds``: perturbations, none for no reranking.
    """

    source: str
    kinds: tuple[str, ...]
    retrieval: bool = False
    count: int = 100
    days: int = 7
    listed: tuple[EvalQuery, ...] | None = None
    listed_from: str = ""
    seed: int = 0
    rate: float | None = None

    @property
    def name(self) -> str:
        """12 hex digits that are the same for the same sentinel."""
        own = [self.source, sorted(self.kinds), self.retrieval, self.seed]
        asked = [self.listed_from] if self.listed is not None else [self.count, self.days]
        told = json.dumps([*own, *asked]).encode()
        return hashlib.blake2b(told, digest_size=6).hexdigest()


@dataclass(frozen=True, slots=True)
class SentinelRun:
    """A run that has ended. ``probes``: its rows, as :data:`ROW_SCHEMA`; ``resumed``: how many of
    its ``queries`` an earlier process had done; ``gone``: queries that were to be asked and are no
    longer in the store.
    """

    run: str
    queries: int
    resumed: int
    gone: int
    probes: pa.Table
    tally: Tally


def run_sentinel(store: LiveStore, workshop: Workshop, plan: Plan, clock: Clock) -> SentinelRun:
    """Ask the queries of a plan, and keep every pair of rankings in the store as a probe.

    Goes on with the run that was interrupted, if it began within a day; else begins a new one.
    A call that fails is counted, and costs its pair only. Raises DataError where there is no query
    to ask, StoreError while another process runs the same sentinel, UsageError without a reranker
    for the perturbations.
    """
    if plan.kinds and "rerank" not in workshop.configuration.choices:
        raise UsageError(
            'there is no reranker: rerank.use is "none"', hint="choose one in [rerank]"
        )
    with only_one(store.root, plan.name):
        position = load_position(store.state, plan.name)
        now = clock.now()
        if position is None or position.finished or now - position.started > STALE_S:
            position = _new(store, plan, now)
            save_position(store.state, plan.name, position)
        queries = _queries(store, plan, position)
        resumed, asked = position.done, len(position.ids)
        asking = list(queries.values())
        work = _Work.of(store, workshop, plan, clock, position=position, queries=asking)
        while position.done < asked:
            position = _next_batch(work, position, queries)
            workshop.progress(LABEL, position.done, asked)
        save_position(store.state, plan.name, position.ended())
    probes = _rows_of(store, position)
    gone = asked - len(queries)
    return SentinelRun(position.run, asked, resumed, gone, probes, position.tally)


def _new(store: LiveStore, plan: Plan, now: float) -> Position:
    started = datetime.fromtimestamp(now, UTC)
    if plan.listed is not None:
        ids = tuple(query.query_id for query in plan.listed)
    else:
        start = started - timedelta(days=plan.days)
        ids = tuple(q.query_id for q in head_queries(store.lake, start, started, plan.count))
    if not ids:
        where = "the list" if plan.listed is not None else f"the last {plan.days} days of the store"
        raise DataError(
            f"{where} holds no query", hint="raise --days, or name queries with --list FILE"
        )
    return Position(f"{plan.name}-{started:%Y%m%dT%H%M%S%f}", now, ids)


def _queries(store: LiveStore, plan: Plan, position: Position) -> Mapping[str, EvalQuery]:
    """The queries of a run by id; texts are not in its position, so that they can be forgotten."""
    if plan.listed is not None:
        wanted = set(position.ids)
        found = [query for query in plan.listed if query.query_id in wanted]
    else:
        end = datetime.fromtimestamp(position.started, UTC)
        start = end - timedelta(days=plan.days)
        found = list(named_queries(store.lake, start, end, position.ids))
    return {query.query_id: query for query in found}


@dataclass(frozen=True, slots=True)
class _Work:
    """What a batch is done with."""

    store: LiveStore
    plan: Plan
    clock: Clock
    retriever: Retriever
    reranker: Reranker | None
    names: Mapping[str, str]
    top_k: int
    texts: Mapping[str, str]
    calls: Calls
    before: Mapping[Asked, Ranking]

    @classmethod
    def of(
        cls,
        store: LiveStore,
        workshop: Workshop,
        plan: Plan,
        clock: Clock,
        *,
        position: Position,
        queries: Sequence[EvalQuery],
    ) -> _Work:
        """Built once a run: an index is made here."""
        settings = workshop.configuration.settings
        pace = Pace(plan.rate, clock)
        reranker = workshop.reranker() if plan.kinds else None
        began = datetime.fromtimestamp(position.started, UTC)
        before: Mapping[Asked, Ranking] = {}
        if plan.retrieval:
            own = {"sentinel": plan.name, "run": position.run}
            before = earlier_rankings(store, queries, **own, began=began)
        return cls(
            store=store,
            plan=plan,
            clock=clock,
            retriever=PacedRetriever(workshop.retriever(), pace),
            reranker=None if reranker is None else PacedReranker(reranker, pace),
            names={key: choice.name for key, choice in workshop.configuration.choices.items()},
            top_k=settings.retrieve.top_k,
            texts={chunk.id: chunk.searchable for chunk in workshop.chunks},
            calls=Calls(settings.run.retries, math.inf, clock.sleep),
            before=before,
        )

    def probe(self, position: Position, stage: str) -> Probe:
        """What the pairs of a batch have in common; ``stage`` is the table of who answered."""
        at = datetime.fromtimestamp(position.batch_at or position.started, UTC)
        plan = self.plan
        return Probe(plan.kinds, at, self.store.zone, plan.seed, self.names[stage])


def _next_batch(work: _Work, position: Position, known: Mapping[str, EvalQuery]) -> Position:
    """The position after the next batch, whose rows and place are kept."""
    position = position.begun(work.clock.now())
    save_position(work.store.state, work.plan.name, position)
    ids = position.ids[position.done : position.done + BATCH]
    queries = [known[id_] for id_ in ids if id_ in known]
    rows, tally = _asked(work, position, queries)
    if rows.num_rows:
        # The place in the run names the file, so that a batch done twice replaces itself.
        name = f"sentinel-{position.run}-{position.done:06d}"
        work.store.lake.write("probes", rows, name=name)
    position = position.after(len(ids), tally)
    save_position(work.store.state, work.plan.name, position)
    return position


def _asked(work: _Work, position: Position, queries: Sequence[EvalQuery]) -> tuple[pa.Table, Tally]:
    hits = found_last(work.retriever, queries, work.top_k, work.calls)
    good = [place for place, found in enumerate(hits) if found.status != "failed"]
    broken = [found for found in hits if found.status == "failed"]
    reasons = tuple(found.error for found in broken if found.error)
    tally = Tally(not_retrieved=len(broken), reasons=reasons)
    queries, hits = [queries[place] for place in good], [hits[place] for place in good]
    rows: list[dict[str, Any]] = []
    if work.plan.retrieval:
        rows += _retrievals(work.probe(position, "retrieve"), work.before, queries, hits)
    if work.reranker is not None and queries:
        probe = work.probe(position, "rerank")
        found = probe_found(
            queries, hits, work.texts, reranker=work.reranker, probe=probe, calls=work.calls
        )
        rows += found.pairs.to_pylist()
        tally += Tally(found.failed, found.unchanged, found.empty, reasons=found.reasons)
    own = {"sentinel": work.plan.name, "run": position.run}
    return pa.Table.from_pylist([{**row, **own} for row in rows], ROW_SCHEMA), tally


def _retrievals(
    probe: Probe,
    before: Mapping[Asked, Ranking],
    queries: Sequence[EvalQuery],
    hits: Sequence[Hits],
) -> list[dict[str, Any]]:
    return [
        probe.row(
            query,
            RETRIEVAL,
            before.get((query.query_id, query.query)),
            tuple(id_ or "" for id_ in found.ids),
        )
        for query, found in zip(queries, hits, strict=True)
    ]


def _rows_of(store: LiveStore, position: Position) -> pa.Table:
    # A clock may be set back in the middle of a run, so the day before is read as well.
    start = datetime.fromtimestamp(position.started - STALE_S, UTC)
    rows = store.lake.read("probes", start=start, columns=ROW_SCHEMA.names)
    return rows.filter(pc.equal(rows["run"], position.run).fill_null(fill_value=False))
