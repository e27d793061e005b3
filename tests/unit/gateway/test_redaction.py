"""Redaction of rows, nested values and unreadable lines."""

from __future__ import annotations

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pydantic import ValidationError

from ragnostic.errors import UsageError
from ragnostic.gateway.redaction import PROTECTED, Options, Redactor


def test_a_row_is_masked_but_for_its_ids():
    """Texts wherever they stand; ids and hashes never."""
    phone = "13800138000"
    row = {
        **dict.fromkeys(sorted(PROTECTED - {"ids", "doc_ids", "context_ids"}), phone),
        "context_ids": [phone],
        "query": f"打 {phone}",
        "stages": {"retrieve": {"ids": [phone], "doc_ids": [phone], "error": f"no {phone}"}},
        "capture": {"request": {"body": {"to": [phone, 13800138000, 12.5, None, True]}}},
        "labels": {"body_sha256": phone, phone: "x"},
    }
    found = Redactor().row(row)
    assert found["query"] == "打 ‹phone›"
    assert found["stages"] == {
        "retrieve": {"ids": [phone], "doc_ids": [phone], "error": "no ‹phone›"}
    }
    assert found["capture"]["request"]["body"]["to"] == ["‹phone›", "‹phone›", 12.5, None, True]
    assert found["labels"] == {"body_sha256": phone, "‹phone›": "x"}
    assert all(found[name] == row[name] for name in PROTECTED & row.keys())


def test_fields_are_removed_whole():
    """By dotted names, through labels and stages, with a star for any name."""
    redactor = Redactor(Options(fields=("labels.customer", "*.texts", "feedback", "capture.a.b")))
    row = {
        "feedback": "fine",
        "labels": {"customer": {"name": "Li"}, "shop": "7"},
        "stages": {"retrieve": {"texts": ["a", "b"], "error": "e"}},
        "capture": {"a": {"b": "x", "c": "y"}},
    }
    assert redactor.row(row) == {
        "feedback": "‹removed›",
        "labels": {"customer": {"name": "‹removed›"}, "shop": "7"},
        "stages": {"retrieve": {"texts": ["‹removed›", "‹removed›"], "error": "e"}},
        "capture": {"a": {"b": "‹removed›", "c": "y"}},
    }


def test_fields_with_telling_names_hold_secrets():
    """Whatever their value looks like."""
    found = Redactor().value({"headers": {"Authorization": "abc", "max_tokens": "9"}})
    assert found == {"headers": {"Authorization": "‹secret›", "max_tokens": "9"}}


def test_names_that_become_one_by_masking_both_stay():
    """With a number."""
    found = Redactor().row({"labels": {"13800138000": "a", "13900139000": "b"}})
    assert found["labels"] == {"‹phone›": "a", "‹phone›#2": "b"}


def test_patterns_of_ones_own():
    """The name is the mark."""
    redactor = Redactor(Options(patterns={"ticket": r"T-\d{4}"}, personal_data=False))
    assert redactor.text("T-1234 13800138000") == "‹ticket› 13800138000"


def test_pseudonyms_are_keyed_hashes():
    """Stable with a key, the id itself without; a missing key is a fault of the settings."""
    options = Options(pseudonym_key="env:KEY")
    one, other = (Redactor(options, {"KEY": key}) for key in ("a", "b"))
    assert one.row({"user_id": "u1"})["user_id"] == one.user("u1") != other.user("u1")
    assert len(one.user("u1")) == 32
    assert Redactor().user("u1") == "u1"
    with pytest.raises(UsageError, match="KEY, not set"):
        Redactor(options, {})


@pytest.mark.parametrize(
    ("raw", "wanted"),
    [
        (b'{"q": "13800138000', '{"q": "‹phone›'),
        (r'"\uff11\uff13\uff18\uff10\uff10\uff11\uff13\uff18\uff10\uff10\uff10"', '"‹phone›"'),
        (r'"li\u0040example.com \u0022\u0007"', r'"‹e-mail› \u0022\u0007"'),
        (b"\xff\xfe 13800138000", "\\xff\\xfe ‹phone›"),
        ("\ud800 13800138000", "\\ud800 ‹phone›"),
        ('{"customer": "Li", "shop": 1', '{"customer": "‹removed›", "shop": 1'),
        ('{"customer": ["Li", 2], "x": {}', '{"customer": "‹removed›", "x": {}'),
    ],
)  # fmt: skip
def test_unreadable_lines_are_masked_too(raw, wanted):
    """Also behind JSON escapes; configured fields by their names."""
    assert Redactor(Options(fields=("labels.customer",))).raw(raw, 500) == wanted


@given(st.text(max_size=80), st.integers(1, 60))
def test_nothing_lies_half_masked_across_the_end(text, limit):
    """A number at the end of what is kept is masked or gone, where it is personal at all: before
    a percent sign it is none.
    """
    assume("1380" not in Redactor().text(f" 13800138000 {text}y"))
    raw = Redactor().raw("x" * (limit - 6) + " 13800138000 " + text + "y" * 2000, limit)
    assert len(raw.encode()) <= limit
    assert "1380" not in raw


@pytest.mark.parametrize("path", ["user_id", "stages.retrieve.ids", "latency_ms", "a..b", ""])
def test_ids_and_numbers_cannot_be_removed(path):
    """They are what a record is known by."""
    with pytest.raises(ValidationError):
        Options(fields=(path,))


@pytest.mark.parametrize("pattern", ["(", "x*"])
def test_patterns_that_cannot_work_are_refused(pattern):
    """No expression, or one that finds nothing everywhere."""
    with pytest.raises(ValidationError):
        Options(patterns={"p": pattern})
