"""Request templates: ``{query}`` and ``{top_k}`` inside a JSON body or inside parameters."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

_PLACE = re.compile(r"\{(query|top_k)\}")


def fill(template: Any, query: str, top_k: int) -> Any:
    """A JSON value with the places filled; a value that is only ``{top_k}`` becomes a number.

    One pass: a query that holds ``{top_k}`` stays as it is. Keys are left alone.

    >>> fill({"q": "{query}", "limit": "{top_k}", "tags": ["k={top_k}"]}, "{top_k}?", 5)
    {'q': '{top_k}?', 'limit': 5, 'tags': ['k=5']}
    """
    if isinstance(template, str):
        if template == "{top_k}":
            return top_k
        values = {"query": query, "top_k": str(top_k)}
        return _PLACE.sub(lambda match: values[match[1]], template)
    if isinstance(template, Mapping):
        return {key: fill(value, query, top_k) for key, value in template.items()}
    if isinstance(template, list):
        return [fill(value, query, top_k) for value in template]
    return template


def parse(template: Any) -> Any:
    """A body template as a JSON value; text is read as JSON. Raises ValueError if it is not.

    In text, ``{top_k}`` may stand without quotes.

    >>> parse('{"query": "{query}", "k": {top_k}}')
    {'query': '{query}', 'k': '{top_k}'}
    """
    if not isinstance(template, str):
        return template
    quoted = re.sub(r"(?<=[:\[,])(\s*)\{top_k\}(?=\s*[,\]}])", r'\1"{top_k}"', template)
    try:
        return json.loads(quoted)
    except ValueError as error:
        raise ValueError(
            f"the body template is not JSON ({error}); write it as a table, "
            'or as text like \'{"query": "{query}", "k": {top_k}}\''
        ) from None


def fill_parameters(template: Mapping[str, str], query: str, top_k: int) -> dict[str, str]:
    """URL parameters with the places filled; lone surrogates, which no URL can hold, become ``?``.

    >>> fill_parameters({"q": "{query}", "k": "{top_k}"}, "年假", 3)
    {'q': '年假', 'k': '3'}
    """
    filled = {name: str(fill(value, query, top_k)) for name, value in template.items()}
    return {name: value.encode("utf-8", "replace").decode() for name, value in filled.items()}
