"""The lake: Hive-partitioned Parquet, a folder a day, which is written and read by many at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.compute as pc

from ragnostic.errors import DataError
from ragnostic.ports import RecordKind
from ragnostic.store import lake_upkeep
from ragnostic.store.lake_columns import SCHEMAS, local_days, plain, projected, united
from ragnostic.store.lake_files import (
    LakeFile,
    check_name,
    day_folder,
    read_settled,
    write_file,
)
from ragnostic.store.lake_reading import Window, rows_of_day

__all__ = ["ParquetLake", "local_days"]


class ParquetLake:
    """The :class:`~ragnostic.ports.RecordStore` below a folder.

    A row belongs to the local day of its ``ts`` in ``zone``, and stands in
    ``records/day=2025-07-31/NAME.parquet``. Files are written aside and renamed, so readers see
    all of a file or nothing of it. Raises DataError for what cannot be stored, StoreError where
    the disk or a file cannot be used.

    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> lake = ParquetLake(Path(folder.name), "Asia/Shanghai")
    >>> lake.read("scores", columns=["record_id"]).num_rows
    0
    >>> ts = pa.array([datetime(2025, 7, 31, 20, tzinfo=ZoneInfo("UTC"))])
    >>> lake.write("records", pa.table({"record_id": ["r1"], "ts": ts}), name="part-1")
    >>> lake.days("records")
    ['2025-08-01']
    >>> folder.cleanup()
    """

    def __init__(self, root: Path, zone: str = "UTC") -> None:
        self.root = root
        self.zone = zone
        self._zone = ZoneInfo(zone)

    def write(self, kind: RecordKind, table: pa.Table, *, name: str) -> None:
        """Store rows by their column ``day`` (YYYY-MM-DD), or by the local day of ``ts`` where
        there is none. The same name again replaces what it wrote on a day.
        """
        check_name(name)
        table = plain(table)
        if "day" not in table.column_names:
            if "ts" not in table.column_names:
                raise DataError(f"a table of {kind} has neither day nor ts")
            table = table.append_column("day", local_days(table["ts"], self.zone))
        days = table["day"].combine_chunks()
        if days.null_count:
            raise DataError(f"{days.null_count} rows of {kind} have no day")
        folders = {day: day_folder(self.root, kind, day) for day in days.unique().to_pylist()}
        rows = table.drop_columns(["day"])
        for day, folder in folders.items():
            write_file(folder, name, rows.filter(pc.equal(days, day)))

    def read(
        self,
        kind: RecordKind,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        columns: Sequence[str] | None = None,
    ) -> pa.Table:
        """Rows with ``ts`` in [start, end), the newest of each (KEYS in lake_newest), by day.

        Times without a zone are in that of the store. A table without ``ts`` is read by whole
        days. A named column that was never written is null; without files the table is empty.
        """
        found = list(self.by_day(kind, start=start, end=end, columns=columns))
        if found:
            return projected(united(found), kind, columns)
        return projected(SCHEMAS[kind].empty_table(), kind, columns)

    def by_day(
        self,
        kind: RecordKind,
        *,
        start: datetime | None = None,
        end: datetime | None = None,
        columns: Sequence[str] | None = None,
    ) -> Iterator[pa.Table]:
        """The same, a table a day that has such rows, so that memory holds one day."""
        window = Window(self._aware(start), self._aware(end), self._zone)
        for day in self.days(kind):
            if not window.holds_day(day, slack=1):
                continue

            def rows(files: list[LakeFile], day: str = day) -> list[pa.Table]:
                return rows_of_day(files, kind, day, window, columns)

            tables = read_settled(day_folder(self.root, kind, day), rows)
            if tables:
                yield projected(united(tables), kind, columns)

    def days(self, kind: RecordKind) -> list[str]:
        """The days that hold files, in order."""
        found = []
        for folder in (self.root / kind).glob("day=*"):
            with suppress(DataError):
                day = folder.name.removeprefix("day=")
                if any(day_folder(self.root, kind, day).glob("*.parquet")):
                    found.append(day)
        return sorted(found)

    def compact(self, kind: RecordKind, day: str) -> int:
        """Merge the small files of a day, and say how many were merged. Old revisions go."""
        return lake_upkeep.compact(day_folder(self.root, kind, day), kind)

    def rewrite(self, kind: RecordKind, day: str, keep: Callable[[pa.Table], pa.Array]) -> int:
        """Remove the rows of a day for which ``keep`` (a table into a boolean array) does not
        hold, old revisions too, and say how many. What others write meanwhile is seen as well.
        """
        return lake_upkeep.rewrite(day_folder(self.root, kind, day), keep)

    def drop_before(self, kind: RecordKind, day: str) -> list[str]:
        """Remove the days before a day, and say which."""
        day_folder(self.root, kind, day)
        gone = [found for found in self.days(kind) if found < day]
        for found in gone:
            lake_upkeep.drop(day_folder(self.root, kind, found))
        return gone

    def _aware(self, moment: datetime | None) -> datetime | None:
        if moment is None or moment.tzinfo is not None:
            return moment
        return moment.replace(tzinfo=self._zone)
