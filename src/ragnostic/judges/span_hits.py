"""The chunks that hold a span, as it is or within a few edits (METRICS 12)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ragnostic.judges.edited_spans import edited
from ragnostic.judges.span_index import Encoded, Ints, SpanIndex, encode

SpanHits = tuple[tuple[int, int], ...]
"""(chunk, edits) of one span, in the order of the chunks."""


def span_hits(
    index: SpanIndex, spans: Sequence[str], *, edits: int, min_edited: int, most: int
) -> list[SpanHits | None]:
    """Per distinct plain span the chunks that hold it; None for boilerplate, which more than
    ``most`` chunks hold. Only spans of ``min_edited`` characters or more may have edits.

    >>> index = SpanIndex.build(["退货期限为 5 天,运费由卖家承担", "年假为 5 天"])
    >>> span_hits(index, ["年假为 5 天", "假为 15 天"], edits=2, min_edited=20, most=1)
    [((1, 0),), ()]
    """
    encoded = encode(spans)
    span, chunk = index.distinct(*index.find(encoded, encoded.first, encoded.last))
    is_common = np.bincount(span, minlength=len(spans)) > most
    rare = ~is_common[span]
    exact = list(zip(span[rare].tolist(), chunk[rare].tolist(), strict=True))
    hits: dict[int, list[tuple[int, int]]] = {}
    for number, holder in exact:
        hits.setdefault(number, []).append((holder, 0))
    if edits:
        tried = np.flatnonzero((_sizes(encoded) >= min_edited) & ~is_common)
        for number, holder, count in edited(index, encoded, tried, set(exact), edits):
            hits.setdefault(number, []).append((holder, count))
    found: list[SpanHits | None] = [()] * len(spans)
    for number, held in hits.items():
        found[number] = None if len(held) > most else tuple(sorted(held))
    for number in np.flatnonzero(is_common).tolist():
        found[number] = None
    return found


def _sizes(texts: Encoded) -> Ints:
    """Characters of each text, without its spaces."""
    is_space = np.frombuffer(texts.data, dtype=np.uint8) == ord(" ")
    spaces = np.concatenate(([0], np.cumsum(is_space)))
    inside: Ints = spaces[texts.lead[texts.last]] - spaces[texts.lead[texts.first]]
    sizes: Ints = texts.last - texts.first - inside
    return sizes
