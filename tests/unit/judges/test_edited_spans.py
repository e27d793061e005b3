"""Spans within a few edits, against every window of every text."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rapidfuzz.distance import Levenshtein

from ragnostic.judges.edited_spans import edited, keeps_values, stands_free
from ragnostic.judges.plain_text import plain
from ragnostic.judges.span_index import SpanIndex, encode

WORDS = st.sampled_from(
    ["年假", "可以", "不", "退货", "为15天", "为5天", "三", "，", " leave", " not ", " is ", " a "]
)
TEXTS = st.lists(WORDS, min_size=3, max_size=9).map("".join)


def look_up(span: str, text: str, edits: int = 2) -> int | None:
    """The edits by which a text holds a span, both written as people do; None if it does not."""
    plain_span, plain_text = (form.strip(",") for form in plain([span, text]))
    encoded = encode([plain_span])
    found = edited(SpanIndex.build([plain_text]), encoded, np.array([0]), set(), edits)
    return next((count for _, _, count in found), None)


def holds(span: str, text: str, edits: int) -> bool:
    """Whether some window of a text is within the edits, by trying all of them."""
    for start in range(len(text) + 1):
        for end in range(start, min(len(text), start + len(span) + edits) + 1):
            window = text[start:end]
            if (
                stands_free(text[:start], window, text[end:])
                and Levenshtein.distance(span, window) <= edits
                and keeps_values(span, window, edits)
            ):
                return True
    return False


@given(TEXTS, TEXTS, st.integers(1, 2))
def test_look_up_equals_trying_every_window(span: str, text: str, edits: int):
    """The thirds find every window that a full search finds."""
    plain_span, plain_text = (form.strip(",") for form in plain([span, text]))
    if len(plain_span) > edits:  # a shorter one has an empty third, which is nowhere
        found = look_up(span, text, edits)
        assert (found is not None) == holds(plain_span, plain_text, edits)


@pytest.mark.parametrize(
    ("span", "text", "edits"),
    [
        ("员工每年享有15天带薪年休假", "规定员工每年享受15天带薪年休假。", 1),
        ("员工每年享有15天带薪年休假", "员工每年可享有15天带薪的年休假", 2),
        ("Employees get fifteen days of leave", "employees got fifteen days of leave each", 1),
        ("The colour of the badge is blue", "the color of the badge is blue", 1),
    ],
)
def test_small_edits_are_found(span: str, text: str, edits: int):
    """One or two changed characters leave a span recognisable."""
    assert look_up(span, text) == edits


@pytest.mark.parametrize(
    ("span", "text"),
    [
        ("员工每年享有15天带薪年休假", "员工每年享有10天带薪年休假"),
        ("员工每年享有15天带薪年休假", "员工每年享有15年带薪年休假"),
        ("员工每年享有15天带薪年休假", "员工每年享有1.5天带薪年休假"),
        ("员工可以申请远程办公但须报备", "员工不可以申请远程办公但须报备"),
        ("员工未经批准不得远程办公", "员工已经批准不得远程办公"),
        ("第一批员工可以远程办公", "第二批员工可以远程办公"),
        ("the deposit is not refundable", "the deposit is now refundable"),
        ("you can leave without notice", "you can leave with notice"),
        ("you mustn't leave early today", "you must leave early today"),
        ("the plan costs 15 dollars", "the plan costs 16 dollars"),
        ("the plan has 15 seats for all", "the plan has 15 beds for all"),
        ("不能退货可以换货的商品", "能退货不可以换货的商品"),
        ("年假共有15天", "年假共有151天"),
        ("完全不同的一句话在这里", "与之毫无关系的另外一段文字"),
    ],
)
def test_an_edit_may_touch_no_number_unit_or_negation(span: str, text: str):
    """15 days are not 10 days, and not is not now."""
    assert look_up(span, text) is None


def test_known_pairs_are_left_out_and_each_pair_comes_once():
    """What is known to be there as it is needs no look-up; a repeated match counts once."""
    texts = ["年假为五天带薪的假期", "年假为五天的带薪假期年假为五天的带薪假期"]
    index = SpanIndex.build(plain(texts))
    encoded = encode(plain(["年假为五天带薪的假期"]))
    found = list(edited(index, encoded, np.array([0]), {(0, 0)}, 2))
    assert found == [(0, 1, 2)]
