"""By what live records can be sliced: who served them, when, and what was asked."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.stats.slices import bucket
from ragnostic.text import language, normalise, words

_GIVEN = ("service", "model_version", "category")


def slice_values(batch: pa.RecordBatch, zone: str) -> dict[str, pa.Array]:
    """Columns of the scores that say where a record belongs; each as long as ``batch``.

    ``ts``; ``day``, ``hour`` (0 to 23) and ``weekday`` (1 Monday to 7 Sunday) in ``zone``;
    ``service``, ``model_version``, ``category`` as given; ``language``, of the query where none is
    given; ``tokens`` and ``length`` of the query (METRICS 10); ``query_key``, equal for queries
    that are the same once normalised. Null where unknown.

    >>> from datetime import UTC, datetime
    >>> when = datetime(2026, 3, 1, 16, tzinfo=UTC)
    >>> batch = pa.RecordBatch.from_pylist([{"query": "reset my VPN", "ts": when}])
    >>> found = slice_values(batch, "Asia/Shanghai")
    >>> [found[name][0].as_py() for name in ("day", "hour", "weekday", "language", "length")]
    ['2026-03-02', 0, 1, 'en', '≤3']
    """
    size = len(batch)
    given = {name: _texts(batch, name) for name in (*_GIVEN, "language")}
    asked = _of_queries(_texts(batch, "query"))
    spoken = pc.coalesce(given.pop("language"), asked.pop("language"))
    return {**_times(batch, size, zone), **given, "language": spoken, **asked}


def query_key(query: str) -> str:
    """16 hex digits that are equal for queries equal after normalising (BLAKE2b).

    >>> query_key("VPN  设置") == query_key("ｖｐｎ 设置"), len(query_key("x"))
    (True, 16)
    """
    text = normalise(query).encode("utf-8", "surrogatepass")
    return hashlib.blake2b(text, digest_size=8).hexdigest()


def _texts(batch: pa.RecordBatch, name: str) -> pa.Array:
    if name not in batch.schema.names:
        return pa.nulls(len(batch), pa.string())
    return batch[name].cast(pa.string())


def _times(batch: pa.RecordBatch, size: int, zone: str) -> Mapping[str, pa.Array]:
    kind = pa.timestamp("us", tz="UTC")
    ts = batch["ts"].cast(kind) if "ts" in batch.schema.names else pa.nulls(size, kind)
    local = ts.cast(pa.timestamp("us", tz=zone))
    weekday = pc.day_of_week(local, count_from_zero=False, week_start=1)
    return {
        "ts": ts,
        "day": pc.local_timestamp(local).cast(pa.date32(), safe=False).cast(pa.string()),
        "hour": pc.hour(local).cast(pa.int8()),
        "weekday": weekday.cast(pa.int8()),
    }


def _of_queries(queries: pa.Array) -> dict[str, pa.Array]:
    """What is told by the text alone, worked out once for each distinct query."""
    coded = queries.dictionary_encode()
    texts = coded.dictionary.to_pylist()
    lengths = [len(words(text)) for text in texts]
    columns: dict[str, list[Any]] = {
        "tokens": lengths,
        "length": [bucket(tokens) for tokens in lengths],
        "language": [language(text) for text in texts],
        "query_key": [query_key(text) for text in texts],
    }
    kinds = {"tokens": pa.int32()}
    values = {name: pa.array(v, kinds.get(name, pa.string())) for name, v in columns.items()}
    places = coded.indices.cast(pa.int64())
    if not texts:
        places = pa.array(np.zeros(len(queries), dtype=np.int64), mask=np.ones(len(queries), bool))
    return {name: column.take(places) for name, column in values.items()}
