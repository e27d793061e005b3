"""METRICS 1.1: names parsed and printed."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric, definitions, parse_list


@pytest.mark.parametrize(
    ("alias", "canonical"),
    [
        ("hit_rate@5", "Success@5"),
        ("hit@5", "Success@5"),
        ("mrr@5", "RR@5"),
        ("recall@5", "R@5"),
        ("map@5", "AP@5"),
        ("ndcg@5", "nDCG@5"),
        ("precision@5", "P@5"),
        ("top1", "Success@1"),
        (" nDCG ( gain = exp , judged_only = true ) @ 10 ", "nDCG(gain=exp,judged_only=True)@10"),
        ("P(rel=2.0)@5", "P(rel=2)@5"),
        ("P(rel=0.50)@5", "P(rel=0.5)@5"),
        ("nDCG(facet='basis')@5", "nDCG(facet=basis)@5"),
        ("nDCG(facet=结论)@5", "nDCG(facet=结论)@5"),
        ("nDCG(gain=linear,unjudged=irrelevant)@5", "nDCG@5"),
        ("AP()", "AP"),
        ("falseretrieval(t=-0.50)@5", "FalseRetrieval(t=-0.5)@5"),
        ("FalseRetrieval(t=0)@5", "FalseRetrieval(t=0)@5"),
        ("auroc", "AUROC"),
        ("R(budget=2000)", "R(budget=2000)"),
    ],
)
def test_every_spelling_is_printed_canonically(alias, canonical):
    """And the canonical one parses to the same metric."""
    assert str(Metric.parse(alias)) == canonical
    assert Metric.parse(canonical) == Metric.parse(alias)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "not a metric name"),
        ("nDCG@", "not a metric name"),
        ("nDCG@ten", "not a metric name"),
        ("P@" + "9" * 5000, "not a metric name"),
        ("@5", "not a metric name"),
        ("ndgc@5", "did you mean nDCG?"),
        ("zzzzzz", "see: ragnostic metrics"),
        ("P", "needs a cutoff"),
        ("bpref@5", "takes no cutoff"),
        ("P@0", "between 1 and"),
        ("P@100001", "between 1 and"),
        ("nDCG(rel=2)@5", "no parameter 'rel'"),
        ("Judged(rel=2)@5", "it has: none"),
        ("P(rel)@5", "no parameter 'rel'"),
        ("P(rel=1,rel=2)@5", "given twice"),
        ("P(rel=-1)@5", "a number above 0"),
        ("P(rel=x)@5", "a number above 0"),
        ("P(rel=nan)@5", "a number above 0"),
        ("R(budget=2.5)", "a whole number above 0"),
        ("FalseRetrieval(t=inf)@5", "t must be a number"),
        ("FalseRetrieval(t=high)@5", "t must be a number"),
        ("nDCG(gain=log)@5", "one of linear, exp"),
        ("nDCG(judged_only=maybe)@5", "True or False"),
        ("nDCG(facet=a/b)@5", "one word"),
        ("nDCG(facet=)@5", "one word"),
    ],
)
def test_a_wrong_name_says_what_is_wrong(text, said):
    """As an error for people, also where a number is absurd."""
    with pytest.raises(UsageError) as caught:
        Metric.parse(text)
    assert said in str(caught.value)


def test_a_list_keeps_commas_in_parentheses_and_drops_repetitions():
    """Order stays."""
    found = parse_list("nDCG(gain=exp,facet=basis)@10, AP,rr@5,,MRR@5")
    assert [str(m) for m in found] == ["nDCG(gain=exp,facet=basis)@10", "AP", "RR@5"]


@pytest.mark.parametrize("text", ["", " , "])
def test_an_empty_list_is_refused(text):
    """There would be nothing to print."""
    with pytest.raises(UsageError, match="no metric"):
        parse_list(text)


def test_a_curve_has_no_place_in_a_list_of_means():
    """It is drawn instead."""
    with pytest.raises(UsageError, match="curve"):
        parse_list("RecallCurve@100")


def test_labels_are_the_names_of_the_means():
    """MRR and MAP; others as they are."""
    labels = [Metric.parse(name).label for name in ("RR@5", "AP(norm=min)@5", "nDCG@10")]
    assert labels == ["MRR@5", "MAP(norm=min)@5", "nDCG@10"]


def test_graded_metrics_know_that_they_are():
    """Judged@k belongs beside those."""
    assert Metric.parse("nDCG@5").graded
    assert not Metric.parse("Judged@5").graded


@st.composite
def metrics(draw) -> str:
    """Any registered metric with any of its parameters, in any order and spelling."""
    definition = draw(st.sampled_from(list(definitions())))
    name = draw(st.sampled_from([definition.name, *definition.aliases]))
    name = draw(st.sampled_from([name, name.lower(), name.upper()]))
    chosen = (
        draw(st.lists(st.sampled_from(sorted(definition.params)), unique=True))
        if (definition.params)
        else []
    )
    pairs = []
    for key in chosen:
        allowed = definition.params[key]
        if isinstance(allowed, tuple):
            value = draw(st.sampled_from(allowed))
        elif isinstance(allowed, bool):
            value = draw(st.sampled_from(["True", "false"]))
        elif allowed is None:
            value = draw(st.floats(-1e9, 1e9) | st.integers(-5, 5))
        elif key == "rel":
            value = draw(st.floats(1e-9, 9e8) | st.integers(1, 5))
        elif isinstance(allowed, int):
            value = draw(st.integers(1, 10**6))
        else:
            value = draw(st.from_regex(r"\A['\" ]?\w[\w .-]*\w['\" ]?\Z"))
        pairs.append(f"{key}={value}")
    cutoff = draw(st.integers(1, 100_000))
    at = {
        "required": f"@{cutoff}",
        "none": "",
        "optional": draw(st.sampled_from(["", f"@{cutoff}"])),
    }[definition.cutoff]
    return f"{name}({','.join(pairs)}){at}"


@settings(deadline=None, max_examples=300)
@given(metrics())
def test_parsing_what_is_printed_gives_the_same_metric(text):
    """For every metric and random parameters."""
    found = Metric.parse(text)
    assert Metric.parse(str(found)) == found
    assert str(Metric.parse(str(found))) == str(found)


@settings(deadline=None, max_examples=200)
@given(st.text(max_size=40) | st.from_regex(r"[A-Za-z]{1,4}(\(.{0,9}\))?(@\d{1,7})?"))
def test_junk_is_refused_and_nothing_else_happens(text):
    """A metric, or an error for people."""
    try:
        found = Metric.parse(text)
    except UsageError:
        return
    assert Metric.parse(str(found)) == found


def test_all_bad_names_of_a_list_are_told_at_once():
    """As a configuration tells all its faults."""
    with pytest.raises(UsageError) as caught:
        parse_list("RR@0,nope@5,AP")
    assert "'RR@0'" in str(caught.value)
    assert "unknown metric 'nope'" in str(caught.value)
