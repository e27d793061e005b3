"""How relevant chunks scatter: the spread of each record, many records at once (METRICS 7)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from ragnostic.metrics.inputs import Floats
from ragnostic.metrics.spread import SAMPLED_ABOVE, relevance_spread
from ragnostic.monitor.corpus_view import CorpusView
from ragnostic.scoring.judgments import Judgments
from ragnostic.scoring.rankings import flat
from ragnostic.scoring.strings import Indices

_CELLS = 1 << 21
"""Numbers of vectors that are looked at at once, to bound memory."""


@dataclass(frozen=True, slots=True)
class Spreads:
    """``value`` (n,): median pairwise cosine distance of a record's relevant chunks, NaN with
    fewer than two that have a vector. ``broken`` (n,): a vector without direction kept it away.
    """

    value: Floats
    broken: npt.NDArray[np.bool_]


def spreads(batch: pa.RecordBatch, judged: Judgments, corpus: CorpusView | None) -> Spreads:
    """The spread of each record of a batch; [0, 2]. ``judged``: those of its column ``judged``.

    Equal to :func:`ragnostic.metrics.spread.relevance_spread`, which works on the vectors of one
    query at a time; more than 64 relevant chunks go through it, for its sampling.
    """
    size = len(judged.judged)
    value, broken = np.full(size, np.nan), np.zeros(size, dtype=np.bool_)
    if corpus is None or not corpus.norms.size:
        return Spreads(value, broken)
    ids = flat(batch["judged"].flatten()[0])[0]
    rows, chunks = _relevant(corpus.ids.find(ids)[judged.positions], judged, len(corpus.norms))
    counts = np.bincount(rows, minlength=size)
    broken[rows[corpus.norms[chunks] == 0]] = True
    broken &= counts >= 2
    starts = np.cumsum(counts) - counts
    for count in np.unique(counts[(counts >= 2) & ~broken]).tolist():
        members = np.flatnonzero((counts == count) & ~broken)
        if count > SAMPLED_ABOVE:
            for row in members.tolist():
                place = chunks[starts[row] : starts[row] + count]
                value[row] = _sampled(str(batch["query_id"][row]), corpus.unit(place))
            continue
        for part in _parts(members, count, corpus):
            place = chunks[starts[part][:, None] + np.arange(count)]
            value[part] = _medians(corpus.unit(place))
    return Spreads(value, broken)


def _relevant(place: Indices, judged: Judgments, size: int) -> tuple[Indices, Indices]:
    """Row and chunk of each relevant chunk that is in the snapshot, once each, by row."""
    kept = (judged.grades >= 1) & (place >= 0)
    keys = np.unique(judged.rows[kept] * np.int64(size) + place[kept])
    return keys // size, keys % size


def _parts(members: Indices, count: int, corpus: CorpusView) -> Iterator[Indices]:
    vectors = corpus.snapshot.vectors
    width = 1 if vectors is None else vectors.shape[1]
    step = max(1, _CELLS // (count * width))
    for start in range(0, len(members), step):
        yield members[start : start + step]


def _medians(unit: Floats) -> Floats:
    """Median distance of the pairs of each row; ``unit``: (b, m, d)."""
    cosines = np.einsum("bmd,bnd->bmn", unit, unit)
    first, second = np.triu_indices(unit.shape[1], 1)
    return np.asarray(np.median(1 - cosines[:, first, second].clip(-1, 1), axis=1))


def _sampled(query_id: str, unit: Floats) -> float:
    columns, _ = relevance_spread({query_id: list(unit)})
    return float(columns.value[0])
