"""Number words of two languages into digits."""

from __future__ import annotations

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.judges.numerals import digits_of, english_number, han_number, scaled
from ragnostic.judges.word_lists import listed

ONES = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
TENS = listed("- - twenty thirty forty fifty sixty seventy eighty ninety")
DIGITS = "零一二三四五六七八九"


def han(value: int) -> str:
    """A whole number below 10^12 as it is read in Chinese."""
    if value >= 10**8:
        high, low = divmod(value, 10**8)
        return f"{han(high)}亿" + _rest(low, 10**7)
    if value >= 10**4:
        high, low = divmod(value, 10**4)
        return f"{han(high)}万" + _rest(low, 10**3)
    for scale, name in ((1000, "千"), (100, "百"), (10, "十")):
        if value >= scale:
            high, low = divmod(value, scale)
            return f"{DIGITS[high]}{name}" + _rest(low, scale // 10)
    return DIGITS[value]


def _rest(low: int, full: int) -> str:
    """What follows a scale, with 零 before a gap."""
    return "" if not low else ("零" if low < full else "") + han(low)


def english(value: int) -> str:
    """A whole number below 10^9 in English words."""
    for scale, name in ((10**6, "million"), (10**3, "thousand"), (100, "hundred")):
        if value >= scale:
            high, low = divmod(value, scale)
            return f"{english(high)} {name}" + (f" and {english(low)}" if low else "")
    if value >= 20:
        return TENS[value // 10] + (f"-{ONES[value % 10]}" if value % 10 else "")
    return ONES[value]


@given(st.integers(0, 10**12 - 1))
def test_every_chinese_number_is_read_back(value: int):
    """Reading what was written in Chinese gives the value."""
    assert han_number(han(value)) == str(value)


@given(st.integers(0, 10**9 - 1))
def test_every_english_number_is_read_back(value: int):
    """Reading what was written in English gives the value."""
    assert english_number(english(value)) == str(value)


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("十五", "15"),
        ("一千五", "1500"),
        ("两万三", "23000"),
        ("三千萬", "30000000"),
        ("壹万伍仟", "15000"),
        ("一万亿", "1000000000000"),
        ("二〇二四", "2024"),
        ("三点一四", "3.14"),
        ("五點五万", "55000"),
        ("两百五十", "250"),
    ],
)
def test_spoken_and_financial_forms(numeral: str, value: str):
    """Short forms of speech, traditional and financial characters have their values."""
    assert han_number(numeral) == value


@pytest.mark.parametrize(
    "text", ["万一", "三四", "七七八八", "千万", "十百", "一百二百", "亿万", "万点五", "一点"]
)
def test_what_is_no_number_is_none(text: str):
    """Idioms and counts in passing are no numbers."""
    assert han_number(text) is None


@pytest.mark.parametrize("words", ["one two", "hundred", "million", "twenty thirty", "five tero"])
def test_english_words_that_are_no_number(words: str):
    """Number words in no order of a number are left alone."""
    assert english_number(words) is None


def test_scales_multiply_exactly():
    """Decimal fractions of 万 and million lose nothing."""
    assert digits_of(scaled("1.15", "万")) == "11500"
    assert digits_of(scaled("0.000001", "million")) == "1"
    assert digits_of(Decimal("1E+3")) == "1000"
