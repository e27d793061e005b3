"""Values a query that a caller computed elsewhere."""

from __future__ import annotations

import math

import numpy as np
import pytest

from ragnostic.errors import DataError, UsageError
from ragnostic.offline.given_values import sides_of_values


def test_a_list_of_values_is_as_many_runs_as_it_is_long():
    """A query with fewer repeats is in fewer of them; one with an empty list has no value."""
    found = sides_of_values({"rr@5": {"a": [0.5, 1.0, None], "b": 0.25, "c": []}}, "base")
    sides = [entry.side for entry in found]
    assert [side.query_ids.to_pylist() for side in sides] == [["a", "b", "c"], ["a"], ["a"]]
    assert [side.values["retrieve", "RR@5"].tolist()[0] for side in sides[:2]] == [0.5, 1.0]
    assert str(sides[0].values["retrieve", "RR@5"].tolist()[2]) == "nan"


def test_a_mean_alone_is_named():
    """It has no queries, and the comparison refuses it."""
    (found,) = sides_of_values({"mrr@5": 0.71}, "base")
    assert found.bare == ("RR@5",)
    assert found.side.query_ids.to_pylist() == []


@pytest.mark.parametrize(
    ("given", "error", "said"),
    [
        ({"RR@5": "0.7"}, UsageError, "base: RR@5 holds a str"),
        ({}, UsageError, "base: no metric is given"),
        ({"RR@5": {"q": "much"}}, DataError, "RR@5 of query q"),
        ({"of my own": {"q": 1}}, UsageError, "of my own"),
        ({"mrr@5": {"q": math.nan}}, DataError, "base: RR@5 of query q: nan is no number"),
        ({"RR@5": {"q": [1, np.float32("nan")]}}, DataError, "RR@5 of query q"),
        ({"RR@5": {1: 0.5}}, DataError, "query id 1"),
    ],
)
def test_what_is_no_value_is_refused(given, error, said):
    """By name, and with what it is."""
    with pytest.raises(error, match=said):
        sides_of_values(given, "base")
