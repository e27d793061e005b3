"""Values of span attributes: plain, cut at whole characters, true lengths kept."""

from __future__ import annotations

import hashlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.corpus.strict_json import RowError
from ragnostic.gateway.span_values import MAX_NESTING, Values, opened_json

ANY_TEXT = st.text(alphabet=st.characters(exclude_categories=()))


def test_every_kind_of_value_has_a_plain_form():
    """Texts, numbers, truth values, bytes, lists and objects; what is none is left out."""
    given_values = {
        "text": "a",
        "count": 7,
        "share": 0.5,
        "flag": True,
        "raw": b"\x00\x01",
        "list": (1, "b", None),
        "object": {"k": [1.5]},
        "nothing": None,
        "odd": float("nan"),
    }
    found = Values().attributes(given_values.items())
    assert found == {
        "text": "a",
        "count": 7,
        "share": 0.5,
        "flag": True,
        "raw": b"\x00\x01",
        "list": [1, "b", None],
        "object": {"k": [1.5]},
    }


def test_long_bytes_are_cut_with_their_true_length():
    """As texts are."""
    values = Values(4)
    assert values.plain("raw", b"123456") == b"1234"
    assert values.cuts["raw"] == (6, hashlib.sha256(b"123456").hexdigest())


def test_a_long_list_of_short_texts_stays_whole():
    """Documents that came as JSON text are opened before anything is cut."""
    documents = [{"id": f"d{place}", "content": "汉" * 5} for place in range(100)]
    values = Values(64)
    name = "gen_ai.retrieval.documents"
    assert values.plain(name, json.dumps(documents, ensure_ascii=False)) == documents
    assert not values.cuts


def test_a_text_inside_an_object_is_cut_under_its_place():
    """Its neighbours stay."""
    values = Values(6)
    found = values.plain("gen_ai.output.messages", [{"a": "汉汉汉汉", "b": "ok"}])
    assert found == [{"a": "汉汉", "b": "ok"}]
    assert values.cuts["gen_ai.output.messages.0.a"].bytes == 12


def test_text_that_is_no_json_stays_text_where_objects_are_expected():
    """A name alone makes no object."""
    assert Values().plain("gen_ai.output.messages", "[not json") == "[not json"


def test_deep_nesting_is_refused():
    """No recursion without end."""
    deep = "x"
    for _ in range(MAX_NESTING + 2):
        deep = [deep]
    with pytest.raises(RowError, match="nested more than"):
        Values().plain("a", deep)


@given(ANY_TEXT, st.integers(4, 64))
def test_what_is_kept_is_utf_8_and_short_enough(text, limit):
    """Any text, lone surrogates too: a beginning of it, never half a character."""
    values = Values(limit)
    kept = values.plain("a", text)
    whole = text.encode("utf-8", "backslashreplace")
    assert len(kept.encode("utf-8")) <= limit
    assert whole.decode().startswith(kept)
    assert ("a" in values.cuts) == (len(whole) > limit)
    if len(whole) > limit:
        assert values.cuts["a"].bytes == len(whole)


@given(st.text())
def test_opening_json_never_raises(text):
    """Whatever stands there."""
    found = opened_json(text)
    assert found is None or isinstance(found, dict | list)


def test_json_nested_without_end_is_no_json():
    """It is text then."""
    assert opened_json("[" * 100_000) is None


def test_names_are_whole_characters_too():
    """Half a character is written as its escape, and no name is endless."""
    found = Values().attributes([("a\ud800", 1), ("b" * 5000, {"c\udfff": 2})])
    assert found["a\\ud800"] == 1
    assert found["b" * 1024] == {"c\\udfff": 2}
