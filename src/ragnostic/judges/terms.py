"""Which chunks hold a word, a name or a number."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ragnostic.judges.span_index import SpanIndex

Chunks = npt.NDArray[np.int32]
_KEPT = 1 << 25  # chunk numbers that are remembered


@dataclass(slots=True)
class Terms:
    """Which chunks hold a term in plain form; the answers are remembered.

    >>> terms = Terms(SpanIndex.build(["年假为 5 天", "病假为 5 天"]))
    >>> terms.load(["年假", " 5 天"])
    >>> terms["年假"].tolist(), terms[" 5 天"].tolist()
    ([0], [0, 1])
    """

    index: SpanIndex
    known: dict[str, Chunks] = field(default_factory=dict)
    size: int = 0

    def load(self, terms: Iterable[str]) -> None:
        """Look up the terms that are not known yet, together. When the memory is full all others
        are forgotten: what is asked for at a time must be loaded in one call.
        """
        if self.size > _KEPT:
            self.known.clear()
            self.size = 0
        new = list(dict.fromkeys(term for term in terms if term not in self.known))
        term, chunk = self.index.holders(new)
        ends = np.searchsorted(term, np.arange(len(new)), side="right").tolist()
        start = 0
        for text, end in zip(new, ends, strict=True):
            self.known[text] = chunk[start:end].astype(np.int32)
            start = end
        self.size += len(chunk) + len(new)

    def __getitem__(self, term: str) -> Chunks:
        """The chunks that hold a loaded term, in order."""
        return self.known[term]

    def count(self, term: str) -> int:
        """How many chunks hold a loaded term."""
        return len(self.known[term])

    def all_of(self, terms: Sequence[str]) -> Chunks:
        """The chunks that hold all of some loaded terms, at least one."""
        fewest, *others = sorted((self.known[term] for term in terms), key=len)
        for other in others:
            if len(fewest):
                at = other.searchsorted(fewest)
                fewest = fewest[other[np.minimum(at, len(other) - 1)] == fewest]
        return fewest
