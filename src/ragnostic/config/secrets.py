"""Keeping secrets out of run folders, also those written into the file against advice."""

from __future__ import annotations

import re
from typing import Any

HIDDEN = "(hidden)"
_SECRET_KEY = re.compile(
    r"authori[sz]ation|cookie|secret|passw|credential|(api|access|subscription)[-_]?key|token$",
    re.IGNORECASE,
)
_REFERENCE = re.compile(r"\$\{\w+\}|^env:")
_USER_INFO = re.compile(r"(?<=://)[^/@\s]+(?=@)")


def hide_secrets(value: Any, key: str = "") -> Any:
    """The value with literal secrets replaced; ``${NAME}`` and ``env:NAME`` stay: they only name
    variables of the environment.

    >>> hide_secrets({"headers": {"Authorization": "Bearer abc", "X-Team": "search"}})
    {'headers': {'Authorization': '(hidden)', 'X-Team': 'search'}}
    >>> hide_secrets({"authorization": "Bearer ${TOKEN}", "url": "https://me:pw@host/"})
    {'authorization': 'Bearer ${TOKEN}', 'url': 'https://(hidden)@host/'}
    """
    if isinstance(value, dict):
        return {name: hide_secrets(inner, str(name)) for name, inner in value.items()}
    if isinstance(value, list):
        return [hide_secrets(inner, key) for inner in value]
    if not isinstance(value, str):
        return value
    if _SECRET_KEY.search(key) and not _REFERENCE.search(value):
        return HIDDEN
    return _USER_INFO.sub(HIDDEN, value)
