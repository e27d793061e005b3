"""Personal data in text: what is masked, and what only looks like it."""

from __future__ import annotations

import random
import uuid

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from stdnum import luhn
from stdnum.cn import ric

from ragnostic.gateway.personal_data import KINDS, mask

PHONES = [
    "13800138000", "138 0013 8000", "138-0013-8000", "138.0013.8000", "13800-138000",
    "1380 013 8000", "138 00138000", "1380013 8000", "１３８００１３８０００", "+86 13800138000",
    "+86-138-0013-8000", "（+86）13800138000", "0086 138 0013 8000", "8613800138000",
    "010-12345678", "(010) 6234 5678", "（0571）88888888", "057188888888", "0571-8888 8888",
    "+86 10 6234 5678", "010-62345678-801", "0571-88888888转12", "+1 (415) 555-2671",
    "+44 20 7946 0958", "0044 20 7946 0958", "+852 9123 4567", "415-555-2671", "(415) 555-2671",
]  # fmt: skip
CARDS = [
    "6222021234567890128", "6222 0212 3456 7890 128", "6222-0212-3456-7890-128",
    "4111111111111111", "4111 1111 1111 1111", "４１１１ １１１１ １１１１ １１１１",
    "GB82 WEST 1234 5698 7654 32", "DE89370400440532013000",
]  # fmt: skip
ID_CARDS = [
    "11010519491231002X", "11010519491231002x", "110105 19491231 002X", "110105-19491231-002X",
    "１１０１０５１９４９１２３１００２Ｘ", "110105491231002",
]  # fmt: skip
MAILS = ["li.si@example.com", "a+b@mail.example.com.cn", "li%40example.com", "ｌｉ＠example．com"]
SECRETS = [
    ("Bearer sk-test-0000-not-real", "Bearer ‹secret›"),
    ("sk-proj-abc123def456", "‹secret›"),
    ("AKIAIOSFODNN7EXAMPLE", "‹secret›"),
    ("ghp_16C7e42F292c6912E7710c838347Ae178B4a", "‹secret›"),
    ("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2ln-bmF0", "‹secret›"),
    ("/v1/chat?key=sk-test-0000-not-real&n=1", "/v1/chat?key=‹secret›&n=1"),
    ("https://u:p4ss@host/x", "https://‹secret›@host/x"),
    ("password=abc&token=def12345", "password=‹secret›&token=‹secret›"),
    ("password: hunter2", "password: ‹secret›"),
    ('{"password":"hunter","api_key":"abc"}', '{"password":"‹secret›","api_key":"‹secret›"}'),
    ('{\\"api_key\\": \\"abcdef\\"}', '{\\"api_key\\": \\"‹secret›\\"}'),
    ("Authorization: Basic dXNlcjpwYXNz", "Authorization: Basic ‹secret›"),
    ("Bearer abcdefghijklmnopqrstuvwxyz", "Bearer ‹secret›"),
    ("Cookie: a=1; sid=abcd; b", "Cookie: ‹secret›"),
    ("key=abcdef123456", "key=‹secret›"),
    ("token = 'abc123'", "token = '‹secret›'"),
    ("密码是abc123，请保密", "密码是‹secret›，请保密"),
    ("-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----", "‹secret›"),
]
KEPT = [
    "订单号 202613800138000123", "doc_13800138000", "a13800138000b", "¥13800138000",
    "共 13800138000 元", "13800138000.50", "0.13800138000", "SF1234567890123", "400-800-1234",
    "95588", "2026-01-05 12:00:00", "2026-01-05 2026-01-06", "1767225600000",
    "1767225600000000000", "13 14 15 16 17 18 19 20", "ISBN 978-7-111-12345-6", "+10000000元",
    "QQ 123456789", "3.14159265358979", "110105194912310021", "123456789012345",
    "4111111111111112", "2026010112345678", "1111 1111 1111 1111", "GB83 WEST 1234 5698 7654 32",
    "logo@2x.png", "pkg@1.2.3", "max_tokens=400", "tokens: 20", "token: 512", "key: value",
    "sort key=name", "sort_key=name", "token = 4096", "密码是什么？", "密码为8-16位字符",
    "password: the one you chose", "bearer responsibilities", "sk-learn-contrib", "risk-12345678",
    'key: "main"',
]  # fmt: skip


@pytest.mark.parametrize("text", PHONES)
def test_phones_are_masked(text):
    """In every usual form, alone and in a sentence."""
    assert mask(text) == "‹phone›"
    assert mask(f"电话{text}。请回电") == "电话‹phone›。请回电"


@pytest.mark.parametrize(("text", "kind"), [(t, "bank-card") for t in CARDS])
def test_bank_cards_are_masked(text, kind):
    """By Luhn's check digit, plain and in fours; IBANs too."""
    assert mask(f"卡号：{text}，谢谢") == f"卡号：‹{kind}›，谢谢"


@pytest.mark.parametrize("text", ID_CARDS)
def test_identity_cards_are_masked(text):
    """18 digits by check digit, 15 by date and place."""
    assert mask(f"身份证{text}号") == "身份证‹id-card›号"


@pytest.mark.parametrize("text", MAILS)
def test_mail_addresses_are_masked(text):
    """Full-width and percent-encoded ones too."""
    assert mask(f"联系 {text} 吧") == "联系 ‹e-mail› 吧"


@pytest.mark.parametrize(("text", "wanted"), SECRETS)
def test_secrets_are_masked_and_their_names_stay(text, wanted):
    """So that a person still sees what stood there."""
    assert mask(text) == wanted


@pytest.mark.parametrize("text", KEPT)
def test_what_only_looks_like_it_stays(text):
    """Prices, orders, dates, times, hashes, words."""
    assert mask(text) == text


def test_several_in_one_text():
    """Lists of phones, and a phone behind an escape, a percent sign or a word."""
    assert mask("13800138000,13900139000/13700137000") == "‹phone›,‹phone›/‹phone›"
    assert mask("a\\n13800138000") == "a\\n‹phone›"
    assert mask("q=%3A13800138000") == "q=%3A‹phone›"
    assert mask("tel13800138000") == "tel‹phone›"


def test_only_the_kinds_asked_for():
    """Each alone."""
    text = "13800138000 a@b.cn sk-test-0000-not-real"
    assert mask(text, frozenset({"phone"})) == "‹phone› a@b.cn sk-test-0000-not-real"
    assert mask(text, frozenset()) == text
    assert len(KINDS) == 5


def test_half_characters_do_not_hide_anything():
    """Lone surrogates come from Python callers."""
    assert mask("\ud800 13800138000") == "\ud800 ‹phone›"


@given(st.integers(0, 2**256 - 1), st.integers(0, 2**128 - 1))
@example(0, 2**52)
def test_hashes_and_uuids_stay(number, other):
    """Whatever digits they hold."""
    text = f"{number:064x} {uuid.UUID(int=other)} {number & 2**64 - 1:016x}z"
    assert mask(text) == text


@given(st.integers(0, 10**13), st.sampled_from(["¥{:,}", "{} 元", "{}.50", "{}万", "$ {:,}"]))
def test_amounts_stay(number, form):
    """In the usual ways of writing them."""
    assert mask(form.format(number)) == form.format(number)


@given(st.datetimes(), st.integers(0, 10**9))
def test_times_stay(moment, fraction):
    """ISO, with blanks, epochs."""
    text = f"{moment.isoformat()} {moment:%Y-%m-%d %H:%M:%S} 1767{fraction:09d} {moment:%Y/%m/%d}"
    assert mask(text) == text


def test_every_valid_card_is_found():
    """A thousand drawn numbers with their check digits."""
    draw = random.Random(5)
    for _ in range(300):
        head = f"62{draw.randrange(10**13):013d}"
        assert mask(head + luhn.calc_check_digit(head)) == "‹bank-card›"
        born = f"{draw.randrange(1950, 2010)}{draw.randrange(1, 13):02d}15"
        body = f"110105{born}{draw.randrange(999):03d}"
        assert mask(body + ric.calc_check_digit(body + "0")) == "‹id-card›"


@pytest.mark.parametrize(
    "text",
    ["a" * 200_000 + "@", "+" * 200_000, "key=" * 50_000, "sk-" * 50_000 + "1", "1234 " * 40_000,
     "://a:b" * 30_000 + "@", "cookie: " + "a=b; " * 40_000, "-" * 200_000 + "sk-12345678"],
)  # fmt: skip
def test_hostile_texts_take_no_longer(text):
    """Every expression is linear; a quadratic one would not end here."""
    assert mask(text)
