"""The most frequent queries of a store: those whose rankings matter most."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import datetime

import pyarrow.compute as pc

from ragnostic.monitor.slice_values import query_key
from ragnostic.records import EvalQuery
from ragnostic.store.lake import ParquetLake


def head_queries(
    lake: ParquetLake, start: datetime, end: datetime, count: int
) -> tuple[EvalQuery, ...]:
    """Up to ``count`` queries of the records with a time in [start, end), the most frequent first.

    Queries that are equal after normalising are one, whose id is their
    :func:`~ragnostic.monitor.slice_values.query_key` and whose text is the commonest wording. Of
    equally frequent ones the one with the smaller id comes first.
    """
    wordings = _wordings(lake, start, end)
    order = sorted(wordings, key=lambda key: (-wordings[key].total(), key))
    return tuple(_query(key, wordings[key]) for key in order[:count])


def named_queries(
    lake: ParquetLake, start: datetime, end: datetime, keys: Sequence[str]
) -> tuple[EvalQuery, ...]:
    """The same for queries whose ids are known, in their order; those that are gone are left out,
    as a user may have been forgotten.
    """
    wordings = _wordings(lake, start, end)
    return tuple(_query(key, wordings[key]) for key in keys if key in wordings)


def _wordings(lake: ParquetLake, start: datetime, end: datetime) -> dict[str, Counter[str]]:
    texts: Counter[str] = Counter()
    for table in lake.by_day("records", start=start, end=end, columns=["record_id", "query"]):
        asked = table["query"].drop_null()
        for row in pc.value_counts(asked).to_pylist():
            texts[row["values"]] += row["counts"]
    found: dict[str, Counter[str]] = {}
    for text, times in texts.items():
        if text.strip():
            found.setdefault(query_key(text), Counter())[text] = times
    return found


def _query(key: str, wordings: Counter[str]) -> EvalQuery:
    commonest = min(wordings, key=lambda text: (-wordings[text], text))
    return EvalQuery(key, commonest, frequency=wordings.total())
