"""The grammar of gate rules."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.errors import UsageError
from ragnostic.stats.gate_rules import LOST, Rule, check_rule

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).map(str.strip).filter(bool)
_COLUMNS = _TEXT.filter(
    lambda text: not set("=}") & set(text) and not text.lower().startswith("worst")
)
_VALUES = _TEXT.filter(lambda text: "}" not in text)
_STAGES = _TEXT.filter(lambda text: not set("{}#<>=!≥≤") & set(text))
_METRICS = st.sampled_from(["nDCG(gain=exp)@10", "RR(weight=soft)@5", "P(rel=2)@5", "AP", LOST])


@st.composite
def _rules(draw) -> Rule:
    metric = draw(_METRICS)
    absolute = metric != LOST and draw(st.booleans())
    column = draw(st.none() | _COLUMNS)
    low = 0.0 if absolute or metric == LOST else -1.0
    return Rule(
        metric=metric,
        op=draw(st.sampled_from([">=", "<=", ">", "<"])),
        bound=draw(st.floats(low, 1)) + 0.0,
        absolute=absolute,
        column=column,
        value=None if column is None else draw(st.none() | _VALUES),
        stage=draw(st.none() | _STAGES),
    )


@given(_rules())
def test_a_rule_survives_being_written_and_read(rule):
    """Also with Chinese, marks and white space inside names and values."""
    assert Rule.parse(str(rule)) == rule
    assert str(Rule.parse(str(rule))) == str(rule)


@given(st.text() | st.text(alphabet="abs:RR@5{worst=hr}#lost <>=-.0%"))
def test_any_text_is_a_rule_or_a_fault_for_people(text):
    """Nothing but a UsageError with a hint comes out."""
    message = ""
    try:
        rule = Rule.parse(text)
    except UsageError as error:
        message = str(error)
    assert message.startswith("gate ") or Rule.parse(str(rule)) == rule


_OPERATORS = st.sampled_from(["≥", "≤", "=>", "=<", "==", "=", "!=", ">=", "<=", ">", "<", ""])
_NUMBERS = (
    st.sampled_from(["", "two", "0,5", "-0,02", "−2 %", "85％", "1e999", "-500", "nan", "0.5"])
    | st.integers(-1000, 1000).map(str)
    | st.floats(-2, 2).map(str)
)
_HEADS = st.sampled_from(
    ["RR@5", "abs:R@20", "lost", "abs:lost", "loss", "FalseRetrieval@5", "abs:AUROC", "ndgc@10"]
) | st.sampled_from(
    ["RR@5{category=hr}", "abs:RR@5{worst:}#s", "RR@5{a=}", "RR@5# ", "RecallCurve@10", "", "RR@5}"]
)


@given(
    st.builds("{} {} {}".format, _HEADS, _OPERATORS, _NUMBERS) | st.text("abs:RR@5{}=#lost <>-.0%,")
)
def test_every_rule_that_a_hint_shows_can_be_read(text):
    """So that it can be copied as it stands."""
    hint = ""
    try:
        Rule.parse(text)
    except UsageError as error:
        hint = error.hint or ""
    shown = re.fullmatch(r"(?:write it like|leave abs: out:) (.*)", hint, re.DOTALL)
    assert shown is None or str(Rule.parse(shown[1]))


@pytest.mark.parametrize(
    ("written", "canonical"),
    [
        ("nDCG@10 >= -0.02", "nDCG@10 >= -0.02"),
        ("  mrr@5>=-.02 ", "RR@5 >= -0.02"),
        ("ABS : recall@20\t> .85", "abs:R@20 > 0.85"),
        ("top1 >= −0.01", "Success@1 >= -0.01"),
        ("nDCG( gain = exp )@10#rerank >= +1e-2", "nDCG(gain=exp)@10#rerank >= 0.01"),
        ("RR@5{ worst : category } >= -0.05", "RR@5{worst:category} >= -0.05"),
        ("RR@5{category = 人事 > 假期}#精排 < 0", "RR@5{category=人事 > 假期}#精排 < 0"),
        ("RR@5{labels.a=b=c} > 0", "RR@5{labels.a=b=c} > 0"),
        ("Lost <= 0.020", "lost <= 0.02"),
        ("RR@5 >= -0.0", "RR@5 >= 0"),
    ],
)
def test_white_space_aliases_and_spellings_become_canonical(written, canonical):
    """What is meant is one text, however it was written; the rule keeps what was."""
    rule = Rule.parse(written)
    assert str(rule) == canonical
    assert rule.text == written.strip()
    assert rule.worst == ("worst" in canonical)


@pytest.mark.parametrize(
    ("written", "said", "hint"),
    [
        ("", "is empty", "nDCG@10 >= -0.02"),
        ("nDCG@10", "has no bound", "nDCG@10 >= -0.02"),
        ("nDCG@10 >= ", "has no number", "nDCG@10 >= -0.02"),
        ("nDCG@10 >= -2%", "no percentages", "nDCG@10 >= -0.02"),
        ("nDCG@10 >= 2.5 ％", "no percentages", "nDCG@10 >= 0.025"),
        ("nDCG@10 >= two", "'two', which is no number", "nDCG@10 >= -0.02"),
        ("nDCG@10 >= 1e999", "is no number", "nDCG@10 >= -0.02"),
        ("nDCG@10 >= nan", "is no number", "nDCG@10 >= -0.02"),
        ("nDCG@10 >= -2", "between -1 and 1", "nDCG@10 >= -0.02"),
        ("abs:R@20 >= 85", "between 0 and 1", "abs:R@20 >= 0.85"),
        ("abs:R@20 >= -0.1", "between 0 and 1", "leave abs: out: R@20 >= -0.1"),
        ("lost <= 2", "lost lies between 0 and 1", "lost <= 0.02"),
        ("RR@5 => 0", "compares by '=>'", "RR@5 >= 0"),
        ("RR@5 ≤ 0.1", "compares by '≤'", "RR@5 <= 0.1"),
        ("RR@5 == 0.1", "compares by '=='", "RR@5 >= 0.1"),
        ("abs:R@20{category=hr} ≥ 0.8", "compares by '≥'", "abs:R@20{category=hr} >= 0.8"),
        ("RR@5#rerank ≥ −0.02", "compares by '≥'", "RR@5#rerank >= -0.02"),
        ("lost = 2 %", "compares by '='", "lost <= 0.02"),
        ("FalseRetrieval@5 == 0,1", "compares by '=='", "FalseRetrieval@5 <= 0.1"),
        ("RR@5 != 7", "compares by '!='", "RR@5 >= -0.02"),
        ("abs:FalseRetrieval@5", "has no bound", "abs:FalseRetrieval@5 <= 0.1"),
        ("abs:RR@5", "has no bound", "abs:RR@5 >= 0.85"),
        ("lost", "has no bound", "lost <= 0.02"),
        ("lost >= -0.02", "lost lies between 0 and 1", "lost <= 0.02"),
        ("lost >= -2", "lost lies between 0 and 1", "lost <= 0.02"),
        ("abs : R@20#a >= -5", "between 0 and 1", "leave abs: out: R@20#a >= -0.05"),
        ("abs:R@20 >= -500", "between 0 and 1", "write it like nDCG@10 >= -0.02"),
        ("nDCG@10 >= -250", "between -1 and 1", "nDCG@10 >= -0.02"),
        ("abs:RR@5 >= 0,5", "'0,5', which is no number", "abs:RR@5 >= 0.5"),
        ("RR@5 >= −0，02", "which is no number", "RR@5 >= -0.02"),
        ("lost <= 150 %", "no percentages", "lost <= 0.02"),
        ("no such => 0", "compares by '=>'", "nDCG@10 >= -0.02"),
        ("ndgc@10 >= 0", "unknown metric 'ndgc'", "did you mean nDCG?"),
        ("RR >= 0 x", "'0 x', which is no number", "RR >= -0.02"),
        ("P >= 0", "needs a cutoff", "P@5"),
        (">= 0.5", "names no metric", "nDCG@10 >= -0.02"),
        ("RecallCurve@10 >= 0", "a curve", "R@20"),
        ("loss <= 0.1", "'loss', which is no metric", "lost <= 0.1"),
        ("lost@5 <= 0.1", "'lost@5', which is no metric", "lost <= 0.1"),
        ("abs:lost <= 0.1", "always against the base", "lost <= 0.1"),
        ("abs:lost{a=b}#x <= 10 %", "always against the base", "lost{a=b}#x <= 0.1"),
        ("RR@5{} > 0", "names no column", "{category=hr}"),
        ("RR@5{=hr} > 0", "names no column", "{category=hr}"),
        ("RR@5{category} > 0", "names no value", "{category=hr}"),
        ("RR@5{category= } > 0", "names no value", "{category=hr}"),
        ("RR@5{worst:} > 0", "names no column", "{worst:category}"),
        ("RR@5{category=hr > 0", "not closed", "{category=hr}"),
        ("RR@5#rerank{category=hr} > 0", "not right behind the metric", "{category=hr}#rerank"),
        ("RR@5{a=b}{c=d} > 0", "not right behind", "{category=hr}"),
        ("RR@5# > 0", "no stage after #", "#rerank"),
        ("RR@5) >= 1", "cannot be read from ') >= 1' on", "nDCG@10"),
    ],
)
def test_what_is_wrong_is_said_with_an_example(written, said, hint):
    """The message quotes the rule, the hint shows one that works."""
    with pytest.raises(UsageError) as caught:
        Rule.parse(written)
    assert f"gate {written.strip()!r}" in caught.value.message
    assert said in caught.value.message
    assert hint in caught.value.hint


def test_a_rule_about_a_metric_that_is_not_measured_is_refused():
    """Aliases count as what they mean, and Judged@k is measured beside; faulty names do not."""
    metrics = ["mrr@5", "nDCG@10", "no metric"]
    for text in ("RR@5 >= 0", "abs:Judged@10 >= 0.9", "lost <= 0.1"):
        assert str(check_rule(text, metrics)) == text
    with pytest.raises(UsageError, match="RR@10 is not measured") as caught:
        check_rule("RR@10 >= 0", metrics)
    assert "measured: RR@5, nDCG@10, Judged@5, Judged@10" in caught.value.message
    assert caught.value.hint == "add RR@10 to score.metrics"
