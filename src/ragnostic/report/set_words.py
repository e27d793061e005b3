"""What the gap between evaluation sets means, in sentences."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.labels import canonical
from ragnostic.report.numbers import signed
from ragnostic.report.sets import EvaluationSets
from ragnostic.report.visible import visible


def set_sentences(sets: EvaluationSets, words: NullTranslations) -> list[str]:
    """For each set that the first one beats by more than chance, by which metrics; else that
    there is none.

    >>> from ragnostic.report.sets import SetGap, SetRow
    >>> gap = SetGap("R@5", "frozen", "fresh", 0.25, 0.1, 0.4)
    >>> row = SetRow("R@5", (), (gap,))
    >>> sets = EvaluationSets("rerank", ("frozen", "fresh"), (30, 30), (30, 30), (row,))
    >>> set_sentences(sets, NullTranslations())[0][:44]
    'frozen fares better than fresh: R@5 +0.2500.'
    """
    if len(sets.names) < 2:
        return []
    lines = []
    for other in sets.names[1:]:
        gaps = [gap for gap in sets.overfitted if gap.against == other]
        if gaps:
            message = words.gettext(
                "%(first)s fares better than %(other)s: %(gaps)s. A gap that chance does not"
                " explain is a sign of overfitting to %(first)s."
            )
            means = ", ".join(f"{canonical(gap.metric)} {signed(gap.difference)}" for gap in gaps)
            lines.append(
                message % {"first": visible(sets.names[0]), "other": visible(other), "gaps": means}
            )
    return lines or [words.gettext("No metric has a gap that chance does not explain.")]
