"""The five chunkers. Each keeps offsets: ``document.text[chunk.start:chunk.end] == chunk.text``.

Sizes are in tokens by :func:`ragnostic.text.count_tokens`. Why these are our own: see
docs/decisions/006-own-chunkers.md.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from ragnostic.corpus.breaks import Breaks, Span, outside
from ragnostic.corpus.chunking import make_chunks
from ragnostic.corpus.markdown import Section, outline
from ragnostic.corpus.splitting import Policy, split
from ragnostic.ports import Resources
from ragnostic.records import Chunk, Document
from ragnostic.text import count_tokens


class WholeOptions(BaseModel):
    """``none`` has no options."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class SizeOptions(BaseModel):
    """Options of every chunker that cuts: size of a chunk and of what it repeats, in tokens."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_tokens: int = Field(
        default=400, ge=1, le=100_000, description="Largest chunk, counted without a model."
    )
    overlap: int = Field(
        default=40,
        ge=0,
        le=100_000,
        description="Tokens that a chunk repeats of the one before it.",
    )

    @model_validator(mode="after")
    def _overlap_leaves_room(self) -> Self:
        if self.overlap >= self.max_tokens:
            raise ValueError(
                f"overlap ({self.overlap}) must be smaller than max_tokens ({self.max_tokens})"
            )
        return self


class WholeDocument:
    """One chunk a document, under the document's own id (a business key).

    >>> WholeDocument().chunk(Document("d1", "hi", title="Greeting"))[0].searchable
    'Greeting hi'
    """

    Options: ClassVar[type[BaseModel]] = WholeOptions

    @classmethod
    def build(cls, options: Any, resources: Resources) -> Self:
        """A chunker; needs neither options nor resources."""
        del options, resources
        return cls()

    def chunk(self, document: Document) -> list[Chunk]:
        """The document as it is, even where its text is blank."""
        text = document.text
        key = document.doc_id
        return [Chunk(key, key, 0, len(text), count_tokens(text), text, document.title)]


class _SizedChunker(ABC):
    """What the four cutting chunkers share; the context of a chunk is the document's title."""

    Options: ClassVar[type[BaseModel]] = SizeOptions

    def __init__(self, max_tokens: int = 400, overlap: int = 40) -> None:
        self.size = SizeOptions(max_tokens=max_tokens, overlap=overlap)

    @classmethod
    def build(cls, options: Any, resources: Resources) -> Self:
        """A chunker with these :class:`SizeOptions`; needs no resources."""
        del resources
        return cls(options.max_tokens, options.overlap)

    def chunk(self, document: Document) -> list[Chunk]:
        """Chunks in order, covering all but white space; none for a blank document."""
        spans = self._spans(document.text)
        return make_chunks(document, spans, [document.title] * len(spans))

    def _spans(self, text: str, kept_whole: Sequence[Span] = ()) -> list[Span]:
        breaks = Breaks(text)
        if 0 < len(breaks.tokens) <= self.size.max_tokens:
            return [(breaks.tokens[0], len(text.rstrip()))]
        policy = self._policy(breaks, kept_whole)
        return split(breaks, policy, self.size.max_tokens, self.size.overlap)

    @abstractmethod
    def _policy(self, breaks: Breaks, kept_whole: Sequence[Span]) -> Policy: ...


class FixedChunker(_SizedChunker):
    """As many whole words as fit, whatever they say.

    >>> chunks = FixedChunker(max_tokens=4, overlap=0).chunk(Document("d", "一二三。四五。"))
    >>> [chunk.text for chunk in chunks]
    ['一二三。', '四五。']
    """

    def _policy(self, breaks: Breaks, _: Sequence[Span]) -> Policy:
        return Policy([breaks.words], [], [breaks.words])


class RecursiveChunker(_SizedChunker):
    r"""Cut at the coarsest break that leaves a chunk half full: paragraph, line, sentence, clause,
    word.

    >>> chunks = RecursiveChunker(max_tokens=6, overlap=0).chunk(
    ...     Document("d", "一二三。\n\n四五，六。")
    ... )
    >>> [chunk.text for chunk in chunks]
    ['一二三。', '四五，六。']
    """

    def _policy(self, breaks: Breaks, _: Sequence[Span]) -> Policy:
        levels = (breaks.paragraphs, breaks.lines, breaks.sentences, breaks.clauses, breaks.words)
        overlap_at = (breaks.sentences, breaks.clauses, breaks.words)
        return Policy(levels, [], overlap_at)


class SentenceChunker(_SizedChunker):
    """As many whole sentences as fit; only a sentence that is too long alone is cut.

    >>> chunks = SentenceChunker(max_tokens=9, overlap=4).chunk(
    ...     Document("d", "一二三。四五六。七八。")
    ... )
    >>> [chunk.text for chunk in chunks]
    ['一二三。四五六。', '四五六。七八。']
    """

    def _policy(self, breaks: Breaks, _: Sequence[Span]) -> Policy:
        return Policy(
            preferred=[breaks.sentences],
            last_resort=[breaks.clauses, breaks.words],
            overlap_at=[breaks.sentences, breaks.clauses, breaks.words],
            fill=0.0,
        )


class MarkdownChunker(_SizedChunker):
    r"""Section by section, with the title and the path of headings as context.

    A heading without a body goes with the section after it. Fenced code and table rows are cut
    only where they alone are longer than a chunk.

    >>> chunks = MarkdownChunker().chunk(Document("d", "# Leave\n## Sick\nCall us.", "Handbook"))
    >>> chunks[0].context, chunks[0].text
    ('Handbook > Leave > Sick', '# Leave\n## Sick\nCall us.')
    """

    def chunk(self, document: Document) -> list[Chunk]:
        """Chunks in order, covering all but white space; none for a blank document."""
        plan = outline(document.text)
        spans: list[Span] = []
        contexts: list[str] = []
        for start, section in _joined(plan.sections):
            pieces = self._cut(document.text[start : section.end], start, plan.kept_whole)
            spans += [(start + left, start + right) for left, right in pieces]
            contexts += [_context(document.title, section.path)] * len(pieces)
        return make_chunks(document, spans, contexts)

    def _cut(self, text: str, offset: int, kept_whole: Sequence[Span]) -> list[Span]:
        first = bisect_left(kept_whole, (offset, 0))
        last = bisect_left(kept_whole, (offset + len(text), 0))
        local = [(start - offset, end - offset) for start, end in kept_whole[first:last]]
        return self._spans(text, local)

    def _policy(self, breaks: Breaks, kept_whole: Sequence[Span]) -> Policy:
        levels = (breaks.paragraphs, breaks.lines, breaks.sentences, breaks.clauses, breaks.words)
        paragraphs, lines, sentences, clauses, words = (outside(x, kept_whole) for x in levels)
        return Policy(
            preferred=[paragraphs, lines, sentences, clauses, words],
            last_resort=[breaks.lines, breaks.words],
            overlap_at=[sentences, lines, clauses, words],
        )


def _joined(sections: Sequence[Section]) -> Iterator[tuple[int, Section]]:
    """Each section with its start; headings without a body start the first section below them."""
    start: int | None = None
    for section, following in zip_longest(sections, sections[1:]):
        if start is None:
            start = section.start
        depth = len(section.path)
        is_parent = following is not None and following.path[:depth] == section.path
        if section.has_body or not is_parent:
            yield start, section
            start = None


def _context(title: str, path: tuple[str, ...]) -> str:
    """Title and headings; a first heading that is the title is not said twice.

    >>> _context("Leave", ("Leave", "Sick"))
    'Leave > Sick'
    """
    parts = path if not title or path[:1] == (title,) else (title, *path)
    return " > ".join(parts)
