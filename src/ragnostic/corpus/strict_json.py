"""JSON as its standard says: no NaN, no key twice, no half characters; ids are text."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

_HALF_CHARACTER = "\\ud"


class RowError(ValueError):
    """A row that cannot be used; the message is one line for a person, without the place.

    ``rows`` is how many lines are lost with it.
    """

    def __init__(self, message: str, rows: int = 1) -> None:
        super().__init__(message)
        self.rows = rows


def parse_object(text: str) -> dict[str, Any]:
    """The JSON object in a text; raises RowError.

    >>> parse_object('{"a": [1, "x"]}')
    {'a': [1, 'x']}
    >>> parse_object('{"a": NaN}')
    Traceback (most recent call last):
    ragnostic.corpus.strict_json.RowError: NaN is no JSON number
    """
    try:
        value = json.loads(
            text,
            object_pairs_hook=_unique_keys,
            parse_constant=_refuse_constant,
            parse_float=_finite,
        )
        if _HALF_CHARACTER in text.lower():
            json.dumps(value, ensure_ascii=False).encode()
    except RowError:
        raise
    except UnicodeEncodeError as error:
        half = ord(error.object[error.start])
        raise RowError(f"holds half a character (\\u{half:04x}, a lone surrogate)") from error
    except json.JSONDecodeError as error:
        line = f"line {error.lineno}, " if "\n" in text.rstrip() else ""
        raise RowError(f"not valid JSON: {error.msg} ({line}column {error.colno})") from error
    except RecursionError as error:
        raise RowError("not valid JSON: nested too deeply") from error
    except ValueError as error:
        raise RowError(f"not valid JSON: {error}") from error
    if not isinstance(value, dict):
        raise RowError(f"a JSON object was expected, not {kind_of(value)}")
    return value


def kind_of(value: Any) -> str:
    """What JSON calls a value, with its article.

    >>> kind_of([1]), kind_of(None), kind_of(1.5)
    ('an array', 'null', 'a number')
    """
    if value is None:
        return "null"
    kinds = {bool: "a boolean", int: "a number", float: "a number", str: "a string"}
    return kinds.get(type(value)) or ("an array" if isinstance(value, list) else "an object")


def read_id(value: Any, name: str, numbers: list[str]) -> str:
    """An id as text. A whole number becomes its decimal text and is noted in ``numbers``.

    Raises RowError for anything else, an empty text included.

    >>> read_id("007", "query_id", []), read_id(7, "query_id", [])
    ('007', '7')
    >>> read_id(7.0, "query_id", [])
    Traceback (most recent call last):
    ragnostic.corpus.strict_json.RowError: query_id must be a quoted text, not a number (7.0)
    """
    if isinstance(value, int) and not isinstance(value, bool):
        numbers.append(str(value))
        return numbers[-1]
    if not isinstance(value, str):
        shown = f" ({value!r})" if isinstance(value, float) else ""
        raise RowError(f"{name} must be a quoted text, not {kind_of(value)}{shown}")
    if not value:
        raise RowError(f"{name} is empty")
    return value


def _unique_keys(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise RowError(f"the key {twice!r} is given twice in one object")
    return found


def _refuse_constant(name: str) -> float:
    raise RowError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    number = float(text)
    if math.isinf(number):
        raise RowError(f"the number {text[:40]} is too large")
    return number
