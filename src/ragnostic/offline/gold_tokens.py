"""Tokens of chunks, and how many of them lie inside gold: for ``R(budget=…)`` and
``TokenPrecision`` (METRICS 3).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

import numpy as np
import pyarrow as pa

from ragnostic.judges.corpus_index import CorpusIndex
from ragnostic.metrics import Metric
from ragnostic.offline.inputs import Inputs
from ragnostic.offline.records_table import Judgments
from ragnostic.records import Chunk, EvalQuery
from ragnostic.scoring import ChunkTokens
from ragnostic.scoring.lookup import IdIndex
from ragnostic.scoring.plan import wants
from ragnostic.text import count_tokens

Span = tuple[int, int]


def chunk_tokens(chunks: pa.Table, gold: Mapping[tuple[str, str], float]) -> ChunkTokens:
    """Token counts of the chunks table, NaN where unknown."""
    tokens = chunks["tokens"].cast(pa.float64()).fill_null(float("nan"))
    counts = np.asarray(tokens.to_numpy(), dtype=np.float64)
    return ChunkTokens(IdIndex.of(chunks["id"].combine_chunks()), counts, gold)


def gold_tokens(
    inputs: Inputs, judgments: Judgments, metrics: Sequence[Metric]
) -> dict[tuple[str, str], float]:
    """(query id, judged chunk id) → tokens of the chunk inside the gold spans of its document.

    Empty where no metric reads them; a chunk that is gold as a whole has no entry.
    """
    if inputs.corpus is None or not wants(tuple(metrics), "tokens"):
        return {}
    index = CorpusIndex(inputs.chunks, inputs.corpus.documents)
    chunks = {chunk.id: chunk for chunk in inputs.chunks}
    found: dict[tuple[str, str], float] = {}
    for query, judged in zip(inputs.queries, judgments, strict=True):
        spans = _spans(query, index)
        for id_ in dict.fromkeys((judged or {}).get("ids", ())):
            chunk = chunks.get(id_ or "")
            if chunk is not None and spans.get(chunk.doc_id):
                pieces = covered(spans[chunk.doc_id], (chunk.start, chunk.end))
                found[query.query_id, chunk.id] = _tokens(chunk, pieces)
    return found


def _spans(query: EvalQuery, index: CorpusIndex) -> dict[str, list[Span]]:
    places: dict[str, list[Span]] = defaultdict(list)
    for span in (alternative for item in query.gold for alternative in item):
        place = None
        if span.doc_id is not None and span.start is not None and span.end is not None:
            place = (span.start, span.end)
        elif span.doc_id is not None and span.quote is not None:
            place = index.locate(span.doc_id, span.quote).span
        if span.doc_id is not None and place is not None:
            places[span.doc_id].append(place)
    return places


def covered(spans: Iterable[Span], within: Span) -> Iterator[Span]:
    """The parts of ``within`` that the spans cover, in order, none twice.

    >>> list(covered([(8, 12), (0, 5), (3, 6)], (2, 10)))
    [(2, 6), (8, 10)]
    """
    begun, reached = within[0], within[0]
    for start, end in sorted(spans):
        if start > reached:
            if reached > begun:
                yield begun, reached
            begun = min(start, within[1])
        reached = max(reached, begun, min(end, within[1]))
    if reached > begun:
        yield begun, reached


def _tokens(chunk: Chunk, pieces: Iterable[Span]) -> float:
    texts = (chunk.text[start - chunk.start : end - chunk.start] for start, end in pieces)
    return float(sum(count_tokens(text) for text in texts))
