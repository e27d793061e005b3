"""Redaction: what must not be kept is replaced before anything is stored (DESIGN 5, promise 4).

It sits in the common intake, so that every way in, the quarantine and failed requests pass it.
Ids and hashes are never changed.
"""

from __future__ import annotations

import hashlib
import hmac
import re
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator, Field

from ragnostic.adapters.environment import expand
from ragnostic.config.models import Table
from ragnostic.gateway.personal_data import KINDS, Kind, mask
from ragnostic.gateway.secret_patterns import MARK, is_secret_name
from ragnostic.gateway.texts import MARGIN, Path, cut, rewrite
from ragnostic.records import BASE_FIELDS

REMOVED = "‹removed›"
PROTECTED = frozenset(
    {"ids", "doc_ids", "context_ids", "record_id", "query_id", "trace_id", "span_id"}
    | {"session_id", "user_id"}
)
"""Fields that are never looked into: they hold ids."""

_OUTER = ("stages", "labels")
_MASKABLE = {"query", "searched", "answer", "feedback", "category", "service", "model_version"}
_MASKABLE |= {"source", "group", "language", "labels"}
_ESCAPE = re.compile(r"\\u([0-9a-fA-F]{4})")
_KEPT_ESCAPES = frozenset('"\\')
_NAMES = 4096
_LONGEST_NAME = 64


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _field(path: str) -> str:
    parts = path.split(".")
    if not all(parts):
        raise ValueError("must be names with dots between them, for example labels.customer")
    kept = parts[0] in BASE_FIELDS and parts[0] not in _MASKABLE
    if kept or parts[-1] in PROTECTED:
        raise ValueError("is an id, a time or a number, which redaction leaves as it is")
    return path


def _pattern(text: str) -> str:
    try:
        found = re.compile(text)
    except re.error as error:
        raise ValueError(f"is no regular expression: {error}") from None
    if found.match(""):
        raise ValueError("matches the empty text")
    return text


class Options(Table):
    """The table ``[redact]``: what is replaced before anything is stored."""

    personal_data: bool = Field(
        default=True,
        description="Replace phones, identity cards, bank cards, e-mail addresses and secrets "
        "wherever they stand in a text.",
    )
    kinds: Annotated[tuple[Kind, ...], BeforeValidator(_as_tuple)] = Field(
        default=KINDS, description="Which of them; all if left out."
    )
    fields: Annotated[
        tuple[Annotated[str, AfterValidator(_field)], ...], BeforeValidator(_as_tuple)
    ] = Field(
        default=(),
        description="Fields that are removed whole: names with dots, for example "
        "labels.customer or *.texts (of every stage).",
    )
    patterns: dict[str, Annotated[str, AfterValidator(_pattern)]] = Field(
        default={},
        description="Further patterns: name → regular expression; what it finds becomes ‹name›.",
    )
    pseudonym_key: str | None = Field(
        default=None,
        description="With a key (env:NAME or ${NAME}), user_id is replaced by its keyed hash.",
    )


class Redactor:
    """Replaces what the options name. ``environment`` is where the key of pseudonyms is read.

    >>> Redactor().text("call 13800138000")
    'call ‹phone›'
    """

    def __init__(
        self, options: Options | None = None, environment: Mapping[str, str] | None = None
    ) -> None:
        options = options or Options()
        self._kinds = frozenset(options.kinds) if options.personal_data else frozenset()
        patterns = options.patterns.items()
        self._patterns = [(re.compile(pattern), f"‹{name}›") for name, pattern in patterns]
        self._fields = [tuple(path.split(".")) for path in map(_inner_path, options.fields)]
        self._key = b""
        if options.pseudonym_key is not None:
            given = {"redact.pseudonym_key": options.pseudonym_key}
            values = expand(given, environment or {}, "redact").values
            self._key = values["redact.pseudonym_key"].encode()
        self._is_field = cache(self._names_a_field)
        self._known_name = lru_cache(_NAMES)(self.text)
        self._raw_fields = _raw_pattern([path[-1] for path in self._fields])

    def text(self, text: str) -> str:
        """A text that stands by itself: an error, a traceback, a URL, a body."""
        if self._kinds:
            text = mask(text, self._kinds)
        for pattern, replacement in self._patterns:
            text = pattern.sub(replacement, text)
        return text

    def name(self, name: str) -> str:
        """The name of a member, which is the same in record after record."""
        return self._known_name(name) if len(name) <= _LONGEST_NAME else self.text(name)

    def at(self, path: Path, text: str) -> str:
        """A text by its place in a row; ``path`` holds the names on the way to it."""
        if is_protected(path):
            return text
        if self._fields and self._is_field(path):
            return REMOVED
        if "secret" in self._kinds and path and is_secret_name(path[-1]):
            return MARK
        return self.text(text)

    def value(self, value: Any) -> Any:
        """Nested JSON: each text by its place."""
        return rewrite(value, self.at)

    def row(self, row: Mapping[str, Any]) -> dict[str, Any]:
        """A record row; the user's id becomes a pseudonym if there is a key.

        >>> Redactor(Options(fields=("labels.customer",))).row(
        ...     {"query_id": "13800138000", "labels": {"customer": "Li", "shop": "7"}}
        ... )
        {'query_id': '13800138000', 'labels': {'customer': '‹removed›', 'shop': '7'}}
        """
        found: dict[str, Any] = rewrite(dict(row), self.at)
        if found.get("user_id") is not None:
            found["user_id"] = self.user(str(found["user_id"]))
        return found

    def raw(self, raw: bytes | str, limit: int) -> str:
        """The beginning of something unreadable, at most ``limit`` bytes, as safe text.

        JSON escapes are undone first, so that nothing hides behind them.
        """
        window = raw[: limit + MARGIN]
        text = (
            window.decode("utf-8", "backslashreplace")
            if isinstance(window, bytes)
            else window.encode("utf-8", "backslashreplace").decode()
        )
        text = _ESCAPE.sub(_unescaped, text)
        if self._raw_fields is not None:
            text = self._raw_fields.sub(rf'\1"{REMOVED}"', text)
        text = self.text(text)
        if len(window) < len(raw):  # what lies across the end of the window may be half a secret
            text = cut(text, len(text.encode()) - MARGIN)
        return cut(text, limit)

    def user(self, user_id: str) -> str:
        """The id that is stored for a user: itself, or 32 hex digits of HMAC-SHA256."""
        if not self._key:
            return user_id
        return hmac.new(self._key, user_id.encode(), hashlib.sha256).hexdigest()[:32]

    def _names_a_field(self, path: Path) -> bool:
        while path and path[0] in _OUTER:
            path = path[1:]
        return any(
            len(path) >= len(field)
            and all(part in ("*", name) for part, name in zip(field, path, strict=False))
            for field in self._fields
        )


def is_protected(path: Path) -> bool:
    """Whether a place in a row holds ids or a hash, which are never changed.

    >>> is_protected(("stages", "retrieve", "ids")), is_protected(("answer",))
    (True, False)
    """
    return bool(path) and (path[-1] in PROTECTED or path[-1].endswith("sha256"))


def _inner_path(path: str) -> str:
    """Without the outer name: ``labels.customer`` is found where a row has ``customer``."""
    first, dot, rest = path.partition(".")
    return rest if dot and first in _OUTER else path


def _raw_pattern(names: list[str]) -> re.Pattern[str] | None:
    known = sorted({re.escape(name) for name in names if name != "*"})
    if not known:
        return None
    value = r'"(?:[^"\\]|\\.)*"?|\[[^\]]*\]?|\{[^}]*\}?|[^,}\]\s]+'
    return re.compile(rf'("(?:{"|".join(known)})"\s*:\s*)(?:{value})')


def _unescaped(match: re.Match[str]) -> str:
    mark = chr(int(match[1], 16))
    return mark if mark.isprintable() and mark not in _KEPT_ESCAPES else match[0]
