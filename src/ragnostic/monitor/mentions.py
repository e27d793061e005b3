"""Whether a text names an id: whole, not as a part of a longer one."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable


class Mentions:
    """Looks for ids in texts, as they are and as JSON writes them.

    >>> known = Mentions(["u1"])
    >>> known.inside('{"user_id": "u1"}'), known.inside("u12"), known.inside("u1-a")
    (True, False, False)
    """

    def __init__(self, ids: Iterable[str]) -> None:
        forms = {form for one in ids if one for form in (one, *_escaped(one))}
        self._pattern = (
            re.compile(
                rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(forms, key=len, reverse=True)))})"
                r"(?![\w-])"
            )
            if forms
            else None
        )

    def inside(self, text: str) -> bool:
        """Whether one of the ids stands in the text."""
        return self._pattern is not None and self._pattern.search(text) is not None


def _escaped(text: str) -> set[str]:
    """The forms that the text has inside JSON, and inside JSON in JSON."""
    once = {json.dumps(text, ensure_ascii=narrow)[1:-1] for narrow in (True, False)}
    twice = {
        json.dumps(form, ensure_ascii=narrow)[1:-1] for form in once for narrow in (True, False)
    }
    return once | twice
