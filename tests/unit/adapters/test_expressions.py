"""JMESPath expressions from a config, and answers from anywhere."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.adapters.expressions import check, search
from ragnostic.adapters.hits import make_hits
from ragnostic.errors import RetrievalError

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4)
    ),
)
WRITTEN = st.text(alphabet="ab.[]*{}`'\"|&@()!<>=?:,0-9 \\", max_size=30)


# the library reads `text` without quotes as a string, as an old proposal of JMESPath allowed
@pytest.mark.filterwarnings("ignore:deprecated string literal syntax:PendingDeprecationWarning")
@given(WRITTEN | st.text(max_size=20), JSON)
def test_any_text_is_an_expression_or_a_fault_and_never_another_error(expression, answer):
    """What compiles either finds something or says what it did not find."""
    try:
        check(expression)
    except ValueError as error:
        assert repr(expression) in str(error)  # noqa: PT017 (both ways are right)
        return
    try:
        assert search("service", expression, answer) is not None
    except RetrievalError as error:
        assert error.message.startswith("service: ")  # noqa: PT017 (the same)


def test_an_unknown_function_is_told_with_the_settings_and_not_with_the_first_query():
    """Functions that exist but refuse null are left for the answer to decide."""
    with pytest.raises(ValueError, match=r"Unknown function: lenght\(\)"):
        check("lenght(hits)")
    assert check("sort_by(hits, &rank)[].id") == "sort_by(hits, &rank)[].id"


@pytest.mark.parametrize("expression", ["[::0]", "floor(n)"])
def test_errors_that_the_library_does_not_wrap_are_told_like_its_own(expression):
    """Python's own errors come through it."""
    with pytest.raises(RetrievalError, match="service"):
        search("service", expression, [1] if "[" in expression else {"n": float("nan")})


@given(
    st.fixed_dictionaries({"ids": JSON}, optional={"scores": JSON, "doc_ids": JSON, "texts": JSON})
)
def test_any_answer_is_a_ranking_or_a_retrieval_error(lists):
    """Parallel lists of the same length, or an error that names the service."""
    try:
        hits = make_hits("service", lists, top_k=3, took_ms=None, distance=True)
    except RetrievalError as error:
        assert error.message.startswith("service: ")  # noqa: PT017 (both ways are right)
    else:
        for values in (hits.scores, hits.doc_ids, hits.texts):
            assert values is None or len(values) == len(hits.ids)


@pytest.mark.parametrize(
    ("expression", "found"),
    [
        ("hits[].id", [None, 7]),
        ("hits[*].meta.doc", [None, "d"]),
        ("hits[?keep].id", [None]),
        ("hits[:1].id", [None]),
        ("{all: hits} | all[].id", [None, 7]),
        ("named.*.id", [None, 2]),
        ("length(hits)", 2),
        ("none[].id", []),
    ],
)
def test_a_list_of_fields_has_an_entry_for_every_element(expression, found):
    """Whatever projects it."""
    hits = [{"id": None, "keep": True, "meta": None}, {"id": 7, "meta": {"doc": "d"}}]
    answer = {"hits": hits, "none": [], "named": {"a": {"id": None}, "b": {"id": 2}}}
    assert search("s", expression, answer) == found


def test_a_null_list_is_no_list():
    """The path before the brackets is wrong."""
    with pytest.raises(RetrievalError, match="finds nothing in the answer"):
        search("s", "results[].id", {"hits": []})
