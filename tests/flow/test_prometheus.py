"""A real Prometheus reads what is exported."""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest

from ragnostic.exporters.prometheus import CONTENT_TYPE, exposition
from ragnostic.exporters.samples import Family, Histogram, Sample

PROMETHEUS = shutil.which("prometheus")
pytestmark = pytest.mark.skipif(PROMETHEUS is None, reason="system package prometheus is missing")
HOSTILE = '退"款\\\n} 1'
FAMILIES = [
    Family("ragnostic_relevance_ratio", "A.", "gauge", [Sample(0.625, {"category": HOSTILE})]),
    Histogram("ragnostic_wait_seconds", "B.", [0.1, 1.0], [({}, [50, 100, 100], 30.0)]),
]


def free_port():
    """A port that nobody listens on."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@pytest.fixture
def exporter():
    """The exposition behind HTTP."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self):
            body = exposition(FAMILIES).encode()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *arguments):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


def asked(port, query):
    """The samples that a query gives; none while Prometheus starts."""
    url = f"http://127.0.0.1:{port}/api/v1/query?{urllib.parse.urlencode({'query': query})}"
    try:
        with urllib.request.urlopen(url, timeout=5) as reply:
            return json.load(reply)["data"]["result"]
    except (urllib.error.URLError, OSError):
        return []


def test_prometheus_scrapes_and_answers(exporter, tmp_path):
    """A value with a hostile label, and a quantile out of the histogram."""
    targets = [{"targets": [f"127.0.0.1:{exporter}"]}]
    settings = {
        "global": {"scrape_interval": "1s"},
        "scrape_configs": [{"job_name": "r", "static_configs": targets}],
    }
    (tmp_path / "prometheus.yml").write_text(json.dumps(settings), encoding="utf-8")
    port = free_port()
    command = [
        *(PROMETHEUS, f"--config.file={tmp_path}/prometheus.yml"),
        *(f"--storage.tsdb.path={tmp_path}/data", f"--web.listen-address=127.0.0.1:{port}"),
    ]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(command, stdout=nowhere, stderr=nowhere) as running:
        try:
            until = time.monotonic() + 60
            while not (found := asked(port, "ragnostic_relevance_ratio")):
                assert time.monotonic() < until
                assert running.poll() is None
                time.sleep(0.2)
            assert found[0]["metric"]["category"] == HOSTILE
            assert float(found[0]["value"][1]) == 0.625
            middle = asked(port, "histogram_quantile(0.5, ragnostic_wait_seconds_bucket)")
            assert float(middle[0]["value"][1]) == 0.1
        finally:
            running.terminate()
            running.wait(timeout=30)
