"""``ragnostic eval`` with an embedding service on loopback: vectors, cache, retries."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from ragnostic import cli
from ragnostic.offline.run_folder import list_runs, read_run


@dataclass
class _Service:
    """Counts letters; answers 503 as often as told."""

    url: str = ""
    busy: int = 0
    texts: list[str] = field(default_factory=list)


@pytest.fixture
def service() -> Iterator[_Service]:
    """A running ``/v1/embeddings`` on a free port."""
    found = _Service()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            if found.busy:
                found.busy -= 1
                self.send_response(503)
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            found.texts += asked
            rows = [
                {"index": index, "embedding": [text.count(letter) + 0.01 for letter in "aeiou"]}
                for index, text in enumerate(asked)
            ]
            body = json.dumps({"data": rows}).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    found.url = f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    yield found
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def folder(tmp_path, service) -> Path:
    """Three texts, one query, vectors from the service, a cache of its own."""
    texts = {"a": "banana papaya", "e": "green trees", "o": "good food"}
    rows = [json.dumps({"_id": name, "text": text}) for name, text in texts.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(rows))
    query = {"query_id": "q", "query": "book of wood", "gold": ["o"]}
    (tmp_path / "eval.jsonl").write_text(json.dumps(query))
    (tmp_path / "eval.toml").write_text(
        '[dataset]\npath = "eval.jsonl"\ncorpus = "corpus.jsonl"\n'
        '[retrieve]\nuse = "dense"\ntop_k = 3\n[score]\nmetrics = ["RR@3"]\n'
        '[embed]\nuse = "http"\ncache = "vectors"\n'
        f'[embed.http]\nurl = "{service.url}"\nmodel = "letters"\n'
    )
    return tmp_path


def _eval(folder: Path, *arguments: str) -> Result:
    command = ["eval", str(folder / "eval.toml"), "--out", str(folder / "runs"), *arguments]
    return CliRunner().invoke(cli.app, command)


def test_dense_then_embedding_finds_the_text_and_warns_that_nothing_can_move(folder):
    """Both stages compare the same vectors."""
    done = _eval(folder)
    assert done.exit_code == 0, done.output
    assert "cannot change the order" in done.stderr
    (path,) = list_runs(folder / "runs")
    run = read_run(path)
    assert run.row(0)["retrieve"]["ids"] == run.row(0)["rerank"]["ids"]
    assert run.row(0)["retrieve"]["ids"][0] == "o"
    assert [row["kind"] for row in run.meta["warnings"]] == ["rerank_cannot_change_order"]
    assert run.meta["rerank"] == {"top_n": 3, "truncated_share": 0.0}


def test_vectors_are_kept_for_the_next_run_unless_a_fresh_one_is_asked_for(folder, service):
    """Texts are embedded once, ``--fresh`` embeds them again; a query is asked anew each time."""
    texts, asked = 3, 2  # the query is embedded by the retriever and by the reranker
    _eval(folder)
    assert len(service.texts) == texts + asked
    _eval(folder)
    assert len(service.texts) == texts + 2 * asked
    _eval(folder, "--fresh")
    assert len(service.texts) == 2 * texts + 3 * asked
    assert (folder / "vectors" / "vectors.sqlite").is_file()
    _eval(folder, "--set", "embed.cache=false")
    assert len(service.texts) >= 3 * texts + 4 * asked


def test_a_busy_service_is_asked_again(folder, service):
    """A 503 in the middle of embedding does not end the run."""
    service.busy = 1
    assert _eval(folder).exit_code == 0


def test_a_service_that_stays_busy_ends_the_run(folder, service):
    """After the retries: exit 4, nothing written."""
    service.busy = 99
    done = _eval(folder, "--set", "run.retries=0")
    assert done.exit_code == 4
    assert "503" in done.stderr
    assert service.busy == 98
    assert not (folder / "runs").exists()
