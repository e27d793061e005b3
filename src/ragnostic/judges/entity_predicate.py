"""The judge ``entity_predicate``: chunks that hold the answer's entity and what is said of it, verb
and object (METRICS 12).

For answers in other words than the source's: looser than ``answer_span``, and a heuristic wherever
no parser is installed. Its parameters say so.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, Literal, Self

import pyarrow as pa
from pydantic import BaseModel, ConfigDict, Field

from ragnostic.judges.facts import rarest
from ragnostic.judges.judgment_rows import Judgment, Judgments
from ragnostic.judges.names import content_words, names_in
from ragnostic.judges.plain_text import PAUSE, Fold, plain, undressed
from ragnostic.judges.predicates import (
    English,
    Predicate,
    chinese_predicates,
    english_parser,
    english_predicates,
)
from ragnostic.judges.refusals import declines
from ragnostic.judges.span_index import SpanIndex
from ragnostic.judges.terms import Terms
from ragnostic.text import language

_LATIN_WORD = re.compile(r"[a-z][a-z']*")
_HEURISTIC = "heuristic"


class EntityPredicateOptions(BaseModel):
    """What counts as the same text, and as boilerplate."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    fold: Literal["none", "hans"] = Field(
        default="none", description="hans: traditional Chinese characters equal simplified ones."
    )
    boilerplate_share: float = Field(
        default=0.01,
        ge=0,
        le=1,
        description="Entity and predicate that a larger share of the chunks holds are boilerplate.",
    )
    boilerplate_chunks: int = Field(
        default=20, ge=0, description="No boilerplate up to this many chunks."
    )


@dataclass(frozen=True, slots=True)
class _Said:
    """What one answer says: its names, and the predicates; ``query`` holds the words of the query.
    ``loose`` are words that stand for a predicate where there is no parser.
    """

    declined: bool = False
    names: tuple[str, ...] = ()
    query: tuple[str, ...] = ()
    predicates: tuple[Predicate, ...] = ()
    loose: tuple[str, ...] = ()

    def terms(self) -> Iterator[str]:
        """All that is looked for."""
        yield from (*self.names, *self.query, *self.loose)
        for predicate in self.predicates:
            yield from predicate

    def written(self, forms: Mapping[str, str]) -> _Said:
        """The same in the form in which chunks are searched."""
        names, query, loose = (
            tuple(forms[term] for term in terms) for terms in (self.names, self.query, self.loose)
        )
        predicates = tuple(Predicate(forms[verb], forms[noun]) for verb, noun in self.predicates)
        return _Said(self.declined, names, query, predicates, loose)


class EntityPredicateJudge:
    """Judges records by looking entity and predicate of their answers up in a corpus snapshot.

    >>> chunks = pa.table(
    ...     {"id": ["c1", "c2"], "text": ["入职满一年，可向人事申请育儿假。", "育儿假每年十天。"]}
    ... )
    >>> row = {"record_id": ["r"], "query": ["育儿假怎么休？"], "answer": ["员工可以申请育儿假。"]}
    >>> judge = EntityPredicateJudge.build(chunks)
    >>> found = judge.judge_records(pa.table(row)).to_pylist()[0]
    >>> found["status"], found["ids"], found["evidence"]
    ('judged', ['c1'], ['育儿 + 申请 育儿假'])
    """

    name = "entity_predicate"
    version = "1"
    Options = EntityPredicateOptions
    needs_corpus: ClassVar[bool] = True

    def __init__(
        self,
        ids: pa.Array,
        texts: Sequence[str],
        options: EntityPredicateOptions,
        snapshot: str = "",
        english: English | None = None,
    ) -> None:
        self._ids = ids
        self._english = english
        self._fold: Fold = options.fold
        self._snapshot = snapshot
        self._texts = _searched(texts, options.fold)
        self._terms = Terms(SpanIndex.build(self._texts))
        share = int(options.boilerplate_share * len(self._texts))
        self._most = max(options.boilerplate_chunks, share)
        self.parameters: Mapping[str, Any] = {
            **options.model_dump(),
            "chinese": f"rjieba part of speech ({_HEURISTIC})",
            "english": english.name if english else _HEURISTIC,
        }

    @classmethod
    def build(
        cls, chunks: pa.Table, options: EntityPredicateOptions | None = None, snapshot: str = ""
    ) -> Self:
        """Index the columns ``id`` and ``text`` of a snapshot; ``snapshot`` is its fingerprint."""
        texts = [text or "" for text in chunks["text"].to_pylist()]
        ids = chunks["id"].cast(pa.string()).combine_chunks()
        return cls(ids, texts, options or cls.Options(), snapshot, english_parser())

    def judge_records(self, records: pa.Table) -> pa.Table:
        """Judgments of the columns ``record_id``, ``query``, ``answer``: one row a record.

        ``refused``: the answer declines; ``abstained``: it has no entity or no predicate, or both
        are boilerplate; ``judged`` with no ids: no chunk holds them.
        """
        columns = (records[name].to_pylist() for name in ("answer", "query"))
        pairs = [(answer or "", query or "") for answer, query in zip(*columns, strict=True)]
        rows = {pair: row for row, pair in enumerate(dict.fromkeys(pairs))}
        found = Judgments(self._ids, weight_soft=0.0)
        found.add(map(self._judgment, self._said(list(rows))))
        places = pa.array([rows[pair] for pair in pairs], type=pa.int64())
        return found.table(places, records["record_id"], self.name, self.version, self._snapshot)

    def _said(self, pairs: Sequence[tuple[str, str]]) -> list[_Said]:
        """What each answer says, as it is searched for; all of it is looked up at once."""
        answers = undressed([answer for answer, _ in pairs])
        said = [
            self._read(answer, query) for answer, (_, query) in zip(answers, pairs, strict=True)
        ]
        terms = list(dict.fromkeys(term for one in said for term in one.terms()))
        forms = dict(zip(terms, _searched(terms, self._fold), strict=True))
        self._terms.load(forms.values())
        return [one.written(forms) for one in said]

    def _read(self, answer: str, query: str) -> _Said:
        if declines(answer):
            return _Said(declined=True)
        names, words = tuple(names_in(answer)), content_words(query)
        if language(answer) == "zh":
            return _Said(names=names, query=words, predicates=tuple(chinese_predicates(answer)))
        if self._english is not None:
            parsed = self._english.parse(answer)
            names += tuple(entity.text for entity in parsed.ents)
            predicates = tuple(english_predicates(parsed))
            return _Said(names=names, query=words, predicates=predicates)
        known = {word for name in names for word in content_words(name)}
        loose = tuple(word for word in content_words(answer) if word not in known)
        return _Said(names=names, query=words, loose=loose)

    def _judgment(self, said: _Said) -> Judgment:
        if said.declined:
            return Judgment("refused")
        entity = self._entity(said)
        if not entity:
            return Judgment("abstained")
        is_asked = False
        held: dict[int, str] = {}
        for terms, near in self._predicates(said, entity):
            chunks = self._terms.all_of([*entity, *terms]).tolist()
            if len(chunks) > self._most:
                continue
            is_asked = True
            shown = f"{_shown(entity)} + {_shown(terms)}"
            for chunk in chunks:
                if not near or _together(self._texts[chunk], terms):
                    held.setdefault(chunk, shown)
        if not is_asked:
            return Judgment("abstained")
        hard = ((chunk, chunk, shown) for chunk, shown in sorted(held.items()))
        return Judgment.of(hard, (), "", "chunk")

    def _entity(self, said: _Said) -> tuple[str, ...]:
        """The rarest name of the answer that some chunk holds; the two rarest words of the query
        where it has no name.
        """
        if said.names:
            return rarest(said.names, self._terms.count)[:1] or said.names[:1]
        return rarest(said.query, self._terms.count)[:2]

    def _predicates(
        self, said: _Said, entity: Sequence[str]
    ) -> Iterator[tuple[tuple[str, ...], bool]]:
        """The terms of each predicate, and whether they must stand in one clause."""
        for predicate in said.predicates:
            yield tuple(predicate), True
        others = [word for word in said.loose if word not in entity]
        words = rarest(others, self._terms.count)[:2] or tuple(others[:2])
        if len(words) > 1:
            yield words, False


def _searched(texts: Sequence[str], fold: Fold) -> list[str]:
    """Plain form with Latin words cut to their stems, so that applied is found as apply.

    >>> _searched(["Employees applied for VPN access."], "none")
    [' employe appli for vpn access ,']
    """
    return [_LATIN_WORD.sub(lambda match: _stem(match[0]), text) for text in plain(texts, fold)]


@lru_cache(maxsize=1 << 16)
def _stem(word: str) -> str:
    return str(_stemmer().stemWord(word))


@lru_cache(maxsize=1)
def _stemmer() -> Any:
    import Stemmer  # noqa: PLC0415 - loaded on use

    return Stemmer.Stemmer("english")


def _together(text: str, terms: Sequence[str]) -> bool:
    """Whether some clause of a text in plain form holds all terms."""
    return any(all(term in clause for term in terms) for clause in text.split(PAUSE))


def _shown(terms: Sequence[str]) -> str:
    return " ".join(term.strip() for term in terms)
