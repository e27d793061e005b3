"""Ids of documents: given, in the metadata, or of the text; a source is no id of a chunk."""

from __future__ import annotations

import json

import pytest

from ragnostic.gateway.span_hits import Named, span_hits
from ragnostic.gateway.span_reading import text_id


def one(**fields):
    """The hit of a document by itself."""
    (hit,) = span_hits([Named(**fields)])
    return hit


def test_an_id_that_is_given_is_kept_as_it_is():
    """Text or a whole number; the source is read beside it."""
    assert one(id="007").id == "007"
    assert one(id=7).id == "7"
    hit = one(id="c1", metadata='{"source": "a.md"}')
    assert (hit.id, hit.doc_id, hit.made) == ("c1", "a.md", False)


@pytest.mark.parametrize(
    "metadata",
    [
        {"chunk_id": "c1"},
        {"id": "c1", "source": "a.md"},
        {"metadata": {"chunk_id": "c1"}, "location": {"id": "2222"}},
        {"node_id": "c1"},
    ],
)
def test_an_id_in_the_metadata_is_found(metadata):
    """As JSON text or as an object."""
    for form in (metadata, json.dumps(metadata)):
        hit = one(text="words", metadata=form)
        assert (hit.id, hit.made) == ("c1", False)


def test_the_id_of_a_place_is_the_source_and_the_text_stands_for_the_chunk():
    """Five chunks of one document are five chunks."""
    metadata = json.dumps(
        {
            "location": {"type": "CUSTOM", "customDocumentLocation": {"id": "2222"}},
            "metadata": {"x-amz-bedrock-kb-source-uri": "2222"},
        }
    )
    found = span_hits([Named(text=text, metadata=metadata) for text in ("one", "two", "one")])
    assert [hit.id for hit in found] == [text_id("one"), text_id("two"), text_id("one")]
    assert {hit.doc_id for hit in found} == {"2222"}
    assert all(hit.made for hit in found)


def test_a_key_that_different_texts_share_names_their_source():
    """``id`` of the metadata may be the document's."""
    found = span_hits([Named(text=text, metadata={"id": "d1"}) for text in ("one", "two")])
    assert [hit.id for hit in found] == [text_id("one"), text_id("two")]
    assert {hit.doc_id for hit in found} == {"d1"}
    same = span_hits([Named(text="one", metadata={"id": "d1"})] * 2)
    assert [hit.id for hit in same] == ["d1", "d1"]


def test_without_text_the_source_is_the_best_id():
    """And without anything there is none: the hit keeps its rank."""
    assert one(metadata={"url": "http://a"}).id == "http://a"
    assert one().id is None
    assert one(text="  ", metadata="no json").id is None
    assert one(id=True, metadata=[1]).id is None


@pytest.mark.parametrize(
    ("score", "read"),
    [
        (0.5, 0.5),
        ("0.5", 0.5),
        (1, 1.0),
        (True, None),
        ("high", None),
        (float("nan"), None),
        (10**400, None),
        (None, None),
        ([1], None),
    ],
)
def test_scores_are_finite_numbers(score, read):
    """Or none."""
    assert one(id="d", score=score).score == read


def test_text_ids_do_not_depend_on_width_and_white_space():
    """NFKC and single spaces, as logs of services without ids are hashed; case counts."""
    assert text_id("１５天  年假\n") == text_id("15天 年假")
    assert text_id("A") != text_id("a")
    assert len(text_id("")) == 16
