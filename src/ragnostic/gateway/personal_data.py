"""Personal data in text: phones, identity cards, bank cards, e-mail addresses (Chinese forms too).

A number counts only where its form and, if it has one, its check digit say so, so that prices,
dates, order numbers and hashes stay as they are.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable
from typing import Literal, get_args

from ragnostic.gateway.secret_patterns import HINTS, mask_secrets
from ragnostic.gateway.suspicion import Suspicion

Kind = Literal["phone", "id-card", "bank-card", "e-mail", "secret"]
KINDS: tuple[Kind, ...] = get_args(Kind)

_WORD = "A-Za-z0-9_０-９"
_SEP = r"[ \t\-‐‑–—.·\u00a0\u3000]{0,3}"
_AFTER_WORDS = ("[Tt][Ee][Ll]", "[Pp]hone", "[Mm]obile", "[Mm]ob", "[Cc]ell", "[Cc]all")
_LEFT = (
    rf"(?:(?<![{_WORD}])|(?<=\\[nrtbf])|(?<=%[0-9A-Fa-f][0-9A-Fa-f])|"
    + "|".join(f"(?<={word})" for word in _AFTER_WORDS)
    + r")(?<!\d[.．])(?<![¥￥$€£])"
)
_UNIT = r"[ ]?(?:元|円|块|万|亿|美元|美金|港币|[%％‰]|USD|RMB|CNY|EUR)"
_RIGHT = rf"(?![{_WORD}])(?![.．]\d)(?!{_UNIT})"
_CHINA = rf"[（(]?(?:[+＋]|00|００)?(?:86|８６)[)）]?{_SEP}"

_MOBILE = (
    rf"(?:{_CHINA})?[1１][3-9３-９]\d"
    rf"(?:{_SEP}\d{{4}}{_SEP}\d{{4}}|{_SEP}\d{{3}}{_SEP}\d{{5}}|\d{_SEP}\d{{3}}{_SEP}\d{{4}}"
    rf"|\d\d{_SEP}\d{{6}})"
)
_AREA = r"(?:[1１][0０]|[2２]\d|[3-9３-９]\d{2})"
_LANDLINE = (
    rf"(?:{_CHINA}[（(]?[0０]?|[（(]?[0０]){_AREA}"
    rf"(?:[2-8２-８]\d{{6,7}}|[)）]?{_SEP[:-5]}{{1,3}}[1-9１-９]\d{{2,3}}{_SEP}\d{{4}}"
    rf"|[)）][1-9１-９]\d{{2,3}}{_SEP}\d{{4}})"
    r"(?:[ ]?(?:转|ext\.?|[xX\-])[ ]?\d{1,6})?"
)
_ABROAD = r"[+＋](?!\d{4}-\d\d-\d\d)[1-9１-９](?:[ \-.()（）\u00a0]{0,2}\d){8,14}"
_ABROAD_00 = r"00[1-9]\d{0,2}[ \-.](?:[ \-.()]{0,2}\d){6,12}"
_AMERICA = r"(?!400|800)(?:\([2-9]\d{2}\)[ ]?|[2-9]\d{2}[-.])[2-9]\d{2}[-.]\d{4}"

_NUMBER = f"{_MOBILE}|{_LANDLINE}|{_ABROAD}|{_ABROAD_00}|{_AMERICA}"
_UUID = r"(?P<uuid>[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12})"
"""An id whose digits may look like a phone; it is passed over whole."""
_PHONE = re.compile(rf"{_UUID}|(?=[+＋(（\d]){_LEFT}(?:{_NUMBER}){_RIGHT}")
_ID_CARD = re.compile(
    rf"(?=\d){_LEFT}(?:\d{{6}}[ \-]?\d{{8}}[ \-]?\d{{3}}[\dXxＸｘ]|\d{{15}}){_RIGHT}"
)
_BANK_CARD = re.compile(
    rf"(?=\d){_LEFT}(?:(?P<plain>\d{{16,19}})"
    rf"|\d{{4}}(?P<gap>[ \-\u00a0\u3000])(?:\d{{4}}(?P=gap)){{2}}\d{{4}}(?:(?P=gap)\d{{1,3}})?)"
    rf"{_RIGHT}"
)
_IBAN = re.compile(
    rf"(?<![{_WORD}])[A-Z]{{2}}\d{{2}}(?:[ ]?[A-Z0-9]{{4}}){{2,7}}(?:[ ]?[A-Z0-9]{{1,3}})?{_RIGHT}"
)
_ISSUERS = re.compile(r"4|5[1-5]|2(?:22[1-9]|2[3-9]|[3-6]|7[01]|720)|35|6[0245]|955|95[0-9]{3}|103")
_PROVINCES = frozenset(
    f"{region}{number}"
    for region, count in zip("123456", (5, 3, 7, 6, 4, 5), strict=True)
    for number in range(1, count + 1)
) | {"50", "71", "81", "82", "83", "91"}
_FIRST_YEAR = 1900
_CARD_WORD = re.compile(r"(?i)(?:卡|账号|帐号|账户|card|account)[^\d]{0,12}$")
_LOCAL = r"A-Za-z0-9._%+\-Ａ-Ｚａ-ｚ０-９"
_MAIL = re.compile(
    rf"(?<![{_LOCAL}])[{_LOCAL}]{{1,256}}(?:@|＠|%40)"
    r"(?:[A-Za-z0-9Ａ-Ｚａ-ｚ０-９][A-Za-z0-9Ａ-Ｚａ-ｚ０-９-]{0,62}[.．]){1,8}"
    r"(?!(?:png|jpe?g|gif|svg|webp)\b)[A-Za-zＡ-Ｚａ-ｚ]{2,24}"
)

_WITHOUT_LOOK_AROUND = re.compile(r"\(\?![^)]*\)+")
_SUSPECTS: dict[str, str] = {
    "phone": _WITHOUT_LOOK_AROUND.sub("", _NUMBER),
    "id-card": r"\d{6}[ \-]?\d{8}|\d{15}",
    "bank-card": r"\d{16}|\d{4}[ \-\u00a0\u3000]\d{4}[ \-\u00a0\u3000]\d{4}[ \-\u00a0\u3000]\d{4}"
    r"|[A-Z]{2}\d{2} ?[A-Z0-9]{4} ?[A-Z0-9]{4}",
    "e-mail": "@|＠|%40",
    "secret": HINTS,
}
_SUSPICIONS = {kind: Suspicion(pattern) for kind, pattern in _SUSPECTS.items()}
_ANY = Suspicion("|".join(f"(?:{pattern})" for pattern in _SUSPECTS.values()))


def mask(text: str, kinds: frozenset[str] = frozenset(KINDS)) -> str:
    """The text with personal data of these kinds replaced by stable marks.

    >>> mask("请联系 138-0013-8000 或 li.si@example.com")
    '请联系 ‹phone› 或 ‹e-mail›'
    >>> mask("证件 11010519491231002X，卡号 6222 0212 3456 7890 128，价 13800138000.00 元")
    '证件 ‹id-card›，卡号 ‹bank-card›，价 13800138000.00 元'
    """
    if not _ANY(text):  # the common case
        return text
    for kind, replace in _REPLACE.items():
        if kind in kinds and _SUSPICIONS[kind](text):
            text = replace(text)
    return text


def _mask_mail(text: str) -> str:
    return _MAIL.sub("‹e-mail›", text)


def _mask_id_cards(text: str) -> str:
    return _ID_CARD.sub(lambda found: "‹id-card›" if _is_id_card(found) else found[0], text)


def _mask_bank_cards(text: str) -> str:
    text = _BANK_CARD.sub(lambda found: "‹bank-card›" if _is_bank_card(found) else found[0], text)
    return _IBAN.sub(lambda found: "‹bank-card›" if _is_iban(found) else found[0], text)


def _mask_phones(text: str) -> str:
    return _PHONE.sub(lambda found: found["uuid"] or "‹phone›", text)


_REPLACE: dict[str, Callable[[str], str]] = {
    "secret": mask_secrets,
    "e-mail": _mask_mail,
    "id-card": _mask_id_cards,
    "bank-card": _mask_bank_cards,
    "phone": _mask_phones,
}
"""In this order: an address may hold a phone, and a card number may look like one."""


def _compact(match: re.Match[str]) -> str:
    """Letters and digits in their plain form."""
    plain = unicodedata.normalize("NFKC", match[0]).upper()
    return "".join(mark for mark in plain if mark.isalnum())


def _is_id_card(match: re.Match[str]) -> bool:
    """By province and birth date; 18 digits by their check digit, 15, which have none, by county.

    Of 18 the county is not asked for: the library's list does not know every one.
    """
    from stdnum.cn import ric  # noqa: PLC0415 - loaded on use
    from stdnum.exceptions import ValidationError  # noqa: PLC0415 - loaded on use

    number = _compact(match)
    is_old = len(number) == 15
    if is_old:
        number = f"{number[:6]}19{number[6:]}"
        number += ric.calc_check_digit(f"{number}0")
    if number[:2] not in _PROVINCES or number[-1] != ric.calc_check_digit(number):
        return False
    try:
        if ric.get_birth_date(number).year < _FIRST_YEAR:
            return False
        return not is_old or bool(ric.get_birth_place(number))
    except (ValidationError, KeyError):  # the library stumbles over some counties
        return False


def _is_bank_card(match: re.Match[str]) -> bool:
    """By check digit, and by who issues such numbers where it is not written as cards are."""
    from stdnum import luhn  # noqa: PLC0415 - loaded on use

    number = _compact(match)
    if not luhn.is_valid(number) or len(set(number)) == 1:
        return False
    before = match.string[max(0, match.start() - 16) : match.start()]
    return (
        match["plain"] is None
        or _ISSUERS.match(number) is not None
        or _CARD_WORD.search(before) is not None
    )


def _is_iban(match: re.Match[str]) -> bool:
    from stdnum import iban  # noqa: PLC0415 - loaded on use

    return iban.is_valid(match[0])
