"""Robustness in sentences."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.labels import canonical
from ragnostic.report.numbers import bound, decimal, percent, signed
from ragnostic.report.robustness import LengthEffect, Paraphrases, Robustness
from ragnostic.report.words import stage_label


def robustness_sentences(found: Robustness, words: NullTranslations) -> list[str]:
    """The final stage: how far wordings of one need are apart, and what length does."""
    lines = []
    if found.paraphrases:
        lines.append(paraphrase_sentence(found.paraphrases[-1], words))
    if found.lengths:
        lines.append(length_sentence(found.lengths[-1], words))
    return lines


def paraphrase_sentence(found: Paraphrases, words: NullTranslations) -> str:
    """Mean, worst wording and spread of the groups of one stage."""
    message = words.gettext(
        "%(stage)s: over %(groups)s needs with several wordings, %(metric)s is %(mean)s on"
        " average and %(worst)s for the worst wording (spread %(spread)s)."
    )
    line = message % {
        "stage": stage_label(found.stage, words),
        "groups": found.groups,
        "metric": canonical(found.metric),
        "mean": decimal(found.mean, 3),
        "worst": decimal(found.worst, 3),
        "spread": decimal(found.spread, 3),
    }
    flips = ", ".join(f"{flip.name} {percent(flip.share, 1)}" for flip in found.flips)
    return f"{line} {flips}" if flips else line


def length_sentence(found: LengthEffect, words: NullTranslations) -> str:
    """Whether longer queries fare better or worse, or neither is known."""
    if found.low is None or found.high is None or found.low <= 0 <= found.high:
        tendency = words.gettext("no effect of length is shown")
    elif found.rho > 0:
        tendency = words.gettext("longer queries fare better")
    else:
        tendency = words.gettext("longer queries fare worse")
    message = words.gettext(
        "%(stage)s: query length against %(metric)s, Spearman's ρ %(rho)s"
        " (95%% CI %(low)s to %(high)s, n %(n)s): %(tendency)s."
    )
    return message % {
        "stage": stage_label(found.stage, words),
        "metric": canonical(found.metric),
        "rho": signed(found.rho, 2),
        "low": bound(found.low, 2),
        "high": bound(found.high, 2),
        "n": found.n,
        "tendency": tendency,
    }
