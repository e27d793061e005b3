"""The judge ``answer_span``: chunks that hold what the answer says (METRICS 12)."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from ragnostic.judges.answer_spans import split_answers
from ragnostic.judges.facts import Facts, claims, new_facts, rarest
from ragnostic.judges.judgment_rows import Judgment, Judgments
from ragnostic.judges.names import content_words
from ragnostic.judges.plain_text import plain
from ragnostic.judges.span_hits import SpanHits, span_hits
from ragnostic.judges.span_index import SpanIndex
from ragnostic.judges.terms import Terms

_TOGETHER = 8192  # answers that are looked up together
_REMEMBERED = 1 << 18  # answers whose spans are kept, for the next time they are given


class Looked(NamedTuple):
    """An answer that was looked up: its spans that some chunk holds, in its own words, and whether
    it has any span that is no boilerplate.
    """

    declined: bool
    has_spans: bool
    held: tuple[tuple[str, SpanHits], ...]
    numbers: tuple[str, ...]
    names: tuple[str, ...]


class AnswerSpanJudge:
    """Judges records by looking their answers up in a corpus snapshot that is indexed once.

    >>> chunks = pa.table(
    ...     {"id": ["c1", "c2"], "text": ["保修期为二十四个月。", "运费由买家承担。"]}
    ... )
    >>> records = pa.table(
    ...     {"record_id": ["r"], "query": ["保修多久？"], "answer": ["保修期24个月"]}
    ... )
    >>> judged = AnswerSpanJudge.build(chunks).judge_records(records).to_pylist()[0]
    >>> judged["status"], judged["ids"], judged["evidence"]
    ('judged', ['c1'], ['fact: 24 个月 + 保修'])
    """

    name: str = "answer_span"
    version: str = "1"

    class Options(BaseModel):
        """What counts as a span, as the same text, and as boilerplate."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        unit: Literal["chunk", "span"] = Field(
            default="chunk",
            description="What is counted as found: each chunk, or each span of the answer.",
        )
        fold: Literal["none", "hans"] = Field(
            default="none",
            description="hans: traditional Chinese characters equal simplified ones.",
        )
        min_chinese: int = Field(
            default=6, ge=1, description="Characters of the shortest span with Chinese text."
        )
        min_latin: int = Field(
            default=12, ge=1, description="Characters of any other shortest span."
        )
        edits: int = Field(
            default=2, ge=0, le=4, description="Edits that a long span may differ by; 0: none."
        )
        min_edited: int = Field(
            default=20, ge=10, description="Characters of the shortest span that may have edits."
        )
        boilerplate_share: float = Field(
            default=0.01,
            ge=0,
            le=1,
            description="A span or fact that a larger share of the chunks holds is boilerplate.",
        )
        boilerplate_chunks: int = Field(
            default=20, ge=0, description="No boilerplate up to this many chunks."
        )
        weight_soft: float = Field(
            default=0.3, ge=0, le=1, description="Weight of a chunk with the entity but no fact."
        )
        most_soft: int = Field(
            default=50,
            ge=0,
            description="An entity that more chunks hold than this makes none soft-relevant.",
        )

    def __init__(
        self, index: SpanIndex, ids: pa.Array, options: Options, snapshot: str = ""
    ) -> None:
        self.options = options
        self.snapshot = snapshot
        self.parameters: Mapping[str, Any] = options.model_dump()
        self._index = index
        self._ids = ids
        self._terms = Terms(index)
        self._most = max(options.boilerplate_chunks, int(options.boilerplate_share * len(index)))
        self._looked: dict[bytes, Looked] = {}

    @classmethod
    def build(cls, chunks: pa.Table, options: Options | None = None, snapshot: str = "") -> Self:
        """Index the columns ``id`` and ``text`` of a snapshot; ``snapshot`` is its fingerprint."""
        options = options or cls.Options()
        texts = [text or "" for text in chunks["text"].to_pylist()]
        index = SpanIndex.build(plain(texts, options.fold))
        return cls(index, chunks["id"].cast(pa.string()).combine_chunks(), options, snapshot)

    def judge_records(self, records: pa.Table) -> pa.Table:
        """Judgments of the columns ``record_id``, ``query``, ``answer``: one row a record, in
        their order, under ``records.JUDGMENT_SCHEMA``.

        ``refused``: the answer declines; ``abstained``: it leaves nothing to look for (no span, no
        fact with an entity); ``judged`` with no ids: no chunk holds what it says.
        """
        answers = records["answer"].to_pylist()
        queries = records["query"].to_pylist()
        pairs = [(a or "", q or "") for a, q in zip(answers, queries, strict=True)]
        rows = {pair: row for row, pair in enumerate(dict.fromkeys(pairs))}
        distinct = list(rows)
        found = Judgments(self._ids, self.options.weight_soft)
        for start in range(0, len(distinct), _TOGETHER):
            found.add(self._judge(distinct[start : start + _TOGETHER]))
        places = pa.array([rows[pair] for pair in pairs], type=pa.int64())
        return found.table(places, records["record_id"], self.name, self.version, self.snapshot)

    def _judge(self, pairs: Sequence[tuple[str, str]]) -> list[Judgment]:
        looked = self._look_up([answer for answer, _ in pairs])
        queries = plain([query for _, query in pairs], self.options.fold)
        terms = [term for answer in looked for term in (*answer.numbers, *answer.names)]
        self._terms.load(terms)
        facts = [
            new_facts(answer.numbers, answer.names, query, self._terms.count)
            for answer, query in zip(looked, queries, strict=True)
        ]
        words = [
            content_words(query) if fact.needs_words else ()
            for (_, query), fact in zip(pairs, facts, strict=True)
        ]
        distinct = list(dict.fromkeys(word for some in words for word in some))
        forms = dict(zip(distinct, plain(distinct, self.options.fold), strict=True))
        self._terms.load([*terms, *forms.values()])
        return [
            self._judgment(answer, fact, [forms[word] for word in some])
            for answer, fact, some in zip(looked, facts, words, strict=True)
        ]

    def _look_up(self, answers: Sequence[str]) -> list[Looked]:
        """The parts of each answer and the chunks of each of its spans."""
        keys = [hashlib.blake2b(a.encode(), digest_size=16).digest() for a in answers]
        if len(self._looked) > _REMEMBERED:
            self._looked.clear()
        new = {key: a for key, a in zip(keys, answers, strict=True) if key not in self._looked}
        options = self.options
        split = split_answers(
            list(new.values()),
            fold=options.fold,
            min_chinese=options.min_chinese,
            min_latin=options.min_latin,
        )
        spans = list(dict.fromkeys(form for parts in split for _, form in parts.spans))
        hits = span_hits(
            self._index, spans, edits=options.edits, min_edited=options.min_edited, most=self._most
        )
        known = dict(zip(spans, hits, strict=True))
        for key, parts in zip(new, split, strict=True):
            found = [(said, known[form]) for said, form in parts.spans]
            held = tuple((said, chunks) for said, chunks in found if chunks)
            has_spans = any(chunks is not None for _, chunks in found)
            self._looked[key] = Looked(parts.declined, has_spans, held, parts.numbers, parts.names)
        return [self._looked[key] for key in keys]

    def _judgment(self, answer: Looked, facts: Facts, words: Sequence[str]) -> Judgment:
        if answer.declined:
            return Judgment("refused")
        hard: list[tuple[int, int, str]] = []
        for span, (said, chunks) in enumerate(answer.held):
            hard += [(chunk, span, _held(said, edits)) for chunk, edits in chunks]
        found, entity = claims(facts, rarest(words, self._terms.count))
        found = [claim for claim in found if self._terms.count(claim.fact) <= self._most]
        if not answer.has_spans and not found:
            return Judgment("abstained")
        for span, claim in enumerate(found, len(answer.held)):
            chunks = self._terms.all_of((claim.fact, *claim.entity)).tolist()
            shown = f"fact: {_shown(claim.fact)} + {_shown(*claim.entity)}" if chunks else ""
            hard += [(chunk, span, shown) for chunk in chunks]
        soft = self._soft(entity)
        evidence = f"entity: {_shown(*entity)}" if soft else ""
        return Judgment.of(hard, soft, evidence, self.options.unit)

    def _soft(self, entity: tuple[str, ...]) -> list[int]:
        """The chunks that hold the entity, unless they are too many."""
        if not entity or (
            len(entity) == 1 and self._terms.count(entity[0]) > self.options.most_soft
        ):
            return []
        chunks = self._terms.all_of(entity)
        return chunks.tolist() if len(chunks) <= self.options.most_soft else []


def _held(said: str, edits: int) -> str:
    """How a chunk holds a span, as evidence."""
    return f"edited {edits}: {said}" if edits else f"exact: {said}"


def _shown(*terms: str) -> str:
    """Terms in plain form as evidence shows them."""
    return " ".join([term.strip() for term in terms])


def judge_answers(
    rows: Sequence[Mapping[str, str]], corpus: Mapping[str, str], **options: Any
) -> list[dict[str, Any]]:
    """Judgments of rows with ``query`` and ``answer`` over a corpus of id → text.

    >>> judge_answers([{"query": "几天？", "answer": "我不知道。"}], {"c": "我不知道。"})[0][
    ...     "status"
    ... ]
    'refused'
    """
    chunks = pa.table({"id": list(corpus), "text": list(corpus.values())}, schema=_CHUNKS)
    columns = {key: [row.get(key, "") for row in rows] for key in ("record_id", "query", "answer")}
    judge = AnswerSpanJudge.build(chunks, AnswerSpanJudge.Options(**options))
    judged = judge.judge_records(pa.table(columns, schema=_RECORDS))
    found: list[dict[str, Any]] = judged.to_pylist()
    return found


_CHUNKS = pa.schema([("id", pa.string()), ("text", pa.string())])
_RECORDS = pa.schema([(name, pa.string()) for name in ("record_id", "query", "answer")])
