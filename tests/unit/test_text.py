"""Text without a model."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic import text as t


@given(st.text(max_size=80))
def test_normalising_twice_changes_nothing(sample):
    """``normalise`` is idempotent on any text."""
    once = t.normalise(sample)
    assert t.normalise(once) == once


@given(st.text(max_size=200))
def test_sentences_are_ordered_and_lose_only_white_space(sample):
    """Between, before and after the spans there is only white space."""
    covered = 0
    for start, end in t.sentence_spans(sample):
        assert not sample[covered:start].strip()
        assert sample[start:end] == sample[start:end].strip() != ""
        covered = end
    assert not sample[covered:].strip()


@pytest.mark.parametrize(
    ("sample", "sentences"),
    [
        ("年假几天？“五天。”他说！", ["年假几天？", "“五天。”", "他说！"]),
        ("真的吗?是的。", ["真的吗?", "是的。"]),
        ("见第3.版本说明", ["见第3.版本说明"]),
        ("See e.g. Fig. 3 of Dr. A. Smith. It is 3.5 m.", None),
        ("1. Open it. 2. Close it.", ["1. Open it.", "2. Close it."]),
        ("wait... what? Yes.", ["wait... what?", "Yes."]),
        ("He left.) (She stayed.)", ["He left.)", "(She stayed.)"]),
        ("标题\n\n正文第一行\n正文第二行", ["标题", "正文第一行\n正文第二行"]),
        ("| a | b |\n| c | d |\n- x\n- y", ["| a | b |", "| c | d |", "- x", "- y"]),
        ("第一条 甲\n第二条 乙", ["第一条 甲", "第二条 乙"]),
        ("It ends. next goes on", ["It ends. next goes on"]),
        ("See. .", ["See.", "."]),
    ],
)
def test_sentence_ends(sample, sentences):
    """Chinese and English ends, and what only looks like one."""
    expected = sentences or ["See e.g. Fig. 3 of Dr. A. Smith.", "It is 3.5 m."]
    assert [sample[a:b] for a, b in t.sentence_spans(sample)] == expected


def test_the_language_is_chinese_from_a_tenth_of_the_letters_on():
    """A few Chinese names in an English text leave it English."""
    assert t.language("年" + "a" * 9) == "zh"
    assert t.language("年" + "a" * 10) == "en"
    assert t.language("") == "en"


def test_tokens_are_counted_by_the_fixed_rule():
    """CJK 1 each, runs of letters and digits a quarter of their length, marks 1, space 0."""
    assert t.count_tokens("abcd abcde 年か한，_é \n") == 1 + 2 + 3 + 1 + 1 + 1
    assert t.count_tokens("") == 0


def test_chinese_words_come_from_search_mode():
    """A long word is there with the short words inside it; Latin words are folded."""
    assert t.words("ＶＰＮ 共和国2024") == ["vpn", "共和", "共和国", "2024"]
    assert t.words("？！") == []


@pytest.mark.parametrize("sample", ["." * 200_000 + "x", "!" * 200_000 + "x", "\n " * 100_000])
def test_hostile_runs_take_linear_time(sample):
    """A long run of marks is read once, not once from each of its places."""
    assert len(t.sentence_spans(sample)) <= 1
