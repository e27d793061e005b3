"""The lake: by local day, idempotent by name, the newest of each row, under one schema."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from zoneinfo import ZoneInfo

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.errors import DataError, StoreError
from ragnostic.records import JUDGMENT_SCHEMA, record_schema, stages_of
from ragnostic.store.lake import ParquetLake

NOON = datetime(2025, 7, 31, 12, tzinfo=UTC)
KINDS = ("records", "judgments", "scores", "probes")


def hour(number: int) -> datetime:
    """So many hours after noon UTC."""
    return NOON + timedelta(hours=number)


def rows(*found: tuple[str, int] | tuple[str, int, int]) -> pa.Table:
    """Records of (id, hour, revision)."""
    return pa.table(
        {
            "record_id": [row[0] for row in found],
            "ts": pa.array([hour(row[1]) for row in found], pa.timestamp("us", tz="UTC")),
            "revision": pa.array([(*row, 0)[2] for row in found], pa.int64()),
        }
    )


def ids(table: pa.Table) -> list[str]:
    """The ids of a table."""
    return table["record_id"].to_pylist()


@pytest.fixture
def lake(tmp_path: Path) -> ParquetLake:
    """An empty lake in Shanghai."""
    return ParquetLake(tmp_path, "Asia/Shanghai")


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_lake_reads_as_empty(lake, kind):
    """With the columns of its kind, or those that are asked for."""
    table = lake.read(kind)
    assert table.num_rows == 0
    assert {"ts", "day"} <= set(table.column_names)
    chosen = lake.read(kind, start=NOON, columns=["ts", "RR@5"])
    assert chosen.column_names == ["ts", "RR@5"]
    assert lake.days(kind) == []
    assert list(lake.by_day(kind)) == []
    assert lake.compact(kind, "2025-07-31") == 0
    assert lake.rewrite(kind, "2025-07-31", lambda _: pa.array([])) == 0
    assert lake.drop_before(kind, "2025-07-31") == []


def test_a_day_is_a_local_day(lake, tmp_path):
    """16:00 UTC is midnight in Shanghai; the column ``day`` is in the path only."""
    lake.write("records", rows(("a", 3), ("b", 4)), name="part-0-1-2")
    assert lake.days("records") == ["2025-07-31", "2025-08-01"]
    path = tmp_path / "records" / "day=2025-08-01" / "part-0-1-2.parquet"
    assert pq.ParquetFile(path).schema_arrow.names == ["record_id", "ts", "revision"]
    assert lake.read("records", columns=["record_id", "day"]).to_pylist() == [
        {"record_id": "a", "day": "2025-07-31"},
        {"record_id": "b", "day": "2025-08-01"},
    ]


def test_a_given_day_counts(lake):
    """The worker has it computed already."""
    table = rows(("a", 3)).append_column("day", pa.array(["2025-07-30"]))
    lake.write("records", table, name="x")
    assert lake.days("records") == ["2025-07-30"]


def test_the_same_name_replaces(lake):
    """Work that is done again gives the same rows."""
    lake.write("records", rows(("a", 0)), name="x")
    lake.write("records", rows(("b", 0)), name="x")
    lake.write("records", rows(("c", 0)), name="y")
    assert ids(lake.read("records")) == ["b", "c"]


def test_windows_are_half_open(lake):
    """Naive times are in the zone of the store."""
    lake.write("records", rows(*((f"r{n}", n) for n in range(-30, 30))), name="x")
    assert ids(lake.read("records", start=hour(2), end=hour(5))) == ["r2", "r3", "r4"]
    naive = datetime(2025, 7, 31, 22)  # noqa: DTZ001 - that is the point
    assert ids(lake.read("records", start=naive, end=naive + timedelta(hours=1))) == ["r2"]
    assert len(ids(lake.read("records", end=hour(0)))) == 30
    assert len(ids(lake.read("records", start=hour(0)))) == 30
    assert ids(lake.read("records", start=hour(5), end=hour(5))) == []


def test_days_of_another_zone_are_found(tmp_path):
    """The setting was changed after they were written."""
    ParquetLake(tmp_path, "Pacific/Auckland").write("records", rows(("a", 0)), name="x")
    lake = ParquetLake(tmp_path, "America/Los_Angeles")
    assert lake.days("records") == ["2025-08-01"]
    assert ids(lake.read("records", start=hour(0), end=hour(1))) == ["a"]


def test_the_newest_revision_wins_whenever_it_was_written(lake):
    """Also where an older one comes late, and where a newer one moved out of the window."""
    lake.write("records", rows(("a", 0, 1), ("b", 0, 0)), name="x")
    lake.write("records", rows(("a", 1, 0), ("b", 2, 1), ("c", 0)), name="y")
    found = lake.read("records").sort_by("record_id")
    assert ids(found) == ["a", "b", "c"]
    assert found["revision"].to_pylist() == [1, 1, 0]
    assert ids(lake.read("records", start=hour(0), end=hour(1))) == ["a", "c"]


def test_of_equal_revisions_the_last_written_wins(lake):
    """A record is judged again."""
    columns = {"ts": [NOON], "record_id": ["a"]}
    for name, version in (("z", "1"), ("a", "2")):
        table = pa.table({**columns, "judge": ["gold"], "version": [version]})
        lake.write("judgments", table, name=name)
    lake.write("judgments", pa.table({**columns, "judge": ["other"]}), name="m")
    found = lake.read("judgments", columns=["judge", "version"]).to_pylist()
    assert found == [{"judge": "gold", "version": "2"}, {"judge": "other", "version": None}]


def test_scores_are_by_stage_and_probes_by_what_was_asked(lake):
    """Null is a value of a key, except in its first column."""
    scores = {"record_id": ["a", "a", None, None], "stage": ["retrieve", "rerank", None, None]}
    lake.write("scores", pa.table({**scores, "ts": [NOON] * 4}), name="x")
    lake.write("scores", pa.table({**scores, "ts": [NOON] * 4}), name="y")
    assert lake.read("scores").num_rows == 2 + 4
    probe = pa.table({"query_id": ["q", "q"], "ts": [NOON] * 2, "seed": [1, 2]})
    lake.write("probes", probe, name="x")
    lake.write("probes", probe, name="y")
    assert lake.read("probes").num_rows == 2


def test_other_stages_and_columns_go_together(lake):
    """Missing ones are null; the stages stand in pipeline order; a clash becomes text."""
    for name, stages, extra in (
        ("x", ["retrieve"], pa.array([1])),
        ("y", ["expand", "retrieve", "rerank"], pa.array(["one"])),
        ("z", ["retrieve", "fuse", "rerank"], pa.array([[1, 2]])),
    ):
        schema = record_schema(stages, rank_scores=stages[:1])
        table = pa.Table.from_pylist(
            [{"record_id": name, "ts": NOON, stages[0]: {"ids": [name]}}], schema=schema
        )
        lake.write("records", table.append_column("extra", extra), name=name)
    found = lake.read("records")
    assert stages_of(found.schema) == ["expand", "retrieve", "fuse", "rerank"]
    assert found["extra"].to_pylist() == ["1", "one", "[1, 2]"]
    assert [stage and stage["ids"] for stage in found["retrieve"].to_pylist()] == [
        ["x"],
        None,
        ["z"],
    ]
    assert b"ragnostic.file" not in found.schema.metadata


def test_columns_are_chosen_by_their_whole_name(lake):
    """A name with a dot is not the member of a struct."""
    table = rows(("a", 0)).append_column("RBO(p=0.9)@10", pa.array([0.5]))
    table = table.append_column("RBO(p=0", pa.array([{"9)@10": 1}]))
    lake.write("scores", table, name="x")
    assert lake.read("scores", columns=["RBO(p=0.9)@10"]).to_pylist() == [{"RBO(p=0.9)@10": 0.5}]
    assert lake.read("scores", columns=["day", "stage"]).to_pylist() == [
        {"day": "2025-07-31", "stage": None}
    ]


def test_dictionary_columns_and_other_units_go_in(lake):
    """As readers of Parquet and pandas make them."""
    table = pa.table(
        {
            "record_id": pa.array(["a"]).dictionary_encode(),
            "ts": pa.array([NOON], pa.timestamp("ns", tz="Asia/Tokyo")),
        }
    )
    lake.write("records", table, name="x")
    lake.write("records", rows(("b", 0)), name="y")
    assert ids(lake.read("records")) == ["a", "b"]
    assert lake.read("records").schema.field("ts").type == pa.timestamp("us", tz="UTC")


def test_many_rows_are_read_by_groups(lake):
    """Only the groups of rows that hold some of the window."""
    count = 150_000
    table = pa.table(
        {
            "record_id": [f"r{n}" for n in range(count)],
            "ts": [NOON + timedelta(milliseconds=10 * n) for n in range(count)],
        }
    )
    lake.write("records", table, name="x")
    found = lake.read("records", start=NOON + timedelta(milliseconds=10 * (count - 2)))
    assert ids(found) == [f"r{count - 2}", f"r{count - 1}"]


def test_a_table_without_ts_is_read_by_whole_days(lake):
    """Judgments may have none."""
    table = pa.table({"record_id": ["a", "b"], "day": ["2025-07-31", "2025-08-01"]})
    lake.write("judgments", table, name="x")
    found = lake.read("judgments", start=hour(0), end=hour(4), columns=["record_id"])
    assert ids(found) == ["a"]
    assert set(JUDGMENT_SCHEMA.names) & set(found.column_names) == {"record_id"}


@pytest.mark.parametrize("name", ["", "../x", "a/b", ".x", "compacted-1", "x\n"])
def test_a_name_is_no_path(lake, name):
    """Nor one that the lake gives itself."""
    with pytest.raises(DataError, match="is no name"):
        lake.write("records", rows(("a", 0)), name=name)


@pytest.mark.parametrize(
    "table",
    [
        pa.table({"record_id": ["a"]}),
        pa.table({"record_id": ["a"], "ts": pa.array([None], pa.timestamp("us", tz="UTC"))}),
        pa.table({"record_id": ["a"], "day": ["../.."]}),
        pa.table({"record_id": ["a"], "day": ["20250731"]}),
        pa.table({"record_id": ["a"], "ts": ["2025-07-31"]}),
        pa.table({"record_id": ["a"], "ts": pa.array([0], pa.timestamp("us"))}),
    ],
)
def test_rows_without_a_day_are_refused(lake, table):
    """Nothing of them is written."""
    with pytest.raises(DataError):
        lake.write("records", table, name="x")
    assert lake.days("records") == []


def test_a_damaged_file_is_named(lake, tmp_path):
    """Its pages carry checksums."""
    lake.write("records", rows(*((f"r{n}", 0) for n in range(3_000))), name="x")
    path = tmp_path / "records" / "day=2025-07-31" / "x.parquet"
    data = bytearray(path.read_bytes())
    data[200] ^= 1
    path.write_bytes(data)
    with pytest.raises(StoreError, match=r"x\.parquet is damaged"):
        lake.read("records")
    path.write_bytes(b"no parquet")
    with pytest.raises(StoreError, match=r"x\.parquet is damaged"):
        lake.read("records")


def test_files_of_others_are_read(lake, tmp_path):
    """As DuckDB or pandas write them; what is no Parquet file does not count."""
    folder = tmp_path / "records" / "day=2025-07-31"
    folder.mkdir(parents=True)
    pq.write_table(rows(("a", 0)), folder / "theirs.parquet")
    (folder / ".x.parquet").write_text("hidden")
    (folder / "notes.txt").write_text("notes")
    (tmp_path / "records" / "day=soon").mkdir()
    lake.write("records", rows(("a", 1)), name="ours")
    found = lake.read("records")
    assert found["ts"].to_pylist()[0].astimezone(ZoneInfo("UTC")) == hour(1)
    assert found.num_rows == 1


def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path):
    """A file stands where the folder should be."""
    (tmp_path / "records").write_text("")
    with pytest.raises(StoreError, match="cannot be used"):
        ParquetLake(tmp_path).write("records", rows(("a", 0)), name="x")
