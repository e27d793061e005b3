"""Fewer files, fewer rows, fewer days: each step leaves every row there once, or gone."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path

import pyarrow as pa

from ragnostic.ports import RecordKind
from ragnostic.store.lake_columns import united
from ragnostic.store.lake_files import (
    COMPACTED,
    ChangedError,
    LakeFile,
    all_files,
    changing,
    clean,
    counting,
    explained,
    inspect,
    write_file,
)
from ragnostic.store.lake_newest import newest
from ragnostic.store.lake_reading import whole
from ragnostic.store.sqlite_rescue import sync

GROUP_BYTES = 16 << 20
"""Bytes of the files that are merged into one; about ten times as much in memory."""


def compact(folder: Path, kind: RecordKind) -> int:
    """Merge the small files of a day; how many."""
    merged = 0
    for group in _groups(_tidied(folder)):
        with suppress(ChangedError, FileNotFoundError):  # another compaction, or a rewrite
            table = united([whole(file) for file in group])
            table = table.filter(pa.array(newest(table, kind)))
            if "ts" in table.column_names:
                table = table.sort_by("ts")
            write_file(
                folder,
                f"{COMPACTED}{secrets.token_hex(8)}",
                table,
                replaces=group,
                check=partial(_unchanged, group),
                written=group[-1].written,
            )
            merged += len(group)
            del table
            pa.default_memory_pool().release_unused()  # else a worker keeps what it took once
    _tidied(folder)
    return merged


def rewrite(folder: Path, keep: Callable[[pa.Table], pa.Array]) -> int:
    """Remove the rows of a day for which ``keep`` does not hold; how many."""
    removed = 0
    seen: set[str] = set()
    while files := [file for file in _tidied(folder) if file.token not in seen]:
        for file in files:
            with suppress(ChangedError, FileNotFoundError):  # it is looked at in the next turn
                table = whole(file)
                # Null is no reason to remove: what is compared with a name may have none.
                left = table.filter(keep(table).fill_null(True))  # noqa: FBT003 - Arrow's
                if left.num_rows < table.num_rows:
                    _put(file, left)
                    removed += table.num_rows - left.num_rows
                seen.add(file.token)
    return removed


def drop(folder: Path) -> None:
    """Remove a day at once."""
    aside = folder.with_name(f".{folder.name}.{secrets.token_hex(4)}.dropped")
    with explained(folder):
        folder.rename(aside)
        sync(folder.parent)
        for gone in folder.parent.glob(".*.dropped"):
            shutil.rmtree(gone)


def _tidied(folder: Path) -> list[LakeFile]:
    """The files that count, after those that are replaced were deleted."""
    if not folder.exists():
        return []
    with explained(folder), changing(folder):
        clean(folder)
        return counting(all_files(folder))


def _groups(files: Sequence[LakeFile]) -> Iterator[list[LakeFile]]:
    """Small files that were written one after the other, so that what is newer stays newer."""
    group: list[LakeFile] = []
    size = 0
    for file in files:
        found = file.path.stat().st_size
        if size + found > GROUP_BYTES:
            if len(group) > 1:
                yield group
            group, size = [], 0
        group.append(file)
        size += found
    if len(group) > 1:
        yield group


def _put(file: LakeFile, left: pa.Table) -> None:
    """Put fewer rows in the place of a file."""
    if left.num_rows:
        write_file(
            file.path.parent,
            file.path.stem,
            left,
            check=partial(_unchanged, [file]),
            written=file.written,
        )
        return
    with explained(file.path), changing(file.path.parent):
        _unchanged([file])
        file.path.unlink()


def _unchanged(files: Sequence[LakeFile]) -> None:
    for file in files:
        if inspect(file.path).identity != file.identity:
            raise ChangedError(file.path)
