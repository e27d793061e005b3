"""The judge answer_span on small corpora."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from pydantic import ValidationError

from ragnostic.judges import answer_span
from ragnostic.judges.answer_span import AnswerSpanJudge, judge_answers
from ragnostic.records import JUDGMENT_SCHEMA

LONG = "员工每年享有15天带薪年休假，并且可以分成几次休完。"
NEAR = "员工每年享受15天带薪年休假，并且可以分成几次休完。"
OTHER = "员工每年享受10天带薪年休假，并且可以分成几次休完。"


def judged(answer: str, corpus: list[str], query: str = "", **options: Any) -> dict[str, Any]:
    """The judgment of one answer over chunks 0, 1, 2 and so on."""
    texts = {str(number): text for number, text in enumerate(corpus)}
    return judge_answers([{"query": query, "answer": answer}], texts, **options)[0]


def hard(*arguments: Any, **options: Any) -> list[str]:
    """Ids of the hard-relevant chunks."""
    found = judged(*arguments, **options)
    return [i for i, grade in zip(found["ids"], found["grades"], strict=True) if grade]


def soft(*arguments: Any, **options: Any) -> list[str]:
    """Ids of the soft-relevant chunks."""
    found = judged(*arguments, **options)
    return [i for i, grade in zip(found["ids"], found["grades"], strict=True) if not grade]


def test_chunks_that_hold_the_answer_are_hard_relevant():
    """Exactly, or within two edits that touch no figure; the evidence says which."""
    found = judged(LONG, [NEAR, OTHER, "前言。" + LONG])
    assert found["status"] == "judged"
    assert found["ids"] == ["0", "2"]
    assert found["evidence"] == [f"edited 1: {LONG}", f"exact: {LONG}"]
    assert found["weights"] == [1.0, 1.0]
    assert hard(LONG, [NEAR], edits=0) == []


def test_sentences_of_a_long_answer_are_found_in_their_chunks():
    """One sentence is enough for a chunk."""
    filler = "这里是回答当中没有任何出处的一段话，只是为了让它变得更长一些而已。"
    assert hard(filler + LONG + filler, ["无关的文字", LONG]) == ["1"]


def test_a_fact_counts_with_the_entity_in_the_same_chunk():
    """Two words of the query stand for the entity where the answer names none."""
    corpus = ["年假共五天。", "病假共５天。", "年假共15天。"]
    found = judged("5天", corpus, "年假几天？")
    assert found["ids"] == ["0", "2"]
    assert found["grades"] == [1.0, 0.0]
    assert found["evidence"] == ["fact: 5 天 + 年假", "entity: 年假"]
    assert [round(weight, 6) for weight in found["weights"]] == [1.0, 0.3]


def test_a_name_is_a_fact_beside_what_the_query_names():
    """Paris counts where the capital of France is spoken of, not in every text about Paris."""
    corpus = ["Paris is the capital of France.", "A week in Paris.", "France has a capital."]
    assert hard("Paris", corpus, "What is the capital of France?") == ["0"]


def test_soft_chunks_hold_the_entity_but_not_the_fact():
    """They weigh less, have grade 0, and an entity of too many chunks makes none."""
    corpus = ["Acme 保修 24 个月", "Acme 地址", "保修 24 个月"]
    assert soft("Acme 的保修为24个月", corpus, "Acme 保修多久？") == ["1"]
    assert soft("Acme 的保修为24个月", corpus, "Acme 保修多久？", most_soft=1) == []
    found = judged("24个月", ["保修期限 24 个月", "保修期限"], "保修期限多久", weight_soft=0.5)
    assert found["weights"] == [1.0, 0.5]


def test_two_words_that_are_common_together_make_no_soft_chunks():
    """The limit holds for an entity of two words too."""
    corpus = ["保修期限 24 个月", *["保修期限"] * 3]
    assert soft("24个月", corpus, "保修期限多久", most_soft=4) == ["1", "2", "3"]
    assert soft("24个月", corpus, "保修期限多久", most_soft=2) == []


def test_boilerplate_is_not_looked_for():
    """What more than 1 % and more than 20 chunks hold says nothing; nothing left is abstained."""
    corpus = ["请联系人工客服处理"] * 21
    assert judged("请联系人工客服处理", corpus)["status"] == "abstained"
    assert len(hard("请联系人工客服处理", corpus, boilerplate_chunks=21)) == 21
    assert len(hard("请联系人工客服处理", corpus, boilerplate_share=1.0)) == 21
    facts = ["年假为5天"] * 21
    assert judged("5天", facts, "年假几天？")["status"] == "abstained"


@pytest.mark.parametrize(
    "answer", ["", "A", "the", "。……", "**", "[1][2]", "OK", "是", "👍", "Yes.", "`", " \n", "5"]
)
def test_nothing_to_look_for_is_abstained(answer: str):
    """A span that normalises to nothing, or is too short, matches nothing."""
    found = judged(answer, ["Option A is the cheapest plan. OK, yes: 5.", "是的"], "which plan")
    assert (found["status"], found["ids"]) == ("abstained", [])


def test_refusals_have_no_judgments():
    """A help text with the same words is not relevant."""
    found = judged("抱歉，我无法回答这个问题。", ["抱歉，我无法回答这个问题。请联系人工客服。"])
    assert (found["status"], found["ids"]) == ("refused", [])


def test_what_no_chunk_says_is_judged_without_ids():
    """The answer was looked for and nothing was found: no relevant chunk, not abstained."""
    found = judged(LONG, ["完全无关的一段文字"])
    assert (found["status"], found["ids"]) == ("judged", [])


def test_by_span_every_span_that_is_held_is_an_item():
    """A chunk that holds two spans comes twice; a span that two chunks hold is one item."""
    first, second = LONG, "保修期为二十四个月，自签收之日起计算，不含人为损坏。"
    corpus = [first, second, first + second]
    answer = first + second + "这一句话在任何一个文档里面都找不到，所以它不会成为一个条目，真的。"
    found = judged(answer, corpus, unit="span", min_edited=99)
    assert found["ids"] == ["0", "2", "1", "2"]
    assert found["items"] == [0, 0, 1, 1]
    assert judged(answer, corpus, min_edited=99)["items"] == [0, 1, 2]


def test_rows_are_parallel_to_records_and_repeats_are_judged_alike():
    """Missing queries and answers are taken as empty; the order is that of the records."""
    chunks = pa.table({"id": ["a", "b"], "text": [LONG, None]})
    judge = AnswerSpanJudge.build(chunks, snapshot="f00d")
    answers = [LONG, None, LONG, "我不知道。"]
    records = pa.table(
        {"record_id": list("wxyz"), "query": ["q", None, "q", "q"], "answer": answers}
    )
    table = judge.judge_records(records)
    assert table.schema == JUDGMENT_SCHEMA
    assert table["record_id"].to_pylist() == list("wxyz")
    assert table["status"].to_pylist() == ["judged", "abstained", "judged", "refused"]
    assert table["ids"].to_pylist() == [["a"], [], ["a"], []]
    assert set(table["snapshot"].to_pylist()) == {"f00d"}
    assert judge.judge_records(records) == table
    assert judge.judge_records(records.slice(0, 0)).num_rows == 0


def test_the_query_decides_where_the_answer_names_nothing():
    """The same answer to two queries is looked for beside two entities."""
    corpus = {"a": "年假为五天", "b": "婚假为五天"}
    rows = [{"query": "年假几天", "answer": "5天"}, {"query": "婚假几天", "answer": "5天"}]
    assert [row["ids"] for row in judge_answers(rows, corpus)] == [["a"], ["b"]]


def test_many_answers_are_judged_in_parts_and_memory_is_bounded(monkeypatch):
    """Small parts and a small memory give the same judgments."""
    corpus = {str(number): f"第{number}条：年假为{number}天，按月折算。" for number in range(9)}
    rows = [{"query": "年假几天", "answer": f"年假为{n % 9}天，按月折算"} for n in range(30)]
    expected = judge_answers(rows, corpus)
    monkeypatch.setattr(answer_span, "_TOGETHER", 4)
    monkeypatch.setattr(answer_span, "_REMEMBERED", 3)
    assert judge_answers(rows, corpus) == expected
    assert [row["ids"][0] for row in expected[:9]] == [str(number) for number in range(9)]


def test_options_are_checked_and_are_part_of_the_result():
    """An unknown or senseless option is refused; the parameters say how it was judged."""
    with pytest.raises(ValidationError):
        judge_answers([], {}, min_chinese=0)
    with pytest.raises(ValidationError):
        judge_answers([], {}, colour="blue")
    judge = AnswerSpanJudge.build(pa.table({"id": ["a"], "text": ["b"]}))
    assert judge.parameters["edits"] == 2
    assert (judge.name, judge.version) == ("answer_span", "1")
