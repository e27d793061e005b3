"""The settings of two runs side by side: what differs, key by key."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

SILENT = ("gate.", "report.", "run.")
"""Tables whose settings change no number."""


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One setting that differs; a value is None where that side does not have the setting."""

    key: str
    base: str | None
    candidate: str | None

    def as_json(self) -> dict[str, str | None]:
        """The object of ``ragnostic compare --json``."""
        return asdict(self)

    def __str__(self) -> str:
        return f"{self.key}: {_or_none(self.base)} → {_or_none(self.candidate)}"


def flattened(tables: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Settings by their dotted key, as a person reads the values; what is unset is absent.

    >>> flattened({"retrieve": {"use": "bm25", "bm25": {"k1": 1.2}}, "name": None})
    {'retrieve.use': 'bm25', 'retrieve.bm25.k1': '1.2'}
    >>> flattened({"dataset": {"set": [{"name": "frozen"}]}})
    {'dataset.set[0].name': 'frozen'}
    """
    found: dict[str, str] = {}
    for key, value in tables.items():
        if isinstance(value, Mapping):
            found |= flattened(value, f"{prefix}{key}.")
        elif isinstance(value, list) and any(isinstance(entry, Mapping) for entry in value):
            found |= flattened({f"{key}[{at}]": entry for at, entry in enumerate(value)}, prefix)
        elif value is not None:
            found[f"{prefix}{key}"] = _shown(value)
    return found


def settings_diff(base: Mapping[str, Any], candidate: Mapping[str, Any]) -> list[SettingChange]:
    """The settings that differ, ordered by key.

    >>> before = {"retrieve": {"use": "bm25", "top_k": 20}}
    >>> [str(change) for change in settings_diff(before, {"retrieve": {"use": "dense"}})]
    ['retrieve.top_k: 20 → –', 'retrieve.use: bm25 → dense']
    """
    before, after = flattened(base), flattened(candidate)
    return [
        SettingChange(key, before.get(key), after.get(key))
        for key in sorted({*before, *after})
        if before.get(key) != after.get(key)
    ]


def _shown(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(_shown, value))
    if isinstance(value, str):
        return value or '""'
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


def _or_none(value: str | None) -> str:
    return "–" if value is None else value
