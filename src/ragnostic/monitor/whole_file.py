"""Writing a file as a whole or not at all."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes) -> None:
    """Put ``content`` in the place of a file; after a crash there is the old one or the new.

    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     write_whole(Path(folder, "a"), b"one")
    ...     Path(folder, "a").read_bytes()
    b'one'
    """
    aside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with aside.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
    aside.replace(path)
