"""Bytes to text: byte-order marks, UTF-8, UTF-16, and the GB18030 of Chinese spreadsheets."""

from __future__ import annotations

import codecs
from typing import Literal

from ragnostic.errors import DataError, Fault

Fallback = Literal["utf-8", "gb18030"]

# UTF-32-LE begins with UTF-16-LE's mark, so it must be asked first.
_WIDE_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)


def wide_encoding(head: bytes) -> str | None:
    """``"utf-16"`` or ``"utf-32"`` if the bytes begin with its mark, else None.

    >>> wide_encoding("a".encode("utf-16")), wide_encoding(b"a")
    ('utf-16', None)
    """
    return next((name for mark, name in _WIDE_MARKS if head.startswith(mark)), None)


def guess(data: bytes) -> Fallback:
    """UTF-8 or GB18030, by what most of the non-ASCII characters are valid in.

    One broken byte in a UTF-8 file must not turn the whole of it into GB18030 nonsense, and GBK
    bytes are valid UTF-8 only by rare chance, so the majority decides.

    >>> guess("年假".encode()), guess("年假".encode("gbk"))
    ('utf-8', 'gb18030')
    >>> guess("年假几天".encode()[:-1])
    'utf-8'
    """
    text = data.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    if not broken:
        return "utf-8"
    wide = sum(1 for char in text if char > "\x7f") - broken
    return "utf-8" if wide > broken else "gb18030"


def announce(encoding: str, name: str, faults: list[Fault]) -> None:
    """Record that a file was converted from ``encoding``."""
    message = f"read as {encoding.upper()} and converted; save the file as UTF-8 to be sure"
    faults.append(Fault("encoding", message, ids=(encoding,), where=name))


def refuse_binary(name: str, line: int) -> DataError:
    """The error for a file with NUL bytes."""
    return DataError(
        f"{name}:{line}: holds a NUL byte, so the file is binary, or UTF-16 without its mark",
        hint="give a text file (UTF-8, UTF-16 with a byte-order mark, or GB18030)",
    )


def decode(data: bytes, name: str, faults: list[Fault]) -> str:
    r"""Text of a file's bytes: mark taken off, line ends untouched.

    UTF-8, else UTF-16 with its mark, else GB18030; a conversion is announced as a Fault of kind
    ``encoding``. Raises DataError for binary data and for bytes that are none of these, naming
    the line.

    >>> faults = []
    >>> decode("年假\r\n".encode("gbk"), "a.txt", faults)
    '年假\r\n'
    >>> print(faults[0])
    a.txt: read as GB18030 and converted; save the file as UTF-8 to be sure
    """
    encoding = wide_encoding(data)
    if encoding is None:
        data = data.removeprefix(codecs.BOM_UTF8)
        encoding = guess(data)
    try:
        text = data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise DataError(
            f"{name}:{line}: not valid {encoding.upper()} (byte {error.start} of the file)",
            hint="save the file as UTF-8",
        ) from error
    nul = text.find("\0")
    if nul >= 0:
        raise refuse_binary(name, text.count("\n", 0, nul) + 1)
    if encoding != "utf-8":
        announce(encoding, name, faults)
    return text
