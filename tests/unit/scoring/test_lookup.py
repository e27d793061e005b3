"""Finding ids, against a dict."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.scoring.lookup import IdIndex

IDS = (
    st.none() | st.text(st.characters(exclude_categories=["Cs"]), max_size=20) | st.just("长" * 100)
)


@settings(deadline=None, max_examples=100)
@given(st.lists(IDS, max_size=15), st.lists(IDS, max_size=15))
def test_find_is_a_dict_of_first_places(known, wanted):
    """Null and empty ids are never found."""
    first = {}
    for place, identity in enumerate(known):
        first.setdefault(identity, place)
    expected = [first.get(i, -1) if i else -1 for i in wanted]
    found = IdIndex.of(pa.array(known, pa.string())).find(pa.array(wanted, pa.string()))
    assert found.tolist() == expected


def test_ids_of_one_hash_are_each_found(forge):
    """And an unknown third of that hash is not, also where the hash is the largest of all."""
    for target in (5, 2**64 - 1):
        first, second, third = forge(target, 3)
        index = IdIndex.of(pa.array(["a", second, first, second]))
        found = index.find(pa.array([first, second, third, "a"]))
        assert found.tolist() == [2, 1, -1, 0]
