"""Roll-ups are brought up to date, and no more than that."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.monitor.judge_in_use import JudgeInUse
from ragnostic.monitor.rollups.rolling import roll_up

CASE = runpy.run_path(str(Path(__file__).parents[1] / "store_case.py"))
SETTINGS = '[store]\nzone = "UTC"\n[judge]\nuse = "answer_span"\n'


def work(store, numbers):
    """Rows into the lake, as a worker brings them."""
    processor = JudgeInUse(store.configuration, {}).processor()
    store.queue.append(CASE["events"]([CASE["row"](n) for n in numbers]))
    for partition in range(store.queue.partitions):
        events = store.queue.read(partition, store.queue.committed(partition), 1000)
        for kind, table in processor.tables(events).by_kind().items() if events else ():
            store.lake.write(kind, table, name=f"part-{partition:02d}-{events[0].offset}")
        if events:
            store.queue.commit(partition, events[-1].offset)


def scored(store):
    """Sum of n of one figure over all hours."""
    rows = store.lake.read("rollups").to_pylist()
    return sum(row["n"] for row in rows if (row["metric"], row["slice"]) == ("R@10", ""))


def test_only_days_that_changed_are_made_anew(tmp_path):
    """All at first, none the second time, and then the day of a late row."""
    with CASE["case"](tmp_path, SETTINGS) as store:
        work(store, range(9))
        first = roll_up(store)
        assert first.days == ("2026-03-01", "2026-03-02", "2026-03-03")
        assert scored(store) == 9
        assert roll_up(store).days == ()
        work(store, [12])
        assert roll_up(store).days == ("2026-03-01",)
        assert scored(store) == 10


def test_rolling_up_again_gives_the_same_rows(tmp_path):
    """Whoever was interrupted before it was noted does it again."""
    with CASE["case"](tmp_path, SETTINGS) as store:
        work(store, range(9))
        roll_up(store)
        before = store.lake.read("rollups")
        for day in store.lake.days("scores"):
            store.state.set_position(f"rollup.{day}", {"made_from": "?"})
        assert len(roll_up(store, ["2026-03-02"]).days) == 1
        assert len(roll_up(store).days) == 2
        assert store.lake.read("rollups").equals(before)


def test_the_command_says_what_it_did(tmp_path):
    """In words and as JSON; a store without scores has nothing to roll up."""
    with CASE["case"](tmp_path, SETTINGS) as store:
        run = CliRunner().invoke
        arguments = ["rollup", "--store", str(tmp_path)]
        assert run(cli.app, arguments).stdout == "nothing has changed\n"
        work(store, range(9))
        assert run(cli.app, arguments).stdout.startswith("3 days rolled up: ")
        again = json.loads(run(cli.app, [*arguments, "--json"]).stdout)
        assert again == {"days": [], "rows": 0}
