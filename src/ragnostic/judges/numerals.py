"""Numbers written in words: Chinese numerals and English number words into plain digits."""

from __future__ import annotations

import re
from decimal import Decimal

from ragnostic.judges.word_lists import listed

HAN_DIGITS_BY_VALUE = listed("零〇 一壹 二两兩贰貳 三叁 四肆 五伍 六陆陸 七柒 八捌 九玖")
HAN_DIGITS = "".join(HAN_DIGITS_BY_VALUE)
HAN_SCALES = "十百千万亿拾佰仟萬億"

_DIGITS = {digit: value for value, digits in enumerate(HAN_DIGITS_BY_VALUE) for digit in digits}
_SMALL = {"十": 10, "拾": 10, "百": 100, "佰": 100, "千": 1000, "仟": 1000}
_LARGE = {"万": 10**4, "萬": 10**4, "亿": 10**8, "億": 10**8}

_ONES = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
    " sixteen seventeen eighteen nineteen"
)
_TENS = listed("twenty thirty forty fifty sixty seventy eighty ninety")
_WORDS = {word: value for value, word in enumerate(_ONES)}
_WORDS |= {word: value for value, word in zip(range(20, 100, 10), _TENS, strict=True)}
ENGLISH_SCALES = {"thousand": 10**3, "million": 10**6, "billion": 10**9, "trillion": 10**12}
ENGLISH_WORDS = (*_WORDS, "hundred", *ENGLISH_SCALES)


def digits_of(value: Decimal) -> str:
    """A number without exponent, thousands separators and trailing zeros.

    >>> digits_of(Decimal("1.50") * 10_000), digits_of(Decimal("0.50"))
    ('15000', '0.5')
    """
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def scaled(digits: str, scales: str) -> Decimal:
    """Arabic digits times the scales that follow them.

    >>> scaled("1.5", "万"), scaled("5", "千万"), scaled("2", "million")
    (Decimal('15000.0'), Decimal('50000000'), Decimal('2000000'))
    """
    value = Decimal(digits.replace(",", ""))
    if scales in ENGLISH_SCALES:
        return value * ENGLISH_SCALES[scales]
    for scale in scales:
        value *= _SMALL.get(scale) or _LARGE[scale]
    return value


def han_number(numeral: str) -> str | None:
    """The value of a Chinese numeral as digits; None for what is no well-formed number.

    Digits without a scale are a number only as a single digit or as a year (二〇二四).

    >>> [han_number(n) for n in ("一千", "一千零一", "二十四", "三点五", "一百五", "二〇二四")]
    ['1000', '1001', '24', '3.5', '150', '2024']
    >>> [han_number(n) for n in ("万一", "三四", "百", "七七八八")]
    [None, None, None, None]
    """
    whole, point, part = numeral.replace("點", "点").partition("点")
    if point:
        size = len(part.rstrip(HAN_SCALES))
        value = _whole(whole)
        if value is None or not size:
            return None
        decimal = Decimal(f"{value}.{''.join(str(_DIGITS[digit]) for digit in part[:size])}")
        return digits_of(scaled(str(decimal), part[size:]))
    value = _whole(whole)
    return None if value is None else str(value)


def _whole(numeral: str) -> int | None:
    if all(character in _DIGITS for character in numeral):
        if len(numeral) != 1 and not (len(numeral) == 4 and numeral[0] in "一二"):
            return None
        return int("".join(str(_DIGITS[character]) for character in numeral))
    return _with_scales(numeral)


def _with_scales(numeral: str) -> int | None:
    """Standard reading: digits with falling scales, in sections of 万 and 亿."""
    total = section = 0
    digit: int | None = None
    last_scale, last_large = 10**4, 10**9
    zero = False
    for character in numeral:
        if character in _DIGITS:
            if digit is not None:
                return None
            zero = zero or _DIGITS[character] == 0
            digit = _DIGITS[character] or None
        elif character in _SMALL:
            scale = _SMALL[character]
            if digit is None and (scale != 10 or section):
                return None
            if scale >= last_scale:
                return None
            section += (digit or 1) * scale
            digit, last_scale, zero = None, scale, False
        else:
            large = _LARGE[character]
            section += digit or 0
            if large == last_large or not (section or total):
                return None
            # 一万亿: the larger scale counts all before it
            total = (total + section) * large if large > last_large else total + section * large
            section, digit, last_scale, last_large, zero = 0, None, 10**4, large, False
    if digit is not None and not zero and (section or total):  # 一千五 is 1500, 一千零五 is 1005
        digit *= (last_scale if section else last_large) // 10
    return total + section + (digit or 0)


def english_number(words: str) -> str | None:
    """The value of English number words as digits; None for what is no number.

    >>> english_number("twenty-four"), english_number("two hundred and five thousand")
    ('24', '205000')
    >>> english_number("one two") is None
    True
    """
    total = section = 0
    last = 10**15
    for word in re.split(r"[\s-]+", words):
        if word == "and":
            continue
        if word in _WORDS:
            value = _WORDS[word]
            if last < 20 or (value >= 10 and last < 100):
                return None
            section += value
            last = value
        elif word == "hundred":
            if not 0 < section < 10:
                return None
            section *= 100
            last = 100
        else:
            if not section or word not in ENGLISH_SCALES:
                return None
            total += section * ENGLISH_SCALES[word]
            section, last = 0, 10**15
    return str(total + section)
