"""The real chain: a store → Prometheus with the generated rules → Alertmanager → a webhook."""

from __future__ import annotations

import json
import queue
import runpy
import shutil
import subprocess
import time
from contextlib import ExitStack, contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

FLOW = Path(__file__).parent
CASE = runpy.run_path(str(FLOW / "live_case.py"))
run, write_lines = CASE["run"], CASE["write_lines"]
SCRAPED = runpy.run_path(str(FLOW / "test_prometheus.py"))
free_port = SCRAPED["free_port"]
PROGRAMS = ("prometheus", "prometheus-alertmanager", "promtool")
pytestmark = pytest.mark.skipif(
    not all(map(shutil.which, PROGRAMS)),
    reason="a system package is missing: prometheus or prometheus-alertmanager",
)
ALERTS = """
[[rule]]
id = "first-result-low"
metric = "RR@5"
window = "hour"
below = 0.7
min_samples = 10
severity = "P0"
runbook = "docs/alerts/mrr-drop.md"
[rule.summary]
zh = "首个有用结果的排名偏低。"
en = "The first useful result stands low."
[[rule]]
id = "wait-long"             # a percentile that is not exported: by the state of the check
metric = "latency:p97"
window = "hour"
above = 0.001
min_samples = 10
severity = "P1"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A store whose last hours were bad: the right chunk stands second."""
    found = tmp_path_factory.mktemp("chain")
    store = found / "store"
    store.mkdir()
    (store / "store.toml").write_text(CASE["SETTINGS"], encoding="utf-8")
    (store / "alerts.toml").write_text(ALERTS, encoding="utf-8")
    CASE["write_corpus"](found)
    hour = datetime.now(UTC).replace(minute=0, second=0, microsecond=0)
    rows = []
    for back in range(3):  # the hour may change while the test runs, and settles for ten minutes
        for number in range(20):
            row = CASE["log_row"](number)
            ids = [one for one in row["retrieve"]["ids"] if one != f"c{number}"]
            ids.insert(1, f"c{number}")
            at = hour - timedelta(hours=back) + timedelta(seconds=number)
            row |= {"trace_id": f"{back}-{number}", "ts": at.isoformat(), "category": "退款"}
            row["retrieve"] |= {"ids": ids}
            rows.append(row)
    write_lines(found / "log.jsonl", rows)
    run(found, "snapshot", "chunks.jsonl", "--store", "store")
    run(found, "ingest", "log.jsonl", "--store", "store")
    run(found, "work", "--store", "store", "--once")
    run(found, "alerts", "check", "--store", "store", code=1)
    return found


@contextmanager
def served(answer):
    """``answer(path, body)`` behind HTTP on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            self._reply(answer(self.path, b""))

        def do_POST(self):
            length = int(self.headers["Content-Length"])
            self._reply(answer(self.path, self.rfile.read(length)))

        def _reply(self, body):
            self.send_response(200)
            self.send_header("Content-Type", "text/plain; version=0.0.4; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(ConnectionError):  # a program that ends does not wait
                self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        try:
            yield server.server_port
        finally:
            server.shutdown()
            thread.join()


@contextmanager
def running(*command):
    """A program of Debian, ended by its own id."""
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=nowhere, stderr=nowhere) as process:
        try:
            yield process
        finally:
            process.terminate()
            process.wait(timeout=30)


def write(path, document):
    """JSON, which both programs read as YAML."""
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


@pytest.fixture
def chain(folder, tmp_path):
    """All of it; gives what the webhook was sent."""
    said = queue.Queue()
    options = ("--store", "store", "--lang", "zh", "--settle", "0m")
    rules = run(folder, "export", "rules", *options).stdout
    (tmp_path / "rules.yml").write_text(rules, encoding="utf-8")
    with ExitStack() as stack:
        start = stack.enter_context
        figures = start(
            served(
                lambda *_: run(folder, "export", "prometheus", "--store", "store").stdout.encode()
            )
        )
        hook = start(served(lambda _, body: said.put(json.loads(body)) or b"ok"))
        prometheus, manager = free_port(), free_port()
        settings = {
            "global": {
                "scrape_interval": "3s",
                "scrape_timeout": "3s",
                "evaluation_interval": "1s",
            },
            "rule_files": ["rules.yml"],
            "scrape_configs": [
                {"job_name": "r", "static_configs": [{"targets": [f"127.0.0.1:{figures}"]}]}
            ],
            "alerting": {
                "alertmanagers": [{"static_configs": [{"targets": [f"127.0.0.1:{manager}"]}]}]
            },
        }
        receiver = {"name": "hook", "webhook_configs": [{"url": f"http://127.0.0.1:{hook}/"}]}
        route = {"receiver": "hook", "group_wait": "0s", "group_by": ["alertname"]}
        write(tmp_path / "prometheus.yml", settings)
        write(tmp_path / "manager.yml", {"route": route, "receivers": [receiver]})
        start(
            running(
                *("prometheus-alertmanager", f"--config.file={tmp_path}/manager.yml"),
                *(f"--storage.path={tmp_path}/am", f"--web.listen-address=127.0.0.1:{manager}"),
                "--cluster.listen-address=",
            )
        )
        start(
            running(
                *("prometheus", f"--config.file={tmp_path}/prometheus.yml"),
                f"--storage.tsdb.path={tmp_path}/data",
                f"--web.listen-address=127.0.0.1:{prometheus}",
            )
        )
        yield said


def test_a_bad_hour_reaches_the_webhook(chain):
    """With severity, value and the sentence in Chinese, within seconds; by PromQL, and by the state
    of the check.
    """
    found = {}
    until = time.monotonic() + 90
    while len(found) < 2 and time.monotonic() < until:
        for alert in chain.get(timeout=90)["alerts"]:
            if alert["labels"]["rule"] in {"first-result-low", "wait-long"}:
                found[alert["labels"]["rule"]] = alert
    low, wait = found["first-result-low"], found["wait-long"]
    assert {low["status"], wait["status"]} == {"firing"}
    assert (low["labels"]["alertname"], low["labels"]["severity"]) == (
        "RagnosticFirstResultLow",
        "P0",
    )
    assert low["annotations"]["summary"] == "首个有用结果的排名偏低。"
    assert "MRR@5 为 0.5。" in low["annotations"]["description"]
    assert "P97 检索耗时为 0.01191，对照值为 0.001。" in wait["annotations"]["description"]
