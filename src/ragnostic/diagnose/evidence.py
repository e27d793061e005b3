"""What is known of a missed item: the facts by which its cause is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Evidence:
    """Facts of one missed item; None is "not known", never "no".

    in_corpus, elsewhere
        Whether the gold's text is where the gold says; a document that holds it although not named.
    indexed, same_text, same_vector
        Whether the index holds a chunk of it, with the text that the corpus has now, and with the
        vector that this text is embedded to.
    halves
        The pieces into which the chunker cut the gold's span; empty where a chunk holds it whole.
    exact, sent_exact, uncut
        The best rank that exact search gives it: by the user's words, by what was really sent,
        and for the passage as if it had not been cut. 0 means: not ranked at all.
    depth, approximate
        How many candidates the retrieval stage was asked for; whether its index may miss what
        exact search finds.
    retrieved
        Its best rank in any retrieval stage, and in the last of them.
    candidate, final
        Its rank before and after the reranker; without one ``final`` is the candidate's.
    by_index, by_effort
        Whether the vector index itself returns it among so many candidates when it is asked again:
        as it is set, and with a larger effort.
    beyond_limit
        Whether what answers lies behind the text that the reranker read.
    given
        Whether it was given to the generator.
    """

    k: int
    depth: int
    approximate: bool = True
    in_corpus: bool | None = None
    elsewhere: str | None = None
    indexed: bool | None = None
    same_text: bool | None = None
    same_vector: bool | None = None
    halves: tuple[str, ...] = ()
    has_chunk: bool = True
    exact: int | None = None
    sent_exact: int | None = None
    uncut: int | None = None
    retrieved: int | None = None
    candidate: int | None = None
    final: int | None = None
    reranked: bool = False
    by_index: bool | None = None
    by_effort: bool | None = None
    beyond_limit: bool | None = None
    given: bool | None = None
    similarity: float | None = None
    overlap: float | None = None
    hints: tuple[str, ...] = ()

    def within(self, rank: int | None) -> bool | None:
        """Whether an exact rank is among the candidates; None where it is not known.

        >>> Evidence(k=5, depth=20).within(0), Evidence(k=5, depth=20).within(7)
        (False, True)
        """
        return None if rank is None else 0 < rank <= self.depth

    def as_json(self) -> dict[str, Any]:
        """What is known, without what is not."""
        found = {name: getattr(self, name) for name in self.__slots__}
        return {name: _plain(value) for name, value in found.items() if value not in (None, ())}


def _plain(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value
