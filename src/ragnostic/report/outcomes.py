"""What became of the gold of every query: found, or lost on which way."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from typing import Any, Literal

from ragnostic.report.run import RunData, mapping

Place = Literal["found", "pushed_down", "below_cutoff", "not_retrieved", "not_in_corpus"]
PLACES: tuple[Place, ...] = (
    "found",
    "pushed_down",
    "below_cutoff",
    "not_retrieved",
    "not_in_corpus",
)
RELEVANT = 1.0

_COLUMNS = ("record_id", "query_id", "answerable", "judged", "outcome")


@dataclass(frozen=True, slots=True)
class GoldItem:
    """One thing to be found: any of ``ids`` counts. ``ranks`` has a rank a stage, None where
    the stage does not hold it; ``place`` is its fate at the final stage, ``number`` the item of
    the judgments, None where those have no items.
    """

    ids: tuple[str, ...]
    grade: float
    ranks: tuple[int | None, ...]
    place: Place
    number: int | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """The gold of one record, over all stages. ``index`` is its row in the records."""

    index: int
    record_id: str
    query_id: str
    answerable: bool
    failed: bool
    items: tuple[GoldItem, ...]

    @property
    def scorable(self) -> bool:
        """Answerable, retrieved without error, and with something to find."""
        return self.answerable and not self.failed and bool(self.items)

    @property
    def first(self) -> tuple[int | None, ...]:
        """Rank of the first relevant chunk, a stage."""
        columns = zip(*(item.ranks for item in self.items), strict=True)
        return tuple(
            min((rank for rank in column if rank is not None), default=None) for column in columns
        )

    @property
    def place(self) -> Place:
        """The fate of the query: the best one among its items."""
        return min((item.place for item in self.items), key=PLACES.index)


def read_outcomes(run: RunData, cutoff: int) -> list[Outcome]:
    """An :class:`Outcome` a record, in order; ``cutoff`` is how far down a reader looks."""
    stages, known = run.stages, corpus_ids(run)
    return [
        _outcome(index, row, stages, cutoff, known)
        for index, row in enumerate(run.rows((*_COLUMNS, *stages)))
    ]


def corpus_ids(run: RunData) -> AbstractSet[str] | None:
    """Ids of the corpus, as far as this run judged or retrieved them; None where the run does not
    know its corpus (a service, files without a pipeline).
    """
    corpus = mapping(run.meta.get("data")).get("corpus")
    if not corpus or "id" not in run.chunks.schema.names:
        return None
    return frozenset(run.chunks["id"].to_pylist())


def _outcome(
    index: int,
    row: Mapping[str, Any],
    stages: Sequence[str],
    cutoff: int,
    known: AbstractSet[str] | None,
) -> Outcome:
    query_id = str(row.get("query_id") or "")
    return Outcome(
        index=index,
        record_id=str(row.get("record_id") or query_id),
        query_id=query_id,
        answerable=row.get("answerable") is not False,
        failed=failed(row, stages),
        items=gold_items(row, stages, cutoff, known),
    )


def failed(row: Mapping[str, Any], stages: Iterable[str]) -> bool:
    """Whether any stage of this record, or the whole of it, failed."""
    return row.get("outcome") == "failed" or any(
        mapping(row.get(stage)).get("status") == "failed" for stage in stages
    )


def ranking(row: Mapping[str, Any], stage: str) -> list[tuple[int, int, str | None]]:
    """(rank, position, id) of one stage's list; later duplicates are taken out and the list
    closes up (METRICS 1.3), null ids keep their rank.

    >>> ranking({"retrieve": {"ids": ["a", "a", "b"]}}, "retrieve")
    [(1, 0, 'a'), (2, 2, 'b')]
    """
    seen: set[str] = set()
    kept: list[tuple[int, int, str | None]] = []
    for position, chunk in enumerate(mapping(row.get(stage)).get("ids") or ()):
        if chunk and chunk in seen:
            continue
        if chunk:
            seen.add(chunk)
        kept.append((len(kept) + 1, position, chunk or None))
    return kept


def grades(row: Mapping[str, Any]) -> dict[str, float]:
    """Chunk id → highest overall grade of one record; negative grades are 0."""
    found: dict[str, float] = {}
    for chunk, grade, _ in _judgments(row):
        if chunk is not None:
            found[chunk] = max(grade, found.get(chunk, 0.0))
    return found


def gold_items(
    row: Mapping[str, Any],
    stages: Sequence[str],
    cutoff: int,
    known: AbstractSet[str] | None = None,
) -> tuple[GoldItem, ...]:
    """The relevant items of one record with their ranks, best grade first; ``known`` are the ids
    of the corpus (:func:`corpus_ids`).
    """
    members: dict[object, dict[str, float]] = {}
    best: dict[object, float] = {}
    for chunk, grade, item in _judgments(row):
        key = chunk if item is None else item
        best[key] = max(grade, best.get(key, 0.0))
        group = members.setdefault(key, {})
        if chunk is not None and grade >= RELEVANT:
            group[chunk] = max(grade, group.get(chunk, 0.0))
    ranks = [{chunk: rank for rank, _, chunk in ranking(row, stage)} for stage in stages]
    items = [
        _item(key, tuple(members[key]), best[key], ranks, cutoff, known)
        for key in members
        if best[key] >= RELEVANT
    ]
    return tuple(sorted(items, key=lambda item: -item.grade))


def _item(  # noqa: PLR0917 - one caller, a line above
    key: object,
    ids: tuple[str, ...],
    grade: float,
    ranks: Sequence[Mapping[str | None, int]],
    cutoff: int,
    known: AbstractSet[str] | None,
) -> GoldItem:
    found = tuple(
        min((stage[chunk] for chunk in ids if chunk in stage), default=None) for stage in ranks
    )
    place = _place(found, cutoff)
    dangling = known is not None and known.isdisjoint(ids)
    if place == "not_retrieved" and (dangling or not ids):
        place = "not_in_corpus"
    return GoldItem(ids, grade, found, place, key if isinstance(key, int) else None)


def _place(ranks: Sequence[int | None], cutoff: int) -> Place:
    last = ranks[-1] if ranks else None
    if last is not None and last <= cutoff:
        return "found"
    if any(rank is not None and rank <= cutoff for rank in ranks):
        return "pushed_down"
    if any(rank is not None for rank in ranks):
        return "below_cutoff"
    return "not_retrieved"


def _judgments(row: Mapping[str, Any]) -> list[tuple[str | None, float, object]]:
    """(chunk id, grade, item) of the overall judgments, or of all facets when there are none."""
    judged = mapping(row.get("judged"))
    ids = judged.get("ids") or ()
    size = len(ids)
    columns = [judged.get(name) or [None] * size for name in ("grades", "items", "facets")]
    rows = list(zip(ids, *columns, strict=True))
    if any(facet is None for *_, facet in rows):
        rows = [entry for entry in rows if entry[-1] is None]
    return [(chunk or None, _grade(grade), item) for chunk, grade, item, _ in rows]


def _grade(grade: float | None) -> float:
    """As scoring reads it: a judgment without a grade is 1, a negative one 0 (METRICS 1.5)."""
    return 1.0 if grade is None else max(float(grade), 0.0)
