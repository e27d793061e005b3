"""A run met with its qrels: records to score, and who is missing, unjudged or misspelt."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import Fault, counted
from ragnostic.evalset.near_matches import near_matches
from ragnostic.records import STAGE_TYPE
from ragnostic.scoring.lookup import IdIndex

_NAMED = 20
_KEPT = 10_000
"""Odd ids of a run that are kept to look for near matches; far more than a message names."""


@dataclass
class JudgedRun:
    """Joins the rankings of a run (``query_id`` and a stage) with judgments by query id.

    ``qrels``: table of ``query_id`` and ``judged``. :meth:`batches` can be read once;
    :attr:`faults` is complete afterwards.
    """

    qrels: pa.Table
    rankings: Iterable[pa.RecordBatch]
    stage: str = "retrieve"
    _unjudged: list[str] = field(default_factory=list)
    _missing: list[str] = field(default_factory=list)
    _odd_results: set[str] = field(default_factory=set)
    _shared: int = 0

    def batches(self) -> Iterator[pa.RecordBatch]:
        """Records of the run's queries, then of the judged queries it lacks."""
        known = self.qrels["query_id"].combine_chunks()
        places = IdIndex.of(known)
        judged = self.qrels["judged"].combine_chunks()
        seen = np.zeros(len(known), dtype=np.bool_)
        wanted = _odd_forms(_gold_ids(judged))
        following = 0
        for batch in self.rankings:
            found = places.find_next(batch["query_id"], following)
            following = int(found[-1]) + 1 if len(found) else following
            seen[found[found >= 0]] = True
            self._shared += int((found >= 0).sum())
            self._unjudged += batch["query_id"].filter(pa.array(found < 0)).to_pylist()
            index = pa.array(found, mask=found < 0)
            self._look_for_odd_ids(batch, wanted)
            yield _record_batch(
                batch["query_id"], batch[self.stage], judged.take(index), self.stage
            )
        absent = np.flatnonzero(~seen)
        if len(absent):
            ids = known.take(absent)
            self._missing = ids.to_pylist()
            nothing = pa.nulls(len(ids), STAGE_TYPE)
            yield _record_batch(ids, nothing, judged.take(absent), self.stage)

    def _look_for_odd_ids(self, batch: pa.RecordBatch, wanted: set[str]) -> None:
        if len(self._odd_results) >= _KEPT:
            return
        column = batch[self.stage]
        ids = column.flatten()[column.type.get_field_index("ids")].flatten().cast(pa.string())
        self._odd_results |= _odd(ids)
        if wanted:
            hits = ids.filter(pc.is_in(ids, value_set=pa.array(sorted(wanted))))
            self._odd_results.update(hits.unique().to_pylist())

    @property
    def faults(self) -> list[Fault]:
        """Missing and unjudged queries, and ids that differ only in spelling (METRICS 1.2, 1.6)."""
        found = []
        if not self._shared and (self._missing or self._unjudged):
            text = "no query of the run is judged: the query ids of run and qrels do not match"
            found.append(Fault("no_shared_query", text))
        if self._missing:
            number = counted(len(self._missing), "judged query is", "judged queries are")
            found.append(_listed("missing_query", f"{number} missing from the run", self._missing))
        if self._unjudged:
            number = counted(len(self._unjudged), "query of the run has", "queries of the run have")
            text = f"{number} no judgment (not scored)"
            found.append(_listed("unjudged_query", text, self._unjudged))
        return found + self._near_matches()

    def _near_matches(self) -> list[Fault]:
        judged = self.qrels["judged"].combine_chunks()
        ids = _gold_ids(judged)
        if not self._odd_results:
            return []
        forms = pa.array(
            sorted(self._odd_results | _odd_forms(pa.array(sorted(self._odd_results))))
        )
        near = ids.filter(pc.is_in(_plain(ids), value_set=_plain(forms))).unique().to_pylist()
        pairs = near_matches(near, self._odd_results)
        if not pairs:
            return []
        spelt = {gold for gold, _ in pairs}
        rows = np.repeat(np.arange(len(judged)), pc.list_value_length(_ids(judged)).fill_null(0))
        hits = np.isin(np.array(ids.to_pylist(), dtype=object), list(spelt))
        queries = self.qrels["query_id"].take(np.unique(rows[hits])).to_pylist()
        shown = "; ".join(f"gold {g!r}, result {r!r}" for g, r in pairs[:_NAMED])
        text = (
            f"{counted(len(pairs), 'gold id equals', 'gold ids equal')} a result only after"
            " trimming or Unicode normalisation"
            f" (not matched): {shown}; queries {', '.join(queries[:_NAMED])}"
        )
        return [Fault("near_match", text, ids=tuple(queries), count=len(pairs))]


def _record_batch(
    query_ids: pa.Array, ranking: pa.Array, judged: pa.Array, stage: str
) -> pa.RecordBatch:
    columns = {"record_id": query_ids, "query_id": query_ids, stage: ranking, "judged": judged}
    return pa.RecordBatch.from_pydict(columns)


def _listed(kind: str, text: str, queries: list[str]) -> Fault:
    more = f" and {len(queries) - _NAMED} more" if len(queries) > _NAMED else ""
    message = f"{text}: {', '.join(queries[:_NAMED])}{more}"
    return Fault(kind, message, ids=tuple(queries), count=len(queries))


def _ids(judged: pa.StructArray) -> pa.ListArray:
    return judged.flatten()[judged.type.get_field_index("ids")]


def _gold_ids(judged: pa.StructArray) -> pa.Array:
    return _ids(judged).flatten()


def _plain(ids: pa.Array) -> pa.Array:
    return pc.utf8_trim_whitespace(pc.utf8_normalize(ids, form="NFKC"))


def _odd(ids: pa.Array) -> set[str]:
    """Ids that trimming or NFKC would change."""
    # Plain ASCII without blanks cannot change, and most ids are that: look at the bytes first.
    if not ((_bytes(ids) - np.uint8(0x21)) > 0x7F - 0x21).any():
        return set()
    changed = pc.not_equal(ids, _plain(ids))
    return set(ids.filter(changed).unique().to_pylist())


def _bytes(ids: pa.Array) -> npt.NDArray[np.uint8]:
    """The bytes of all ids, one after the other, without a copy."""
    _, offsets, data = ids.buffers()
    if not len(ids) or data is None:
        return np.zeros(0, dtype=np.uint8)
    bounds = np.frombuffer(offsets, dtype=np.int32)[ids.offset : ids.offset + len(ids) + 1]
    return np.frombuffer(data, dtype=np.uint8)[bounds[0] : bounds[-1]]


def _odd_forms(ids: pa.Array) -> set[str]:
    """The plain forms of the ids that have another."""
    odd = _odd(ids)
    return set(_plain(pa.array(sorted(odd), pa.string())).to_pylist()) if odd else set()
