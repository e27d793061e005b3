"""Answers cut into spans, numbers and names."""

from __future__ import annotations

from ragnostic.judges.answer_spans import split_answers


def said(answer: str, **settings: int) -> list[str]:
    """The spans of one answer, in its own words."""
    return [span for span, _ in split_answers([answer], **settings)[0].spans]


def test_a_short_answer_is_one_span():
    """Up to 64 characters an answer is looked for as a whole."""
    short = "保修期为24个月。自签收之日起计算。"
    assert said(short) == [short]


def test_a_long_answer_is_its_sentences():
    """A longer one is looked for sentence by sentence; marks of citation do not glue them."""
    sentence = "保修期为二十四个月并且自签收之日起开始计算[1]。"
    assert said(sentence * 3) == [sentence.replace("[1]", "")] * 3


def test_sentences_that_decline_are_no_spans():
    """A refusal inside an answer that says something is not looked for."""
    answer = "抱歉，我无法回答第二个问题。" + "保修期为二十四个月并且自签收之日起开始计算。" * 3
    assert said(answer) == ["保修期为二十四个月并且自签收之日起开始计算。"] * 3


def test_spans_have_a_least_length():
    """6 characters with Chinese, 12 without; the mark at the end does not count."""
    assert said("年假为15天") == ["年假为15天"]
    assert said("年假15天。") == []
    assert said("annual leave") == ["annual leave"]
    assert said("leave is on.") == []
    assert said("leave is on.", min_latin=11) == ["leave is on."]
    assert said("年假15天。", min_chinese=5) == ["年假15天。"]


def test_facts_of_short_answers_count():
    """An answer that is too short for a span still has its numbers and names."""
    parts = split_answers(["５天", "Paris", "2024-01-05"])
    assert [part.numbers for part in parts] == [(" 5 天",), (), (" 2024-01-05 ",)]
    assert parts[1].names == (" paris ",)


def test_parts_of_many_answers_do_not_mix():
    """Answers come back in their order, each with its own parts."""
    answers = ["我不知道。", "年假为15天，见《员工手册》。", "", "VPN 费用为5元每月，由公司承担。"]
    assert split_answers(answers) == [split_answers([answer])[0] for answer in answers]
    assert [part.declined for part in split_answers(answers)] == [True, False, False, False]


def test_no_answers():
    """Nothing in, nothing out."""
    assert split_answers([]) == []
