"""Fewer files, fewer rows, fewer days; whoever reads or is killed meanwhile."""

from __future__ import annotations

import threading
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pytest

from ragnostic.errors import StoreError
from ragnostic.store import lake_files, lake_upkeep
from ragnostic.store.lake import ParquetLake

NOON = datetime(2025, 7, 31, 12, tzinfo=UTC)
DAY = "2025-07-31"


def table(*names: str, revision: int = 0, user: str | None = "u1") -> pa.Table:
    """Records a minute apart."""
    return pa.table(
        {
            "record_id": list(names),
            "ts": [NOON + timedelta(minutes=number) for number in range(len(names))],
            "revision": pa.array([revision] * len(names), pa.int64()),
            "user_id": pa.array([user] * len(names), pa.string()),
        }
    )


def found(lake: ParquetLake) -> list[tuple[str, int]]:
    """(id, revision) of all rows, sorted."""
    rows = lake.read("records", columns=["record_id", "revision"]).to_pylist()
    return sorted((row["record_id"], row["revision"]) for row in rows)


def files(lake: ParquetLake, day: str = DAY) -> list[Path]:
    """All entries of a day, hidden ones too."""
    return sorted((lake.root / "records" / f"day={day}").iterdir())


@pytest.fixture
def lake(tmp_path: Path) -> ParquetLake:
    """Four small files; ``a`` comes in two revisions, ``d`` comes twice."""
    made = ParquetLake(tmp_path)
    made.write("records", table("a", "b", revision=1), name="p1")
    made.write("records", table("a", "c", user=None), name="p2")
    made.write("records", table("d"), name="p3")
    made.write("records", table("d", user="u2"), name="p4")
    return made


EXPECTED = [("a", 1), ("b", 1), ("c", 0), ("d", 0)]


def test_compaction_keeps_the_newest_of_each_in_one_file(lake):
    """Sorted by time; a second one has nothing to do."""
    assert lake.compact("records", DAY) == 4
    assert len(files(lake)) == 1
    assert found(lake) == EXPECTED
    rows = lake.read("records", columns=["ts", "user_id", "record_id"])
    assert rows["ts"].to_pylist() == sorted(rows["ts"].to_pylist())
    assert {"record_id": "d", "user_id": "u2"} in rows.drop_columns(["ts"]).to_pylist()
    assert lake.compact("records", DAY) == 0


def test_what_is_written_later_still_wins_after_compaction(lake):
    """And the same name again replaces nothing but its own rows."""
    lake.compact("records", DAY)
    lake.write("records", table("d", user="u3"), name="p4")
    lake.write("records", table("late"), name="p9")
    rows = lake.read("records", columns=["record_id", "user_id"]).to_pylist()
    assert {"record_id": "d", "user_id": "u3"} in rows
    assert found(lake) == [*EXPECTED, ("late", 0)]
    assert lake.compact("records", DAY) == 3
    assert found(lake) == [*EXPECTED, ("late", 0)]


def test_large_files_are_left_alone(lake, monkeypatch):
    """Groups are cut where they would become too large, and only neighbours are merged."""
    size = max(path.stat().st_size for path in files(lake))
    monkeypatch.setattr(lake_upkeep, "GROUP_BYTES", 2 * size)
    assert lake.compact("records", DAY) == 4
    assert len(files(lake)) == 2
    monkeypatch.setattr(lake_upkeep, "GROUP_BYTES", 1)
    assert lake.compact("records", DAY) == 0
    assert found(lake) == EXPECTED


class KilledError(BaseException):
    """Stands for a process that dies at this point."""


def test_a_killed_compaction_leaves_rows_once(lake, monkeypatch):
    """After the renaming and before the deleting both are there; readers count one."""
    calls = []

    def dies(folder: Path) -> None:
        calls.append(folder)
        if len(calls) == 2:
            raise KilledError

    with monkeypatch.context() as patch:
        patch.setattr(lake_upkeep, "clean", dies)
        with pytest.raises(KilledError):
            lake.compact("records", DAY)
    assert len(files(lake)) == 5
    assert lake.read("records").num_rows == len(found(lake)) == 4
    assert found(lake) == EXPECTED
    assert lake.compact("records", DAY) == 0
    assert len(files(lake)) == 1
    assert found(lake) == EXPECTED


def test_a_compaction_gives_way_to_who_changed_its_files(lake, monkeypatch):
    """What it read is not what is there now."""
    whole = lake_upkeep.whole

    def meanwhile(file: lake_files.LakeFile) -> pa.Table:
        read = whole(file)
        if file.path.stem == "p4":
            lake.write("records", table("d", user="u9"), name="p4")
        return read

    monkeypatch.setattr(lake_upkeep, "whole", meanwhile)
    assert lake.compact("records", DAY) == 0
    users = lake.read("records", columns=["user_id"])["user_id"].to_pylist()
    assert "u9" in users
    assert "u2" not in users
    assert not [path for path in files(lake) if path.name.startswith(".")]


def test_rewriting_removes_rows_from_every_file(lake):
    """Old revisions too; null is no reason; a file without rows goes."""
    removed = lake.rewrite("records", DAY, lambda rows: pc.not_equal(rows["user_id"], "u1"))
    assert removed == 3
    assert found(lake) == [("a", 0), ("c", 0), ("d", 0)]
    assert [path.stem for path in files(lake)] == ["p2", "p4"]
    assert lake.rewrite("records", DAY, lambda rows: pc.not_equal(rows["user_id"], "u1")) == 0


def test_rewriting_a_compacted_file_does_not_bring_back_what_it_replaced(lake, monkeypatch):
    """Its leftovers are deleted first."""
    with monkeypatch.context() as patch:
        patch.setattr(lake_upkeep, "clean", lambda _: None)
        lake.compact("records", DAY)
    assert len(files(lake)) == 5
    assert lake.rewrite("records", DAY, lambda rows: pc.not_equal(rows["record_id"], "b")) == 1
    assert found(lake) == [("a", 1), ("c", 0), ("d", 0)]
    assert len(files(lake)) == 1


def test_rewriting_looks_again_at_what_was_written_meanwhile(lake):
    """Until nothing is left."""
    written = []

    def keep(rows: pa.Table) -> pa.Array:
        if not written:
            written.append(True)
            lake.write("records", table("new", "b"), name="p8")
            lake.write("records", table("x", "b"), name="p1")
        return pc.not_equal(rows["record_id"], "b")

    assert lake.rewrite("records", DAY, keep) >= 2
    assert [name for name, _ in found(lake)] == ["a", "c", "d", "new", "x"]


def test_readers_never_see_a_row_twice_or_not_at_all(lake):
    """While another compacts and rewrites all the time."""
    stop = threading.Event()
    faults: list[BaseException] = []

    def change() -> None:
        try:
            for number in range(12):
                lake.write("records", table("d", user=f"v{number}"), name=f"n{number % 3}")
                lake.compact("records", DAY)
                lake.rewrite("records", DAY, lambda rows: pc.not_equal(rows["record_id"], "no"))
        except BaseException as error:  # noqa: BLE001 - shown by the test
            faults.append(error)
        finally:
            stop.set()

    other = threading.Thread(target=change)
    other.start()
    turns = 0
    while not stop.is_set() or not turns:
        assert found(lake) == EXPECTED
        turns += 1
    other.join()
    assert faults == []


def test_what_changes_all_the_time_is_an_error_in_the_end(lake, monkeypatch):
    """It may be tried again."""
    monkeypatch.setattr(lake_files, "_TRIES", 2)

    def read(_: object) -> None:
        raise lake_files.ChangedError

    with pytest.raises(StoreError, match="changed all the time") as error:
        lake_files.read_settled(lake.root / "records" / f"day={DAY}", read)
    assert error.value.retryable


def test_old_unfinished_files_are_cleaned_and_young_ones_left(lake, monkeypatch):
    """Somebody may be writing them."""
    aside = lake.root / "records" / f"day={DAY}" / ".p7.00.tmp"
    aside.write_text("unfinished")
    lake.compact("records", DAY)
    assert aside.exists()
    monkeypatch.setattr(lake_files, "_STALE_S", -1.0)
    lake.compact("records", DAY)
    assert not aside.exists()


def test_days_are_dropped_whole(lake):
    """And what an interrupted dropping left."""
    left = lake.root / "records" / ".day=2025-01-01.00.dropped"
    left.mkdir()
    lake.write("records", table("e").append_column("day", pa.array(["2025-08-02"])), name="x")
    assert lake.drop_before("records", DAY) == []
    assert lake.drop_before("records", "2025-08-02") == [DAY]
    assert lake.days("records") == ["2025-08-02"]
    assert not left.exists()
    assert found(lake) == [("e", 0)]
