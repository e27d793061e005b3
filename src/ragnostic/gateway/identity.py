"""Which record a row is: a record is one retrieval (METRICS 13)."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any


def record_id(row: Mapping[str, Any]) -> str:
    """The id given, else trace id and span id, else a hash of all that the row says.

    The hash is taken before redaction and cutting, so that rows which differ only in what is
    masked stay two, and the same row has the same id under other settings.

    >>> record_id({"trace_id": "t1", "span_id": "s1"}), record_id({"record_id": "r"})
    ('t1:s1', 'r')
    >>> record_id({"query": "q", "ts": "x"}) == record_id({"ts": "x", "query": "q"})
    True
    """
    if row.get("record_id"):
        return str(row["record_id"])
    if has_identity(row):
        return f"{row['trace_id']}:{row['span_id']}"
    content = {key: value for key, value in row.items() if key != "revision"}
    text = json.dumps(content, sort_keys=True, ensure_ascii=True, default=str)
    return content_id(text.encode())


def has_identity(row: Mapping[str, Any]) -> bool:
    """Whether a row says itself which record it is."""
    return bool(row.get("record_id") or (row.get("trace_id") and row.get("span_id")))


def content_id(content: bytes) -> str:
    """An id from what a row says: 32 hex digits of its SHA-256."""
    return hashlib.sha256(content).hexdigest()[:32]
