"""What makes two runs incomparable."""

from __future__ import annotations

import random
import runpy
from pathlib import Path

import pyarrow as pa
import pytest

from ragnostic.errors import UsageError
from ragnostic.offline.compare_checks import check_comparable
from ragnostic.offline.run_source import memory_source
from ragnostic.report.run import RunData

MADE = runpy.run_path(str(Path(__file__).parent / "compared_run.py"))
GOLD = {f"q{n}": [f"g{n}", f"h{n}"] for n in range(9)}


def made(name, gold=GOLD, **options):
    """A run whose lists are its gold."""
    return MADE["compared_run"](name, gold, gold, **options)


def check(base: RunData, candidate: RunData) -> None:
    """Both checked against each other."""
    one, two = memory_source(base, "base"), memory_source(candidate, "candidate")
    check_comparable(one, one.asked(), two, two.asked())


def test_the_same_questions_may_be_compared():
    """In any order, and with queries of one side alone."""
    names = list(GOLD)
    random.Random(1).shuffle(names)
    other = {name: GOLD[name] for name in names[:5]} | {"new": ["z"]}
    check(made("one"), made("two", other))
    check(made("one", asked=False), made("two", other, asked=False))


def test_another_gold_is_refused_with_the_ids():
    """All reasons at once; both runs are named, at most five ids."""
    other = GOLD | {f"q{n}": ["z"] for n in range(7)}
    texts = {"q8": "something else?"}
    with pytest.raises(UsageError) as caught:
        check(made("one"), made("two", other, queries=texts, meta={"judge": {"name": "grader"}}))
    said = str(caught.value)
    assert said.startswith("one and two cannot be compared:")
    assert "another judge: name: gold → grader" in said
    assert "another judge: parameters.overlap: 0.5 → –" in said
    assert "1 shared query has another text: q8" in said
    assert "7 shared queries have another gold: q0, q1, q2, q3, q4 and 2 more" in said


def test_the_gold_of_older_runs_is_compared_on_one_corpus():
    """Ids and grades, not their order; the corpus must be the same and known."""
    turned = GOLD | {"q1": ["h1", "g1"]}
    check(made("one", asked=False), made("two", turned, asked=False))
    other = GOLD | {"q1": ["g1", "z"], "q2": ["g2"]}
    with pytest.raises(UsageError, match="2 shared queries have another gold: q1, q2"):
        check(made("one", asked=False), made("two", other))
    check(made("one", asked=False), made("two", other, corpus="another"))


def test_a_grade_is_part_of_the_gold():
    """Of older runs too; without grades all are 1."""
    one, two = made("one", asked=False), made("two", asked=False)
    rows = two.records.to_pylist()
    rows[3]["judged"] = rows[3]["judged"] | {"grades": [1.0, 2.0]}
    graded = RunData(
        two.meta, pa.Table.from_pylist(rows, two.records.schema), two.chunks, two.scores
    )
    with pytest.raises(UsageError, match="1 shared query has another gold: q3"):
        check(one, graded)
    bare = [row | {"judged": row["judged"] | {"grades": None}} for row in one.records.to_pylist()]
    check(
        RunData(one.meta, pa.Table.from_pylist(bare, one.records.schema), one.chunks, one.scores),
        two,
    )


def test_what_is_not_known_is_not_refused():
    """A run without texts, judge or corpus."""
    bare = made("two", GOLD | {"q1": ["z"]}, asked=False, meta={"judge": None, "data": {}})
    nameless = RunData(bare.meta, bare.records.drop_columns(["query"]), bare.chunks, bare.scores)
    check(made("one"), nameless)
