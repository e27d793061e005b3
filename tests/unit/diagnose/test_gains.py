"""Gains: add up to what is missed, and say what really comes when a link is mended."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.diagnose.causes import NAMES
from ragnostic.diagnose.gains import gains
from ragnostic.diagnose.misses import Item

FATES = st.lists(
    st.lists(st.sampled_from([None, *NAMES]), min_size=1, max_size=4), min_size=1, max_size=30
)


def items_of(fates):
    """Items of queries, and the causes of the missed ones."""
    items, causes = [], {}
    for number, query in enumerate(fates):
        for place, cause in enumerate(query):
            name = f"q{number}"
            items.append(Item(name, place, ("c",), 1.0, (1,), 1 / len(query), cause is not None))
            if cause is not None:
                causes[name, place] = cause
    return items, causes


@given(FATES)
def test_ceilings_and_recall_make_one(fates):
    """Recall and all that mending could bring at most is 1; in order nothing is left at the end."""
    items, causes = items_of(fates)
    found = gains(items, causes)
    recall = sum(item.weight for item in items if not item.missed) / len(fates)
    assert recall + sum(gain.ceiling for gain in found) == pytest.approx(1)
    assert sum(gain.items for gain in found) == len(causes)
    for gain in found:
        assert 0 <= gain.low <= gain.high <= gain.ceiling + 1e-9
        assert 0 <= gain.gain <= gain.ceiling + 1e-9
    if found:
        assert sum(gain.share for gain in found) == pytest.approx(1)
        assert found[-1].in_order == pytest.approx(1)
        order = [gain.in_order for gain in found]
        assert order == sorted(order)


def test_the_links_behind_still_lose_some():
    """Of 8 items that pass the chunker 6 are found, so of 4 mended ones 3 are expected."""
    fates = [["cut_by_chunker"]] * 4 + [["rerank_demotion"]] * 2 + [[None]] * 6
    cut, demoted = gains(*items_of(fates))
    assert cut.gain == pytest.approx(3 / 12)
    assert cut.ceiling == pytest.approx(4 / 12)
    assert demoted.gain == demoted.ceiling == pytest.approx(2 / 12)
    assert (cut.in_order, demoted.in_order) == (pytest.approx(9 / 12), pytest.approx(1))


def test_the_interval_holds_what_really_comes():
    """In 400 worlds with known chances of passing, intervals hold the gain in 95 % or more.

    Nearly always, in fact: they also cover that other queries might have been asked.
    """
    rng = np.random.default_rng(7)
    held = 0
    for _ in range(400):
        cut = rng.random(300) < 0.3
        passes = rng.random(300) < 0.7
        fates = [
            ["cut_by_chunker"] if c else ([None] if p else ["representation"])
            for c, p in zip(cut, passes, strict=True)
        ]
        first = gains(*items_of(fates))[0]
        real = float((cut & passes).sum()) / 300
        held += first.low <= real <= first.high
    assert held / 400 >= 0.95


def test_without_misses_there_is_nothing_to_gain():
    """No cause, no row."""
    assert gains(*items_of([[None], [None, None]])) == []
