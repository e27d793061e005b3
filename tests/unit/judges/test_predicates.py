"""Verb–object pairs."""

from __future__ import annotations

import sys
from dataclasses import dataclass

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.judges.predicates import chinese_predicates, english_parser, english_predicates


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("员工可申请育儿假。", ["申请 育儿假"]),
        ("公司于2024年收购了星海科技。", ["收购 科技"]),
        ("该药物能够抑制肿瘤细胞的生长", ["抑制 生长"]),
        ("请登录系统，出示有效证件。", ["登录 系统", "出示 有效证件"]),
        ("保修期为24个月。", []),
        ("他来了。", []),
        ("", []),
    ],
)
def test_the_pairs_of_chinese_sentences(text, pairs):
    """The last noun of the group behind the verb; light verbs and lone verbs make none."""
    assert [" ".join(pair) for pair in chinese_predicates(text)] == pairs


def test_a_pair_stays_in_its_clause_and_comes_once():
    """The noun of the next clause is not the object."""
    assert chinese_predicates("我们收购。公司很大") == []
    assert len(chinese_predicates("申请育儿假，申请育儿假")) == 1


@given(st.text(alphabet="员工可以申请育儿假的，。 VPN12x\n", max_size=40))
def test_every_pair_stands_in_the_text(text):
    """Both parts, and no text breaks it."""
    for verb, noun in chinese_predicates(text):
        assert verb in text
        assert noun


@dataclass
class Token:
    """A token as a parser gives it."""

    text: str
    dep_: str = ""
    pos_: str = ""
    head: Token | None = None


def test_the_pairs_of_an_english_parse():
    """Objects and the subjects of passives, each with its verb; no other relation."""
    verb, noun = Token("apply", "ROOT", "VERB"), Token("leave", "ROOT", "NOUN")
    tokens = [
        Token("form", "dobj", "NOUN", verb),
        Token("token", "nsubjpass", "NOUN", verb),
        Token("staff", "nsubj", "NOUN", verb),
        Token("it", "obj", "PRON", noun),
    ]
    assert list(english_predicates(tokens)) == [("apply", "form"), ("apply", "token")]


def test_a_parser_is_there_or_is_not():
    """Without spaCy, or without a model of it, there is none; asking costs nothing again."""
    assert english_parser() is english_parser()


SPACY = """
class util:
    def get_installed_models():
        return MODELS


class Model:
    meta = {"version": "3.8"}

    def __call__(self, text):
        return text.split()


def load(name):
    return Model()
"""


@pytest.mark.parametrize(
    ("models", "name"), [([], None), (["zh_web"], None), (["en_b", "en_a"], "spaCy en_a 3.8")]
)
def test_the_first_english_model_is_taken(tmp_path, monkeypatch, models, name):
    """A package of that name stands in for spaCy; one without an English model is no parser."""
    (tmp_path / "spacy.py").write_text(f"MODELS = {models}\n{SPACY}")
    monkeypatch.syspath_prepend(str(tmp_path))
    there = sys.modules.pop("spacy", None)
    try:
        found = english_parser.__wrapped__()
    finally:
        sys.modules.pop("spacy", None)
        if there is not None:
            sys.modules["spacy"] = there
    assert (found and found.name) == name
    assert found is None or found.parse("two words") == ["two", "words"]
