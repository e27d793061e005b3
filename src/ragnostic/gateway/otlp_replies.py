"""What the receiver of traces answers: the protocol's messages, as protobuf or as JSON.

They are two numbers and a text, so they are written here by hand; the heavy library is needed
only where a request in protobuf comes.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Literal, NamedTuple

from ragnostic.errors import counted

Form = Literal["json", "protobuf"]
MEDIA_TYPES: Mapping[Form, bytes] = {
    "json": b"application/json",
    "protobuf": b"application/x-protobuf",
}
_CODES = {400: 3, 404: 12, 405: 12, 408: 4, 413: 8, 415: 3, 429: 14, 503: 14}
_REASONS = 3


class Reply(NamedTuple):
    """An answer before it is sent."""

    status: int
    headers: list[tuple[bytes, bytes]]
    body: bytes


def accepted(form: Form, refused: tuple[str, ...]) -> Reply:
    """200 with an ExportTraceServiceResponse; ``refused`` says why spans were not taken.

    >>> accepted("json", ()).body, accepted("protobuf", ()).body
    (b'{}', b'')
    >>> accepted("json", ("no id",)).body
    b'{"partialSuccess": {"rejectedSpans": "1", "errorMessage": "1 span: no id"}}'
    """
    if not refused:
        return _reply(200, form, b"{}" if form == "json" else b"")
    reasons = list(dict.fromkeys(refused))
    told = "; ".join(reasons[:_REASONS]) + ("; …" if len(reasons) > _REASONS else "")
    message = f"{counted(len(refused), 'span')}: {told}"
    if form == "json":
        partial = {"rejectedSpans": str(len(refused)), "errorMessage": message}
        return _reply(200, form, _json({"partialSuccess": partial}))
    inner = b"\x08" + _varint(len(refused)) + _field(2, message.encode())
    return _reply(200, form, _field(1, inner))


def failed(status: int, message: str, form: Form, *extra: tuple[bytes, bytes]) -> Reply:
    r"""An error with a google.rpc.Status, as the protocol demands; ``extra`` are headers.

    >>> failed(400, "no", "json").body, failed(400, "no", "protobuf").body
    (b'{"code": 3, "message": "no"}', b'\x08\x03\x12\x02no')
    """
    code = _CODES[status]
    if form == "json":
        return _reply(status, form, _json({"code": code, "message": message}), *extra)
    body = b"\x08" + _varint(code) + _field(2, message.encode())
    return _reply(status, form, body, *extra)


def _reply(status: int, form: Form, body: bytes, *extra: tuple[bytes, bytes]) -> Reply:
    own = [(b"content-type", MEDIA_TYPES[form]), (b"content-length", str(len(body)).encode())]
    return Reply(status, [*own, *extra], body)


def _json(value: object) -> bytes:
    return json.dumps(value, ensure_ascii=False).encode("utf-8", "backslashreplace")


def _field(number: int, content: bytes) -> bytes:
    return bytes([number << 3 | 2]) + _varint(len(content)) + content


def _varint(number: int) -> bytes:
    found = bytearray()
    while number > 0x7F:
        found.append(number & 0x7F | 0x80)
        number >>= 7
    found.append(number)
    return bytes(found)
