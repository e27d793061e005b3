"""The documents that a span names, with the best ids that it gives (DESIGN 2).

A chunk's id is its business key; where a service logs none, its metadata is searched, and at last
the text stands for itself. What names the source document is no id of a chunk.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ragnostic.gateway.json_words import members
from ragnostic.gateway.span_reading import SpanHit, text_id
from ragnostic.gateway.span_values import opened_json

_CHUNK_NAMES = ("chunk_id", "chunkId", "node_id", "segment_id", "x-amz-bedrock-kb-chunk-id")
_OUTER_CHUNK_NAMES = (*_CHUNK_NAMES, "id", "_id")
_SOURCE_NAMES = (
    "x-amz-bedrock-kb-source-uri",
    *("doc_id", "docId", "document_id", "documentId", "ref_doc_id"),
    *("source_id", "source_uri", "source", "uri", "url", "file_path", "file_name"),
)
_NEAR = 2


class Named(NamedTuple):
    """A document as a span names it, whatever the convention."""

    id: Any = None
    text: Any = None
    score: Any = None
    metadata: Any = None


def span_hits(named: Sequence[Named]) -> tuple[SpanHit, ...]:
    """The hits, in order; an id that is not given is looked for in the metadata, else it is made
    of the text. A key of the metadata that different texts share names their source.

    >>> bedrock = '{"metadata": {"x-amz-bedrock-kb-source-uri": "s3://a.pdf"}}'
    >>> hit = span_hits([Named(None, "Five days.", 0.5, bedrock)])[0]
    >>> hit.id, hit.doc_id, hit.made
    ('6f83eb7c23a7c449', 's3://a.pdf', True)
    >>> span_hits([Named(7, None, "0.5")])
    (SpanHit(id='7', doc_id=None, text=None, score=0.5, made=False),)
    """
    opened = [_opened(one.metadata) for one in named]
    keys = [_chunk_key(metadata) for metadata in opened]
    texts: dict[str | None, set[Any]] = {}
    for one, key in zip(named, keys, strict=True):
        texts.setdefault(key, set()).add(str(one.text))
    shared = {key for key, of_key in texts.items() if len(of_key) > 1}
    return tuple(
        _hit(one, _text(next(members(metadata, _SOURCE_NAMES), None)), key, is_shared=key in shared)
        for one, metadata, key in zip(named, opened, keys, strict=True)
    )


def _hit(named: Named, source: str | None, key: str | None, *, is_shared: bool) -> SpanHit:
    given, text = _text(named.id), named.text if isinstance(named.text, str) else None
    if is_shared:
        source, key = source or key, None
    identity = given or key
    made = identity is None and bool(text and text.strip())
    if made and text is not None:
        identity = text_id(text)
    return SpanHit(identity or source, source, text, _score(named.score), made)


def _opened(metadata: Any) -> Any:
    return opened_json(metadata) if isinstance(metadata, str) else metadata


def _chunk_key(metadata: Any) -> str | None:
    """Not every ``id`` inside is the chunk's: a place of storage has one too."""
    if not isinstance(metadata, Mapping):
        return None
    outer = [_text(metadata.get(name)) for name in _OUTER_CHUNK_NAMES]
    inner = [_text(value) for value in members(metadata, _CHUNK_NAMES, _NEAR)]
    return next((key for key in (*outer, *inner) if key), None)


def _text(value: Any) -> str | None:
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    return value if isinstance(value, str) and value.strip() else None


def _score(value: Any) -> float | None:
    try:
        number = float(value) if not isinstance(value, bool) else math.nan
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None
