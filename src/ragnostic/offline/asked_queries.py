"""The queries of a configuration: one evaluation set, or several side by side."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import cast

from ragnostic.config import Configuration, SetSettings
from ragnostic.errors import DataError, Fault, counted
from ragnostic.evalset.loading import load_evaluation_set
from ragnostic.offline.bad_rows import check_share
from ragnostic.records import EvalQuery

_NAMED = 10


def load_queries(
    configuration: Configuration, faults: list[Fault]
) -> tuple[list[EvalQuery], dict[str, str]]:
    """All queries in order, and query id → evaluation set; that is empty where there is one set.

    Appends to ``faults``. Raises DataError where too many rows are bad, where a set holds no
    query, and where a query id is in two sets.
    """
    dataset = configuration.settings.dataset
    if not dataset.set:
        return _queries(configuration, dataset.path, dataset.split, faults), {}
    loaded = {one.name: _set_queries(configuration, one, faults) for one in dataset.set}
    queries = [query for members in loaded.values() for query in members]
    return queries, set_members(loaded)


def _set_queries(
    configuration: Configuration, one: SetSettings, faults: list[Fault]
) -> list[EvalQuery]:
    split = one.split or configuration.settings.dataset.split
    return _queries(configuration, one.path, split, faults)


def set_members(sets: Mapping[str, Sequence[EvalQuery]]) -> dict[str, str]:
    """Query id → name of the evaluation set it is in.

    Raises DataError naming both sets where an id is in two: a query that moved from one to the
    other would make them alike, and the gap between them small.

    >>> set_members({"frozen": [EvalQuery("a", "x")], "fresh": [EvalQuery("b", "y")]})
    {'a': 'frozen', 'b': 'fresh'}
    """
    found: dict[str, str] = {}
    twice: list[str] = []
    for name, queries in sets.items():
        for query in queries:
            before = found.setdefault(query.query_id, name)
            if before != name:
                twice.append(f"query id {query.query_id!r} is in set {before} and in set {name}")
    if twice:
        lines = "".join(f"\n    {line}" for line in twice[:_NAMED])
        more = f"\n    … and {len(twice) - _NAMED} more" if len(twice) > _NAMED else ""
        raise DataError(
            f"{counted(len(twice), 'query id')} in more than one evaluation set{lines}{more}",
            hint="ids are distinct over all sets; keep each query in one of them",
        )
    return found


def _queries(
    configuration: Configuration, written: Sequence[str], split: str, faults: list[Fault]
) -> list[EvalQuery]:
    dataset, limit = configuration.settings.dataset, configuration.settings.run.bad_rows
    paths = [configuration.path(path) for path in written]
    queries: dict[str, EvalQuery] = {}
    homes: dict[str, str] = {}
    for path in paths:
        own: list[Fault] = []
        loaded = load_evaluation_set(
            path,
            split=split,
            mapping=cast("Mapping[str, str] | None", dataset.mapping),
            graded=dataset.graded,
            faults=own,
        )
        for query in loaded:
            if query.query_id in queries:
                before = homes[query.query_id]
                message = f"query id {query.query_id!r} was given before, in {before}; left out"
                own.append(Fault("quarantined", message, (query.query_id,), path.name))
            queries.setdefault(query.query_id, query)
            homes.setdefault(query.query_id, path.name)
        check_share(path, own, good=len(loaded), limit=limit)
        faults += own
    if not queries:
        raise DataError(f"{paths[0]} holds no query")
    return list(queries.values())


def fingerprint_queries(queries: Sequence[EvalQuery]) -> str:
    """SHA-256 (hex) of queries and gold by content; their order and the file's layout are no part.

    >>> a, b = EvalQuery("1", "x"), EvalQuery("2", "y")
    >>> fingerprint_queries([a, b]) == fingerprint_queries([b, a])
    True
    """
    lines = sorted(
        json.dumps(asdict(query), sort_keys=True, ensure_ascii=False, default=dict)
        for query in queries
    )
    return hashlib.sha256("\n".join(lines).encode("utf-8", "surrogatepass")).hexdigest()
