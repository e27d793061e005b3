"""The judge ``gold`` of live records: an evaluation set's judgments, met by query (METRICS 12)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field, model_validator

from ragnostic.errors import Fault
from ragnostic.evalset.loading import load_evaluation_set
from ragnostic.evalset.qrels import load_qrels
from ragnostic.judges.gold import GoldJudge
from ragnostic.judges.listed_rows import FACETS, Entry, ListedJudgment, listed_table
from ragnostic.ports import Resources
from ragnostic.records import Chunk, EvalQuery, GoldSpan, Hits, stages_of
from ragnostic.text import normalise


class GoldOptions(BaseModel):
    """Whose judgments, and when a chunk holds a gold span."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    path: str = Field(
        default="", description="Evaluation set: a JSONL or CSV file, or a BEIR folder."
    )
    split: str = Field(default="test", description="Which qrels of a BEIR folder are read.")
    qrels: str = Field(
        default="",
        description="Qrels file in place of an evaluation set; records are met by query id only.",
    )
    overlap: float = Field(
        default=0.5, gt=0, le=1, description="Share of a gold span that a chunk must cover."
    )

    @model_validator(mode="after")
    def _one_of_both(self) -> Self:
        if bool(self.path) == bool(self.qrels):
            raise ValueError("needs either path (an evaluation set) or qrels")
        return self


class GoldRecordJudge:
    """Judges records that ask a query of an evaluation set: by its id, else by its text.

    A query id that the set has decides; else the text, normalised, if the set has it once, or
    several times with one and the same gold. ``faults`` holds what is odd about the gold.

    >>> query = EvalQuery("q1", "Days of leave?", ((GoldSpan(id="c1", grade=2),),))
    >>> judge = GoldRecordJudge([query], None)
    >>> records = pa.table({"record_id": ["r1", "r2"], "query": ["days of  LEAVE?", "Pay?"]})
    >>> [(row["status"], row["ids"]) for row in judge.judge_records(records).to_pylist()]
    [('judged', ['c1']), ('abstained', [])]
    """

    name = "gold"
    version = "1"
    Options = GoldOptions
    needs_corpus: ClassVar[bool] = False

    def __init__(
        self,
        queries: Sequence[EvalQuery],
        chunks: pa.Table | None,
        *,
        overlap: float = 0.5,
        snapshot: str = "",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        corpus = None if chunks is None else _chunks(chunks)
        self.parameters: Mapping[str, Any] = parameters or {"overlap": overlap}
        self._judge = GoldJudge.build(queries, corpus, overlap=overlap)
        self._by_id = {query.query_id: query for query in queries}
        self._by_text = _by_text(queries)
        self._snapshot = snapshot
        self._facets = any(span.facets for query in queries for item in query.gold for span in item)
        self._read: list[Fault] = []

    @classmethod
    def build(
        cls,
        chunks: pa.Table | None,
        options: GoldOptions,
        snapshot: str = "",
        *,
        resources: Resources | None = None,
    ) -> Self:
        """From an evaluation set or qrels file, over the chunks of a snapshot (None: a service's,
        unknown). Paths are relative to ``resources.base_dir``. Raises DataError.
        """
        base = Path() if resources is None else resources.base_dir
        faults: list[Fault] = []
        if options.qrels:
            queries = _qrels_queries(base / options.qrels, faults)
        else:
            path = base / options.path
            queries = load_evaluation_set(path, split=options.split, faults=faults)
        judge = cls(
            queries,
            chunks,
            overlap=options.overlap,
            snapshot=snapshot,
            parameters=options.model_dump(),
        )
        judge._read = faults
        return judge

    @property
    def faults(self) -> list[Fault]:
        """What was odd about the files and about the gold, so far."""
        return [*self._read, *self._judge.faults]

    def judge_records(self, records: pa.Table) -> pa.Table:
        """Judgments of the columns ``record_id``, ``query``, the stages and, where it is there,
        ``query_id``. ``abstained``: no gold for the query. Where some gold has facets there is a
        column ``facets``.
        """
        found = [self._judgment(*row) for row in _rows(records)]
        source = (self.name, self.version, self._snapshot)
        return listed_table(found, records["record_id"], source, facets=self._facets)

    def _judgment(
        self, query_id: str | None, query: str | None, stages: Mapping[str, Hits]
    ) -> ListedJudgment:
        asked = self._by_id.get(query_id or "")
        met = "gold: query id"
        if asked is None:
            met = "gold: query text"
            known = self._by_text.get(normalise(query or ""), ())
            if len(known) > 1:
                names = ", ".join(other.query_id for other in known)
                return ListedJudgment("abstained", reason=f"several gold queries: {names}")
            asked = known[0] if known else None
        judged = None if asked is None else self._judge.judge(asked, stages)
        if judged is None:
            return ListedJudgment("abstained", reason="no gold for this query")
        columns = (judged[name] for name in ("ids", "grades", "items", FACETS))
        entries = (
            Entry(id_, grade, item, met, facet)
            for id_, grade, item, facet in zip(*columns, strict=True)
        )
        return ListedJudgment("judged", tuple(entries))


def _by_text(queries: Sequence[EvalQuery]) -> dict[str, tuple[EvalQuery, ...]]:
    """Normalised text → the queries that ask it, those with equal gold once."""
    found: dict[str, dict[Any, EvalQuery]] = defaultdict(dict)
    for query in queries:
        text = normalise(query.query)
        if text:
            found[text].setdefault((repr(query.gold), query.answerable), query)
    return {text: tuple(different.values()) for text, different in found.items()}


def _rows(records: pa.Table) -> Iterator[tuple[str | None, str | None, dict[str, Hits]]]:
    """Query id, query and hits by stage of each record."""
    stages = {name: records[name].to_pylist() for name in stages_of(records.schema)}
    names = records.column_names
    ids = records["query_id"].to_pylist() if "query_id" in names else [None] * len(records)
    for place, (query_id, query) in enumerate(zip(ids, records["query"].to_pylist(), strict=True)):
        yield query_id, query, {name: _hits(rows[place]) for name, rows in stages.items()}


def _hits(row: Mapping[str, Any] | None) -> Hits:
    row = row or {}
    ids = tuple(row.get("ids") or ())
    doc_ids = row.get("doc_ids")
    return Hits(ids, doc_ids=tuple(doc_ids) if doc_ids and len(doc_ids) == len(ids) else None)


def _chunks(table: pa.Table) -> list[Chunk]:
    """The rows of a snapshot; a chunk without a document is one by itself."""
    blank = {"doc_id": None, "start": None, "end": None, "tokens": None}
    return [
        Chunk(
            row["id"],
            row["doc_id"] or row["id"],
            row["start"] or 0,
            (row["start"] or 0) + len(row["text"] or "") if row["end"] is None else row["end"],
            row["tokens"] or 0,
            row["text"] or "",
        )
        for row in (blank | row for row in table.to_pylist())
    ]


def _qrels_queries(path: Path, faults: list[Fault]) -> list[EvalQuery]:
    """Qrels as queries without a text, each judged id an item."""
    qrels = load_qrels(path)
    faults += qrels.faults
    return [
        EvalQuery(row["query_id"], "", tuple(_items(row["judged"])))
        for row in qrels.table.to_pylist()
    ]


def _items(judged: Mapping[str, Any]) -> Iterator[tuple[GoldSpan, ...]]:
    for id_, grade in zip(judged["ids"], judged["grades"], strict=True):
        yield (GoldSpan(id=id_, grade=grade),)
