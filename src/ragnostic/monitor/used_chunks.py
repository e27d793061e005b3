"""Useful chunks: relevant, and given to the generator (METRICS 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragnostic.metrics.inputs import Floats
from ragnostic.monitor.corpus_view import CorpusView
from ragnostic.scoring.judgments import Judgments, judgments
from ragnostic.scoring.matching import find, gain_matrix
from ragnostic.scoring.rankings import flat, rankings
from ragnostic.scoring.strings import Indices

_NO_LIMIT = np.iinfo(np.int32).max


@dataclass(frozen=True, slots=True)
class Contexts:
    """What generators were given: ``ids``, list<string>, null where it was not logged.

    ``known``: which of its values are chunks of the corpus snapshot, all False without one.
    """

    ids: pa.ListArray
    known: npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Used:
    """Of n rankings: relevant chunks in the top k that were given to the generator.

    ``count`` (n,): NaN where the query has no relevant judged chunk, so that nothing is known of
    use. ``logged`` (n,): whether it is known what was given; where it is not, all relevant chunks
    of the top k count. ``unresolved`` (n,): given ids that are neither in the ranking nor chunks
    of the snapshot. ``duplicates`` (n,): repeated ids of the ranking.
    """

    count: Floats
    logged: npt.NDArray[np.bool_]
    unresolved: Indices
    duplicates: Indices


def contexts(batch: pa.RecordBatch, corpus: CorpusView | None) -> Contexts:
    """The contexts of a batch, hashes of texts replaced by the chunks that have them."""
    if "context_ids" not in batch.schema.names:
        ids = pa.nulls(len(batch), pa.list_(pa.string()))
    else:
        ids = batch["context_ids"].cast(pa.list_(pa.string()))
    values = flat(ids)[0]
    if corpus is None:
        return Contexts(ids, np.zeros(len(values), dtype=np.bool_))
    known = corpus.ids.find(values) >= 0
    others = values.filter(pa.array(~known)).to_pylist()
    named = {name: corpus.by_hash(name) for name in others if name}
    if not any(named.values()):
        return Contexts(ids, known)
    resolved = [
        None if row is None else [id_ for name in row for id_ in named.get(name) or (name,)]
        for row in ids.to_pylist()
    ]
    ids = pa.array(resolved, pa.list_(pa.string()))
    return Contexts(ids, corpus.ids.find(flat(ids)[0]) >= 0)


def used_chunks(column: pa.StructArray, judged: Judgments, given: Contexts, k: int) -> Used:
    """Useful chunks in the top ``k`` of a stage; ``column`` (n,) holds its rankings."""
    members = dict(zip((f.name for f in column.type), column.flatten(), strict=True))
    limit = np.full(len(column), _NO_LIMIT, dtype=np.int64)
    if "top_k" in members:
        asked = members["top_k"].cast(pa.int64()).fill_null(_NO_LIMIT)
        limit = asked.to_numpy(zero_copy_only=False)
    ranked = rankings(members["ids"].cast(pa.list_(pa.string())), limit)
    gains = gain_matrix(ranked, judged)
    context = judgments(pa.StructArray.from_arrays([given.ids], ["ids"]))
    place = find(ranked, context)
    in_context = np.zeros(ranked.hashes.shape, dtype=np.bool_)
    in_context[context.rows[place >= 0], place[place >= 0]] = True
    resolved = (place >= 0) | given.known[context.positions]
    entries = np.bincount(context.rows, minlength=len(column))
    unresolved = np.bincount(context.rows[~resolved], minlength=len(column))
    logged = given.ids.is_valid().to_numpy(zero_copy_only=False)
    # A context of which no id is known to us tells nothing: it is as good as not logged.
    logged = logged & ((entries == 0) | (unresolved < entries))
    counted = (gains.matrix[:, :k] >= 1) & (in_context[:, :k] | ~logged[:, None])
    repeated = np.array([row for row, _ in ranked.duplicates], dtype=np.int64)
    return Used(
        np.where(gains.relevant_items(1) > 0, counted.sum(axis=1), np.nan),
        logged,
        unresolved,
        np.bincount(repeated, minlength=len(column)),
    )
