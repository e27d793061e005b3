"""A sound row made fit to be kept: redacted, and its long texts cut."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from ragnostic.gateway.redaction import Redactor, is_protected
from ragnostic.gateway.texts import MARGIN, Path, Visit, cut, rewrite

MAX_TEXT_BYTES = 64 * 2**10
"""Longest text of a record, in bytes of UTF-8."""


def clean(
    row: Mapping[str, Any], redactor: Redactor | None, max_text: int = MAX_TEXT_BYTES
) -> tuple[dict[str, Any], bool]:
    """The row redacted, its texts of at most ``max_text`` bytes, its labels text; and whether
    any text was cut.

    What was cut stands in ``capture``: ``truncated``, and under ``cut`` by its place the true
    length in bytes and the SHA-256 of the whole. Ids are neither cut nor masked.

    >>> row, was_cut = clean({"query": "q", "answer": "汉" * 10}, None, max_text=8)
    >>> row["answer"], row["capture"]["cut"]["answer"]["bytes"], was_cut
    ('汉汉', 30, True)
    """
    cuts: dict[str, dict[str, Any]] = {}

    def visit(path: Path, text: str) -> str:
        if is_protected(path) or path == ("ts",):
            return text
        if not path:  # the name of a member
            return text if redactor is None else redactor.name(text)
        short, is_whole = _kept(path, text, redactor, max_text)
        if not is_whole:
            encoded = text.encode("utf-8", "surrogatepass")
            digest = hashlib.sha256(encoded).hexdigest()
            cuts[".".join(path)] = {"bytes": len(encoded), "sha256": digest}
        return short

    found: dict[str, Any] = rewrite({key: row[key] for key in row if key != "stages"}, visit)
    if "stages" in row:
        found["stages"] = {
            name: {**stage, **_stage_texts(name, stage, visit)}
            for name, stage in row["stages"].items()
        }
    if found.get("user_id") is not None and redactor is not None:
        found["user_id"] = redactor.user(found["user_id"])
    if "labels" in found:
        found["labels"] = {key: label(value) for key, value in found["labels"].items()}
    if cuts:
        capture = found.get("capture", {})
        earlier = capture.get("cut")
        known = earlier if isinstance(earlier, dict) else {}
        found["capture"] = {**capture, "truncated": True, "cut": {**known, **cuts}}
    return found, bool(cuts)


def _stage_texts(name: str, stage: Mapping[str, Any], visit: Visit) -> dict[str, Any]:
    """The members of a checked stage that hold texts; all others are ids, numbers and marks."""
    members = {key: stage[key] for key in ("texts", "error") if key in stage}
    found: dict[str, Any] = rewrite(members, visit, ("stages", name))
    return found


def _kept(path: Path, text: str, redactor: Redactor | None, max_text: int) -> tuple[str, bool]:
    """What is kept of a text, and whether that is all of it."""
    fits = len(text) * 4 <= max_text  # the common case: whatever its characters
    size = max_text + MARGIN + 4  # one character more than is kept
    window = text if fits else cut(text[:size], size)
    found = window if redactor is None else redactor.at(path, window)
    if len(window) < len(text):  # what lies across the end of the window may be half a phone
        found = cut(found, len(found.encode("utf-8", "backslashreplace")) - MARGIN)
    short = found if len(found) * 4 <= max_text else cut(found, max_text)
    return short, len(window) == len(text) and short == found


def label(value: Any) -> str:
    """The text of a label: itself, or JSON.

    >>> label("a"), label(True), label({"k": 1})
    ('a', 'true', '{"k": 1}')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
