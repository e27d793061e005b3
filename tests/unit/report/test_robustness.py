"""Wordings, lengths and unanswerable queries on the page and in words."""

from __future__ import annotations

from gettext import NullTranslations

import pytest

from ragnostic.report import build_page, render_page
from ragnostic.report.robustness_words import length_sentence, robustness_sentences
from ragnostic.report.unanswerable_words import REASONS, unanswerable_sentence
from ragnostic.stats import unanswerable

WORDS = NullTranslations()
GROUPS = {
    "metric": "RR@5", "groups": 2, "alone": 1, "mean": 0.75, "worst": 0.5, "spread": 0.5, "sd": 0.2,
    "flips": {
        "Flip@10": {"share": 0.0, "low": 0.0, "high": 0.5},
        "Flip@5": {"share": 0.5, "low": 0.1, "high": 0.9},
        "Flip@1": {"share": None},
    },
    "widest": [{"group": "g", "n": 2, "mean": 0.5, "spread": 1.0, "low": 0.0, "worst": "q1"}],
}  # fmt: skip
LENGTH = {"metric": "RR@5", "n": 9, "rho": -0.5, "low": -0.7, "high": -0.1}


def page(make_run, **stage):
    """The page of one stage that run.json says this of."""
    run = make_run([{"id": "q1", "query": "where?"}], meta={"stages": {"retrieve": stage}})
    return build_page(run)


def test_wordings_and_length_in_words(make_run):
    """Flips by their depth; one without a value is left out."""
    found = page(make_run, paraphrase=GROUPS, length=LENGTH).robustness
    assert robustness_sentences(found, WORDS) == [
        (
            "Retrieval: over 2 needs with several wordings, MRR@5 is 0.750 on average and 0.500"
            " for the worst wording (spread 0.500). Flip@5 50%, Flip@10 0%"
        ),
        (
            "Retrieval: query length against MRR@5, Spearman's ρ −0.50 (95% CI −0.70 to −0.10,"
            " n 9): longer queries fare worse."
        ),
    ]
    assert (found.widest[0].query, found.widest[0].query_id) == ("where?", "q1")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rho": 0.5, "low": 0.1, "high": 0.7}, "longer queries fare better"),
        ({"low": -0.7, "high": 0.1}, "no effect of length is shown"),
        ({"low": None, "high": None}, "no effect of length is shown"),
    ],
)
def test_a_tendency_needs_an_interval_off_zero(make_run, change, said):
    """Else nothing is shown."""
    found = page(make_run, length=LENGTH | change).robustness
    assert length_sentence(found.lengths[0], WORDS).endswith(f"{said}.")
    assert found.paraphrases == ()


def test_groups_without_flips_are_a_sentence_too(make_run):
    """And without lengths."""
    found = page(make_run, paraphrase=GROUPS | {"flips": {}, "widest": []}).robustness
    [line] = robustness_sentences(found, WORDS)
    assert line.endswith("(spread 0.500).")


def test_groups_of_one_and_lengths_without_variation_are_no_section(make_run):
    """Nothing to say."""
    empty = {"groups": 0, "alone": 3}
    assert page(make_run, paraphrase=empty, length={"rho": None}).robustness is None


REFUSALS = {
    "queries": 8, "answerable": 20, "k": 5, "threshold": 12.5, "reason": None,
    "false_retrieval": {"value": 0.25, "low": 0.1, "high": 0.6},
    "any_result": {"value": 1.0, "low": 0.6, "high": 1.0},
    "auroc": {"value": 0.8, "low": 0.7, "high": 0.9},
}  # fmt: skip


def test_a_threshold_in_words(make_run):
    """With what it lets through."""
    [found] = page(make_run, unanswerable=REFUSALS).unanswerable
    assert unanswerable_sentence(found, WORDS) == (
        "Retrieval: a threshold of 12.50 keeps 95% of the answerable queries and lets 25% of the"
        " unanswerable ones (n 8) through; AUROC 0.800 [0.700, 0.900]."
    )


def test_without_a_threshold_the_reason_is_said(make_run):
    """Values are dashes on the page."""
    nothing = {"value": None, "low": None, "high": None}
    meta = REFUSALS | {"threshold": None, "reason": unanswerable.RANKS, "auroc": nothing}
    found = page(make_run, unanswerable=meta | {"false_retrieval": nothing})
    assert unanswerable_sentence(found.unanswerable[0], WORDS) == f"Retrieval: {unanswerable.RANKS}"
    assert unanswerable.RANKS in render_page(found, language="en")


def test_every_reason_is_marked_for_translation():
    """Those that the statistics give."""
    assert set(REASONS) == {
        unanswerable.RANKS,
        unanswerable.NO_SCORES,
        unanswerable.NO_ANSWERABLE,
        unanswerable.NONE_RETRIEVED,
        unanswerable.MANY_EMPTY,
    }


def test_what_is_no_metric_of_one_query_ranks_no_queries(make_run):
    """AUROC and FalseRetrieval are shown, but the worst queries are by another one."""
    scores = [("q1", "retrieve", name, 0.5) for name in ("AUROC", "FalseRetrieval@1", "RR@5")]
    found = build_page(make_run([{"id": "q1", "gold": {"a": 1}}], scores=scores))
    assert found.worst.metrics[0] == "RR@5"
    assert len(found.metrics) == 3


def test_fewer_false_retrievals_are_wins(make_run):
    """Lower is better, and the gain is painted so."""
    scores = [(f"q{at}", "retrieve", "FalseRetrieval@1", 1.0) for at in range(3)]
    scores += [(f"q{at}", "rerank", "FalseRetrieval@1", float(at == 0)) for at in range(3)]
    run = make_run(
        [{"id": f"q{at}"} for at in range(3)], stages=("retrieve", "rerank"), scores=scores
    )
    gain = build_page(run).metrics[0].gain
    assert (gain.wins, gain.ties, gain.losses) == (2, 1, 0)
    assert gain.toward(0.001) == "up"
