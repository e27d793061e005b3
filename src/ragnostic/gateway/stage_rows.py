"""One stage of a row that came in: its lists parallel, its values of the right kind."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from numbers import Integral, Real
from typing import Any

from ragnostic.corpus.strict_json import RowError, kind_of
from ragnostic.records import STAGE_TYPE

MAX_HITS = 10_000
MAX_ID_BYTES = 1024
_LARGEST = 2**31 - 1
_NAME = re.compile(r"[A-Za-z_][\w.-]{0,63}", re.ASCII)
_TIMES = ("started", "ended")
_PLURAL = {bool: "true or false", str: "texts"}
_LISTS = ("scores", "doc_ids", "texts", "truncated")
MEMBERS = frozenset({*(member.name for member in STAGE_TYPE), "texts", *_TIMES})


def read_stage(name: str, given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """A stage's known members, checked, and the unknown ones as they are; raises RowError.

    A null id keeps its place as an unjudged result (METRICS 1.6). A failed stage may come
    without ids.

    >>> read_stage("retrieve", {"ids": [7, None], "scores": [0.5, 0.4], "shard": "a"})
    ({'ids': ['7', None], 'scores': [0.5, 0.4]}, {'shard': 'a'})
    """
    if not _NAME.fullmatch(name):
        raise RowError(f"{name!r} is no name of a stage: letters, digits, _, . and -")
    if not isinstance(given, Mapping):
        raise RowError(f"stage {name} must be an object with ids, not {_kind(given)}")
    known = {key: value for key, value in given.items() if key in MEMBERS and value is not None}
    rest = {key: value for key, value in given.items() if key not in MEMBERS}
    status = known.get("status", "ok")
    if status not in ("ok", "failed"):
        raise RowError(f"{name}.status must be ok or failed, not {shown(status)}")
    if "ids" not in known and status == "ok":
        raise RowError(f"stage {name} has no ids")
    ids = read_ids(f"{name}.ids", known.get("ids", []))
    found: dict[str, Any] = {"ids": ids}
    for member, value in known.items():
        if member in _LISTS:
            found[member] = _parallel(name, member, value, len(ids))
        elif member != "ids":
            found[member] = _single(f"{name}.{member}", member, value)
    return found, rest


def _single(name: str, member: str, value: Any) -> Any:
    if member in ("top_k", "top_n"):
        return read_whole(name, value)
    if member == "took_ms":
        return read_number(name, value)
    if member == "error" and not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value


def read_ids(name: str, value: Any) -> list[str | None]:
    """A list of ids: texts, whole numbers (made text) or null; raises RowError."""
    ids = _listed(name, value)
    if len(ids) > MAX_HITS:
        raise RowError(f"{name} holds {len(ids)} ids, more than {MAX_HITS}")
    return [None if one is None else read_id(name, one) for one in ids]


def read_id(name: str, value: Any) -> str:
    """An id as text; raises RowError for what is none, and for one that is too long to be one.

    >>> read_id("user_id", 7)
    '7'
    """
    if not isinstance(value, str | bool) and isinstance(value, Integral):
        value = str(int(value))
    if not isinstance(value, str):
        raise RowError(f"{name} must be text, not {_kind(value)}")
    if len(value) > MAX_ID_BYTES:
        raise RowError(f"{name} holds an id of {len(value)} characters, more than {MAX_ID_BYTES}")
    return value


def read_number(name: str, value: Any) -> float:
    """A finite number; raises RowError.

    >>> read_number("latency_ms", float("nan"))
    Traceback (most recent call last):
    ragnostic.corpus.strict_json.RowError: latency_ms must be a finite number, not nan
    """
    if type(value) is not float and not is_number(value):
        raise RowError(f"{name} must be a number, not {_kind(value)}")
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise RowError(f"{name} must be a finite number, not {shown(value)}")
    return number


def is_number(value: Any) -> bool:
    """Whether a value is a number of any library, truth values left out.

    >>> is_number(1), is_number(True)
    (True, False)
    """
    return isinstance(value, Real | Decimal) and not isinstance(value, bool)


def read_whole(name: str, value: Any, least: int = 0) -> int:
    """A whole number from ``least`` to 2³¹ - 1; raises RowError."""
    number = read_number(name, value)
    if number != int(number) or not least <= number <= _LARGEST:
        raise RowError(f"{name} must be a whole number from {least}, not {shown(value)}")
    return int(number)


def shown(value: Any) -> str:
    """A short form of a value for a reason."""
    text = str(value) if not isinstance(value, str) else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _parallel(stage: str, member: str, value: Any, count: int) -> list[Any]:
    name = f"{stage}.{member}"
    values = _listed(name, value)
    if len(values) != count:
        raise RowError(f"{name} holds {len(values)} values for {count} ids")
    if member == "scores":
        return [None if one is None else read_number(name, one) for one in values]
    if member == "doc_ids":
        return read_ids(name, values)
    kind = bool if member == "truncated" else str
    wrong = next((one for one in values if one is not None and not isinstance(one, kind)), None)
    if wrong is not None:
        raise RowError(f"{name} must hold {_PLURAL[kind]}, not {_kind(wrong)}")
    return values


def _listed(name: str, value: Any) -> list[Any]:
    """Not a text or an object, which Arrow would take for a list of its characters or keys."""
    if isinstance(value, str | bytes | Mapping) or not isinstance(value, Sequence):
        raise RowError(f"{name} must be a list, not {_kind(value)}")
    return list(value)


def _kind(value: Any) -> str:
    known = value is None or isinstance(value, bool | int | float | str | list | dict)
    return kind_of(value) if known else f"a {type(value).__name__}"
