"""Unanswerable queries in sentences."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.catalogue import N_
from ragnostic.report.numbers import decimal, percent, score
from ragnostic.report.unanswerable import Ends, StageRefusals
from ragnostic.report.words import stage_label

REASONS = (
    N_("the scores only encode a rank, so no threshold on them means anything"),
    N_("no score is logged, so any result is a false retrieval"),
    N_("no answerable query was retrieved for"),
    N_("no unanswerable query was retrieved for"),
    N_("more than one answerable query in twenty has no result, so no threshold keeps 95%"),
)
"""What ``stats.unanswerable`` gives as a reason, marked for translation."""


def unanswerable_sentence(stage: StageRefusals, words: NullTranslations) -> str:
    """One stage: what a threshold on its best score would let through."""
    name = stage_label(stage.stage, words)
    if stage.threshold is None:
        return f"{name}: {words.gettext(stage.reason or '')}"
    message = words.gettext(
        "%(stage)s: a threshold of %(t)s keeps 95%% of the answerable queries and lets"
        " %(share)s of the unanswerable ones (n %(n)s) through; AUROC %(auroc)s."
    )
    return message % {
        "stage": name,
        "t": score(stage.threshold),
        "share": percent(stage.false_retrieval.value or 0.0, 1),
        "n": stage.queries,
        "auroc": with_interval(stage.auroc),
    }


def with_interval(ends: Ends) -> str:
    """A value with its interval, or a dash.

    >>> with_interval(Ends(0.5, 0.25, 0.75)), with_interval(Ends(None, None, None))
    ('0.500 [0.250, 0.750]', '–')
    """
    if ends.value is None or ends.low is None or ends.high is None:
        return decimal(ends.value, 3)
    return f"{decimal(ends.value, 3)} [{decimal(ends.low, 3)}, {decimal(ends.high, 3)}]"
