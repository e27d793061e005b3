"""What the labels of a Progress mean, for somebody who watches a run for the first time."""

from __future__ import annotations

from dataclasses import dataclass

from ragnostic.errors import counted


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a job in words: what is done, to what, and what is worth knowing about it."""

    doing: str
    one: str = ""
    many: str = ""
    note: str = ""

    @property
    def title(self) -> str:
        """Beside a bar, which shows the number itself."""
        return f"{self.doing} {self.many}".strip()

    def line(self, total: int) -> str:
        """A line of a log.

        >>> PHASES["index"].line(615)
        'indexing 615 chunks'
        >>> PHASES["load"].line(1)
        'reading queries and documents'
        """
        what = f" {counted(total, self.one, self.many)}" if self.one else ""
        return f"{self.doing}{what}{self.note}"


PHASES = {
    "load": Phase("reading queries and documents"),
    "index": Phase("indexing", "chunk", "chunks"),
    "retrieve": Phase("retrieving for", "query", "queries"),
    "cut candidates": Phase("measuring", "candidate", "candidates"),
    "embed passage": Phase("embedding", "passage", "passages"),
    "embed and keep": Phase("embedding", "passage", "passages", " (kept for the next run)"),
    "embed query": Phase("embedding", "query", "queries"),
    "rerank": Phase("reranking for", "query", "queries"),
    "answer": Phase("asking for", "answer", "answers"),
    "read the index": Phase("reading", "row of the index", "rows of the index"),
    "search the index": Phase("searching at", "effort", "efforts"),
    "report": Phase("writing the report"),
    "sweep": Phase("measuring", "combination", "combinations"),
}
"""By the label that the work gives to its Progress."""


def phase(label: str) -> Phase:
    """The words for a label; an unknown one, of somebody's own implementation, as it is.

    >>> phase("warm up").line(3)
    'warm up: 3 steps'
    """
    return PHASES.get(label) or Phase(f"{label}:", "step", "steps")
