"""Agreement of graders."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.stats.agreement import (
    Agreement,
    Part,
    agreement,
    cohen_kappa,
    judge_agreement,
)
from ragnostic.stats.intervals import wilson_interval


def test_krippendorffs_own_example():
    """Interval data of his 2011 paper, four observers with gaps: alpha 0.849."""
    observers = [
        [1, 2, 3, 3, 2, 1, 4, 1, 2, None, None, None],
        [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, None, 3],
        [None, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, None],
        [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, None],
    ]
    items = [[float(g) for g in item if g is not None] for item in zip(*observers, strict=True)]
    found = agreement(items)
    assert found.items == 11
    assert found.alpha == pytest.approx(0.849, abs=5e-4)


def test_one_grader_says_nothing_about_agreement():
    """And neither does no grade."""
    nothing = Agreement(0, 0, None, None, None)
    assert agreement([[3.0], [1.0]]) == nothing
    assert agreement([]) == nothing


def test_graders_who_always_say_the_same_have_no_alpha():
    """Chance alone would give that too; the raw shares stand."""
    found = agreement([[2.0, 2.0], [2.0, 2.0, 2.0]])
    assert (found.pairs, found.equal, found.near, found.alpha) == (4, 1.0, 1.0, None)


def test_opposite_graders_are_below_chance():
    """A negative alpha is shown as it is."""
    found = agreement([[0.0, 3.0], [3.0, 0.0]])
    assert found.equal == 0.0
    assert found.near == 0.0
    assert found.alpha is not None
    assert found.alpha < 0


def kappa_by_hand(first, second, weight):
    """The textbook form, from shares: 1 - Σ w·observed / Σ w·expected."""
    grades = sorted({*first, *second})
    n = len(first)
    observed = sum(weight(a, b) for a, b in zip(first, second, strict=True)) / n
    expected = sum(
        weight(a, b) * first.count(a) / n * second.count(b) / n for a in grades for b in grades
    )
    return None if expected == 0 else 1 - observed / expected


@pytest.mark.parametrize(
    ("human", "judge", "kappa", "observed"),
    [
        ([1, 1, 1, 1], [1, 1, 1, 1], None, 1.0),
        ([1, 1, 1, 0], [1, 1, 1, 1], 0.0, 0.75),
        ([1, 1, 0, 0, 1, 0], [1, 0, 0, 0, 1, 1], 1 / 3, 2 / 3),
        ([0, 0], [1, 1], 0.0, 0.0),
        ([], [], None, None),
    ],
)
def test_kappa_is_null_only_where_chance_agreement_is_full(human, judge, kappa, observed):
    """With the raw agreement beside it; constants that differ are chance."""
    found = cohen_kappa(human, judge)
    assert found.n == len(human)
    assert found.kappa == (kappa if kappa is None else pytest.approx(kappa, abs=1e-12))
    assert found.observed == (observed if observed is None else pytest.approx(observed))
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["kappa"] == found.kappa


def test_weighted_kappa_of_a_published_table():
    """Cohen's own example (1968, table 1): 200 pairs of three categories, kappa .492; the same
    counts with squared distances.
    """
    table = [[88, 14, 18], [10, 40, 10], [2, 6, 12]]
    pairs = [(a, b) for a, row in enumerate(table) for b, n in enumerate(row) for _ in range(n)]
    first, second = (list(side) for side in zip(*pairs, strict=True))
    assert cohen_kappa(first, second).kappa == pytest.approx(0.492, abs=5e-4)
    squared = kappa_by_hand(first, second, lambda a, b: (a - b) ** 2)
    assert cohen_kappa(first, second, apart="quadratic").kappa == pytest.approx(squared)


GRADES = st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=40)


@given(GRADES, st.sampled_from(["equal", "linear", "quadratic"]))
def test_kappa_is_the_textbook_formula(pairs, apart):
    """Whatever the grades; symmetric, at most 1, null exactly for one and the same constant."""
    first, second = (list(side) for side in zip(*pairs, strict=True))
    power = {"equal": 0, "linear": 1, "quadratic": 2}[apart]
    found = cohen_kappa(first, second, apart=apart)
    wanted = kappa_by_hand(first, second, lambda a, b: abs(a - b) ** power if a != b else 0)
    assert found.kappa == (wanted if wanted is None else pytest.approx(wanted, abs=1e-9))
    assert cohen_kappa(second, first, apart=apart) == found
    assert (found.kappa is None) == (len({*first, *second}) == 1)
    assert found.kappa is None or found.kappa <= 1


def test_graders_of_different_numbers_of_things_are_refused():
    """They do not grade the same pairs."""
    with pytest.raises(ValueError, match="2 grades of one grader meet 1 of the other"):
        cohen_kappa([1, 0], [1])


def test_a_judge_is_held_against_labels():
    """Counts, precision and recall with Wilson's intervals, kappa of relevance and of grades."""
    labels, judge = [3, 2, 1, 0, 0, 0, 1, 0], [3, 1, 0, 0, 1, 0, 2, 0]
    found = judge_agreement(labels, judge)
    counts = found.both, found.only_judge, found.only_labels, found.neither
    assert counts == (3, 1, 1, 3)
    assert found.precision == Part(4, 0.75, *wilson_interval(0.75, 4))
    assert found.recall == Part(4, 0.75, *wilson_interval(0.75, 4))
    assert found.relevant.kappa == 0.5
    assert found.grades == cohen_kappa(labels, judge, apart="quadratic")
    stricter = judge_agreement(labels, judge, rel=2)
    assert (stricter.both, stricter.only_judge, stricter.only_labels) == (1, 1, 1)
    told = json.loads(json.dumps(found.as_json(), allow_nan=False))
    assert told["pairs"] == 8
    assert told["precision"]["of"] == 4


def test_what_is_shared_by_nothing_is_null():
    """No relevant chunk on either side: no precision, no recall, no kappa, strict JSON."""
    told = json.loads(json.dumps(judge_agreement([0, 0], [0, 0]).as_json(), allow_nan=False))
    nothing = {"of": 0, "share": None, "low": None, "high": None}
    assert told["precision"] == told["recall"] == nothing
    assert (told["kappa"], told["observed"]) == (None, 1.0)
