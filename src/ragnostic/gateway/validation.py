"""A row that came in, checked: what a record may hold, and of which kind (METRICS 1.6, 6, 13)."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from datetime import datetime
from numbers import Integral
from typing import Any, NamedTuple

from ragnostic.corpus.strict_json import RowError
from ragnostic.evalset.record_values import instant
from ragnostic.gateway.durations import read_durations
from ragnostic.gateway.stage_rows import (
    is_number,
    read_id,
    read_ids,
    read_number,
    read_stage,
    read_whole,
    shown,
)
from ragnostic.gateway.texts import MAX_DEPTH, is_deeper
from ragnostic.records import BASE_FIELDS

MAX_STAGES = 32
OUTCOMES = ("ok", "failed", "client_abort", "rejected")
IDS = ("record_id", "trace_id", "span_id", "query_id", "session_id", "user_id")
OWN = ("stages", "revision", "capture", "started", "ended")
"""Keys of a row that are no column of a record."""

_TEXTS = (
    "service",
    "model_version",
    "category",
    "language",
    "source",
    "group",
    "query",
    "answer",
    "judge",
)
_TELLING = ("query", "query_id", "answer")


class Checked(NamedTuple):
    """A sound row, and the kinds of faults in it that did not cost it its place."""

    row: dict[str, Any]
    faults: tuple[str, ...]


def check_row(row: Mapping[str, Any], zone: str = "UTC") -> Checked:
    """The row in its one form: stages under ``stages``, unknown keys under ``labels``, ``ts`` as
    ISO text in UTC, no nulls. Times without an offset are in ``zone``.

    Raises RowError for what cannot be a record, with the reason. Null ids, and durations that
    are negative or missing, are faults and cost nothing but themselves.

    >>> checked = check_row({"query": "q", "ts": 1767225600, "retrieve": {"ids": ["a", None]}})
    >>> checked.row["ts"], checked.row["stages"], checked.faults
    ('2026-01-01T00:00:00+00:00', {'retrieve': {'ids': ['a', None]}}, ('null_id', 'no_duration'))
    """
    if not isinstance(row, Mapping):
        raise RowError(f"a row must be an object, not a {type(row).__name__}")
    given = {str(key): value for key, value in row.items() if value is not None}
    found = {name: read(name, given[name]) for name, read in _READERS.items() if name in given}
    stages, labels = _split_stages(given, found.pop("labels", {}))
    if any(is_deeper(one) for one in (labels, found.get("capture"), found.get("judged"))):
        raise RowError(f"nested more than {MAX_DEPTH} deep")
    _check_telling(found, stages)
    found["ts"] = _moment(given, zone)
    faults = read_durations(found, stages, given, zone)
    if any(one is None or one == "" for stage in stages.values() for one in stage["ids"]):
        faults.insert(0, "null_id")
    if stages:
        found["stages"] = stages
    if labels:
        found["labels"] = labels
    return Checked(found, tuple(faults))


def _split_stages(
    given: Mapping[str, Any], labels: dict[str, Any]
) -> tuple[dict[str, dict[str, Any]], dict[str, Any]]:
    """Stages in pipeline order, and labels with all that has no place of its own."""
    inner = given.get("stages", {})
    if not isinstance(inner, Mapping):
        raise RowError(f"stages must be an object, not {shown(inner)}")
    named = {str(name): stage for name, stage in inner.items() if stage is not None}
    labels = dict(labels)
    for key, value in given.items():
        if key in BASE_FIELDS or key in OWN:
            continue
        if isinstance(value, Mapping) and ("ids" in value or value.get("status") == "failed"):
            named.setdefault(key, value)
        else:
            labels.setdefault(key, value)
    if len(named) > MAX_STAGES:
        raise RowError(f"{len(named)} stages, more than {MAX_STAGES}")
    stages: dict[str, dict[str, Any]] = {}
    for name, stage in named.items():
        if name in BASE_FIELDS or name in OWN:
            raise RowError(f"stage name {name!r} is a fixed name of a record")
        stages[name], rest = read_stage(name, stage)
        labels |= {f"{name}.{key}": value for key, value in rest.items() if value is not None}
    return stages, labels


def _check_telling(found: Mapping[str, Any], stages: Mapping[str, Any]) -> None:
    if not stages and not any(found.get(name) for name in _TELLING):
        raise RowError("is no record: it has neither a query nor a stage with ids")


def _moment(given: Mapping[str, Any], zone: str) -> str:
    value = given.get("ts", given.get("started"))
    if value is None:
        raise RowError("has no ts, so that it belongs to no day")
    return moment_text(value, zone)


def moment_text(value: Any, zone: str) -> str:
    """A time as ISO text in UTC; raises RowError."""
    if isinstance(value, datetime):
        value = value.isoformat()
    elif is_number(value) and not isinstance(value, int | float):  # numpy's, or a decimal
        value = int(value) if isinstance(value, Integral) else float(value)
    return instant(value, zone).isoformat()


def _text(name: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if is_number(value):
        read_number(name, value)
        return str(value)
    raise RowError(f"{name} must be text, not {shown(value)}")


def _id(name: str, value: Any) -> str | None:
    return read_id(name, value) or None


def _texts(name: str, value: Any) -> list[str]:
    values = [value] if isinstance(value, str) else value
    if not isinstance(values, list | tuple) or not all(isinstance(one, str) for one in values):
        raise RowError(f"{name} must be a list of texts, not {shown(value)}")
    return list(values)


def _json_text(_: str, value: Any) -> str:
    if isinstance(value, str):
        return value
    if is_deeper(value):
        raise RowError(f"nested more than {MAX_DEPTH} deep")
    return json.dumps(value, ensure_ascii=False, default=str)


def _outcome(_: str, value: Any) -> str:
    if value not in OUTCOMES:
        raise RowError(f"outcome must be one of {', '.join(OUTCOMES)}, not {shown(value)}")
    return str(value)


def _object(name: str, value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise RowError(f"{name} must be an object, not {shown(value)}")
    return {str(key): inner for key, inner in value.items() if inner is not None}


def _boolean(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise RowError(f"{name} must be true or false, not {shown(value)}")
    return value


def _at_least_one(name: str, value: Any) -> int:
    return read_whole(name, value, 1)


_READERS: dict[str, Callable[[str, Any], Any]] = {
    **dict.fromkeys(IDS, _id),
    **dict.fromkeys(_TEXTS, _text),
    "searched": _texts,
    "context_ids": read_ids,
    "feedback": _json_text,
    "outcome": _outcome,
    "latency_ms": read_number,
    "fanout": _at_least_one,
    "frequency": read_whole,
    "revision": read_whole,
    "answerable": _boolean,
    "labels": _object,
    "capture": _object,
    "judged": _object,
}
