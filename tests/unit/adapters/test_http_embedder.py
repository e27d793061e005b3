"""Embedding services: requests, and answers that are wrong."""

from __future__ import annotations

import base64
import re

import numpy as np
import pytest
from pydantic import ValidationError

from ragnostic.adapters.http_embedder import HttpEmbedder
from ragnostic.errors import RetrievalError
from ragnostic.ports import Resources


def embedder(url: str, **options) -> HttpEmbedder:
    """The embedder that calls ``url``."""
    return HttpEmbedder.build(HttpEmbedder.Options(url=url, model="m", **options), Resources())


def vectors(*rows, indices=None):
    """An answer with these embeddings."""
    indices = range(len(rows)) if indices is None else indices
    return {"data": [{"index": i, "embedding": row} for i, row in zip(indices, rows, strict=True)]}


def test_each_role_has_its_model_prefix_and_body(service):
    """And a key of its own, so that cached vectors are never mixed."""
    service.answers(vectors([3, 4]))
    options = {"query_model": "mq", "query_body": {"input_type": "query"}, "passage_prefix": "p: "}
    found = embedder(service.url, **options)
    assert found.embed(["a"], "query")[0].tolist() == pytest.approx([0.6, 0.8])
    found.embed(["a"], "passage")
    query, passage = (call.json for call in service.calls)
    float_form = {"encoding_format": "float"}
    assert query == {"model": "mq", "input": ["a"], "input_type": "query", **float_form}
    assert passage == {"model": "m", "input": ["p: a"], **float_form}
    assert found.role_key("query") != found.role_key("passage")
    assert found.count_tokens("年假") == 2
    assert found.name.startswith("m at http://127.0.0.1")


def test_batches_keep_the_order_also_when_the_service_does_not(service):
    """``index`` decides; progress counts texts."""

    def reply(call):
        texts = call.json["input"]
        rows = [[float(len(text)), 1.0] for text in texts][::-1]
        answer = vectors(*rows, indices=list(range(len(texts)))[::-1])
        return 200, {}, str(answer).replace("'", '"').encode()

    service.reply = reply
    told = []
    found = embedder(service.url, batch_size=2)
    got = found.embed(["x" * n for n in range(1, 6)], "passage", lambda *step: told.append(step))
    assert (got[:, 0] / got[:, 1]).round(3).tolist() == [1, 2, 3, 4, 5]
    assert told == [("embed passage", done, 5) for done in (2, 4, 5)]


def test_base64_is_read(service):
    """Little-endian float32, as the official client asks for."""
    raw = base64.b64encode(np.array([0, 2], dtype="<f4").tobytes()).decode()
    service.answers(vectors(raw))
    got = embedder(service.url, encoding_format="base64").embed(["a"], "query")
    assert got.tolist() == [[0, 1]]
    assert service.calls[0].json["encoding_format"] == "base64"


def test_a_service_without_indices_is_read_in_order(service):
    """Some leave them out."""
    service.answers({"data": [{"embedding": [1, 0]}, {"embedding": [0, 1]}]})
    assert embedder(service.url).embed(["a", "b"], "query").tolist() == [[1, 0], [0, 1]]


def test_no_texts_need_no_call(service):
    """The width is the configured one, or 0."""
    assert embedder(service.url, dimensions=3).embed([], "query").shape == (0, 3)
    assert service.calls == []


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        ([], "no list 'data'"),
        ({"data": [1]}, "no list 'data'"),
        (vectors([1, 0]), "2 texts sent, indices [0] returned"),
        (vectors([1, 0], [1, 0], indices=[0, 0]), "indices [0, 0] returned"),
        (vectors([1, 0], [1, 0], indices=[0, "1"]), "indices [0, '1'] returned"),
        (vectors([1, 0], [1, 0, 0]), "vectors of 2 and 3 dimensions"),
        (vectors([1, 0], [0, 0]), "all zero or not finite"),
        (vectors([1, 0], None), "neither numbers nor base64: None"),
        (vectors([1, 0], []), "neither numbers nor base64: []"),
        (vectors([1, 0], [[1], [0]]), "neither numbers nor base64"),
        (vectors([1, 0], ["a"]), "neither numbers nor base64"),
        (vectors([1, 0], "%%%"), "neither numbers nor base64"),
    ],
)
def test_an_answer_that_is_wrong_is_an_error(service, answer, message):
    """Never a zero vector, never a vector of another text."""
    service.answers(answer)
    with pytest.raises(RetrievalError, match=re.escape(message)):
        embedder(service.url).embed(["a", "b"], "query")


def test_the_dimension_must_be_the_configured_one_and_stay(service):
    """A model that was exchanged in the middle is noticed."""
    service.answers(vectors([1, 0]))
    with pytest.raises(RetrievalError, match="2 and 3 dimensions"):
        embedder(service.url, dimensions=3).embed(["a"], "query")
    found = embedder(service.url)
    found.embed(["a"], "query")
    service.answers(vectors([1, 0, 0]))
    with pytest.raises(RetrievalError, match="2 and 3 dimensions"):
        found.embed(["a"], "query")


def test_there_is_no_number_of_workers():
    """Batches go one after the other, so a setting for it would be a lie."""
    with pytest.raises(ValidationError, match="workers"):
        HttpEmbedder.Options(url="http://127.0.0.1/v1/embeddings", model="m", workers=2)
