"""The plain form of text: dressing off, one form for width, case, punctuation and values."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ragnostic.judges.plain_text import plain, undressed

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"]), max_size=40), max_size=5)


def one(text: str) -> str:
    """The plain form of one text."""
    return plain([text])[0]


@pytest.mark.parametrize(
    ("dressed", "bare"),
    [
        ("保修期为24个月[1][2]，自签收起[3]。", "保修期为24个月，自签收起。"),
        ("保修【1】期［２］限〔3〕", "保修期限"),
        ("保修[1, 2]期[1-3]限[1，2]", "保修期限"),
        ("保修【1†source】期[^2]限[citation:3]", "保修期限"),
        ("见手册[来源: 第3页]。（来源：手册）", "见手册。"),
        ("text^1 more^[2] end¹²", "text more end"),
        ("5 m² and 3 km²", "5 m² and 3 km²"),
        ("10^5", "10^5"),
        ("see [[1]](http://a.b) and [3](#note)", "see  and "),
        ("<b>bold</b> and<sup>1</sup> more", "bold and more"),
        ("one<br>two", "one\ntwo"),
        (
            "# Head\n## Sub\n- item\n* item\n1. first\n2) second",
            "Head\nSub\nitem\nitem\nfirst\nsecond",
        ),
        ("> quoted\n> - both", "quoted\nboth"),
        ("一、总则\n（二）范围\n3、其他", "总则\n范围\n其他"),
        ("[the plan](http://a.b/c_(d)) ![图](x.png)", "the plan 图"),
        ("**bold** *it* __b__ _i_ `code` ~~no~~", "bold it b i code no"),
        ("snake_case 5*3", "snake_case 5*3"),
        ("```py\ncode\n```", "code"),
        ("| a | b |\n| --- | --- |\n| 1 | 2 |", "| a | b |\n\n| 1 | 2 |"),
        (r"\*no mark\*", "no mark"),
        ("a [sic] b [2024年]", "a [sic] b [2024年]"),
    ],
)
def test_citation_marks_and_markdown_come_off(dressed: str, bare: str):
    """What dresses an answer is no part of its words; what looks like it but is text stays."""
    assert undressed([dressed]) == [bare]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("退货期限为５天，运费由卖家承担。", "退货期限为5天,运费由卖家承担."),
        ("ＶＰＮ　设置：Ｗｉｎｄｏｗｓ", "vpn设置:windows"),
        ("“年假”为（带薪）五天！", "年假为带薪五天."),
        ("Free  Returns,\nwithin 14 Days", "free returns， within １４ days。"),
        ("don’t stop", "don't stop"),
        ("He said 'no'", "he said no"),
        ("iPhone15", "iphone 15"),
        ("wait…", "wait..."),
        ("ﬁle", "file"),
        ("①号", "1号"),
        ("e\u0301te\u0301", "été"),
        ("a——b", "a b"),
        ("保修\n期限", "保修期限"),
        ("a \ue005 b", "a b"),
    ],
)
def test_width_case_space_and_punctuation_are_one(left: str, right: str):
    """Two writings of the same words have the same plain form, up to the closing mark."""
    assert one(left).strip(", ") == one(right).strip(", ")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("不，可以退货", "不可以退货"),
        ("15 days", "1 5 days"),
        ("-5℃", "5℃"),
        ("C# 语言", "C 语言"),
        ("营收增长", "營收增長"),
        ("version 3.1", "version 3.10"),
    ],
)
def test_different_text_stays_different(left: str, right: str):
    """Nothing that changes the meaning is folded away."""
    assert one(left) != one(right)


def test_traditional_characters_are_folded_when_asked():
    """With fold="hans" traditional text equals simplified text, numerals included."""
    left, right = plain(["營收增長來自雲服務，共兩萬元", "营收增长来自云服务，共2万元"], "hans")
    assert left == right


def test_words_and_numbers_stand_between_single_spaces():
    """A search for a number cannot find the end of a longer one."""
    assert one("年假15天and VPN") == "年假 15 天 and vpn "
    assert one(" 5 天")[:3] not in one("年假15天")


@given(TEXTS)
@example(["M¹", ""])
def test_many_texts_are_done_as_each_alone(texts: list[str]):
    """Texts that are done together do not touch each other."""
    assert plain(texts) == [one(text) for text in texts]
    assert undressed(texts) == [undressed([text])[0] for text in texts]


@given(st.text(st.characters(exclude_categories=["Cs"]), max_size=60))
def test_plain_text_has_no_line_breaks_and_no_runs_of_spaces(text: str):
    """The index needs texts without line feeds; runs of spaces or pauses would hide matches."""
    found = one(text)
    assert "\n" not in found
    assert "  " not in found
    assert ",," not in found


def test_long_batches_are_cut_and_keep_their_order():
    """Texts beyond one block come back in order, with nothing lost."""
    texts = [f"第{number}段" + "字" * 30_000 for number in range(5)]
    assert [text[:6] for text in plain(texts)] == [f"第 {number} 段字" for number in range(5)]


def test_no_texts_give_no_texts():
    """The empty list is its own plain form."""
    assert plain([]) == []
    assert plain(["", "\x00"]) == ["", ""]


@pytest.mark.parametrize(
    "piece", ["1", "一", "one ", "百分之", "[1", "](", "*", "<a ", "(来源:", "1-"]
)
def test_long_runs_of_marks_and_digits_come_to_an_end(piece: str):
    """The cost of odd text grows with its length, not with its square."""
    assert len(plain([piece * 5000])) == 1
