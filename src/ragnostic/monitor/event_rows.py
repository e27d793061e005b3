"""The payload of an event as one record: known fields, stages, and the rest under labels."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple, NoReturn

import pyarrow as pa

from ragnostic.corpus.strict_json import RowError, kind_of
from ragnostic.evalset.record_values import instant, local_day
from ragnostic.records import BASE_FIELDS, STAGE_TYPE
from ragnostic.text import language

STAGES = "stages"
TEXTS = "texts"
REVISION = "revision"
DAY = "day"
OWN = (REVISION, DAY, TEXTS)
"""Columns that a record of the lake has beside those of its schema."""

_KNOWN = {*BASE_FIELDS, STAGES, *OWN}
_LISTS = tuple(name for name, kind in BASE_FIELDS.items() if pa.types.is_list(kind))
_STAGE_LISTS = tuple(member.name for member in STAGE_TYPE if pa.types.is_list(member.type))


class EventRow(NamedTuple):
    """A record before it is a row of a table: values by column, and its stages in order."""

    values: dict[str, Any]
    stages: Mapping[str, Mapping[str, Any]]


def event_row(payload: bytes, revision: int, zone: str) -> EventRow:
    """The record in a payload; raises RowError for what is none.

    What the record has no column for becomes a label, as JSON where it is no text. The texts of
    hits, which stages do not keep, become the column ``texts``: chunk id → text. The query id
    is the record's where the service gave none, the language is told from the query.

    >>> row = event_row(
    ...     b'{"record_id": "r1", "ts": "2026-03-01T16:00:00Z", "query": "q", "shop": 7,'
    ...     b' "stages": {"retrieve": {"ids": ["a"]}}}',
    ...     0,
    ...     "Asia/Shanghai",
    ... )
    >>> row.values["day"], row.values["labels"], list(row.stages)
    ('2026-03-02', [('shop', '7')], ['retrieve'])
    """
    row = _parsed(payload)
    stages = _stages(row)
    for name in ("record_id", "query"):
        if not isinstance(row.get(name), str):
            raise RowError(f"{name} must be a text, not {kind_of(row.get(name))}")
    for name in _LISTS:
        _check_list(name, row.get(name))
    moment = _moment(row, zone)
    values = {name: row.get(name) for name in BASE_FIELDS}
    values["ts"] = moment
    values[DAY] = local_day(moment, zone).isoformat()
    values[REVISION] = revision
    values["query_id"] = row.get("query_id") or row["record_id"]
    values["language"] = row.get("language") or language(row["query"])
    values["labels"] = _labels(row)
    values[TEXTS] = _texts(stages)
    return EventRow(values, stages)


def _parsed(payload: bytes) -> dict[str, Any]:
    try:
        row = json.loads(payload, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise RowError(f"not valid JSON: {error}") from error
    if not isinstance(row, dict):
        raise RowError(f"a JSON object was expected, not {kind_of(row)}")
    return row


def _refuse(name: str) -> NoReturn:
    raise ValueError(f"{name} is no JSON number")


def _moment(row: Mapping[str, Any], zone: str) -> datetime:
    if row.get("ts") is None:
        raise RowError("has no ts, so that it belongs to no day")
    return instant(row["ts"], zone)


def _stages(row: Mapping[str, Any]) -> dict[str, Mapping[str, Any]]:
    stages = row.get(STAGES) or {}
    if not isinstance(stages, dict):
        raise RowError(f"{STAGES} must be an object, not {kind_of(stages)}")
    for name, stage in stages.items():
        if name in _KNOWN:
            raise RowError(f"stage name {name!r} is a fixed column name of a record")
        if not isinstance(stage, dict):
            raise RowError(f"stage {name} must be an object, not {kind_of(stage)}")
        for member in (*_STAGE_LISTS, TEXTS):
            _check_list(f"{name}.{member}", stage.get(member))
        _check_parallel(name, stage)
    return stages


def _check_list(name: str, value: Any) -> None:
    """Arrow would take a text or an object for a list of its characters or keys."""
    if value is not None and not isinstance(value, list):
        raise RowError(f"{name} must be a list, not {kind_of(value)}")


def _check_parallel(name: str, stage: Mapping[str, Any]) -> None:
    ids = stage.get("ids") or []
    for member in (*_STAGE_LISTS, TEXTS):
        given = stage.get(member)
        if given is not None and len(given) != len(ids):
            raise RowError(f"{name}.{member} has {len(given)} values for {len(ids)} ids")


def _labels(row: Mapping[str, Any]) -> list[tuple[str, str]] | None:
    labels = row.get("labels") or {}
    if not isinstance(labels, dict):
        raise RowError(f"labels must be an object, not {kind_of(labels)}")
    unknown = {key: row[key] for key in row.keys() - _KNOWN}
    found = {**{key: unknown[key] for key in sorted(unknown)}, **labels}
    return [(key, _text(value)) for key, value in found.items() if value is not None] or None


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _texts(stages: Mapping[str, Mapping[str, Any]]) -> list[tuple[str, str]] | None:
    found: dict[str, str] = {}
    for stage in stages.values():
        texts = stage.get(TEXTS)
        if texts:
            pairs = zip(stage.get("ids") or (), texts, strict=True)
            found |= {key: text for key, text in pairs if isinstance(key, str) and text}
    return list(found.items()) or None
