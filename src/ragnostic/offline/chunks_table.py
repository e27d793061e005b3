"""The chunks that occur in a run: what the report shows."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import pyarrow as pa

from ragnostic.offline.records_table import Judgments
from ragnostic.offline.stages import Stages
from ragnostic.records import CHUNK_SCHEMA, Chunk, Hits
from ragnostic.text import count_tokens


def chunks_table(
    stages: Stages, judgments: Judgments, chunks: Mapping[str, Chunk], *, store_text: bool
) -> pa.Table:
    """Chunks that a ranking or a judgment names, sorted by id.

    Of a service whose corpus we do not have, the texts are those that it showed; an id without
    any text is not in the table.
    """
    found: dict[str, dict[str, Any]] = {}
    for rankings in stages.values():
        for hits in rankings:
            for id_, doc_id, text in _shown(hits or Hits()):
                if id_ in chunks:
                    found[id_] = _row(chunks[id_])
                elif text is not None:
                    found.setdefault(id_, _shown_row(id_, doc_id, text))
    for id_ in _judged_ids(judgments):
        if id_ in chunks:
            found[id_] = _row(chunks[id_])
    rows = [found[id_] for id_ in sorted(found)]
    if not store_text:
        rows = [{**row, "text": None} for row in rows]
    return pa.Table.from_pylist(rows, schema=CHUNK_SCHEMA)


def _row(chunk: Chunk) -> dict[str, Any]:
    return {name: getattr(chunk, name) for name in CHUNK_SCHEMA.names}


def _shown_row(id_: str, doc_id: str | None, text: str) -> dict[str, Any]:
    tokens = count_tokens(text)
    return {"id": id_, "doc_id": doc_id, "start": None, "end": None, "tokens": tokens, "text": text}


def _shown(hits: Hits) -> Iterable[tuple[str, str | None, str | None]]:
    nothing: Sequence[None] = (None,) * len(hits.ids)
    for id_, doc_id, text in zip(
        hits.ids, hits.doc_ids or nothing, hits.texts or nothing, strict=True
    ):
        if id_:
            yield id_, doc_id, text


def _judged_ids(judgments: Judgments) -> Iterable[str]:
    for judged in judgments:
        yield from (id_ for id_ in (judged or {}).get("ids", ()) if id_)


def with_doc_ids(stages: Stages, chunks: Mapping[str, Chunk]) -> Stages:
    """The stages with document ids filled in from the corpus where a retriever gave none."""
    return {
        name: tuple(None if hits is None else _with_doc_ids(hits, chunks) for hits in rankings)
        for name, rankings in stages.items()
    }


def _with_doc_ids(hits: Hits, chunks: Mapping[str, Chunk]) -> Hits:
    if hits.doc_ids is not None or not any(id_ in chunks for id_ in hits.ids):
        return hits
    known = [chunks.get(id_ or "") for id_ in hits.ids]
    return replace(hits, doc_ids=tuple(chunk.doc_id if chunk else None for chunk in known))
