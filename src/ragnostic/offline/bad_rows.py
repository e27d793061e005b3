"""When so many rows are unreadable that a score would mislead."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from ragnostic.corpus.files import read_bytes
from ragnostic.errors import DataError, Fault, counted

QUARANTINED = ("quarantined", "line_too_long")
"""Kinds of faults that stand for a row left out."""

DEFAULT_LIMIT = 0.01
_LISTED = 10


def check_share(
    path: Path,
    faults: Sequence[Fault],
    *,
    good: int,
    limit: float = DEFAULT_LIMIT,
    documents: bool = False,
) -> None:
    """Raise DataError when more than ``limit`` of the rows below ``path`` were left out.

    ``good`` is the number of rows that were read; for a folder the rows are those of the files
    that hold bad ones, if they are more. ``documents`` says that ``good`` counts documents: then
    a file of a thousand lines is one.
    """
    bad = [fault for fault in faults if fault.kind in QUARANTINED]
    count = sum(fault.count for fault in bad)
    if not count:
        return
    rows = good + count if documents else max(good + count, _rows_of_files(path, bad))
    if count <= limit * rows:
        return
    total = counted(rows, "document" if documents else "row")
    lines = [f"{path}: {count} of {total} cannot be used ({count / rows:.1%})"]
    lines += [f"    {fault}" for fault in bad[:_LISTED]]
    if len(bad) > _LISTED:
        lines.append(f"    … and {len(bad) - _LISTED} more")
    raise DataError(
        "\n".join(lines),
        hint=f"mend them, or allow a larger share than {limit:g}: --bad-rows, or run.bad_rows in a "
        "configuration",
    )


def _rows_of_files(folder: Path, faults: Sequence[Fault]) -> int:
    if not folder.is_dir():
        return 0
    names = {fault.where.rpartition(":")[0] for fault in faults if ":" in fault.where}
    files = (next(folder.rglob(name), None) for name in sorted(names))
    return sum(read_bytes(file).count(b"\n") for file in files if file is not None)
