"""The stage account of a run: what the candidates allow, what the last stage made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ragnostic.report.run import RunData, count, mapping, number, text
from ragnostic.report.scorebook import ScoreBook

SHOWN = 10
"""Moved items that a page lists; run.json has more."""


@dataclass(frozen=True, slots=True)
class Reach:
    """One metric over the same ``n`` queries: at the candidates, in ideal order, and after the
    last stage. Of a run with a single stage everything from ``after`` on is None.

    ``gain`` and ``harm``: mean of what the stage added and took, query by query. ``reached``: the
    share of the room between ``before`` and ``ceiling`` that it used.
    """

    metric: str
    n: int
    before: float | None
    ceiling: float | None
    after: float | None
    difference: float | None
    low: float | None
    high: float | None
    wins: int
    losses: int
    gain: float | None
    harm: float | None
    reached: float | None


@dataclass(frozen=True, slots=True)
class Move:
    """A gold item that the last stage moved; a rank is None where its list lacks the item."""

    query_id: str
    query: str | None
    id: str | None
    before: int | None
    after: int | None
    items: int = 1
    """Items of the query that this chunk holds."""


@dataclass(frozen=True, slots=True)
class Moves:
    """All items moved one way, and the first ones by the change of 1/rank."""

    items: int
    queries: int
    largest: tuple[Move, ...]


@dataclass(frozen=True, slots=True)
class Beyond:
    """Gold that is not among the candidates, in items and in queries."""

    items: int
    of_items: int
    queries: int
    of_queries: int
    without_any: int
    """Queries with no gold among the candidates at all."""


@dataclass(frozen=True, slots=True)
class Account:
    """``candidates`` and ``stage`` are stage names; ``stage`` is None for a run of one."""

    candidates: str
    stage: str | None
    top_k: int | None
    rows: tuple[Reach, ...]
    beyond: Beyond
    promoted: Moves | None
    demoted: Moves | None
    truncated: float | None


def read_account(run: RunData, book: ScoreBook) -> Account | None:
    """The account that run.json holds; None for a run without one, or without gold."""
    meta = mapping(run.meta.get("account"))
    beyond = mapping(meta.get("beyond"))
    if not count(beyond.get("of_items")):
        return None
    metrics = mapping(meta.get("metrics"))
    queries = _queries(run, meta)
    rows = [_reach(name, mapping(metrics[name])) for name in book.metrics() if name in metrics]
    asked = number(meta.get("top_k"))
    return Account(
        candidates=str(meta.get("candidates")),
        stage=text(meta.get("stage")),
        top_k=None if asked is None else int(asked),
        rows=tuple(row for row in rows if row.n),
        beyond=Beyond(
            *(
                count(beyond.get(name))
                for name in ("items", "of_items", "queries", "of_queries", "without_any")
            )
        ),
        promoted=_moves(meta.get("promoted"), queries),
        demoted=_moves(meta.get("demoted"), queries),
        truncated=number(meta.get("truncated_share")),
    )


def _reach(name: str, row: Mapping[str, Any]) -> Reach:
    numbers = {
        key: number(row.get(key))
        for key in (
            *("before", "ceiling", "after", "difference", "low", "high"),
            *("gain", "harm", "reached"),
        )
    }
    wins, losses = count(row.get("wins")), count(row.get("losses"))
    return Reach(name, count(row.get("n")), wins=wins, losses=losses, **numbers)


def _moves(value: object, queries: Mapping[str, str | None]) -> Moves | None:
    meta = mapping(value)
    if not meta:
        return None
    return Moves(
        count(meta.get("items")),
        count(meta.get("queries")),
        tuple(
            Move(
                query_id=str(row.get("query_id")),
                query=queries.get(str(row.get("query_id"))),
                id=text(row.get("id")),
                before=_rank(row.get("from")),
                after=_rank(row.get("to")),
                items=count(row.get("items")) or 1,
            )
            for row in map(mapping, (meta.get("largest") or ())[:SHOWN])
        ),
    )


def _rank(value: object) -> int | None:
    return None if number(value) is None else count(value)


def _queries(run: RunData, meta: Mapping[str, Any]) -> dict[str, str | None]:
    """Texts of the queries whose items are listed."""
    listed = {
        str(mapping(row).get("query_id"))
        for name in ("promoted", "demoted")
        for row in (mapping(meta.get(name)).get("largest") or ())[:SHOWN]
    }
    return query_texts(run, listed)


def query_texts(run: RunData, query_ids: set[str]) -> dict[str, str | None]:
    """Query id → text, of these queries."""
    return {
        str(row["query_id"]): text(row.get("query"))
        for row in (run.rows(("query_id", "query")) if query_ids else ())
        if row.get("query_id") in query_ids
    }
