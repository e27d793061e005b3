"""Reading files: gzip, byte-order marks and encodings are dealt with here and nowhere else."""

from __future__ import annotations

import codecs
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

from ragnostic.corpus.encoding import (
    Fallback,
    announce,
    decode,
    guess,
    refuse_binary,
    wide_encoding,
)
from ragnostic.errors import DataError, Fault, PathError

__all__ = ["decode", "iter_lines", "read_bytes", "read_text", "whole_lines"]

MAX_LINE = 8 * 2**20
_BLOCK = 2**18
_GZIP_MAGIC = b"\x1f\x8b"


def read_bytes(path: Path) -> bytes:
    """All bytes of a file, unpacked if it is gzip (by its first bytes, not by its name).

    Raises DataError for a folder, a missing, unreadable or empty file, and for broken gzip.
    """
    data = b"".join(unpacked_blocks(path))
    if not data:
        raise _empty(path)
    return data


def read_text(path: Path, *, faults: list[Fault]) -> str:
    """The decoded text of a file (see :func:`decode`); raises DataError as :func:`read_bytes`."""
    text = decode(read_bytes(path), path.name, faults)
    if not text:
        raise _empty(path)
    return text


def iter_lines(
    path: Path, *, faults: list[Fault], max_line: int = MAX_LINE
) -> Iterator[tuple[int, str]]:
    r"""Yield (physical line number from 1, line) without its line end, in little memory.

    Lines end at ``\n`` only; one ``\r`` before it is taken off. A line of more than ``max_line``
    bytes and a line with broken bytes are left out, each with a Fault (``line_too_long``,
    ``quarantined``). Raises DataError as :func:`read_bytes`, and for binary data.
    """
    name = path.name
    encoding: Fallback | None = None
    empty = True
    for number, raw in _raw_lines(_narrow_blocks(path, faults), max_line):
        empty = False
        if isinstance(raw, int):
            message = f"a line of {raw:,} bytes, more than {max_line:,}; line left out"
            faults.append(Fault("line_too_long", message, where=f"{name}:{number}"))
            continue
        if b"\0" in raw:
            raise refuse_binary(name, number)
        if encoding is None and not raw.isascii():
            encoding = guess(raw)
            if encoding == "gb18030":  # the lines before were ASCII, which is the same in both
                announce(encoding, name, faults)
        try:
            yield number, raw.decode(encoding or "ascii").removesuffix("\r")
        except UnicodeDecodeError as error:
            message = f"not valid {error.encoding.upper()}; line left out"
            faults.append(Fault("quarantined", message, where=f"{name}:{number}"))
    if empty:
        raise _empty(path)


def whole_lines(path: Path, size: int = 4 * 2**20) -> Iterator[bytes]:
    """The unpacked bytes of a file in blocks of about ``size``, each ending with a line.

    Raises DataError as :func:`read_bytes` for a file that cannot be read.
    """
    pending: list[bytes] = []
    held = 0
    for block in unpacked_blocks(path):
        cut = block.rfind(b"\n") + 1
        pending.append(block[:cut] if cut else block)
        held += len(block)
        if cut and held >= size:
            yield b"".join(pending)
            pending, held = [block[cut:]], len(block) - cut
        elif cut:
            pending.append(block[cut:])
    rest = b"".join(pending)
    if rest:
        yield rest


def _raw_lines(blocks: Iterator[bytes], max_line: int) -> Iterator[tuple[int, bytes | int]]:
    """Yield each line's bytes, or its length where it is longer than ``max_line``."""
    number, size = 1, 0
    pending: list[bytes] = []
    for block in blocks:
        for index, part in enumerate(block.split(b"\n")):
            if index:
                yield number, (size if size > max_line else b"".join(pending))
                number, size = number + 1, 0
                pending.clear()
            size += len(part)
            if size <= max_line:
                pending.append(part)
            else:
                pending.clear()
    if size:
        yield number, (size if size > max_line else b"".join(pending))


def _narrow_blocks(path: Path, faults: list[Fault]) -> Iterator[bytes]:
    """The file's blocks without its mark, UTF-16 and UTF-32 turned into UTF-8."""
    blocks = unpacked_blocks(path)
    head = next(blocks, b"")
    encoding = wide_encoding(head)
    if encoding is None:
        yield head.removeprefix(codecs.BOM_UTF8)
        yield from blocks
        return
    announce(encoding, path.name, faults)
    decoder = codecs.getincrementaldecoder(encoding)()
    try:
        yield decoder.decode(head).encode()
        for block in blocks:
            yield decoder.decode(block).encode()
        yield decoder.decode(b"", final=True).encode()
    except UnicodeDecodeError as error:
        raise DataError(
            f"{path.name}: not valid {encoding.upper()}: {error.reason}",
            hint="save the file as UTF-8",
        ) from error


def unpacked_blocks(
    path: Path, *, cut_hint: str = "the file may be cut short; fetch it again"
) -> Iterator[bytes]:
    """The bytes of a file block by block, of a gzip file (told by its first bytes) unpacked.

    Raises PathError where there is no file, DataError where it cannot be read; ``cut_hint`` is
    the hint for a gzip file that ends too soon.
    """
    try:
        with path.open("rb") as file:
            packed = file.read(2) == _GZIP_MAGIC
            file.seek(0)
            stream: IO[bytes] | gzip.GzipFile = gzip.GzipFile(fileobj=file) if packed else file
            while block := stream.read(_BLOCK):
                yield block
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{path}: broken gzip: {error}", hint=cut_hint) from error
    except FileNotFoundError as error:
        raise PathError(f"no such file: {path}", hint="is the path right?") from error
    except IsADirectoryError as error:
        raise PathError(f"{path} is a folder, not a file", hint="name a file in it") from error
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


def _empty(path: Path) -> DataError:
    return DataError(f"{path} is empty", hint="was the export cut short?")
