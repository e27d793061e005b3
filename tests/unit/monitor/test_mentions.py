"""Whether a text names an id."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.monitor.mentions import Mentions


def test_without_ids_nothing_is_named():
    """Empty ones count for none."""
    assert not Mentions([]).inside("anything")
    assert not Mentions([""]).inside("anything")


def test_longer_ids_are_others():
    """u1 is not u12, nor u1-a; punctuation around it does not matter."""
    known = Mentions(["u1", "张三"])
    assert known.inside("user=u1&x")
    assert known.inside("…u1。")
    assert not known.inside("u12 xu1 u1-a")
    assert known.inside('{"user": "张三"}')


@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=1))
def test_an_id_is_found_as_json_writes_it(identity):
    """Also in JSON that stands in JSON, whichever way it escapes."""
    known = Mentions([identity])
    plain = json.dumps({"user_id": identity}, ensure_ascii=False)
    for text in (plain, json.dumps({"user_id": identity}), json.dumps({"raw": plain})):
        assert known.inside(text)
