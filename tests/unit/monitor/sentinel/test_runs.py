"""Runs of the sentinel: what is asked, what is kept, and going on after an end."""

from __future__ import annotations

import runpy
import sys
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pyarrow as pa
import pytest

from ragnostic import config, plugins
from ragnostic.errors import DataError, StoreError, UsageError
from ragnostic.metrics import Metric
from ragnostic.monitor.probes import probe_summary
from ragnostic.monitor.sentinel.position import load_position, only_one, save_position
from ragnostic.monitor.sentinel.runs import BATCH, Plan, run_sentinel
from ragnostic.offline.implementations import Workshop
from ragnostic.offline.inputs import load_inputs
from ragnostic.ports import no_progress
from ragnostic.records import EvalQuery, record_schema

CASE = runpy.run_path(str(Path(__file__).parents[1] / "store_case.py"))
NOW = datetime(2026, 3, 5, 12, tzinfo=UTC).timestamp()
HOUR = 3600.0
CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[retrieve]
use = "python"
top_k = 12
[retrieve.python]
target = "{module}:retrieve"
[rerank]
use = "{rerank}"
[rerank.python]
target = "{module}:rerank"
[run]
retries = 0
max_failed = 0.0
"""
CODE = """
CALLS = []
SETTING = {"stop_after": None, "shift": 0, "fail": ()}

def called(what):
    if len(CALLS) == SETTING["stop_after"]:
        raise KeyboardInterrupt
    CALLS.append(what)
    if any(word in what[1] for word in SETTING["fail"]):
        raise RuntimeError("service is down")

def retrieve(query, top_k):
    called(("retrieve", query))
    return [f"c{SETTING['shift'] + number}" for number in range(top_k)]

def rerank(query, candidates, top_n):
    called(("rerank", query))
    order = [c["id"] for c in candidates]
    return order[::-1] if query.endswith("?") else order
"""


class Clock:
    """Time that passes only by sleeping, and between runs."""

    def __init__(self):
        self.time = NOW
        self.slept = []

    def now(self):
        """Seconds since the epoch."""
        return self.time

    def sleep(self, seconds):
        """Is over at once."""
        self.slept.append(seconds)
        self.time += seconds


class Sentinel:
    """A store with records, a service in memory, and a clock."""

    def __init__(self, folder, store):
        self.folder, self.store, self.clock = folder, store, Clock()
        self.rerank = "python"
        rows = [f'{{"_id": "c{i}", "text": "leave, part {i}"}}' for i in range(40)]
        (folder / "corpus.jsonl").write_text("\n".join(rows), encoding="utf-8")
        row = '{"query_id": "q", "query": "leave", "gold": ["c1"]}\n'
        (folder / "eval.jsonl").write_text(row, encoding="utf-8")
        self.module = f"sentinel_{abs(hash(folder))}"
        (folder / f"{self.module}.py").write_text(CODE, encoding="utf-8")

    def workshop(self):
        """Of the configuration as it is now."""
        path = self.folder / "eval.toml"
        path.write_text(CONFIG.format(module=self.module, rerank=self.rerank), encoding="utf-8")
        loaded = config.load(path, find_plugin=plugins.load, check_metric=Metric.parse)
        return Workshop(loaded, load_inputs(loaded, no_progress).chunks)

    @property
    def service(self):
        """The module of the service, once it was loaded."""
        return sys.modules[self.module]

    def run(self, **plan):
        """A run of a plan that reranks with ``seed`` and ``punctuation`` unless told otherwise."""
        chosen = Plan("eval.toml", **{"kinds": ("seed", "punctuation"), **plan})
        return run_sentinel(self.store, self.workshop(), chosen, self.clock)

    def records(self, *queries, day=4):
        """Records that asked these queries."""
        ts = datetime(2026, 3, day, 10, tzinfo=UTC)
        rows = [
            {"record_id": f"{day}-{n}", "query_id": f"q{n}", "query": query, "ts": ts}
            for n, query in enumerate(queries)
        ]
        table = pa.Table.from_pylist(rows, record_schema(()))
        self.store.lake.write("records", table, name=f"part-{day}")


@pytest.fixture
def sentinel(tmp_path):
    """Opens on an empty store."""
    with CASE["case"](tmp_path / "store") as store:
        yield Sentinel(tmp_path, store)


def listed(count):
    """Queries of a list."""
    return tuple(EvalQuery(f"q{number:02d}", f"leave {number}") for number in range(count))


def kinds(run):
    """Perturbations of the rows, by query text."""
    return sorted(
        zip(*(run.probes[name].to_pylist() for name in ("query", "perturbation")), strict=True)
    )


def test_the_most_frequent_queries_are_reranked_twice(sentinel):
    """In one wording each; those of older days are not counted."""
    sentinel.records("VPN", "vpn", "leave", "leave", "leave", "pay", " ", None)
    sentinel.records("old", "old", "old", "old", day=1)
    run = sentinel.run(count=2, days=2)
    assert (run.queries, run.resumed, run.gone) == (2, 0, 0)
    assert kinds(run) == [
        ("VPN", "punctuation"),
        ("VPN", "seed"),
        ("leave", "punctuation"),
        ("leave", "seed"),
    ]
    found = probe_summary(run.probes)["perturbations"]
    assert found["seed"]["RBO(p=0.9)@10"]["mean"] == pytest.approx(1.0)
    assert found["punctuation"]["RCS@10"]["mean"] == pytest.approx(8 / 12)
    stored = sentinel.store.lake.read("probes")
    assert stored.num_rows == 4
    assert set(stored["ts"].to_pylist()) == {datetime(2026, 3, 5, 12, tzinfo=UTC)}


def test_a_run_that_was_interrupted_goes_on_where_it_was(sentinel):
    """Each query is asked to its end once more at most for a batch, and kept once."""
    plan = {"listed": listed(2 * BATCH + 3), "retrieval": True}
    sentinel.run(listed=listed(1))
    sentinel.clock.time += HOUR
    sentinel.service.CALLS.clear()
    sentinel.service.SETTING["stop_after"] = 4 * BATCH + 30
    with pytest.raises(KeyboardInterrupt):
        sentinel.run(**plan)
    sentinel.service.SETTING["stop_after"] = None
    assert sentinel.store.lake.read("probes").num_rows == 2 + 3 * BATCH
    before = list(sentinel.service.CALLS)
    sentinel.clock.time += HOUR
    run = sentinel.run(**plan)
    again = sentinel.service.CALLS[len(before) :]
    assert (run.queries, run.resumed) == (2 * BATCH + 3, BATCH)
    assert ("retrieve", "leave 0") not in again
    assert run.probes.num_rows == 3 * (2 * BATCH + 3)
    assert set(run.tally.failed.values()) == {0}
    times = sorted(set(run.probes["ts"].to_pylist()))
    assert [int(ts.timestamp() - NOW) for ts in times] == [3600, 7200]
    sentinel.clock.time += HOUR
    assert sentinel.run(**plan).resumed == 0
    assert sentinel.store.lake.read("probes").num_rows == 2 + 6 * (2 * BATCH + 3)


def test_a_batch_that_was_kept_and_not_noted_is_not_kept_twice(sentinel):
    """The kill came between the two: it is done again under the same time and name."""
    plan = Plan("eval.toml", ("seed",), listed=listed(3))
    sentinel.run(kinds=("seed",), listed=listed(3))
    ended = load_position(sentinel.store.state, plan.name)
    ids = tuple(query.query_id for query in listed(3))
    halfway = replace(ended, ids=ids, done=0, batch_at=NOW, finished=False)
    save_position(sentinel.store.state, plan.name, halfway)
    sentinel.clock.time += HOUR
    run = sentinel.run(kinds=("seed",), listed=listed(3))
    assert run.run == ended.run
    assert sentinel.store.lake.read("probes").num_rows == 3


def test_a_run_of_yesterday_is_not_gone_on_with(sentinel):
    """What it did stays; a new one begins."""
    sentinel.run(listed=listed(1))
    sentinel.service.SETTING["stop_after"] = len(sentinel.service.CALLS) + 5
    with pytest.raises(KeyboardInterrupt):
        sentinel.run(listed=listed(3), seed=1)
    sentinel.service.SETTING["stop_after"] = None
    sentinel.clock.time += 25 * HOUR
    assert sentinel.run(listed=listed(3), seed=1).resumed == 0


def test_failures_are_counted_and_lose_nothing(sentinel):
    """Of retrieval and of reranking, even where most calls fail; the texts of errors are told."""
    sentinel.run(listed=listed(1))
    sentinel.service.SETTING["fail"] = ("leave 1", "leave 2?")
    run = sentinel.run(listed=listed(4), retrieval=True)
    assert run.tally.not_retrieved == 1
    assert run.tally.failed == {"seed": 0, "punctuation": 1}
    assert any("service is down" in reason for reason in run.tally.reasons)
    names = [kind for _, kind in kinds(run)]
    assert [names.count(kind) for kind in ("seed", "punctuation", "retrieval")] == [3, 2, 3]


def test_retrieval_is_held_against_the_day_before(sentinel):
    """The first run has none; a change shows until the next day, and RCS has nothing to do with
    it.
    """
    plan = {"listed": listed(2), "retrieval": True, "kinds": ()}
    found = probe_summary(sentinel.run(**plan).probes)
    assert (found["pairs"], found["retrieval"]["compared"], found["retrieval"]["new"]) == (0, 0, 2)
    sentinel.clock.time += HOUR
    found = probe_summary(sentinel.run(**plan).probes)["retrieval"]
    assert found["metrics"]["RetrievalOverlap@10"]["mean"] == 1.0
    sentinel.service.SETTING["shift"] = 5
    sentinel.clock.time += 24 * HOUR
    found = probe_summary(sentinel.run(**plan).probes)["retrieval"]
    assert found["metrics"]["RetrievalOverlap@10"]["mean"] == pytest.approx(5 / 15)
    assert found["metrics"]["RetrievalRBO(p=0.9)@10"]["mean"] < 0.5
    sentinel.clock.time += HOUR
    found = probe_summary(sentinel.run(**plan).probes)["retrieval"]
    assert found["metrics"]["RetrievalOverlap@10"]["mean"] == pytest.approx(5 / 15)
    sentinel.clock.time += 24 * HOUR
    found = probe_summary(sentinel.run(**plan).probes)["retrieval"]
    assert found["metrics"]["RetrievalOverlap@10"]["mean"] == 1.0


def test_an_index_that_changes_bit_by_bit_shows(sentinel):
    """Hour against hour little changes; against the last run of yesterday, or the first of the
    first day, much.
    """
    plan = {"listed": listed(2), "retrieval": True, "kinds": ()}
    shared = []
    for shift in range(4):
        run = sentinel.run(**plan)
        sentinel.service.SETTING["shift"] = shift + 1
        found = probe_summary(run.probes)["retrieval"]["metrics"]["RetrievalOverlap@10"]["mean"]
        shared.append(found)
        sentinel.clock.time += HOUR
    assert shared == [None, *(pytest.approx((10 - n) / (10 + n)) for n in (1, 2, 3))]
    sentinel.clock.time += 24 * HOUR
    found = probe_summary(sentinel.run(**plan).probes)["retrieval"]["metrics"]
    assert found["RetrievalOverlap@10"]["mean"] == pytest.approx(9 / 11)


def test_a_query_that_failed_is_held_against_the_day_before_that(sentinel):
    """An outage must not hide the change that comes with it."""
    plan = {"listed": listed(2), "retrieval": True, "kinds": ()}
    sentinel.run(**plan)
    sentinel.service.SETTING["fail"] = ("leave",)
    sentinel.clock.time += 24 * HOUR
    failed = sentinel.run(**plan)
    assert (failed.probes.num_rows, failed.tally.not_retrieved) == (0, 2)
    sentinel.service.SETTING.update(fail=(), shift=20)
    sentinel.clock.time += 24 * HOUR
    found = probe_summary(sentinel.run(**plan).probes)["retrieval"]
    assert (found["compared"], found["metrics"]["RetrievalOverlap@10"]["mean"]) == (2, 0.0)


def test_sentinels_do_not_mix(sentinel):
    """Another list, seed or perturbation is another sentinel, and is not held against this one."""
    sentinel.run(listed=listed(2), retrieval=True)
    other = sentinel.run(listed=listed(2), retrieval=True, seed=7)
    assert probe_summary(other.probes)["retrieval"]["new"] == 2
    names = {
        Plan("a", ("seed",)).name,
        Plan("b", ("seed",)).name,
        Plan("a", ("seed",), count=5).name,
        Plan("a", ("seed",), retrieval=True).name,
        Plan("a", ("seed",), listed=(), listed_from="q.jsonl").name,
    }
    assert len(names) == 5
    assert Plan("a", ("seed",), rate=2.0).name == Plan("a", ("seed",)).name


def test_calls_come_at_the_pace_that_was_asked_for(sentinel):
    """Two a second: retrieval and reranking together."""
    sentinel.run(listed=listed(2), rate=2.0)
    assert sentinel.clock.slept == [0.5] * 7


def test_a_query_that_was_forgotten_meanwhile_is_not_asked(sentinel):
    """It is counted as gone; the position holds no texts."""
    sentinel.records("leave", "leave", "pay")
    sentinel.run(listed=listed(1))
    sentinel.service.SETTING["stop_after"] = len(sentinel.service.CALLS)
    with pytest.raises(KeyboardInterrupt):
        sentinel.run(count=5)
    sentinel.service.SETTING["stop_after"] = None
    plan = Plan("eval.toml", ("punctuation", "seed"), count=5)
    position = load_position(sentinel.store.state, plan.name)
    assert len(position.ids) == 2
    assert "leave" not in str(position)
    sentinel.records("pay")
    run = sentinel.run(count=5)
    assert (run.queries, run.gone, set(run.probes["query"].to_pylist())) == (2, 1, {"pay"})


def test_a_run_whose_queries_were_all_forgotten_ends(sentinel):
    """Without rows, and without calls."""
    sentinel.records("leave", "pay")
    sentinel.run(listed=listed(1))
    sentinel.service.SETTING["stop_after"] = len(sentinel.service.CALLS)
    with pytest.raises(KeyboardInterrupt):
        sentinel.run(count=5, retrieval=True)
    sentinel.service.SETTING["stop_after"] = None
    sentinel.records("new")
    asked = len(sentinel.service.CALLS)
    run = sentinel.run(count=5, retrieval=True)
    assert (run.gone, run.probes.num_rows) == (2, 0)
    assert len(sentinel.service.CALLS) == asked
    assert sentinel.run(count=5, retrieval=True).queries == 1


def test_without_queries_or_a_reranker_it_says_so(sentinel):
    """And begins nothing."""
    with pytest.raises(DataError, match="last 7 days of the store holds no query"):
        sentinel.run()
    with pytest.raises(DataError, match="the list holds no query"):
        sentinel.run(listed=())
    sentinel.rerank = "none"
    with pytest.raises(UsageError, match="no reranker"):
        sentinel.run(listed=listed(1))
    assert sentinel.run(listed=listed(1), kinds=(), retrieval=True).probes.num_rows == 1


def test_one_process_at_a_time(sentinel):
    """The other one is told; another sentinel may run."""
    plan = Plan("eval.toml", ("seed", "punctuation"), listed=listed(1))
    with only_one(sentinel.store.root, plan.name):
        with pytest.raises(StoreError, match="running already"):
            sentinel.run(listed=listed(1))
        assert sentinel.run(listed=listed(1), seed=3).queries == 1
    assert sentinel.run(listed=listed(1)).queries == 1
