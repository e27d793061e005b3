"""An exchange that has passed, as a row for the intake. Runs off the request path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.decoding import decode
from ragnostic.gateway.mapping import Misses, RecordMap
from ragnostic.gateway.passed import Passed, PassedBody
from ragnostic.gateway.settings import GatewaySettings
from ragnostic.gateway.sse import STREAMS, Merged, merge
from ragnostic.gateway.trace_context import request_ids

FORM = "application/x-www-form-urlencoded"
_NESTED = {"stages", "labels"}


class Side(NamedTuple):
    """A body as a value: JSON, form fields, a merged stream, or text; None where unreadable."""

    value: Any
    merged: Merged | None = None
    fault: str | None = None


class RowBuilder:
    """Makes rows of exchanges by the configured expressions."""

    def __init__(
        self, settings: GatewaySettings, record_map: RecordMap, text_of: Callable[[Any], Any]
    ) -> None:
        self._settings = settings
        self._map = record_map
        self._text_of = text_of
        self.misses = Misses()
        """Of the expressions, over requests that succeeded."""
        self._sources = {
            "trace_id": settings.ids.trace,
            "session_id": settings.ids.session,
            "user_id": settings.ids.user,
        }

    def row(self, passed: Passed) -> dict[str, Any]:
        """The row of an exchange; what cannot be read is said in its labels."""
        headers = passed.request_headers
        request = self._side(passed.request, headers)
        response = self._side(passed.response, passed.response_headers)
        path, _, query = passed.target.partition("?")
        mapped, faults = mapped_row(
            self._map,
            {
                "request": request.value,
                "response": response.value,
                "params": dict(parse_qsl(query, keep_blank_values=True)),
                "headers": headers,
                "path": path,
                "method": passed.method,
                "status": passed.status,
            },
            self.misses if passed.outcome == "ok" else None,
        )
        if mapped.get("answer") is None and response.merged is not None:
            mapped["answer"] = response.merged.answer
        first_text_ms = _first_text_ms(passed, response)
        labels = {
            **passed.labels,
            **{name: text for name, text in _told(passed, first_text_ms) if text is not None},
            **faults,
            **{
                name: side.fault
                for name, side in (("request_fault", request), ("response_fault", response))
                if side.fault
            },
        }
        row: dict[str, Any] = {
            "ts": int(passed.ts * 1_000_000),
            "source": "gateway",
            "service": self._settings.store.service,
            "outcome": passed.outcome,
            "latency_ms": passed.latency_ms,
            **request_ids(headers, self._sources),
            **{name: value for name, value in mapped.items() if value is not None},
        }
        if passed.searched is not None:
            row.setdefault("searched", [passed.searched])
        if not (row.get("trace_id") and row.get("span_id")):
            # Nothing tells two equal requests apart; they are two all the same.
            row.setdefault("record_id", passed.id)
        if passed.outcome != "ok" and not row.get("query"):
            # It failed before it was known what was asked: a record all the same.
            row.setdefault("query_id", row.get("record_id") or row["trace_id"])
        given = row.get("labels")
        row["labels"] = {**labels, **given} if isinstance(given, Mapping) else labels
        row["capture"] = {
            "status": passed.status,
            "first_byte_ms": passed.response.arrival_ms(1),
            "first_token_ms": first_text_ms,
            "complete": response.merged.complete if response.merged else None,
            "request": dict(passed.request.facts),
            "response": dict(passed.response.facts),
        }
        return row

    def _side(self, copy: PassedBody, headers: Mapping[str, str]) -> Side:
        """A copied body as a value."""
        if not copy.facts["bytes"]:
            return Side(None)
        codings = [part.strip().lower() for part in headers.get("content-encoding", "").split(",")]
        decoded = decode(copy.body, codings, self._settings.capture.max_decoded_bytes)
        if not decoded.body:
            return Side(None, fault=decoded.fault)
        media_type = headers.get("content-type", "").partition(";")[0].strip().lower()
        cut = copy.truncated or decoded.fault is not None
        if media_type in STREAMS:
            done = self._settings.stream.done
            merged = merge(decoded.body, media_type, self._text_of, done, truncated=cut)
            value = {
                "events": merged.events,
                "answer": merged.answer,
                "complete": merged.complete,
            }
            return Side(value, merged, decoded.fault)
        if media_type == FORM:
            text = decoded.body.decode("utf-8", "replace")
            return Side(dict(parse_qsl(text, keep_blank_values=True)), fault=decoded.fault)
        try:
            return Side(json.loads(decoded.body))
        except (ValueError, RecursionError):
            reason = "longer than what is copied" if copy.truncated else "no JSON"
            return Side(None, fault=decoded.fault or reason)


def mapped_row(
    record_map: RecordMap, document: Any, misses: Misses | None = None
) -> tuple[dict[str, Any], dict[str, str]]:
    """What the expressions find, and as a label the first that failed.

    A failed request has another form than an answer: what one expression cannot read must not
    cost the query that another one finds.
    """
    try:
        return record_map.row(document, misses), {}
    except RowError as error:
        row: dict[str, Any] = {}
        for part in _parts(record_map):
            with suppress(RowError):
                found = part.row(document)
                inner = {key: {**row.get(key, {}), **found.pop(key)} for key in _NESTED & {*found}}
                row |= found | inner
        return row, {"map_fault": str(error)}


def _parts(record_map: RecordMap) -> Iterator[RecordMap]:
    """Each field, stage and label by itself."""
    nothing = replace(record_map, fields={}, stages={}, labels={})
    for name, find in record_map.fields.items():
        yield replace(nothing, fields={name: find})
    for name, members in record_map.stages.items():
        yield replace(nothing, stages={name: members})
    for name, find in record_map.labels.items():
        yield replace(nothing, labels={name: find})


def _told(passed: Passed, first_text_ms: float | None) -> list[tuple[str, str | None]]:
    return [
        ("status", None if passed.status is None else str(passed.status)),
        ("first_token_ms", None if first_text_ms is None else f"{first_text_ms:g}"),
        ("error", passed.error),
    ]


def _first_text_ms(passed: Passed, response: Side) -> float | None:
    """When the first piece of the answer was here; None for an answer that is no stream.

    A compressed stream has no place for the piece in what passed.
    """
    if response.merged is None or response.merged.first_text_end is None:
        return None
    if "content-encoding" in passed.response_headers:
        return None
    return passed.response.arrival_ms(response.merged.first_text_end)
