"""Rows of a day: those in a window, the newest of each, only the columns that are asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.ports import RecordKind
from ragnostic.store.lake_columns import TS, united
from ragnostic.store.lake_files import LakeFile, opened
from ragnostic.store.lake_newest import KEYS, REVISION, newest

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Window:
    """Moments in [start, end), without a bound where it is None, and the days that they touch.

    >>> from datetime import UTC
    >>> noon = datetime(2025, 7, 31, 12, tzinfo=UTC)
    >>> window = Window(noon, noon + timedelta(hours=12), ZoneInfo("UTC"))
    >>> window.holds_day("2025-07-31"), window.holds_day("2025-08-01")
    (True, False)
    """

    start: datetime | None
    end: datetime | None
    zone: ZoneInfo

    def holds_day(self, day: str, slack: int = 0) -> bool:
        """Whether a day has such a moment; with ``slack``, or is so many days beside one that
        has (files may be from when the store had another zone).
        """
        this, around = date.fromisoformat(day), timedelta(days=slack)
        if self.start is not None and this < self.start.astimezone(self.zone).date() - around:
            return False
        if self.end is None:
            return True
        last = self.end.astimezone(self.zone) - timedelta(microseconds=1)
        return this <= last.date() + around

    def holds(self, ts: pa.ChunkedArray) -> Mask:
        """Which instants are inside; one that is null is where there are no bounds."""
        inside = np.ones(len(ts), np.bool_)
        for bound, compare in ((self.start, pc.greater_equal), (self.end, pc.less)):
            if bound is not None:
                within = compare(ts, pa.scalar(bound, TS)).fill_null(False)  # noqa: FBT003 - Arrow's
                inside &= within.to_numpy(zero_copy_only=False)
        return inside


def rows_of_day(
    files: Sequence[LakeFile],
    kind: RecordKind,
    day: str,
    window: Window,
    columns: Sequence[str] | None,
) -> list[pa.Table]:
    """A table a file that has such rows, with the column ``day``.

    First the keys of the whole day are read, then the columns of the rows that stay.
    """
    wanted = {*KEYS[kind], REVISION, "ts"}
    keys = [_read(file, [name for name in file.schema.names if name in wanted]) for file in files]
    if not keys:
        return []
    stays = newest(united(keys), kind)
    tables, first = [], 0
    for file, found in zip(files, keys, strict=True):
        mask = stays[first : first + file.rows]
        first += file.rows
        if "ts" in found.column_names:
            mask = mask & window.holds(found["ts"])
        elif not window.holds_day(day):
            continue
        if mask.any():
            table = _chosen(file, columns, mask)
            tables.append(table.append_column("day", pa.repeat(day, table.num_rows)))
    return tables


def whole(file: LakeFile) -> pa.Table:
    """All of a file."""
    return _read(file, file.schema.names)


def _read(file: LakeFile, names: Sequence[str]) -> pa.Table:
    with opened(file) as source:
        # A name with a dot also matches the members of a struct.
        table = source.read(columns=list(names)).select(list(names))
        return table.replace_schema_metadata(file.schema.metadata)


def _chosen(file: LakeFile, columns: Sequence[str] | None, mask: Mask) -> pa.Table:
    """The rows of a mask, read by groups of rows, so that memory holds what is chosen."""
    names = [name for name in file.schema.names if columns is None or name in columns]
    names = names or file.schema.names[:1]  # a table without columns has no rows
    parts, first = [], 0
    with opened(file) as source:
        for group in range(source.num_row_groups):
            size = source.metadata.row_group(group).num_rows
            part = mask[first : first + size]
            first += size
            if part.any():
                table = source.read_row_group(group, columns=names).select(names)
                parts.append(table if part.all() else table.filter(pa.array(part)))
    return pa.concat_tables(parts).replace_schema_metadata(file.schema.metadata)
