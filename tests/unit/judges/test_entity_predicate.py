"""The judge ``entity_predicate``."""

from __future__ import annotations

from dataclasses import dataclass, field

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.judges.entity_predicate import EntityPredicateJudge, EntityPredicateOptions
from ragnostic.judges.predicates import English
from ragnostic.records import JUDGMENT_SCHEMA

CORPUS = {
    "a": "Employees who need access may request a VPN token in the portal.",
    "b": "The VPN is down on Sundays.",
    "c": "星海科技于2024年被公司收购，交易额三亿元。",
    "d": "星海科技2023年发布了新品。",
    "e": "入职满一年的员工，可向人事申请育儿假。",
    "f": "育儿假每年十天。申请材料见附件。",
    "g": "申請育兒假須填表。",
}


def judged(answer, query="", corpus=None, english=None, **options):
    """(status, ids, evidence) of one answer."""
    corpus = corpus or CORPUS
    ids, texts = pa.array(list(corpus), pa.string()), list(corpus.values())
    judge = EntityPredicateJudge(ids, texts, EntityPredicateOptions(**options), english=english)
    table = judge.judge_records(
        pa.table({"record_id": ["r"], "query": pa.array([query]), "answer": pa.array([answer])})
    )
    row = table.to_pylist()[0]
    return row["status"], row["ids"], row["evidence"]


def test_a_chunk_needs_the_entity_and_verb_and_object_in_one_clause():
    """Other words than the source's are found; f holds both words, but not together."""
    status, ids, evidence = judged("员工可以申请育儿假。", "育儿假怎么休？")
    assert (status, ids) == ("judged", ["e"])
    assert evidence == ["育儿 + 申请 育儿假"]


def test_traditional_characters_are_folded_where_asked_for():
    """As for answer_span."""
    assert judged("员工可以申请育儿假。", "育儿假怎么休？", fold="hans")[1] == ["e", "g"]


def test_a_name_is_the_entity():
    """The rarest name that the corpus knows; the chunk with another predicate is not relevant."""
    assert judged("公司收购了星海科技。", "买了谁？")[1] == ["c"]


def test_english_without_a_parser_is_a_heuristic_and_says_so():
    """Rarest content words beside the name, in any form of the word."""
    status, ids, evidence = judged("Requests for VPN tokens go through the portal.", "VPN access?")
    assert (status, ids) == ("judged", ["a"])
    assert evidence[0].startswith("vpn + ")
    judge = EntityPredicateJudge.build(pa.table({"id": ["a"], "text": [None]}))
    assert "heuristic" in judge.parameters["chinese"]
    assert judge.parameters["english"] == "heuristic" or "spaCy" in judge.parameters["english"]


@dataclass
class Token:
    """A token as a parser gives it."""

    text: str
    dep_: str = ""
    pos_: str = ""
    head: Token | None = None


class Parsed(list):
    """Tokens and the names among them."""

    ents = (Token("Acme"),)


@dataclass
class Parser:
    """Knows one sentence."""

    seen: list[str] = field(default_factory=list)

    def __call__(self, text):
        """Its parse."""
        self.seen.append(text)
        verb = Token("ships", "ROOT", "VERB")
        return Parsed([verb, Token("tokens", "dobj", "NOUN", verb)])


def test_english_with_a_parser_takes_its_names_and_objects():
    """The parameters name it."""
    parser = Parser()
    corpus = {"x": "Acme support ships a token.", "y": "Acme ships cars, a token is extra."}
    found = judged("acme ships tokens", corpus=corpus, english=English("spaCy test", parser))
    assert found == ("judged", ["x"], ["acm + ship token"])
    assert parser.seen == ["acme ships tokens"]


@pytest.mark.parametrize(
    ("answer", "query", "status"),
    [
        ("我不知道。", "几天？", "refused"),
        ("I don't know.", "days?", "refused"),
        ("", "", "abstained"),
        ("。……", "几天？", "abstained"),
        ("十五天。", "几天？", "abstained"),
        ("Yes.", "VPN token?", "abstained"),
        ("公司收购了蓝海集团。", "买了谁？", "judged"),
    ],
)
def test_what_leaves_nothing_to_look_for(answer, query, status):
    """A refusal and an empty answer are no miss; a name that no chunk holds is one."""
    found = judged(answer, query)
    assert found[0] == status
    assert found[1] == []


def test_boilerplate_is_no_evidence():
    """What every chunk says tells nothing; nothing else is left, so the judge abstains."""
    corpus = {str(n): "员工可以申请育儿假。" for n in range(5)}
    assert judged("申请育儿假。", "育儿假？", corpus)[1] == list(corpus)
    few = {"boilerplate_chunks": 1, "boilerplate_share": 0.2}
    assert judged("申请育儿假。", "育儿假？", corpus, **few) == ("abstained", [], [])


def test_records_come_back_in_order():
    """Equal ones too, under the schema of all judges; an empty corpus holds nothing."""
    judge = EntityPredicateJudge.build(pa.table({"id": ["e"], "text": [CORPUS["e"]]}), None, "s1")
    answers = ["申请育儿假。", None, "申请育儿假。"]
    table = judge.judge_records(
        pa.table({"record_id": ["1", "2", "3"], "query": ["育儿假？"] * 3, "answer": answers})
    )
    assert table.schema == JUDGMENT_SCHEMA
    assert table["record_id"].to_pylist() == ["1", "2", "3"]
    assert table["ids"].to_pylist() == [["e"], [], ["e"]]
    assert set(table["snapshot"].to_pylist()) == {"s1"}
    empty = pa.table({"id": pa.array([], pa.string()), "text": pa.array([], pa.string())})
    none = EntityPredicateJudge.build(empty).judge_records(
        table.select(["record_id"])
        .append_column("query", pa.array(["育儿假？"] * 3))
        .append_column("answer", pa.array(answers))
    )
    assert none["ids"].to_pylist() == [[], [], []]


@given(st.text(alphabet="员工可以申请育儿假的，。 VPN token's12\n\"“”", max_size=40))
def test_no_answer_breaks_it(answer):
    """One of the known outcomes; ids only where it is judged, and only of the corpus."""
    status, ids, evidence = judged(answer, answer[::-1])
    assert status in {"judged", "refused", "abstained"}
    assert status == "judged" or not ids
    assert set(ids) <= set(CORPUS)
    assert len(ids) == len(evidence)
