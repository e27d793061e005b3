"""What a comparison says aloud, as data: a message and its values, so that a page can say it in
its own language. As a text it is English.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from gettext import NullTranslations
from typing import Self

from ragnostic.report.catalogue import N_

SAME = N_("base and candidate are the same: %(name)s")
BASE, CANDIDATE = N_("base"), N_("candidate")
REPEATED = N_(
    "the %(side)s is the mean of %(count)s runs, query by query; rankings are shown of the first"
)
MIXED = N_("the runs of the %(side)s do not share their settings: %(settings)s")
UNSHARED = N_("only one side measures %(metrics)s: not compared")
STAGES = N_("the stages differ: %(base)s of the base, %(candidate)s of the candidate")
EVALUATION_SET = N_("the evaluation set differs: %(base)s → %(candidate)s; %(shared)s")
ONE_SHARED, SHARED = N_("1 query is in both"), N_("%(count)s queries are in both")
ONE_QUERY, QUERIES = N_("%(path)s (1 query)"), N_("%(path)s (%(count)s queries)")
CORPUS = N_("the corpus, as it was chunked, differs: %(base)s → %(candidate)s")
CORPUS_SIZE = N_("%(path)s (%(parts)s)")
DOCUMENTS, CHUNKS = N_("%(count)s documents"), N_("%(count)s chunks")
ONE_CORPUS = N_("only %(name)s names its corpus: the other may have searched another one")
ONE_JUDGE = N_("only %(name)s names its judge: the other may have been judged otherwise")
TOP_K = N_("top_k differs: %(settings)s")
CHUNKER = N_("the chunker differs: %(settings)s")
EMBEDDER = N_("the embedder differs: %(settings)s")
RETRIEVER = N_("the retriever differs: %(settings)s")
RERANKER = N_("the reranker differs: %(settings)s")
OTHER_SETTINGS = N_("other settings differ: %(settings)s")
BIGGER_CHUNKS = N_(
    "at equal k bigger chunks always win: where chunkers differ, compare R(budget=2000)"
    " and token precision"
)
VERSION = N_("the version of ragnostic differs: %(base)s → %(candidate)s")
OTHER_VERSIONS = N_("other versions differ: %(settings)s")
MORE = N_("%(list)s and %(count)s more")


@dataclass(frozen=True, slots=True)
class Joined:
    """Parts that are read one after the other; ``mark`` (``", "`` or ``"; "``) is translated."""

    parts: tuple[str, ...]
    mark: str = ", "

    @classmethod
    def of(cls, parts: Iterable[str], mark: str = ", ") -> Self:
        """From any number of parts."""
        return cls(tuple(parts), mark)


Value = str | int | Joined


class Announcement(str):
    """A line in English that knows its message and values; a value may be one of these itself.

    >>> from ragnostic.report.catalogue import catalogue
    >>> line = Announcement.of(STAGES, base="retrieve", candidate="rerank")
    >>> line
    'the stages differ: retrieve of the base, rerank of the candidate'
    >>> in_words(line, catalogue("zh"))
    '比较的阶段不同：基准为 retrieve，候选为 rerank'
    """

    __slots__ = ("message", "values")
    message: str
    values: Mapping[str, Value]

    @classmethod
    def of(cls, message: str, **values: Value) -> Self:
        """A line from one of the messages of this module."""
        said = cls(_said(message, values, NullTranslations()))
        said.message, said.values = message, values
        return said


def in_words(line: str, words: NullTranslations) -> str:
    """A line in the language of a page; one that is no Announcement as it is."""
    return _said(line.message, line.values, words) if isinstance(line, Announcement) else line


def _said(message: str, values: Mapping[str, Value], words: NullTranslations) -> str:
    return words.gettext(message) % {name: _value(value, words) for name, value in values.items()}


def _value(value: Value, words: NullTranslations) -> str:
    if isinstance(value, Joined):
        return words.gettext(value.mark).join(in_words(part, words) for part in value.parts)
    return in_words(value, words) if isinstance(value, str) else str(value)
