"""The first link of the pipeline that lost an item: causes in the order of the pipeline."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from ragnostic.diagnose.evidence import Evidence

Test = Callable[[Evidence], bool | None]


@dataclass(frozen=True, slots=True)
class Cause:
    """A way to lose an item. ``test`` says whether the evidence shows it: None is not knowable."""

    name: str
    test: Test


def _not_in_corpus(seen: Evidence) -> bool | None:
    return None if seen.in_corpus is None else not seen.in_corpus


def _not_indexed(seen: Evidence) -> bool | None:
    if seen.indexed is None:
        return None
    return not seen.indexed or seen.same_text is False or seen.same_vector is False


def _cut(seen: Evidence) -> bool | None:
    """Cut, and that is why: no half counts as the item; the whole would have been a candidate where
    the halves are none; or it would have come in the first k where they came lower.
    """
    if not seen.halves:
        return False
    if not seen.has_chunk:
        return True
    if seen.retrieved is not None:
        low = seen.candidate is not None and seen.candidate > seen.k
        return low and seen.uncut is not None and 0 < seen.uncut <= seen.k
    whole, parts = seen.within(seen.uncut), seen.within(seen.exact)
    return None if whole is None or parts is None else whole and not parts


def _unseen(seen: Evidence) -> bool | None:
    """Exact search with the user's words does not bring it among the candidates."""
    if seen.retrieved is not None:
        return False
    by_user = seen.within(seen.exact)
    return None if by_user is None else not by_user


def _rewritten(seen: Evidence) -> bool | None:
    """The user's words would have found it, what was sent does not."""
    if seen.retrieved is not None:
        return False
    by_sent = seen.within(seen.sent_exact)
    return None if by_sent is None else not by_sent


def _approximated(seen: Evidence) -> bool | None:
    """Exact search finds it, the index did not return it, nor does it when it is asked again."""
    if seen.retrieved is not None or not seen.approximate or seen.by_index:
        return False
    return seen.within(seen.sent_exact)


def _fused_away(seen: Evidence) -> bool | None:
    """One search has it, the list that was made of several has not."""
    if seen.retrieved is not None:
        return seen.candidate is None
    lost_by_index = seen.approximate and not seen.by_index
    return False if lost_by_index else seen.within(seen.sent_exact)


def _truncated(seen: Evidence) -> bool | None:
    if not seen.reranked or seen.candidate is None or _reached(seen):
        return False
    return seen.beyond_limit


def _demoted(seen: Evidence) -> bool:
    """The reranker put it lower than it came, and out of the first k."""
    if not seen.reranked or seen.candidate is None or _reached(seen):
        return False
    return seen.final is None or seen.final > seen.candidate


def _just_beyond(seen: Evidence) -> bool:
    return seen.final is not None and seen.k < seen.final <= 2 * seen.k


def _ranked_low(seen: Evidence) -> bool:
    return seen.final is not None and seen.final > 2 * seen.k


def _dropped(seen: Evidence) -> bool:
    return _reached(seen) and seen.given is False


def _reached(seen: Evidence) -> bool:
    return seen.final is not None and seen.final <= seen.k


NOT_IN_CORPUS, NOT_INDEXED, CUT = "not_in_corpus", "not_indexed", "cut_by_chunker"
REPRESENTATION, REWRITING = "representation", "rewriting"
APPROXIMATION, FUSION = "index_approximation", "fusion"
TRUNCATED, DEMOTED, CUT_OFF = "truncated", "rerank_demotion", "cut_off"
DROPPED, UNEXPLAINED = "dropped_before_generator", "unexplained"

CAUSES: tuple[Cause, ...] = (
    Cause(NOT_IN_CORPUS, _not_in_corpus),
    Cause(NOT_INDEXED, _not_indexed),
    Cause(CUT, _cut),
    Cause(REPRESENTATION, _unseen),
    Cause(REWRITING, _rewritten),
    Cause(APPROXIMATION, _approximated),
    Cause(FUSION, _fused_away),
    Cause(TRUNCATED, _truncated),
    Cause(DEMOTED, _demoted),
    Cause(CUT_OFF, _just_beyond),
    Cause(REPRESENTATION, _ranked_low),
    Cause(DROPPED, _dropped),
)
NAMES: tuple[str, ...] = (*dict.fromkeys(cause.name for cause in CAUSES), UNEXPLAINED)
"""In pipeline order; an item of one cause has passed all links before it."""


def first_cause(seen: Evidence) -> str:
    """The first cause that the evidence shows; "unexplained" where none is shown.

    A cause that cannot be tested does not stop the search, but where nothing tells the causes
    that need exact search apart, none of them is chosen.

    >>> first_cause(Evidence(k=5, depth=20, in_corpus=True, exact=40))
    'representation'
    >>> first_cause(Evidence(k=5, depth=20, exact=3, sent_exact=3))
    'index_approximation'
    >>> first_cause(Evidence(k=5, depth=20, retrieved=2, candidate=2, final=11, reranked=True))
    'rerank_demotion'
    >>> first_cause(Evidence(k=5, depth=20))
    'unexplained'
    """
    for cause in CAUSES:
        if cause.test(seen):
            return cause.name
    return UNEXPLAINED


def untested(seen: Evidence) -> list[str]:
    """The causes that nothing is known about, for an item that stays unexplained."""
    return list(dict.fromkeys(c.name for c in CAUSES if c.test(seen) is None))
