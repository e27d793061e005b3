"""Numbers, dates and units by value: 1,000 = 一千, 5 percent = 百分之五 (METRICS 12).

Works on text that is NFKC and case folded. What is read is written between spaces in sealed
characters, which no later pattern takes for a number again; :data:`SEALED` opens them.

Each pattern begins with plain characters and looks back over them: the search for the first
character is fast, and most text has no number.
"""

from __future__ import annotations

import re
from decimal import Decimal

from ragnostic.judges.numerals import (
    ENGLISH_SCALES,
    ENGLISH_WORDS,
    HAN_DIGITS,
    HAN_SCALES,
    digits_of,
    english_number,
    han_number,
    scaled,
)
from ragnostic.judges.units import ANY_MEASURE, MEASURES, PLAIN_UNIT, UNIT, unit_form
from ragnostic.judges.word_lists import listed

SEALED = {chr(0xE000 + place): mark for place, mark in enumerate("0123456789./-~")}
"""Letters of the private use area, and the characters of a value that they stand for."""
_OPEN = {ord(sealed): mark for sealed, mark in SEALED.items()}
_SEAL = {ord(mark): sealed for sealed, mark in SEALED.items()}

_HAN = f"[{HAN_DIGITS}{HAN_SCALES}]"
_DECIMALS = rf"[点點][{HAN_DIGITS}]+"
_COUNTED = rf"(?=\s?(?:{ANY_MEASURE}|[至到~-]\s?{_HAN}+\s?{ANY_MEASURE}))"
# A digit alone counts only before a measure or behind 第, so that 一般 and 三星 stay.
_HAN_NUMERAL = re.compile(
    rf"{_HAN}(?:{_HAN}*{_DECIMALS}(?![十百千拾佰仟])[万亿萬億]*{_COUNTED}"
    rf"|{_HAN}+|{_COUNTED}|(?<=第.))"
)
_COUNTED_AT = re.compile(_COUNTED)
_FRACTION = re.compile(
    rf"([{HAN_DIGITS}{HAN_SCALES}0-9][{HAN_DIGITS}{HAN_SCALES}0-9]{{0,15}})\s?分之\s?"
    rf"([0-9]+(?:\.[0-9]+)?|{_HAN}+(?:{_DECIMALS})?)"
)

_WORD = f"(?:{'|'.join(ENGLISH_WORDS)})"
_FIRST_WORD = f"[bzotfsenhm](?<![^\\W_].)(?:{'|'.join(word[1:] for word in ENGLISH_WORDS)})"
_ENGLISH_NUMBER = re.compile(rf"{_FIRST_WORD}(?:(?:\s|-|\sand\s){_WORD}){{0,15}}\b(?=[\s-]?{UNIT})")

_MONTHS = listed("jan feb mar apr may jun jul aug sep oct nov dec")
_MONTH = (
    r"([jfmasond](?<![^\W_].)(?:an(?:uary)?|eb(?:ruary)?|ar(?:ch)?|pr(?:il)?|ay|une?|uly?"
    r"|ug(?:ust)?|ep(?:t(?:ember)?)?|ct(?:ober)?|ov(?:ember)?|ec(?:ember)?))\b\.?"
)
_MONTH_FIRST = re.compile(
    rf"{_MONTH}\s(?:([0-9]{{1,2}})(?:st|nd|rd|th)?\b(?![,.:][0-9])(?:,?\s?([0-9]{{4}})\b)?"
    r"|,?\s?([0-9]{4})\b)"
)
_DAY_FIRST = re.compile(
    r"([0-9](?<![0-9.,].)[0-9]?)(?:st|nd|rd|th)?\s(?:of\s)?" + _MONTH + r"(?:,?\s([0-9]{4})\b)?"
)
_DATE = re.compile(
    r"[12](?<![0-9.].)[0-9]{3}(?:"
    r"\s?年\s?([0-9]{1,2})\s?月(?:\s?([0-9]{1,2})\s?[日号號])?"
    r"|([-/.])([0-9]{1,2})\3([0-9]{1,2})(?![0-9]|[-/.][0-9]))"
)
_YEARLESS = re.compile(r"[0-9](?<![0-9.].)[0-9]?\s?月\s?[0-9]{1,2}\s?[日号號]")
_SHARE = re.compile(r"[0-9](?<![0-9./].)[0-9]{0,2}/[0-9]{1,3}(?![0-9/])")

_ARABIC = r"[0-9][0-9]*(?:(?<![0-9]{4})(?:,[0-9]{3})+(?![0-9]))?(?:\.[0-9]+)?"
# 千克, 千米 and the like are units, not thousands of a unit.
_BEHIND_THOUSAND = re.compile("[克米瓦卡焦帕赫伏]")
_SCALE = rf"(?:[百千万亿萬億]+(?![分克米瓦卡焦帕赫伏])|(?:{'|'.join(ENGLISH_SCALES)})\b)"
_SCALED = re.compile(rf"({_ARABIC})\s?({_SCALE})")
_NUMBER = rf"{_ARABIC}(?:\s?{_SCALE}(?:{_ARABIC}\s?{_SCALE})*)?"
_VALUE = re.compile(rf"({_NUMBER})(?:\s?[-–—~至到]\s?({_NUMBER}))?(?:[\s-]?({UNIT}))?")
_FACT = re.compile(
    r" (?:(?:[0-9]{4}|-)-[0-9]{2}(?:-[0-9]{2})? "  # a date
    rf"|-?[0-9][0-9./~]* {PLAIN_UNIT}|[0-9]{{2}}[0-9.~]* [{MEASURES}])"
)
_CURRENCIES = {"$": "美元", "¥": "元", "€": "欧元", "£": "英镑"}


def by_value(text: str) -> str:
    """Text with each number, date and number with unit in one form, its characters sealed.

    >>> [unsealed(by_value(t)).split() for t in ("上限1,000元", "上限一千元", "上限1千元")]
    [['上限', '1000', '元'], ['上限', '1000', '元'], ['上限', '1000', '元']]
    >>> [unsealed(by_value(t)) for t in ("2024年1月5日", "2024-01-05", "january 5, 2024")]
    [' 2024-01-05 ', ' 2024-01-05 ', ' 2024-01-05 ']
    >>> [
    ...     unsealed(by_value(t))
    ...     for t in ("百分之三点五", "三分之一", "24-months", "1.5 million usd")
    ... ]
    [' 3.5 %', ' 1/3 ', ' 24 个月', ' 1500000 美元']
    >>> [unsealed(by_value(t)) for t in ("一般", "一起", "万一", "三星", "千万不要")]
    ['一般', '一起', '万一', '三星', '千万不要']
    """
    text = text.replace("⁄", "/")
    text = _FRACTION.sub(_fraction, text)
    text = _HAN_NUMERAL.sub(_han_numeral, text)
    text = _ENGLISH_NUMBER.sub(lambda match: english_number(match[0]) or match[0], text)
    text = _DAY_FIRST.sub(lambda match: _english_date(match[0], match[3], match[2], match[1]), text)
    text = _MONTH_FIRST.sub(_month_first, text)
    text = _DATE.sub(_full_date, text)
    text = _YEARLESS.sub(lambda match: _date(match[0], "-", *match[0][:-1].split("月")), text)
    text = _SHARE.sub(lambda match: _sealed(match[0]), text)
    return _VALUE.sub(_value, text)


def unsealed(text: str) -> str:
    """Text with its values readable again."""
    return text.translate(_OPEN)


def _sealed(value: str, unit: str = "") -> str:
    """A value as it is written into text. A Latin unit needs no space: words stand apart later."""
    return f" {value.translate(_SEAL)} {unit}"


def _fraction(match: re.Match[str]) -> str:
    """百分之五 as 5 %, 三分之一 as 1/3."""
    whole, part = match.groups()
    counted = "100" if part == "百" else _digits(part)
    total = whole if whole in {"百", "千"} else _digits(whole)
    if counted is None or total is None:
        return match[0]
    if total in {"百", "千"}:
        return _sealed(counted, "%" if total == "百" else "‰")
    return _sealed(f"{counted}/{total}")


def _digits(numeral: str) -> str | None:
    return numeral if numeral[0].isascii() else han_number(numeral)


def _han_numeral(match: re.Match[str]) -> str:
    """A Chinese numeral as digits, where it is one: 一千, 第三, 五天, but not 一般 and 万一."""
    numeral, text = match[0], match.string
    is_number = (
        len(numeral) == 1
        or not _POSITIONAL.fullmatch(numeral)
        or text[match.start() - 1 : match.start()] == "第"
        or _COUNTED_AT.match(text, match.end())
    )
    unit = "千" if numeral.endswith("千") and _BEHIND_THOUSAND.match(text, match.end()) else ""
    value = han_number(numeral.removesuffix(unit)) if is_number else None
    return numeral if value is None else f" {value} {unit}"


_POSITIONAL = re.compile(f"[{HAN_DIGITS}]+")


def _month_first(match: re.Match[str]) -> str:
    return _english_date(match[0], match[3] or match[4], match[1], match[2])


def _english_date(written: str, year: str | None, month: str, day: str | None) -> str:
    if month[:3] not in _MONTHS:
        return written
    return _date(written, year or "-", str(_MONTHS.index(month[:3]) + 1), day)


def _full_date(match: re.Match[str]) -> str:
    month, day, _, iso_month, iso_day = match.groups()
    return _date(match[0], match[0][:4], month or iso_month, day or iso_day)


def _date(written: str, year: str, month: str, day: str | None) -> str:
    """A date in ISO form, with "-" for an unknown year; as it was written if there is no such day.

    >>> unsealed(_date("3月5日", "-", "3", "5")), _date("13月1日", "-", "13", "1")
    (' --03-05 ', '13月1日')
    """
    if not 1 <= int(month) <= 12 or (day and not 1 <= int(day) <= 31):
        return written
    return _sealed(f"{year}-{int(month):02}-{int(day):02}" if day else f"{year}-{int(month):02}")


def _value(match: re.Match[str]) -> str:
    """A number, or a range, with its unit."""
    first, last, written_unit = match.groups()
    before = match.string[max(0, match.start() - 2) : match.start()]
    unit = unit_form(written_unit) if written_unit else _CURRENCIES.get(before[-1:], "")
    value = _plain_number(first, exact=not unit)
    if last:
        value += "~" + _plain_number(last, exact=not unit)
    if before[-1:] == "-" and not (before[:-1].isascii() and before[:-1].isalnum()):
        value = f"-{value}"
    return _sealed(value, unit)


def _plain_number(number: str, *, exact: bool) -> str:
    """Digits of an Arabic number, scales multiplied. Where its writing counts (``exact``), as in a
    version or a code without unit, zeros stay: 3.10, 007.

    >>> _plain_number("1亿2000万", exact=False), _plain_number("5.0", exact=False)
    ('120000000', '5')
    """
    if number[-1] not in "0123456789":
        return digits_of(sum((scaled(*pair) for pair in _SCALED.findall(number)), Decimal(0)))
    digits = number.replace(",", "")
    if exact:
        return digits
    whole, point, part = digits.partition(".")
    part = part.rstrip("0")
    return (whole.lstrip("0") or "0") + (point + part if part else "")


def number_facts(plain_text: str) -> list[str]:
    """Dates and numbers with units in plain text; a mere count (三项) only from 10.

    >>> number_facts("于 2024-01-05 起为 24 个月,共 3 项,第 15 条, 7 %")
    [' 2024-01-05 ', ' 24 个月', ' 15 条', ' 7 %']
    """
    return _FACT.findall(plain_text)
