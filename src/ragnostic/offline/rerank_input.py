"""What a reranker is given, and its answer as a ranking of all candidates it returned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from ragnostic.errors import RetrievalError, UsageError, counted
from ragnostic.ports import Candidate, Reranking
from ragnostic.records import Hits

Value = TypeVar("Value")

_NO_TEXT_HINT = (
    "name dataset.corpus, let the retriever return texts, or switch the stage off with "
    'rerank.use = "none"'
)


def candidates_of(hits: Hits, texts: Mapping[str, str]) -> list[Candidate]:
    """The hits as candidates, in their order; texts come from the corpus by id, else from the
    hits themselves, else are empty.

    >>> hits = Hits(ids=("a", "b"), texts=("shown a", "shown b"))
    >>> [candidate.text for candidate in candidates_of(hits, {"a": "stored a"})]
    ['stored a', 'shown b']
    """
    shown = hits.texts or (None,) * len(hits.ids)
    scores = hits.scores or (None,) * len(hits.ids)
    return [
        Candidate(id=id_ or "", text=texts.get(id_ or "") or text or "", score=score)
        for id_, text, score in zip(hits.ids, shown, scores, strict=True)
    ]


def check_texts(rankings: Sequence[Sequence[Candidate]]) -> int:
    """How many candidates have no text; raises UsageError where none has one."""
    total = sum(len(ranking) for ranking in rankings)
    empty = sum(not candidate.text for ranking in rankings for candidate in ranking)
    if total and empty == total:
        raise UsageError(
            "the reranker needs the texts of the candidates, and none is known",
            hint=_NO_TEXT_HINT,
        )
    return empty


def reranked(hits: Hits, answer: Reranking, *, top_n: int, took_ms: float | None) -> Hits:
    """The hits in the reranker's order; ``top_n`` is a mark and cuts nothing.

    A candidate that the reranker did not return is not in the ranking: a place for it would be
    invented. Raises RetrievalError for an order that is none.

    >>> reranked(Hits(ids=("a", "b", "c")), Reranking(order=(2, 0)), top_n=2, took_ms=1.0).ids
    ('c', 'a')
    """
    _check_order(answer, len(hits.ids))
    return Hits(
        ids=tuple(hits.ids[index] for index in answer.order),
        scores=answer.scores,
        doc_ids=_permuted(hits.doc_ids, answer.order),
        texts=_permuted(hits.texts, answer.order),
        top_k=hits.top_k,
        top_n=top_n,
        took_ms=took_ms if answer.took_ms is None else answer.took_ms,
        truncated=_permuted(answer.truncated, answer.order),
    )


def _check_order(answer: Reranking, count: int) -> None:
    for index in answer.order:
        if not 0 <= index < count:
            raise RetrievalError(f"the reranker named candidate {index} of {count} (from 0)")
    if len(set(answer.order)) != len(answer.order):
        raise RetrievalError("the reranker named a candidate twice")
    if answer.scores is not None and len(answer.scores) != len(answer.order):
        raise RetrievalError(
            f"the reranker gave {counted(len(answer.scores), 'score')} for "
            f"{counted(len(answer.order), 'candidate')}"
        )


def _permuted(values: tuple[Value, ...] | None, order: tuple[int, ...]) -> tuple[Value, ...] | None:
    return None if values is None else tuple(values[index] for index in order)
