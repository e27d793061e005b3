"""Every panel of the dashboard has an answer on a real Prometheus that scraped the exporter."""

from __future__ import annotations

import json
import runpy
import shutil
import subprocess
import time
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from prometheus_client.parser import text_string_to_metric_families

from ragnostic.exporters.prometheus import exposition
from ragnostic.monitor.alerts.book import Book
from ragnostic.monitor.alerts.check import check_alerts
from ragnostic.monitor.alerts.rule_files import load_rules
from ragnostic.monitor.exported import exported
from ragnostic.monitor.exported_alerts import exported_alerts
from ragnostic.monitor.exported_dashboard import dashboard
from ragnostic.monitor.live_metrics import DEFAULT_METRICS, SIGNALS
from ragnostic.monitor.live_store import open_store
from ragnostic.monitor.rollups.rows import COVERAGE, EMPTY, FAILED, LATENCY, ROLLUP_SCHEMA
from ragnostic.monitor.rollups.sketches import sketch_of

FLOW = Path(__file__).parent
CHAIN = runpy.run_path(str(FLOW / "test_alert_chain.py"))
SCRAPED = runpy.run_path(str(FLOW / "test_prometheus.py"))
free_port, asked, write = SCRAPED["free_port"], SCRAPED["asked"], CHAIN["write"]
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, ("prometheus", "promtool"))),
    reason="system package prometheus is missing",
)
FIGURES = (*map(str, DEFAULT_METRICS), *SIGNALS, LATENCY, COVERAGE, EMPTY, FAILED)
N = 300


def rolled_up(now):
    """Roll-ups of the past hours: every figure, two stages, everything and two categories."""
    begin = now.replace(minute=0, second=0, microsecond=0)
    for back in range(60):
        for figure in FIGURES:
            for place, stage in enumerate(("retrieve", "rerank")):
                for category in ("", "refunds", "退款"):
                    yield {
                        "ts": begin - timedelta(hours=back),
                        "judge": "gold",
                        "stage": stage,
                        "stage_place": place,
                        "slice": "category" if category else "",
                        "value": category,
                        "metric": figure,
                        "n": N,
                        "sum": 0.5 * N,
                        "sum_squares": 0.3 * N,
                        "more": [float(N)] * 3,
                        "sketch": sketch_of(np.full(5, 0.2)) if figure == LATENCY else None,
                    }


@pytest.fixture(scope="module")
def figures(tmp_path_factory):
    """What the exporter gives of a store with all figures, one of whose alerts fires."""
    root = tmp_path_factory.mktemp("dashboard")
    (root / "store.toml").write_text('[store]\nzone = "UTC"\n', encoding="utf-8")
    now, rules = datetime.now(UTC), load_rules(None)
    schema = ROLLUP_SCHEMA.remove(ROLLUP_SCHEMA.get_field_index("day"))
    with open_store(root, {}) as store, Book(root) as book:
        rows = pa.Table.from_pylist(list(rolled_up(now)), schema)
        store.lake.write("rollups", rows, name="rollup")
        store.state.add({"received": 9, "stored": 9})
        found = check_alerts(store.lake, book, rules, now, zone="UTC")
        assert found.firing
        return exposition([*exported(store, now), *exported_alerts(found.tracks, rules)])


def the_day_before(text, target):
    """The samples of the gauges as OpenMetrics, every two minutes around a day ago."""
    families = [one for one in text_string_to_metric_families(text) if one.type == "gauge"]
    middle = time.time() - 86400
    for family in families:
        yield f"# TYPE {family.name} gauge"
        for sample in family.samples:
            labels = {"instance": target, "job": "r", **sample.labels}
            pairs = (
                f"{key}={json.dumps(value, ensure_ascii=False)}" for key, value in labels.items()
            )
            place = ",".join(pairs)
            for step in range(-5, 6):
                yield f"{sample.name}{{{place}}} {sample.value} {middle + 120 * step:.0f}"
    yield "# EOF\n"


@pytest.fixture(scope="module")
def prometheus(figures, tmp_path_factory):
    """A Prometheus that knows the day before too; its port."""
    folder = tmp_path_factory.mktemp("prometheus")
    port = free_port()
    with ExitStack() as stack:
        exporter = stack.enter_context(CHAIN["served"](lambda *_: figures.encode()))
        target = f"127.0.0.1:{exporter}"
        before = "\n".join(the_day_before(figures, target))
        (folder / "before.txt").write_text(before, encoding="utf-8")
        subprocess.run(
            ["promtool", "tsdb", "create-blocks-from", "openmetrics", "before.txt", "data"],
            cwd=folder,
            check=True,
            capture_output=True,
        )
        targets = [{"targets": [target]}]
        settings = {
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "r", "static_configs": targets}],
        }
        write(folder / "prometheus.yml", settings)
        stack.enter_context(
            CHAIN["running"](
                *("prometheus", f"--config.file={folder}/prometheus.yml"),
                f"--storage.tsdb.path={folder}/data",
                f"--web.listen-address=127.0.0.1:{port}",
            )
        )
        until = time.monotonic() + 60
        while not asked(port, "rate(ragnostic_intake_rows_total[10m])"):  # two scrapes
            assert time.monotonic() < until
            time.sleep(0.2)
        yield port


@pytest.mark.parametrize("window", ["hour", "day"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_every_panel_has_an_answer(prometheus, language, window):
    """With all that can be chosen, and for one category."""
    panels = dashboard(load_rules(None).health, language)["panels"]
    queries = [panel["targets"][0]["expr"] for panel in panels if panel["type"] != "row"]
    assert len(queries) >= 16
    for category in (".*", "退款"):
        chosen = {"window": window, "stage": ".*", "judge": "gold", "category": category}
        for query in queries:
            said = query
            for name, value in chosen.items():
                said = said.replace(f"${name}", value)
            assert "$" not in said
            assert asked(prometheus, said), said


def test_variables_have_values(prometheus):
    """Whatever the dashboard lets one choose from, Prometheus knows."""
    for variable in dashboard(())["templating"]["list"]:
        if variable["type"] == "query":
            family, label = variable["query"].removeprefix("label_values(")[:-1].split(", ")
            found = asked(prometheus, f"group by ({label}) ({family})")
            assert any(one["metric"].get(label) for one in found), label
