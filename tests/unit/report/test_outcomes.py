"""Where gold was found or lost."""

from __future__ import annotations

import pytest

from ragnostic.report.outcomes import gold_items, grades, ranking, read_outcomes

TWO = ("retrieve", "rerank")


def outcome(make_run, query, *, stages=TWO, cutoff=2):
    """The outcome of a single query."""
    return read_outcomes(make_run([{"id": "q", **query}], stages=stages), cutoff)[0]


@pytest.mark.parametrize(
    ("retrieve", "rerank", "place", "ranks"),
    [
        (["x", "a"], ["a", "x"], "found", (2, 1)),
        (["a", "x", "y"], ["x", "y", "a"], "pushed_down", (1, 3)),
        (["a", "x"], ["x"], "pushed_down", (1, None)),
        (["x", "y", "a"], ["x", "y", "a"], "below_cutoff", (3, 3)),
        (["x", "y", "a"], ["x", "y"], "below_cutoff", (3, None)),
        (["x", "y"], ["y", "x"], "not_retrieved", (None, None)),
    ],
)
def test_a_gold_chunk_has_one_fate(make_run, retrieve, rerank, place, ranks):
    """Found within the cutoff, pushed down, below it, or never retrieved."""
    found = outcome(make_run, {"gold": {"a": 1}, "retrieve": retrieve, "rerank": rerank})
    assert (found.items[0].place, found.items[0].ranks) == (place, ranks)
    assert (found.place, found.first) == (place, ranks)


def test_an_item_without_a_chunk_is_not_in_the_corpus(make_run):
    """A null id stands for gold that no chunk matches."""
    found = outcome(make_run, {"gold": {None: 2}, "items": [0], "retrieve": ["x"], "rerank": ["x"]})
    assert found.items[0].place == "not_in_corpus"
    assert found.first == (None, None)


def test_alternatives_of_one_item_count_by_the_best(make_run):
    """Equal items are one thing to find; the higher of two ranks counts."""
    query = {"gold": {"a": 1, "b": 3}, "items": [7, 7], "retrieve": ["x", "b", "a"]}
    found = outcome(make_run, query, stages=("retrieve",))
    assert len(found.items) == 1
    assert found.items[0].ranks == (2,)
    assert found.items[0].grade == 3


def test_a_query_has_the_best_fate_of_its_items(make_run):
    """One item found is enough for the query to be found."""
    found = outcome(make_run, {"gold": {"a": 1, "b": 2}, "retrieve": ["a"], "rerank": ["a"]})
    assert found.place == "found"
    assert [item.place for item in found.items] == ["not_retrieved", "found"]


def test_grade_zero_and_negative_grades_are_no_gold(make_run):
    """They are judged, but nothing to find."""
    found = outcome(make_run, {"gold": {"a": 0, "b": -1}, "retrieve": ["a"], "rerank": ["a"]})
    assert found.items == ()
    assert not found.scorable
    assert grades({"judged": {"ids": ["b"], "grades": [-1.0]}}) == {"b": 0.0}


def test_a_failed_stage_fails_the_record(make_run):
    """An error in any stage takes the query out of the counts."""
    query = {"gold": {"a": 1}, "retrieve": ["a"], "rerank": {"ids": [], "status": "failed"}}
    assert outcome(make_run, query).failed
    assert outcome(make_run, {"gold": {"a": 1}, "outcome": "failed"}).failed


def test_a_record_without_judgments_or_rankings_is_read(make_run):
    """Null columns are absent things, not errors."""
    found = outcome(make_run, {"gold": None})
    assert (found.items, found.failed, found.answerable) == ((), False, True)


def test_facets_count_only_where_there_is_no_overall_judgment():
    """Overall judgments (facet null) win over those of single facets."""
    judged = {"ids": ["a", "b"], "grades": [1, 1], "items": [0, 1], "facets": [None, "basis"]}
    assert [item.ids for item in gold_items({"judged": judged}, (), 5)] == [("a",)]
    judged["facets"] = ["rule", "basis"]
    assert [item.ids for item in gold_items({"judged": judged}, (), 5)] == [("a",), ("b",)]


def test_duplicates_close_up_and_null_ids_keep_their_rank():
    """[A, A, null, B]: null is second and B is third."""
    row = {"retrieve": {"ids": ["A", "A", None, "B"]}}
    assert [(rank, chunk) for rank, _, chunk in ranking(row, "retrieve")] == [
        (1, "A"),
        (2, None),
        (3, "B"),
    ]


@pytest.mark.parametrize(
    ("corpus", "gold", "place"),
    [
        ({"chunks": 2}, "nosuch", "not_in_corpus"),
        ({"chunks": 2}, "b", "not_retrieved"),
        ({"chunks": 2}, "outside", "found"),
        (None, "nosuch", "not_retrieved"),
    ],
)
def test_a_gold_id_that_the_corpus_does_not_hold_is_not_in_the_corpus(
    make_run, corpus, gold, place
):
    """Told by the chunks of the run where its corpus is known; what came back counts as found."""
    query = {"id": "q", "gold": {gold: 1}, "retrieve": ["outside"]}
    run = make_run([query], texts={"a": "A", "b": "B"}, meta={"data": {"corpus": corpus}})
    (found,) = read_outcomes(run, 5)
    assert found.place == place


def test_one_alternative_in_the_corpus_is_enough(make_run):
    """An item can be found by any of its ids."""
    query = {"id": "q", "gold": {"nosuch": 1, "a": 1}, "items": [0, 0], "retrieve": ["x"]}
    run = make_run([query], texts={"a": "A"}, meta={"data": {"corpus": {"chunks": 1}}})
    assert read_outcomes(run, 5)[0].place == "not_retrieved"
