"""``ragnostic serve`` as people run it: real processes from a request to a judged row."""

from __future__ import annotations

import json
import os
import runpy
import signal
import subprocess
import threading
import time
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest

FLOW = Path(__file__).parent
CASE = runpy.run_path(str(FLOW / "live_case.py"))
command, run, as_json = CASE["command"], CASE["run"], CASE["as_json"]
CONFIG = """
[upstream]
url = "{upstream}"
[listen]
address = "127.0.0.1:0"
[serve]
address = "127.0.0.1:0"
check_minutes = 0.05
[map]
query = "request.query"
answer = "response.answer"
[map.retrieve]
ids = "response.ids"
"""
LONGEST_S = 90


@pytest.fixture
def upstream():
    """A service: it answers with the rule that is asked for."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            row = CASE["log_row"](int(asked["number"]))
            body = json.dumps({"answer": row["answer"], "ids": row["retrieve"]["ids"]}).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


class Served:
    """The running program: its lines, and the addresses that it told."""

    def __init__(self, folder):
        self.process = subprocess.Popen(
            command("serve", "--config", "gateway.toml"),
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        self.lines = []
        self.reader = threading.Thread(target=self._read)
        self.reader.start()

    def _read(self):
        with self.process.stdout as said:
            self.lines.extend(line.rstrip() for line in said)

    def until(self, said):
        """The first line that holds a text."""
        return wait_for(lambda: next((line for line in self.lines if said in line), None), self)

    def address(self, said):
        """The address in the line that holds a text."""
        return next(word for word in self.until(said).split() if word.startswith("http://"))

    def stop(self):
        """SIGTERM; how long it took, and the exit code."""
        begun = time.monotonic()
        self.process.send_signal(signal.SIGTERM)
        code = self.process.wait(60)
        self.reader.join()
        return time.monotonic() - begun, code


def wait_for(found, served):
    """The first value that is one; fails with the lines of the program."""
    until = time.monotonic() + LONGEST_S
    while time.monotonic() < until:
        value = found()
        if value:
            return value
        assert served.process.poll() is None, served.lines
        time.sleep(0.05)
    raise AssertionError(served.lines)


@contextmanager
def serving(folder):
    """The program, ended by its own id whatever happens."""
    served = Served(folder)
    try:
        yield served
    finally:
        if served.process.poll() is None:
            served.process.send_signal(signal.SIGTERM)
            try:
                served.process.wait(30)
            except subprocess.TimeoutExpired:
                served.process.kill()
        served.reader.join()


@pytest.fixture
def folder(tmp_path, upstream):
    """A folder with everything that serve needs."""
    store = tmp_path / "store"
    store.mkdir()
    (store / "store.toml").write_text(CASE["SETTINGS"] + "[work]\nsleep_s = 0.2\n")
    (tmp_path / "gateway.toml").write_text(CONFIG.format(upstream=upstream), encoding="utf-8")
    CASE["write_corpus"](tmp_path)
    run(tmp_path, "snapshot", "chunks.jsonl", "--store", "store")
    return tmp_path


def get(url):
    """Status and body."""
    reply = httpx.get(url, timeout=20)
    return reply.status_code, reply.text


def ask(url, number):
    """A question to the service, through the gateway."""
    body = {"query": CASE["log_row"](number)["query"], "number": number}
    return httpx.post(url, json=body, timeout=20).json()


def test_from_a_request_to_a_judged_row_and_to_the_end(folder):
    """Everything runs, what passes is judged, figures can be scraped, and it ends in five seconds
    with nothing lost.
    """
    with serving(folder) as served:
        gateway = served.address("passes everything on to")
        figures = served.address("figures:").rstrip("/")
        served.until("everything runs")
        assert get(f"{figures}/healthz")[0] == 200
        assert get(f"{figures}/nothing")[0] == 404
        for number in range(20):
            assert ask(gateway, number)["answer"]
        wait_for(lambda: "ragnostic_judgments_total" in get(f"{figures}/metrics")[1], served)
        text = get(f"{figures}/metrics")[1]
        assert 'ragnostic_process_up{process="gateway"} 1.0' in text
        wait_for(lambda: ready(figures)["jobs"]["check"]["runs"], served)
        assert ready(figures)["ready"]
        took, code = served.stop()
        assert took < 5.5, served.lines
        assert code == 0, served.lines
        assert served.lines[-1] == "ended"
    run(folder, "work", "--store", "store", "--once")
    counts = as_json(folder, "aggregate", "--store", "store", "--from", "now-1d", "--to", "now")
    assert counts["records"] == 20


def ready(figures):
    """What /readyz says."""
    return json.loads(get(f"{figures}/readyz")[1])


def worker_of(served):
    """The process id of the worker."""
    children = Path(f"/proc/{served.process.pid}/task/{served.process.pid}/children").read_text()
    for child in children.split():
        if b"work" in Path(f"/proc/{child}/cmdline").read_bytes().split(b"\0"):
            return int(child)
    return None


def test_a_worker_that_dies_comes_back(folder):
    """It is told, counted, and /readyz says so meanwhile."""
    with serving(folder) as served:
        figures = served.address("figures:").rstrip("/")
        served.until("everything runs")
        os.kill(worker_of(served), signal.SIGKILL)
        served.until("worker: ended with -9; started again in 1 s")
        wait_for(lambda: ready(figures)["processes"]["worker"]["restarts"] == 1, served)
        wait_for(lambda: ready(figures)["ready"], served)
        assert (
            'ragnostic_process_restarts_total{process="worker"} 1.0' in get(f"{figures}/metrics")[1]
        )


def test_a_busy_port_is_said_before_anything_starts(folder):
    """And nothing is left running."""
    with ThreadingHTTPServer(("127.0.0.1", 0), BaseHTTPRequestHandler) as other:
        config = folder / "gateway.toml"
        text = config.read_text(encoding="utf-8")
        busy = f'[serve]\naddress = "127.0.0.1:{other.server_port}"'
        config.write_text(text.replace('[serve]\naddress = "127.0.0.1:0"', busy), encoding="utf-8")
        done = run(folder, "serve", "--config", "gateway.toml", code=2)
    assert "serve.address" in done.stderr
    assert "another ragnostic serve" in done.stderr
