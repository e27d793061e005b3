"""The tree of a trace, whatever is missing from it."""

from __future__ import annotations

import random
import runpy
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.span_tree import SpanTree

BUILD = runpy.run_path(str(Path(__file__).parent / "span_builders.py"))
reading = BUILD["reading"]


def tree(**parents):
    """A tree of spans by name → parent."""
    return SpanTree([reading(name, parent) for name, parent in parents.items()])


def test_ancestors_descendants_and_roots():
    """Nearest first, and all below."""
    found = tree(a=None, b="a", c="b", d="a")
    assert [span.span_id for span in found.ancestors(found.spans["c"])] == ["b", "a"]
    assert [span.span_id for span in found.descendants("a")] == ["b", "c", "d"]
    assert found.root_of(found.spans["c"]).span_id == "a"


def test_an_orphan_has_the_root_of_the_trace():
    """Or none where there is none."""
    found = tree(a=None, b="lost")
    assert found.orphans == ("b",)
    assert found.root_of(found.spans["b"]).span_id == "a"
    assert tree(b="lost").root_of(reading("b", "lost")) is None


def test_ids_in_circles_come_to_an_end():
    """Nothing runs for ever."""
    found = tree(a="b", b="a", c="c")
    assert [span.span_id for span in found.ancestors(found.spans["a"])] == ["b"]
    assert [span.span_id for span in found.descendants("a")] == ["b"]
    assert found.root_of(found.spans["a"]) is None
    assert list(found.ancestors(found.spans["c"])) == []


def test_distance_is_the_way_up_to_what_two_spans_share():
    """Spans of different trees are far from each other."""
    found = tree(a=None, b="a", c="b", d="b", e=None)
    spans = found.spans
    assert found.distance(spans["c"], spans["d"]) == 1
    assert found.distance(spans["a"], spans["d"]) == 0
    assert found.distance(spans["c"], spans["e"]) == 6


PARENTS = st.dictionaries(st.sampled_from("abcdef"), st.none() | st.sampled_from("abcdefx"))


@given(PARENTS, st.integers())
def test_order_and_repetition_make_no_difference(parents, seed):
    """Every span is a root, a child of one span, or an orphan; none is lost."""
    spans = [reading(name, parent) for name, parent in parents.items()]
    shuffled = random.Random(seed).choices(spans, k=20) + spans if spans else []
    one, other = SpanTree(spans), SpanTree(shuffled)
    assert one.spans == other.spans
    assert list(one.spans) == list(other.spans)
    children = [name for below in one.children.values() for name in below]
    assert sorted([*one.roots, *one.orphans, *children]) == sorted(parents)
    for span in one.spans.values():
        assert len(list(one.ancestors(span))) < 7
        assert one.descendants(span.span_id) == other.descendants(span.span_id)
