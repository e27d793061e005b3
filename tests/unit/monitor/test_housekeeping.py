"""Small files made one, days that are no longer kept."""

from __future__ import annotations

import runpy
import threading
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest

from ragnostic.errors import PathError
from ragnostic.monitor.housekeeping import Housekeeping
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.retention import enforce_retention, expired
from ragnostic.monitor.work_loop import Orders, work

CASE = runpy.run_path(str(Path(__file__).parent / "store_case.py"))
Given, case, events, row = (CASE[name] for name in ("Given", "case", "events", "row"))


def silent(message):
    """A report nobody reads."""


def drained(store, rows):
    """These rows in the lake."""
    store.queue.append(events(rows))
    orders = Orders(once=True, share=16, keeps_house=False)
    work(store, Given(store), orders, stop=threading.Event(), report=silent)


def files(root, kind="records"):
    """How many files the days of a kind have."""
    return [sum(1 for _ in day.glob("*.parquet")) for day in sorted((root / kind).glob("day=*"))]


def test_many_small_files_become_one_and_payloads_go(tmp_path):
    """The rows stay the same; what is done leaves the queue."""
    with case(tmp_path) as store:
        drained(store, [row(n) for n in range(40)])
        before = store.lake.read("records").sort_by("record_id")
        assert min(files(tmp_path)) > 4
        Housekeeping(store, silent).run(Given(store).processor(), idle=True)
        assert files(tmp_path) == files(tmp_path, "scores") == [1, 1, 1]
        after = store.lake.read("records").sort_by("record_id")
        assert after.select(before.column_names).to_pylist() == before.to_pylist()
        assert store.queue.read(0, 0, 10) == []


def test_each_task_waits_until_it_is_due(tmp_path):
    """A look a minute; not more, however many rounds there are."""
    clock = [0.0]
    with case(tmp_path) as store:
        house = Housekeeping(store, silent, now=lambda: clock[0])
        house.run(Given(store).processor(), idle=True)
        drained(store, [row(n) for n in range(40)])
        house.run(Given(store).processor(), idle=True)
        assert min(files(tmp_path)) > 4
        clock[0] = 61.0
        house.run(Given(store).processor(), idle=True)
        assert files(tmp_path) == [1, 1, 1]


def test_old_days_go_with_their_quarantine(tmp_path):
    """From the end of retention after their last arrival; it is said."""
    said = []
    settings = '[store]\nzone = "UTC"\nkeep_days = 10\n[judge]\nuse = "none"\n'
    with case(tmp_path, settings) as store:
        drained(store, [row(n) for n in range(6)])
        today = datetime.now(UTC).date()
        assert enforce_retention(store, today + timedelta(days=10)) == {}
        folder = tmp_path / "quarantine" / "day=2026-03-01"
        folder.mkdir(parents=True)
        removed = enforce_retention(store, today + timedelta(days=11))
        days = ["2026-03-01", "2026-03-02", "2026-03-03"]
        assert removed == {
            "records": days,
            "judgments": days,
            "scores": days,
            "quarantine": ["2026-03-01"],
        }
        assert store.lake.days("records") == []
        assert not folder.exists()
        Housekeeping(store, said.append).run(Given(store).processor(), idle=True)
        assert said == []


def test_a_day_that_is_kept_does_not_keep_a_later_one(tmp_path):
    """A late arrival holds its own day only."""
    settings = '[store]\nzone = "UTC"\nkeep_days = 10\n[judge]\nuse = "none"\n'
    with case(tmp_path, settings) as store:
        drained(store, [row(n) for n in range(6)])
        for day in ("2026-03-02", "2026-03-03"):
            store.state.set_position(f"arrived.{day}", {"day": day})
        said = []
        house = Housekeeping(store, said.append)
        house.run(Given(store).processor(), idle=True)
        assert store.lake.days("records") == ["2026-03-01"]
        assert "records: 2 days no longer kept: 2026-03-02, 2026-03-03" in said


def test_days_expire_by_themselves_where_no_arrival_is_known():
    """Exactly ``keep`` days are kept."""
    today = date(2026, 3, 31)
    assert expired(["2026-03-21", "2026-03-20"], {}, today, 10) == ["2026-03-20"]


def test_a_folder_that_is_no_store_is_said(tmp_path):
    """Nothing is made there."""
    with pytest.raises(PathError, match="is no store folder"), open_store(tmp_path, {}):
        pass
    assert list(tmp_path.iterdir()) == []
