"""How good a judge is, told by labels."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import DataError
from ragnostic.judges.quality import corrected_means, judge_quality
from ragnostic.records import JUDGED_TYPE, JUDGMENT_SCHEMA
from ragnostic.stats.intervals import wilson_interval


def judged(*rows):
    """Judgments of (record id, status, ids, grades)."""
    blank = dict.fromkeys(JUDGMENT_SCHEMA.names)
    names = ("record_id", "status", "ids", "grades")
    return pa.Table.from_pylist(
        [blank | dict(zip(names, row, strict=True)) for row in rows], JUDGMENT_SCHEMA
    )


def labels(*rows, key="record_id"):
    """Labels of (record id, chunk, grade)."""
    return pa.table(
        dict(zip((key, "chunk_id", "grade"), map(list, zip(*rows, strict=True)), strict=True))
    )


JUDGED = judged(
    ("r1", "judged", ["a", "b", "s"], [1.0, 1.0, 0.0]),
    ("r2", "judged", ["c"], [1.0]),
    ("r3", "judged", [], []),
    ("r4", "abstained", [], []),
    ("r5", "refused", [], []),
    ("r6", "failed", ["a"], [None]),
    ("r7", "judged", ["s", None], [0.0, 3.0]),
)


def test_coverage_counts_what_the_judge_could_speak_of():
    """Refusals and failures are counted beside it; a soft chunk and a lost item are not found."""
    found = judge_quality(JUDGED, labels(("r1", "a", 1))).coverage
    assert (found.judged, found.abstained, found.refused, found.failed) == (4, 1, 1, 1)
    assert (found.found.of, found.found.share) == (5, 0.4)
    assert (found.found.low, found.found.high) == wilson_interval(0.4, 5)


def test_labelled_pairs_are_compared_and_no_others():
    """What a whole-corpus judge does not name is irrelevant to it; a refusal says nothing."""
    sample = labels(
        ("r1", "a", 2),
        ("r1", "b", 0),
        ("r1", "x", 1),
        ("r1", "y", 0),
        ("r3", "z", 0),
        ("r5", "a", 1),
        ("new", "a", 1),
    )
    found = judge_quality(JUDGED, sample)
    told = found.agreement
    assert (told.both, told.only_judge, told.only_labels, told.neither) == (1, 1, 1, 2)
    assert (found.labelled, found.unjudged) == (4, 2)
    named = judge_quality(JUDGED, sample, whole_corpus=False)
    assert (named.agreement.both, named.agreement.only_judge, named.agreement.only_labels) == (
        1,
        1,
        0,
    )
    assert named.unjudged == 5
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["unjudged_pairs"] == 2


def test_complete_labels_call_irrelevant_what_was_retrieved_and_is_not_named():
    """Gold lists what is relevant only; without the rankings nobody could be wrong."""
    gold = pa.table({"record_id": ["r1"], "ids": [["a"]], "grades": [[3.0]]})
    assert judge_quality(JUDGED, gold).agreement.relevant.n == 1
    shown = pa.table({"record_id": ["r1", "r2"], "ids": [["a", "b", "x"], ["c"]]})
    told = judge_quality(JUDGED, gold, retrieved=shown).agreement
    assert (told.both, told.only_judge, told.only_labels, told.neither) == (1, 1, 0, 1)
    assert told.precision.share == 0.5


def test_queries_may_be_the_key_and_facets_are_no_verdict():
    """Of a chunk in several items the highest grade counts."""
    rows = [
        {
            "query_id": "q1",
            "status": "judged",
            "ids": ["a", "a", "a"],
            "grades": [0, 2, 3],
            "facets": [None, None, "basis"],
        }
    ]
    schema = pa.schema(
        [
            ("query_id", pa.string()),
            ("status", pa.string()),
            *(JUDGED_TYPE.field(n) for n in ("ids", "grades", "facets")),
        ]
    )
    found = judge_quality(
        pa.Table.from_pylist(rows, schema), labels(("q1", "a", 2), key="query_id")
    )
    assert found.agreement.grades.observed == 1.0


def test_no_labelled_pair_leaves_the_coverage():
    """Agreement is null, in strict JSON."""
    found = judge_quality(JUDGED, labels(("new", "a", 1)))
    assert (found.agreement, found.unjudged) == (None, 1)
    assert json.loads(json.dumps(found.as_json(), allow_nan=False))["agreement"] is None


def test_tables_that_do_not_meet_are_refused():
    """With the columns that are needed."""
    with pytest.raises(DataError, match="no key in common"):
        judge_quality(JUDGED, pa.table({"query_id": ["q"], "chunk_id": ["a"], "grade": [1]}))
    with pytest.raises(DataError, match="chunk_id and grade"):
        judge_quality(JUDGED, pa.table({"record_id": ["r1"], "chunk": ["a"]}))


def test_means_are_corrected_by_the_labelled_queries():
    """Each metric that both have; undefined values left out, repeated queries once, bias and the
    distance from the truth before and after.
    """
    rest = [0.75, 0.25] * 10
    scores = pa.table(
        {
            "record_id": ["a", "b", "b", "c", "d", *(f"u{n}" for n in range(20))],
            "stage": ["retrieve"] * 25,
            "RR@5": [1.0, 0.25, 0.75, 1.0, None, *rest],
            "R@5": [0.5] * 25,
        }
    )
    gold = pa.table(
        {
            "record_id": ["a", "b", "c", "d", "z"],
            "RR@5": [0.5, 0.25, 0.75, 0.5, 1.0],
            "stage": ["s"] * 5,
        }
    )
    quality = judge_quality(JUDGED, labels(("r1", "a", 1)), scores=scores, labelled_scores=gold)
    assert set(quality.means) == {"RR@5"}
    mean = quality.means["RR@5"]
    assert (mean.labelled, mean.unlabelled) == (3, 20)
    assert mean.bias == pytest.approx(1 / 3)
    assert mean.mean == pytest.approx(0.5 - 1 / 3)
    against = quality.against({"RR@5": 0.2, "nDCG@5": 1.0})["RR@5"]
    assert against["before"] == pytest.approx(mean.judge - 0.2)
    assert against["after"] == pytest.approx(mean.mean - 0.2)
    assert against["holds"] is True
    assert quality.as_json()["means"]["RR@5"]["bias"]["mean"] == mean.bias
    assert corrected_means(scores, gold, metrics=["RR@5"], bounds=None)["RR@5"].mean == mean.mean


def test_a_metric_that_no_shared_query_has_is_left_out():
    """There is nothing to correct it by."""
    first = pa.table({"query_id": ["a"], "RR@5": [1.0]})
    assert corrected_means(first, pa.table({"query_id": ["b"], "RR@5": [1.0]})) == {}


GRADE = st.integers(0, 3)


@given(st.dictionaries(st.sampled_from("abcdef"), st.tuples(GRADE, GRADE), min_size=1))
def test_every_pair_is_counted_once(pairs):
    """Four counts add up to the labelled pairs, and so do shares and their parts."""
    ours = judged(("r1", "judged", list(pairs), [float(judge) for _, judge in pairs.values()]))
    found = judge_quality(
        ours, labels(*(("r1", chunk, label) for chunk, (label, _) in pairs.items()))
    )
    told = found.agreement
    assert told.both + told.only_judge + told.only_labels + told.neither == len(pairs)
    assert told.precision.of == told.both + told.only_judge
    assert told.recall.of == told.both + told.only_labels
    assert found.unjudged == 0
