"""Fingerprints of data: a result says what it was computed from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from ragnostic.errors import DataError
from ragnostic.records import Chunk


def fingerprint_chunks(chunks: Iterable[Chunk]) -> str:
    """SHA-256 (hex) of ids, places, contexts and texts; the order of the chunks is no part of it.

    >>> a, b = Chunk("a", "d", 0, 1, 1, "x"), Chunk("b", "d", 1, 2, 1, "y")
    >>> fingerprint_chunks([a, b]) == fingerprint_chunks([b, a])
    True
    """
    digests = sorted(
        _digest(chunk.id, chunk.doc_id, str(chunk.start), str(chunk.end), chunk.context, chunk.text)
        for chunk in chunks
    )
    return hashlib.sha256(b"".join(digests)).hexdigest()


def fingerprint_file(path: Path) -> str:
    """SHA-256 (hex) of a file's bytes, or of the names and bytes of all files in a folder.

    Hidden files are no part of a folder. Raises DataError where the path does not exist.
    """
    if path.is_dir():
        entries = sorted(
            (file.relative_to(path).as_posix(), file)
            for file in path.rglob("*")
            if file.is_file()
            and not any(part.startswith(".") for part in file.relative_to(path).parts)
        )
        digests = [_digest(name, fingerprint_file(file)) for name, file in entries]
        return hashlib.sha256(b"".join(digests)).hexdigest()
    try:
        with path.open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise DataError(f"{path} cannot be read: {error.strerror}") from error


def _digest(*parts: str) -> bytes:
    digest = hashlib.sha256()
    for part in parts:
        encoded = part.encode("utf-8", "surrogatepass")
        digest.update(len(encoded).to_bytes(8, "little"))
        digest.update(encoded)
    return digest.digest()
