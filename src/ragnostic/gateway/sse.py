"""Answers that come in pieces, read afterwards: server-sent events and JSON lines as one object.

Works on the captured copy only. Text is decoded from all bytes at once, so a character that a
packet boundary cut is whole again.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

STREAMS = {
    "text/event-stream": "events",
    "application/x-ndjson": "lines",
    "application/jsonl": "lines",
}
"""Media type → how its pieces stand in the body."""

_LINE_END = re.compile(rb"\r\n|\n|\r")
_DATA = re.compile(rb"(?:^|[\r\n])data")
_BOM = b"\xef\xbb\xbf"


class StreamEvent(NamedTuple):
    """One event: its name (``message`` where none is given), its data, and where it ends."""

    name: str
    data: str
    end: int


class Merged(NamedTuple):
    """All events of an answer.

    ``answer`` is the joined text, None where no event held any; ``first_text_end`` is the offset
    at which the first text was complete, None likewise. ``complete``: the last event is whole,
    and where the service marks the end the mark is there.
    """

    events: list[dict[str, Any]]
    answer: str | None
    first_text_end: int | None
    complete: bool


def read_events(body: bytes) -> Iterator[StreamEvent]:
    r"""The events of a ``text/event-stream`` (WHATWG HTML 9.2); an event that was cut is none.

    >>> list(read_events(b"event: a\ndata: x\ndata: y\n\ndata: cut"))
    [StreamEvent(name='a', data='x\ny', end=26)]
    """
    start = len(_BOM) if body.startswith(_BOM) else 0
    name, data = "", list[str]()
    for ending in _LINE_END.finditer(body, start):
        line, start = body[start : ending.start()].decode("utf-8", "replace"), ending.end()
        if not line:
            if data:
                yield StreamEvent(name or "message", "\n".join(data), start)
            name, data = "", []
            continue
        field, _, value = line.partition(":")
        value = value.removeprefix(" ")
        if field == "data":
            data.append(value)
        elif field == "event":
            name = value


def read_json_lines(body: bytes) -> Iterator[StreamEvent]:
    r"""The lines of a body that is JSON line by line; a line without its end is none.

    >>> list(read_json_lines(b'{"a": 1}\n\n{"b'))
    [StreamEvent(name='message', data='{"a": 1}', end=9)]
    """
    start = 0
    for ending in _LINE_END.finditer(body):
        line, start = body[start : ending.start()].strip(), ending.end()
        if line:
            yield StreamEvent("message", line.decode("utf-8", "replace"), start)


def merge(
    body: bytes, media_type: str, text_of: Callable[[Any], Any], done: str, *, truncated: bool
) -> Merged:
    r"""A streamed body as one object; ``text_of`` gives the piece of the answer in an event's JSON.

    ``done`` is the data of the event that ends the stream (``[DONE]``), "" where there is none.

    >>> body = b'data: {"t": "Hel"}\n\ndata: {"t": "lo"}\n\ndata: [DONE]\n\n'
    >>> merged = merge(body, "text/event-stream", lambda data: data["t"], "[DONE]", truncated=False)
    >>> merged.answer, merged.complete, merged.first_text_end
    ('Hello', True, 20)
    """
    read = read_events if STREAMS[media_type] == "events" else read_json_lines
    events: list[dict[str, Any]] = []
    texts: list[str] = []
    first_text_end: int | None = None
    end, ended = 0, not done
    for event in read(body):
        end = event.end
        if done and event.data.strip() == done:
            ended = True
            continue
        data = _json_or_text(event.data)
        events.append({"event": event.name, "data": data})
        text = text_of(data)
        if isinstance(text, str) and text:
            texts.append(text)
            first_text_end = event.end if first_text_end is None else first_text_end
    whole = ended and not truncated and not _is_cut(body[end:], media_type)
    return Merged(events, "".join(texts) if texts else None, first_text_end, whole)


def _is_cut(rest: bytes, media_type: str) -> bool:
    """Whether what follows the last whole event is the beginning of another one."""
    if STREAMS[media_type] == "lines":
        return bool(rest.strip())
    return bool(rest and not rest.endswith((b"\n", b"\r"))) or bool(_DATA.search(rest))


def _json_or_text(data: str) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return data
