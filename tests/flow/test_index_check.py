"""``ragnostic index check`` and ``diagnose`` over a real index of FAISS."""

from __future__ import annotations

import hashlib
import json
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

from ragnostic import cli

faiss = pytest.importorskip("faiss")
WIDTH = 16


def vector(text: str) -> list[float]:
    """The sum of a direction a word."""
    total = np.zeros(WIDTH)
    for word in text.split():
        seed = int.from_bytes(hashlib.blake2b(word.encode(), digest_size=4).digest(), "little")
        total += np.random.default_rng(seed).normal(size=WIDTH)
    return (total / np.linalg.norm(total)).tolist()


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """A running ``/v1/embeddings`` on a free port."""

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))["input"]
            rows = [{"index": n, "embedding": vector(text)} for n, text in enumerate(asked)]
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
    yield f"http://127.0.0.1:{server.server_port}/v1/embeddings"
    server.shutdown()
    server.server_close()
    thread.join()


TEXTS = {
    f"t{n:03}x": " ".join(f"w{word}" for word in np.random.default_rng(n).integers(0, 400, 8))
    for n in range(400)
}
RETRIEVER = """
import json
from pathlib import Path

import faiss
import numpy as np
from test_vectors import vector

here = Path(__file__).parent
index = faiss.read_index(str(here / "docs.faiss"))
names = [json.loads(line)["id"] for line in (here / "rows.jsonl").read_text().splitlines()]


def search(query, k):
    scores, keys = index.search(np.array([vector(query)], dtype=np.float32), k)
    return [{"id": names[key], "score": float(score)} for key, score in zip(keys[0], scores[0])]
"""


@pytest.fixture
def folder(tmp_path, url, monkeypatch) -> Path:
    """A corpus, queries, and an index that finds little as it is set."""
    monkeypatch.chdir(tmp_path)
    corpus = [json.dumps({"_id": name, "text": text}) for name, text in TEXTS.items()]
    (tmp_path / "corpus.jsonl").write_text("\n".join(corpus))
    queries = [
        {"query_id": f"q{n}", "query": " ".join(text.split()[:6]), "gold": [name]}
        for n, (name, text) in enumerate(list(TEXTS.items())[:60])
    ]
    (tmp_path / "eval.jsonl").write_text("\n".join(map(json.dumps, queries)))
    build(tmp_path, TEXTS)
    (tmp_path / "eval.toml").write_text(
        f"""
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[chunk]
by = "none"
[embed]
use = "http"
cache = false
[embed.http]
url = "{url}"
model = "words"
[retrieve]
use = "bm25"
[rerank]
use = "none"
[report]
language = "en"
[index]
use = "faiss"
top_k = 5
recall = 0.9
[index.faiss]
path = "docs.faiss"
rows = "rows.jsonl"
""",
        encoding="utf-8",
    )
    return tmp_path


def build(folder: Path, texts: dict[str, str], *, ef: int = 1) -> None:
    """HNSW with few links."""
    index = faiss.IndexHNSWFlat(WIDTH, 4, faiss.METRIC_INNER_PRODUCT)
    index.hnsw.efConstruction = 12
    index.hnsw.efSearch = ef
    index.add(np.array([vector(text) for text in texts.values()], dtype=np.float32))
    faiss.write_index(index, str(folder / "docs.faiss"))
    rows = [json.dumps({"id": name, "text": text}) for name, text in texts.items()]
    (folder / "rows.jsonl").write_text("\n".join(rows))


def ragnostic(*arguments: str) -> Result:
    """One command."""
    return CliRunner().invoke(cli.app, list(arguments))


def test_an_index_that_finds_too_little_is_told_with_what_to_set(folder):
    """Exit 1, a page, a picture, and the same as JSON."""
    done = ragnostic(
        "index", "check", "eval.toml", "--html", "p.html", "--chart", "c.svg", "--keep", "l.parquet"
    )
    assert done.exit_code == 1, done.output
    assert "The index misses near neighbours" in done.stdout
    assert "as set" in done.stdout
    assert "page: p.html" in done.stdout
    assert (
        "things are wrong" in Path("p.html").read_text() or "1 thing" in Path("p.html").read_text()
    )
    assert Path("c.svg").read_text().startswith("<svg")
    told = json.loads(ragnostic("index", "check", "eval.toml", "--json").stdout)
    assert [one["kind"] for one in told["findings"]] == ["low_recall"]
    assert told["recall"]["effort"] == "ef"
    assert told["recall"]["curve"][0]["effort"] == 1
    again = ragnostic("index", "check", "eval.toml", "--before", "l.parquet", "--lang", "zh")
    assert "changed their id" not in again.stdout


def test_an_index_in_order_exits_with_0(folder):
    """The effort is enough, and nothing else is wrong."""
    build(folder, TEXTS, ef=320)
    done = ragnostic("index", "check", "eval.toml", "--set", "index.efforts=[320]")
    assert (done.exit_code, "nothing found" in done.stdout) == (0, True), done.output


def test_what_the_service_indexed_may_be_named_in_a_file(folder):
    """In place of the corpus; a document that is gone from it is an orphan."""
    kept = [{"chunk_id": name, "text": text} for name, text in list(TEXTS.items())[1:]]
    Path("chunks.jsonl").write_text("\n".join(map(json.dumps, kept)))
    sets = ("--set", "index.chunks=chunks.jsonl", "--set", "index.recall=0.0", "--json")
    told = json.loads(ragnostic("index", "check", "eval.toml", *sets).stdout)
    assert [(one["kind"], one["examples"]) for one in told["findings"]] == [("orphan", ["t000x"])]


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--set", "index.use=none"], 2, "names no index"),
        (["--set", "index.use=fais"], 2, "did you mean faiss"),
        (["--set", "index.faiss.path=gone"], 2, "no such file: gone"),
        (["--set", "index.chunks=gone"], 2, "index.chunks: no such file"),
        (["--set", "index.chunks=blank.jsonl"], 3, "blank.jsonl"),
        (["--set", "index.faiss.path=eval.jsonl"], 3, "no index of FAISS"),
        (["--set", "index.efforts=[0]"], 2, "at least 1"),
        (["--chart", "c.gif"], 2, "neither .svg nor .png"),
        (["--html", "-"], 2, "names no file"),
        (["--before", "gone"], 2, "--keep"),
    ],
    ids=["none", "name", "path", "chunks", "blank", "file", "effort", "ending", "stdout", "before"],
)
def test_mistakes_are_told_in_a_sentence(folder, arguments, code, words):
    """With the exit code of their kind, and no traceback."""
    Path("blank.jsonl").write_text('{"id": "a"}\n')
    done = ragnostic("index", "check", "eval.toml", *arguments)
    assert (done.exit_code, words in done.output) == (code, True), done.output
    assert "Traceback" not in done.output


def test_a_library_that_is_not_installed_is_named(folder, monkeypatch):
    """By the name under which it is installed."""
    monkeypatch.setitem(sys.modules, "faiss", None)
    done = ragnostic("index", "check", "eval.toml")
    assert done.exit_code == 2
    assert "pip install faiss-cpu" in done.output


def test_without_a_corpus_the_index_is_held_against_nothing(folder):
    """What it holds is checked all the same, and few queries stand for many."""
    text = Path("eval.toml").read_text().replace('corpus = "corpus.jsonl"', "")
    own = text.replace('use = "bm25"', 'use = "python"')
    Path("eval.toml").write_text(f'{own}\n[retrieve.python]\ntarget = "json:loads"\n')
    sets = ("--set", "index.queries=7", "--json")
    told = json.loads(ragnostic("index", "check", "eval.toml", *sets).stdout)
    assert told["expected"] is None
    assert told["recall"]["queries"] == 7
    assert told["compared"] == 400
    assert {"missing", "orphan"} <= set(told["untested"])


def test_diagnosis_verifies_what_the_index_lost(folder, monkeypatch):
    """What exact search has and the index has not comes back with a larger effort."""
    monkeypatch.syspath_prepend(str(folder))
    source = Path(__file__).read_text(encoding="utf-8")
    start, end = source.index("def vector"), source.index("@pytest.fixture")
    head = "import hashlib\nimport numpy as np\nWIDTH = 16\n"
    Path("test_vectors.py").write_text(head + source[start:end])
    Path("own_search.py").write_text(RETRIEVER)
    text = Path("eval.toml").read_text().replace('use = "bm25"', 'use = "python"\ntop_k = 5')
    Path("eval.toml").write_text(f'{text}\n[retrieve.python]\ntarget = "own_search:search"\n')
    ran = ragnostic("eval", "eval.toml", "--json")
    assert ran.exit_code == 0, ran.output
    run = json.loads(ran.stdout)["run"]
    told = ragnostic("diagnose", run, "--config", "eval.toml")
    assert told.exit_code == 0, told.output
    assert "found with a larger effort" in told.stdout
    lost = json.loads(ragnostic("diagnose", run, "--config", "eval.toml", "--json").stdout)
    assert "index_approximation" in json.dumps(lost)
    named = [json.dumps({"id": name, "text": text}) for name, text in TEXTS.items()]
    Path("rows.jsonl").write_text("\n".join(named))
    few = {**TEXTS, **{name: f"old {n}" for n, name in enumerate(list(TEXTS)[:60])}}
    build(folder, few, ef=1)
    Path("rows.jsonl").write_text("\n".join(named))
    stale = ragnostic("diagnose", run, "--config", "eval.toml", "--json")
    assert '"same_vector": false' in stale.stdout
    assert "not_indexed" in stale.stdout
    build(folder, {f"own-{name}": text for name, text in TEXTS.items()})
    assert "no id of the index" in ragnostic("diagnose", run, "--config", "eval.toml").output
    build(folder, dict(list(TEXTS.items())[60:]), ef=1)
    gone = ragnostic("diagnose", run, "--config", "eval.toml")
    assert "not indexed, or an old text" in gone.stdout
