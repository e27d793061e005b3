"""The judge ``grader``: a model grades the first chunks of every stage 0 to 3 (METRICS 12)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

import pyarrow as pa

from ragnostic.judges.grader_prompt import Facet, Pair
from ragnostic.judges.grader_reply import Verdict
from ragnostic.judges.listed_rows import Entry, ListedJudgment, listed_table
from ragnostic.records import stages_of

TEXTS = "texts"
"""Column of records: chunk id → text, for chunks that the corpus does not have."""


class Grade(Protocol):
    """Grades many pairs at once: cached, concurrent, one verdict a pair, in order."""

    def __call__(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """A pair that cannot be graded has a verdict that says why; raises for nothing else."""
        ...


class GraderJudge:
    """Judges records by grading their retrieved chunks.

    ``texts``: chunk id → text; what is not there is looked for in the column ``texts`` of the
    records. ``top_k``: how many chunks of each stage are graded. ``max_failed``: the share (0 to 1)
    of a record's chunks that may fail before the record does. ``parameters`` says how it grades;
    the version is told from it, so that another model is another version.

    >>> judge = GraderJudge(
    ...     lambda pairs: [Verdict(2, model="m")] * len(pairs), {"c1": "Five days."}
    ... )
    >>> stage = pa.array([{"ids": ["c1"]}], pa.struct([("ids", pa.list_(pa.string()))]))
    >>> records = pa.table({"record_id": ["r1"], "query": ["Days of leave?"], "retrieve": stage})
    >>> row = judge.judge_records(records).to_pylist()[0]
    >>> row["status"], row["ids"], row["grades"], row["evidence"]
    ('judged', ['c1'], [2.0], ['m: 2'])
    """

    name = "grader"

    def __init__(
        self,
        grade: Grade,
        texts: Mapping[str, str],
        *,
        top_k: int = 10,
        facets: Sequence[Facet] = (),
        max_failed: float = 0.0,
        snapshot: str = "",
        parameters: Mapping[str, Any] | None = None,
    ) -> None:
        self.parameters: Mapping[str, Any] = dict(parameters or {})
        self.version = _version(self.parameters)
        self._grade = grade
        self._texts = texts
        self._top_k = top_k
        self._facets = tuple(facets)
        self._max_failed = max_failed
        self._snapshot = snapshot

    def judge_records(self, records: pa.Table) -> pa.Table:
        """Judgments of the columns ``record_id``, ``query`` and the stages.

        ``failed``: more chunks than allowed have no grade; those have a null one, and why stands in
        their evidence. ``abstained``: there is nothing to grade. With facets there is a column
        ``facets``.
        """
        queries = records["query"].to_pylist()
        chosen = [
            self._chosen(query, row) for query, row in zip(queries, _rows(records), strict=True)
        ]
        pairs = list(dict.fromkeys(p for some in chosen for p in some.values() if p is not None))
        verdicts = dict(zip(pairs, self._grade(pairs), strict=True))
        source = (self.name, self.version, self._snapshot)
        found = [self._judgment(some, verdicts) for some in chosen]
        return listed_table(found, records["record_id"], source, facets=bool(self._facets))

    def _chosen(self, query: str | None, row: Mapping[str, Any]) -> dict[str, Pair | None]:
        """The chunks to be graded, in pipeline order; None where the text is not known."""
        own = dict(row[TEXTS] or ())
        wanted = {
            id_: self._texts.get(id_) or own.get(id_)
            for ids in row["ids"]
            for id_ in list(dict.fromkeys(filter(None, ids)))[: self._top_k]
        }
        return {id_: Pair(query, text) if query and text else None for id_, text in wanted.items()}

    def _judgment(
        self, chosen: Mapping[str, Pair | None], verdicts: Mapping[Pair, Verdict]
    ) -> ListedJudgment:
        if not chosen:
            return ListedJudgment("abstained", reason="no chunk was retrieved")
        found = {id_: _UNKNOWN if pair is None else verdicts[pair] for id_, pair in chosen.items()}
        graded = {id_: verdict for id_, verdict in found.items() if verdict.grade is not None}
        stands = graded and len(found) - len(graded) <= self._max_failed * len(found)
        # A chunk without a grade is unjudged in a record that stands, never graded 0.
        kept = graded if stands else found
        entries = [
            entry
            for item, (id_, verdict) in enumerate(kept.items())
            for entry in self._entries(id_, item, verdict)
        ]
        return ListedJudgment("judged" if stands else "failed", tuple(entries))

    def _entries(self, id_: str, item: int, verdict: Verdict) -> Iterator[Entry]:
        if verdict.grade is None:
            yield Entry(id_, None, item, f"failed: {verdict.failure}")
            return
        yield Entry(id_, verdict.grade, item, f"{verdict.model}: {verdict.grade}")
        for facet in self._facets:
            grade = verdict.facets[facet]
            yield Entry(id_, grade, item, f"{verdict.model}: {facet} {grade}", facet)


_UNKNOWN = Verdict(None, failure="the text of the chunk, or of the query, is not known")


def _rows(records: pa.Table) -> Iterator[dict[str, Any]]:
    """Per record the ids of each stage, and the texts that came with it."""
    stages = [
        [(hits or {}).get("ids") or [] for hits in records[name].to_pylist()]
        for name in stages_of(records.schema)
    ]
    has_texts = TEXTS in records.column_names
    texts = records[TEXTS].to_pylist() if has_texts else [None] * records.num_rows
    for place, own in enumerate(texts):
        yield {"ids": [ids[place] for ids in stages], TEXTS: own}


def _version(parameters: Mapping[str, Any]) -> str:
    told = json.dumps(parameters, sort_keys=True, ensure_ascii=False, default=str)
    return f"1-{hashlib.sha256(told.encode()).hexdigest()[:8]}"
