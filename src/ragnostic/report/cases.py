"""A single query in full: its rankings with texts, and what became of its gold."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ragnostic.report.outcomes import Outcome, corpus_ids, gold_items, grades, ranking
from ragnostic.report.page import GoldRow, Hit, Passage, QueryCase, Ranking
from ragnostic.report.run import RunData, mapping, text
from ragnostic.report.scorebook import ScoreBook

EXPECTED = "expected_answer"
TOP = 10
REST = 10
"""Ranks after the top that are shown whole; below them only gold is."""
MAX_GOLD = 10


class CaseReader:
    """Builds :class:`QueryCase` rows of one run; chunk texts are fetched once for all."""

    def __init__(self, run: RunData, book: ScoreBook, cutoff: int) -> None:
        self._run = run
        self._book = book
        self._cutoff = cutoff
        self._known = corpus_ids(run)
        self._rows: dict[int, dict[str, Any]] = {}
        self._chunks: dict[str, dict[str, Any]] = {}

    def fetch(self, outcomes: Iterable[Outcome]) -> None:
        """Read the rows and the texts that the cases of these outcomes need."""
        wanted: set[str] = set()
        for outcome in outcomes:
            row = self._rows.setdefault(outcome.index, self._run.row(outcome.index))
            wanted.update(chunk for item in outcome.items for chunk in item.ids)
            for stage in self._run.stages:
                wanted.update(chunk for _, _, chunk in ranking(row, stage) if chunk)
        self._chunks |= self._run.chunk_rows(wanted - self._chunks.keys())

    def case(self, outcome: Outcome, metrics: Sequence[str]) -> QueryCase:
        """The whole story of one fetched query."""
        row = self._rows[outcome.index]
        final = self._run.stages[-1]
        gold = self._gold(row)
        return QueryCase(
            query_id=outcome.query_id,
            query=text(row.get("query")),
            language=text(row.get("language")),
            category=text(row.get("category")),
            expected=_expected(row),
            answer=text(row.get("answer")),
            values=tuple(
                (name, self._book.values(final, name).get(outcome.record_id)) for name in metrics
            ),
            first=outcome.first,
            rankings=self._rankings(row),
            gold=gold[:MAX_GOLD],
            gold_left_out=len(gold[MAX_GOLD:]),
        )

    def _rankings(self, row: Mapping[str, Any]) -> tuple[Ranking, ...]:
        known = grades(row)
        stages = self._run.stages
        start = {chunk: rank for rank, _, chunk in ranking(row, stages[0]) if chunk}
        return tuple(
            self._ranking(row, stage, known, start if at else {}) for at, stage in enumerate(stages)
        )

    def _ranking(
        self,
        row: Mapping[str, Any],
        stage: str,
        known: Mapping[str, float],
        start: Mapping[str, int],
    ) -> Ranking:
        column = mapping(row.get(stage))
        scores, doc_ids = column.get("scores") or (), column.get("doc_ids") or ()
        hits = [
            Hit(
                rank=rank,
                passage=self._passage(chunk, _at(doc_ids, position)),
                score=_at(scores, position),
                grade=known.get(chunk or ""),
                before=start.get(chunk or ""),
            )
            for rank, position, chunk in ranking(row, stage)
        ]
        near = hits[TOP : TOP + REST]
        gold = [hit for hit in hits[TOP + REST :] if hit.relevant][:MAX_GOLD]
        return Ranking(
            stage=stage,
            top=tuple(hits[:TOP]),
            rest=(*near, *gold),
            hidden=len(hits) - len(hits[:TOP]) - len(near) - len(gold),
            error=text(column.get("error")),
        )

    def _gold(self, row: Mapping[str, Any]) -> tuple[GoldRow, ...]:
        """Gold items, the lost ones first."""
        items = gold_items(row, self._run.stages, self._cutoff, self._known)
        rows = [
            GoldRow(
                grade=item.grade,
                place=item.place,
                first=item.ranks[0],
                final=item.ranks[-1],
                passages=tuple(self._passage(chunk, None) for chunk in item.ids[:2]),
            )
            for item in items
        ]
        return tuple(sorted(rows, key=lambda gold: gold.place == "found"))

    def _passage(self, chunk: str | None, doc_id: str | None) -> Passage:
        row = self._chunks.get(chunk or "", {})
        return Passage(chunk or "", doc_id or text(row.get("doc_id")), text(row.get("text")))


def _expected(row: Mapping[str, Any]) -> str | None:
    """The expected answer: a column of its own or a label, since ``answer`` is the generator's."""
    labels = dict(row.get("labels") or ())
    return text(row.get(EXPECTED)) or text(labels.get(EXPECTED))


def _at(column: Sequence[Any], position: int) -> Any:
    return column[position] if position < len(column) else None
