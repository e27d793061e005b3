"""The question and the answer inside the inputs and outputs of steps, which are text or JSON."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ragnostic.gateway.span_values import opened_json

QUERY_NAMES = ("query", "question", "query_str", "user_query", "search_query", "input", "q")
ANSWER_NAMES = (
    *("answer", "output", "response", "result", "output_text", "text", "content"),
    *("replies", "answers", "outputs"),
)
DEPTH_NAMES = ("top_k", "similarity_top_k", "k", "limit", "numberOfResults")
_DEPTH = 5


def query_in(value: str | None) -> str | None:
    """The question in an input: the text itself, or the member of a JSON object that is named
    like one, the outermost first, or the last message of a user.

    >>> query_in("how long?"), query_in('{"data": {"ranker": {"query": "who?", "top_k": 2}}}')
    ('how long?', 'who?')
    >>> query_in('{"messages": [{"role": "user", "content": "when?"}]}')
    'when?'
    >>> query_in('{"documents": []}')
    """
    opened = opened_json(value or "")
    if opened is None:
        return value if value and value.strip() else None
    named = next((said for said in map(_words, members(opened, QUERY_NAMES)) if said), None)
    return named or _asked(opened)


def answer_in(value: str | None) -> str | None:
    """The answer in an output, in the same way; of several the first.

    >>> answer_in('{"llm": {"replies": ["Five days."]}}'), answer_in("Five days.")
    ('Five days.', 'Five days.')
    """
    opened = opened_json(value or "")
    if opened is None:
        return value if value and value.strip() else None
    return next((said for said in map(_words, members(opened, ANSWER_NAMES)) if said), None)


def depth_in(value: str | None) -> int | None:
    """How many results an input asks for, where it says so.

    >>> depth_in('{"query": "q", "top_k": 20}'), depth_in("q")
    (20, None)
    """
    found = members(opened_json(value or ""), DEPTH_NAMES)
    return next((said for said in found if type(said) is int and said > 0), None)


def members(opened: Any, names: Iterable[str], depth: int = _DEPTH) -> Iterator[Any]:
    """The members of these names in a JSON value: outer objects first, then in order of names.

    >>> list(members({"a": {"k": 1}, "k": 2}, ["k"]))
    [2, 1]
    """
    wanted = tuple(names)
    level = [opened]
    for _ in range(depth):
        objects = [value for value in level if isinstance(value, Mapping)]
        yield from (holder[name] for name in wanted for holder in objects if name in holder)
        level = [inner for holder in objects for inner in holder.values()]


def _words(said: Any) -> str | None:
    if isinstance(said, list):
        said = next(iter(said), None)
    return said if isinstance(said, str) and said.strip() else None


def _asked(opened: Any) -> str | None:
    for messages in members(opened, ("messages",)):
        if not isinstance(messages, list):
            continue
        for message in reversed(messages):
            if isinstance(message, Mapping) and message.get("role") in ("user", "human"):
                return _words(message.get("content"))
    return None
