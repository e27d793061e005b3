"""Files of the lake: written aside and renamed; which files of a day count.

A file carries, in its metadata, a token that no other writing has, the time of writing, and the
(name, token) of the files that it replaces. A file that is replaced does not count, whether it is
deleted yet or not: so rows are there once at every moment, whatever is killed.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, TypeVar

import pyarrow as pa
import pyarrow.parquet as pq

from ragnostic.errors import DataError, StoreError
from ragnostic.store.sqlite_rescue import sync

COMPACTED = "compacted-"
"""How the names of files begin that replace others."""
_KEY = b"ragnostic.file"
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.+-]{0,200}")
_GROUP_ROWS = 65_536
_TRIES = 20
_STALE_S = 86_400.0
Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class LakeFile:
    """A file of a day."""

    path: Path
    token: str
    written: int
    """Nanoseconds since the epoch; of what replaces others, that of the newest of them."""
    replaces: frozenset[tuple[str, str]]
    schema: pa.Schema
    rows: int

    @property
    def identity(self) -> tuple[str, str]:
        """What others call it when they replace it."""
        return self.path.name, self.token


def day_folder(root: Path, kind: str, day: str) -> Path:
    """Where the files of a day are; raises DataError where it is no day."""
    try:
        valid = date.fromisoformat(day).isoformat() == day
    except (TypeError, ValueError):
        valid = False
    if not valid:
        raise DataError(f"{day!r} is no day", hint="write it as 2025-07-31")
    return root / kind / f"day={day}"


def check_name(name: str) -> str:
    """The name of a file without its ending; raises DataError where it may not be one."""
    if not _NAME.fullmatch(name) or name.startswith(COMPACTED):
        raise DataError(f"{name!r} is no name for a file of the lake")
    return name


def write_file(
    folder: Path,
    name: str,
    table: pa.Table,
    *,
    replaces: Sequence[LakeFile] = (),
    check: Callable[[], None] = lambda: None,
    written: int | None = None,
) -> None:
    """Write ``folder/name.parquet`` aside and rename it.

    ``check`` is called while nobody else changes the folder, before the renaming, and may
    raise to prevent it. Raises StoreError where the disk does not allow it.
    """
    about = {
        "token": secrets.token_hex(8),
        "written": time.time_ns() if written is None else written,
        "replaces": sorted(file.identity for file in replaces),
    }
    metadata = {**(table.schema.metadata or {}), _KEY: json.dumps(about)}
    aside = folder / f".{name}.{secrets.token_hex(4)}.tmp"
    with explained(folder):
        folder.mkdir(parents=True, exist_ok=True)
        try:
            pq.write_table(
                table.replace_schema_metadata(metadata),
                aside,
                compression="zstd",
                row_group_size=_GROUP_ROWS,
                write_page_checksum=True,
            )
            sync(aside)
            with changing(folder):
                check()
                aside.rename(folder / f"{name}.parquet")
                sync(folder)
        finally:
            aside.unlink(missing_ok=True)


@contextmanager
def explained(path: Path) -> Iterator[None]:
    """Errors of the disk as StoreError."""
    try:
        yield
    except OSError as error:
        raise StoreError(
            f"{path} cannot be used: {error.strerror or error}",
            hint="is the disk full, may the folder be written to?",
            retryable=True,
        ) from error


@contextmanager
def changing(folder: Path) -> Iterator[None]:
    """Alone among those who change which files a folder has; held for a moment only."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def inspect(path: Path) -> LakeFile:
    """What a file says of itself; a file of others counts as the oldest. Raises StoreError where
    it is damaged, FileNotFoundError where it is gone.
    """
    with undamaged(path), pq.ParquetFile(path) as file:
        schema, rows = file.schema_arrow, file.metadata.num_rows
        metadata = dict(schema.metadata or {})
        about: dict[str, Any] = json.loads(metadata.pop(_KEY, b"{}"))
        replaces = frozenset((name, token) for name, token in about.get("replaces", ()))
        return LakeFile(
            path,
            about.get("token", ""),
            about.get("written", 0),
            replaces,
            schema.with_metadata(metadata or None),
            rows,
        )


@contextmanager
def undamaged(path: Path) -> Iterator[None]:
    """What cannot be read of a file as StoreError that names it."""
    try:
        yield
    except FileNotFoundError:
        raise
    except (pa.ArrowException, OSError, ValueError) as error:
        raise StoreError(
            f"{path} is damaged: {error}",
            hint="move it away and take it from a backup, or bring its records in again",
        ) from error


def all_files(folder: Path) -> list[LakeFile]:
    """All files of a day, also replaced ones."""
    return [inspect(path) for path in _paths(folder)]


def counting(files: Sequence[LakeFile]) -> list[LakeFile]:
    """Files that are not replaced, in the order in which they were written."""
    gone = {identity for file in files for identity in file.replaces}
    left = [file for file in files if file.identity not in gone]
    return sorted(left, key=lambda file: (file.written, file.path.name))


class ChangedError(Exception):
    """A file is not the one any more that was looked at before: look again."""


@contextmanager
def opened(file: LakeFile) -> Iterator[pq.ParquetFile]:
    """A file to be read, as it was looked at; raises ChangedError where it was written anew."""
    with undamaged(file.path), pq.ParquetFile(file.path, page_checksum_verification=True) as source:
        about = json.loads((source.schema_arrow.metadata or {}).get(_KEY, b"{}"))
        if about.get("token", "") != file.token:
            raise ChangedError(file.path)
        yield source


def _paths(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob("*.parquet") if path.name[0] != ".")


def read_settled(folder: Path, read: Callable[[list[LakeFile]], Result]) -> Result:
    """What ``read`` makes of the files that count, none of which was replaced meanwhile."""
    for _ in range(_TRIES):
        with suppress(FileNotFoundError, ChangedError):
            before = _paths(folder)
            result = read(counting([inspect(path) for path in before]))
            after = {path.name for path in _paths(folder)}
            new = after.difference(path.name for path in before)
            if after.issuperset(path.name for path in before) and not any(
                name.startswith(COMPACTED) for name in new
            ):
                return result
    raise StoreError(f"{folder} changed all the time while it was read", retryable=True)


def clean(folder: Path) -> None:
    """Delete what was replaced, and what interrupted writings left. Needs :func:`changing`."""
    files = all_files(folder)
    left = {file.path for file in counting(files)}
    for file in files:
        if file.path not in left:
            file.path.unlink(missing_ok=True)
    for path in folder.glob(".*.tmp"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _STALE_S:
                path.unlink()
    sync(folder)
