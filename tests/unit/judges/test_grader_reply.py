"""Reading a grader's reply."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.judges.grader_reply import read_reply


@pytest.mark.parametrize(
    ("reply", "grade"),
    [
        ("3", 3),
        (" 0\n", 0),
        ("**2**", 2),
        ("２", 2),
        ("2.0", 2),
        ("Grade: 1.", 1),
        ("评分：3分。", 3),
        ('{"grade": 2}', 2),
        ('{"grade": "2", "why": "half of it"}', 2),
        ('```json\n{"grade": 1}\n```', 1),
        ('<think>3 gaps, so {"grade": 1}?</think>\n{"grade": 2}', 2),
        ('It holds the number only. {"grade": 2}', 2),
    ],
)
def test_a_number_or_one_object_is_a_grade(reply, grade):
    """Dressed as models dress it."""
    found = read_reply(reply, model="m")
    assert (found.grade, found.failure, found.model) == (grade, "", "m")


@pytest.mark.parametrize(
    ("reply", "reason"),
    [
        ("", "the reply is empty"),
        ("  \n", "the reply is empty"),
        ("<think>3</think>", "the reply is empty"),
        ("No verdict is possible here.", "no grade in the reply 'No verdict"),
        ("I see 3 gaps, so this one gets grade 1.", "no grade in the reply 'I see 3"),
        ("grade 2 or 3", "no grade"),
        ("3/3", "no grade"),
        ("[3]", "no grade"),
        ("4", "grade 4 is off the scale 0-3"),
        ("-1", "grade -1 is off the scale 0-3"),
        ("9" * 400, "off the scale"),
        ("2.5", "grade 2.5 is no whole number"),
        ('{"grade": 9}', "grade 9 is off the scale 0-3"),
        ('{"grade": 1.5}', "grade 1.5 is no whole number"),
        ('{"grade": null}', "grade None is no number"),
        ('{"grade": true}', "grade True is no number"),
        ('{"grade": "high"}', "grade 'high' is no number"),
        ('{"grade": NaN}', "NaN is no JSON number"),
        ('{"grade": 1, "grade": 3}', "the key 'grade' is given twice"),
        ('{"score": 3}', "no grade in the reply {'score': 3}"),
        ('{"grade": 3', "no grade"),
        ('one {"grade": 1} or {"grade": 3}', "2 JSON objects in the reply"),
    ],
)
def test_anything_else_fails_with_its_reason(reply, reason):
    """Never grade 0, never the nearest grade, never the first number."""
    found = read_reply(reply)
    assert found.grade is None
    assert reason in found.failure


def test_facets_must_all_be_there():
    """Each on the scale; a bare number says nothing of them."""
    found = read_reply('{"grade": 3, "basis": 0, "conclusion": 2}', ["conclusion", "basis"])
    assert (found.grade, found.facets) == (3, {"conclusion": 2, "basis": 0})
    for reply, reason in (
        ("3", "no grade in the reply"),
        ('{"grade": 3, "basis": 1}', "no conclusion in the reply"),
        ('{"grade": 3, "basis": 1, "conclusion": 7}', "conclusion 7 is off the scale"),
    ):
        assert reason in read_reply(reply, ["conclusion", "basis"]).failure


@given(st.text(max_size=60))
def test_no_text_breaks_the_reader(reply):
    """A whole grade on the scale, or a reason; one or the other."""
    found = read_reply(reply)
    assert (found.grade is None) == bool(found.failure)
    assert found.grade is None or 0 <= found.grade <= 3


@given(st.integers(-5, 9), st.text(max_size=20))
def test_a_grade_in_json_is_read_or_refused_as_it_stands(grade, why):
    """Whatever else the object holds."""
    found = read_reply(
        json.dumps({"why": why.translate(str.maketrans("{}", "()")), "grade": grade})
    )
    assert found.grade == (grade if 0 <= grade <= 3 else None)
