"""Values of span attributes in their normal form: plain Python, long texts cut with a note."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.texts import cut

MAX_VALUE_BYTES = 64 * 2**10
"""Longest text of a value, in bytes of UTF-8."""

MAX_NESTING = 32
_NAME_BYTES = 1024
JSON_TEXTS = frozenset(
    {
        "gen_ai.retrieval.documents",
        "gen_ai.rerank.input_documents",
        "gen_ai.rerank.output_documents",
        "gen_ai.input.messages",
        "gen_ai.output.messages",
    }
)
"""Attributes that are objects, but come as JSON text where an exporter knows no objects."""


class Cut(NamedTuple):
    """What is true of a text that was cut: its bytes of UTF-8, and the SHA-256 of all of it."""

    bytes: int
    sha256: str


@dataclass(slots=True)
class Values:
    """Makes values plain, and notes what it cuts. ``limit`` is in bytes.

    >>> values = Values(8)
    >>> values.plain("a", "汉字汉字"), values.cuts["a"].bytes
    ('汉字', 12)
    """

    limit: int = MAX_VALUE_BYTES
    cuts: dict[str, Cut] = field(default_factory=dict)

    def attributes(self, pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
        """Attributes by name, the last of each; values none are left out."""
        found = {_name(name): self.plain(name, value) for name, value in pairs}
        return {name: value for name, value in found.items() if value is not None}

    def plain(self, name: str, value: Any, depth: int = 0) -> Any:
        """A value as None, bool, int, float, text, bytes, list or dict.

        A number that is none becomes None. Objects that came as JSON text are opened first, so
        that a long list of short texts stays whole. Raises RowError for one nested too deeply.
        """
        if depth > MAX_NESTING:
            raise RowError(f"attribute {name} is nested more than {MAX_NESTING} deep")
        if isinstance(value, str):
            opened = opened_json(value) if not depth and name in JSON_TEXTS else None
            return self._text(name, value) if opened is None else self.plain(name, opened, 1)
        if isinstance(value, bytes):
            return self._bytes(name, value)
        if isinstance(value, float):
            return value if math.isfinite(value) else None
        if isinstance(value, Mapping):
            return {
                _name(str(key)): self.plain(f"{name}.{key}", inner, depth + 1)
                for key, inner in value.items()
            }
        if isinstance(value, list | tuple):
            return [
                self.plain(f"{name}.{place}", inner, depth + 1) for place, inner in enumerate(value)
            ]
        return value

    def _text(self, name: str, text: str) -> str:
        """Whole characters only; half of one (a lone surrogate) is written as its escape."""
        if text.isascii() and len(text) <= self.limit:
            return text
        encoded = text.encode("utf-8", "backslashreplace")
        if len(encoded) > self.limit:
            self._note(name, encoded)
        return cut(text, self.limit) if len(encoded) > self.limit else encoded.decode()

    def _bytes(self, name: str, value: bytes) -> bytes:
        if len(value) > self.limit:
            self._note(name, value)
        return value[: self.limit]

    def _note(self, name: str, whole: bytes) -> None:
        self.cuts[name] = Cut(len(whole), hashlib.sha256(whole).hexdigest())


def _name(name: str) -> str:
    return name.encode("utf-8", "backslashreplace")[:_NAME_BYTES].decode("utf-8", "ignore")


def opened_json(text: str) -> Any:
    """The list or object in a JSON text, else None.

    >>> opened_json('[{"id": "d1"}]'), opened_json("plain"), opened_json("[1, NaN]")
    ([{'id': 'd1'}], None, None)
    """
    if not text.lstrip().startswith(("{", "[")):
        return None
    try:
        return json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None


def _refuse(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
