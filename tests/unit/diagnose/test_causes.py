"""First causes: each by the evidence that shows it, and by no other."""

from __future__ import annotations

import pytest

from ragnostic.diagnose.causes import NAMES, first_cause, untested
from ragnostic.diagnose.evidence import Evidence

BASE = {"k": 5, "depth": 20}
LOST = {**BASE, "in_corpus": True, "indexed": True, "exact": 3, "sent_exact": 3}
HELD = {**BASE, "in_corpus": True, "indexed": True, "retrieved": 4, "candidate": 4, "final": 4}


@pytest.mark.parametrize(
    ("facts", "cause"),
    [
        ({**LOST, "in_corpus": False}, "not_in_corpus"),
        ({**LOST, "indexed": False}, "not_indexed"),
        ({**LOST, "same_text": False}, "not_indexed"),
        ({**LOST, "same_vector": False}, "not_indexed"),
        ({**LOST, "halves": ("a", "b"), "has_chunk": False}, "cut_by_chunker"),
        ({**LOST, "halves": ("a", "b"), "exact": 40, "uncut": 2}, "cut_by_chunker"),
        ({**LOST, "halves": ("a", "b"), "exact": 40, "uncut": 30}, "representation"),
        ({**LOST, "halves": ("a", "b"), "exact": 3, "uncut": 2}, "index_approximation"),
        ({**LOST, "exact": 21, "sent_exact": 21}, "representation"),
        ({**LOST, "exact": 0, "sent_exact": 0}, "representation"),
        ({**LOST, "sent_exact": 21}, "rewriting"),
        (LOST, "index_approximation"),
        ({**LOST, "approximate": False}, "fusion"),
        ({**HELD, "candidate": None, "final": None}, "fusion"),
        ({**HELD, "halves": ("a", "b"), "candidate": 9, "final": 9, "uncut": 2}, "cut_by_chunker"),
        ({**HELD, "halves": ("a", "b"), "candidate": 9, "final": 9, "uncut": 8}, "cut_off"),
        ({**HELD, "reranked": True, "final": 9, "beyond_limit": True}, "truncated"),
        ({**HELD, "reranked": True, "final": 9, "beyond_limit": False}, "rerank_demotion"),
        ({**HELD, "reranked": True, "final": None}, "rerank_demotion"),
        ({**HELD, "reranked": True, "candidate": 12, "final": 9}, "cut_off"),
        ({**HELD, "reranked": True, "candidate": 19, "final": 18}, "representation"),
        ({**HELD, "candidate": 6, "final": 6}, "cut_off"),
        ({**HELD, "candidate": 11, "final": 11}, "representation"),
        ({**HELD, "given": False}, "dropped_before_generator"),
        (BASE, "unexplained"),
    ],
)
def test_a_cause_is_told_by_its_evidence(facts, cause):
    """In the order of the pipeline; what is not known shows nothing."""
    assert first_cause(Evidence(**facts)) == cause


def test_an_earlier_link_comes_first():
    """Whatever else is wrong, the first link that lost it is named."""
    everything = {
        "in_corpus": False,
        "indexed": False,
        "halves": ("a", "b"),
        "has_chunk": False,
        "exact": 0,
        "sent_exact": 0,
    }
    found = []
    for known in ("in_corpus", "indexed", "has_chunk"):
        found.append(first_cause(Evidence(**BASE, **everything)))
        everything[known] = True
    found.append(first_cause(Evidence(**BASE, **everything)))
    assert found == ["not_in_corpus", "not_indexed", "cut_by_chunker", "representation"]
    assert [NAMES.index(name) for name in found] == [0, 1, 2, 3]


def test_what_could_not_be_tested_is_named():
    """An unexplained item says which tests had nothing to go by."""
    assert untested(Evidence(**BASE)) == [
        "not_in_corpus",
        "not_indexed",
        "representation",
        "rewriting",
        "index_approximation",
    ]
    assert untested(Evidence(**LOST)) == []


def test_an_index_that_returns_it_when_asked_again_did_not_lose_it():
    """What the index has and the list has not was lost behind the index."""
    assert first_cause(Evidence(**LOST, by_index=False, by_effort=True)) == "index_approximation"
    assert first_cause(Evidence(**LOST, by_index=False, by_effort=False)) == "index_approximation"
    assert first_cause(Evidence(**LOST, by_index=True, by_effort=True)) == "fusion"
