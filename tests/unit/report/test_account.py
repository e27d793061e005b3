"""The stage account on the page and in words."""

from __future__ import annotations

from gettext import NullTranslations

import pytest

from ragnostic.report import build_page, render_markdown, render_page
from ragnostic.report.account_words import account_sentences, account_title, move_path

WORDS = NullTranslations()
ROW = {"n": 4, "before": 0.4, "ceiling": 0.9, "after": 0.6, "reached": 0.4, "wins": 2, "losses": 1}
BEYOND = {"items": 1, "of_items": 4, "queries": 1, "of_queries": 4}


def account(make_run, **meta):
    """The account of a page whose run.json says this."""
    own = {"candidates": "retrieve", "stage": "rerank", "top_k": 20, "beyond": BEYOND}
    own |= {"metrics": {"RR@5": ROW}, "promoted": {"items": 3}, "demoted": {"items": 1}, **meta}
    queries = [{"id": "q1", "query": "where?"}, {"id": "q2"}]
    scores = [("q1", stage, "RR@5", 0.5) for stage in ("retrieve", "rerank")]
    run = make_run(queries, stages=("retrieve", "rerank"), scores=scores, meta={"account": own})
    return build_page(run).account


def test_the_sentences_say_ceiling_losses_moves_and_truncation(make_run):
    """In this order."""
    found = account(make_run, truncated_share=0.25)
    assert account_sentences(found, "RR@5", WORDS) == [
        (
            "The same candidates in ideal order: MRR@5 0.9000; Reranking goes from 0.4000 to"
            " 0.6000, 40% of that way."
        ),
        (
            "1 of 4 gold items (25%), in 1 of 4 queries, are not among the candidates: no reranker"
            " can bring them back."
        ),
        "Reranking moved 3 gold items up and 1 down.",
        "25% of the candidates were cut before the reranker read them.",
    ]
    assert account_title(found, WORDS) == "What the reranker could reach"


@pytest.mark.parametrize("reached", [None, -0.2, 0.0])
def test_a_reranker_that_gains_nothing_is_not_said_to_use_room(make_run, reached):
    """Before and after stand side by side; an unknown metric gives the first."""
    found = account(make_run, metrics={"RR@5": ROW | {"reached": reached}})
    line = account_sentences(found, "nDCG@5", WORDS)[0]
    assert line.endswith("Reranking has 0.6000, it had 0.4000 before.")


def test_a_single_stage_has_only_a_ceiling(make_run):
    """And its own title; all gold may be there."""
    found = account(
        make_run,
        stage=None,
        promoted=None,
        demoted=None,
        beyond=BEYOND | {"items": 0},
        metrics={"RR@5": {"n": 4, "before": 0.4, "ceiling": 0.9}},
    )
    assert account_sentences(found, None, WORDS) == [
        "The same candidates in ideal order: MRR@5 0.9000 instead of 0.4000.",
        "All gold is among the candidates.",
    ]
    assert account_title(found, WORDS) == "What a reranker could reach"


def test_a_single_stage_without_room_has_nothing_to_say(make_run):
    """All gold found, in the best order."""
    found = account(
        make_run,
        stage=None,
        beyond=BEYOND | {"items": 0},
        metrics={"RR@5": {"n": 4, "before": 1.0, "ceiling": 1.0}},
    )
    assert account_sentences(found, None, WORDS) == []


def test_moved_items_carry_the_texts_of_their_queries(make_run):
    """An unknown query keeps its id; ten are shown."""
    rows = [{"query_id": "q1", "id": "c1", "from": 2, "to": 6, "items": 2}]
    rows += [{"query_id": f"x{at}", "id": "c", "from": 1, "to": None} for at in range(20)]
    found = account(make_run, demoted={"items": 22, "queries": 21, "largest": rows}).demoted
    assert len(found.largest) == 10
    first, second = found.largest[:2]
    assert (first.query, first.items, first.before, first.after) == ("where?", 2, 2, 6)
    assert (second.query, second.items, second.after) == (None, 1, None)


def test_a_rank_that_a_list_lacks_is_a_word():
    """Not a dash that could be a number."""
    assert move_path(None, 2, WORDS) == "absent → 2"


def test_an_account_without_gold_or_metrics_is_small(make_run):
    """None, and no sentence about a ceiling."""
    assert account(make_run, beyond={}) is None
    found = account(make_run, metrics={"RR@5": {"n": 0}}, top_k=None)
    assert found.rows == ()
    assert account_sentences(found, None, WORDS)[0].startswith("1 of 4 gold items")


def test_the_sections_are_on_the_page_and_in_markdown(sample, page):
    """Of a run with two stages, wordings and unanswerable queries."""
    html = render_page(page, language="en")
    for section in ("account", "robustness", "unanswerable"):
        assert f'id="{section}"' in html
        assert f'href="#{section}"' in html
    text = render_markdown(page, language="en")
    assert "Reranking moved" in text
    assert "Spearman" in text
    assert "AUROC" in text
    assert sample.meta["account"]["stage"] == "rerank"


def test_a_run_without_these_members_has_no_such_section(make_run):
    """An older run folder."""
    run = make_run([{"id": "q1", "query": "?"}])
    html = render_page(build_page(run), language="en")
    assert 'id="account"' not in html
    assert 'id="robustness"' not in html
    assert 'id="unanswerable"' not in html
