"""A comparison in lines and cells of plain text: for the terminal, Markdown and notebooks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from gettext import NullTranslations
from typing import TYPE_CHECKING

from ragnostic.report.catalogue import N_, catalogue
from ragnostic.report.comparison_words import finding_label, probability
from ragnostic.report.labels import canonical
from ragnostic.report.numbers import NOTHING, bound, decimal, signed
from ragnostic.report.visible import visible

if TYPE_CHECKING:
    from ragnostic.stats.comparison import Comparison, Finding, MetricComparison
    from ragnostic.stats.gates import GateResult
    from ragnostic.stats.paired import Difference
    from ragnostic.stats.slice_comparison import SliceComparison

_ORDER: tuple[Finding, ...] = ("better", "worse", "same", "cannot_tell")
METRIC_HEAD = (
    N_("Metric"),
    N_("Finding"),
    N_("Base"),
    N_("Candidate"),
    N_("Difference"),
    N_("95% CI"),
    N_("p (Holm)"),
    N_("better/same/worse"),
    N_("Detectable"),
    "n",
)
"""Names of the cells that :func:`metric_cells` gives; the first two are text."""
SLICE_HEAD = METRIC_HEAD[2:]
"""Names of the cells that :func:`difference_cells` gives."""


def tally(findings: Iterable[Finding], words: NullTranslations) -> str:
    """How many metrics are better, worse, equal or undecided, as half a sentence.

    >>> tally(["better", "cannot_tell", "better"], catalogue("en"))
    'better on 2 of 3 metrics, cannot tell on 1'
    """
    counts = Counter(findings)
    parts: list[str] = []
    for finding in _ORDER:
        values = {
            "finding": finding_label(finding, words),
            "count": counts[finding],
            "all": counts.total(),
        }
        if counts[finding] and not parts:
            message = words.ngettext(
                "%(finding)s on %(count)s of %(all)s metric",
                "%(finding)s on %(count)s of %(all)s metrics",
                counts.total(),
            )
            parts.append(message % values)
        elif counts[finding]:
            parts.append(words.gettext("%(finding)s on %(count)s") % values)
    return words.gettext(", ").join(parts)


def metric_cells(found: MetricComparison, words: NullTranslations) -> list[str]:
    """One metric as cells under :data:`METRIC_HEAD`."""
    label = visible(canonical(found.metric))
    return [label, finding_label(found.finding, words), *difference_cells(found.difference)]


def difference_cells(found: Difference) -> list[str]:
    """Both means, the difference with its interval, p, counts, what could be seen, and n.

    >>> from ragnostic.stats.paired import Difference
    >>> difference_cells(Difference(2, 0.5, 0.75, 0.25, 0.0, 0.5, "bca", 1.0, 1.0, True, 1, 1))[:4]
    ['0.5000', '0.7500', '+0.2500', '[±0.0000, +0.5000]']
    """
    return [
        decimal(found.base),
        decimal(found.candidate),
        signed(found.value),
        interval(found.low, found.high),
        probability(found.p_holm),
        f"{found.wins}/{found.ties}/{found.losses}",
        decimal(found.detectable),
        str(found.n),
    ]


def interval(low: float | None, high: float | None) -> str:
    """Both ends with their sign; a dash where there is no interval."""
    return NOTHING if low is None or high is None else f"[{bound(low)}, {bound(high)}]"


def telling_slices(comparison: Comparison) -> dict[str, tuple[SliceComparison, ...]]:
    """The slices that say more than the whole: of columns that divide the queries, where any
    query differs.
    """
    if not comparison.metrics or comparison.metrics[0].finding == "same":
        return {}
    return {column: found for column, found in comparison.slices.items() if len(found) > 1}


def comparison_lines(comparison: Comparison, gate: GateResult | None) -> list[str]:
    """A comparison in a few English lines: verdict, a line a metric, and the gate."""
    words = catalogue("en")
    lines = [
        f"{comparison.base} → {comparison.candidate}: "
        + tally([found.finding for found in comparison.metrics], words)
    ]
    for found in comparison.metrics:
        cells = metric_cells(found, words)
        lines.append(
            f"{cells[0]:16} {cells[1]:14} {cells[2]} → {cells[3]}  {cells[4]} {cells[5]}"
            f"  p {cells[6]}  n {cells[9]}"
        )
    if gate is not None:
        lines += [f"{rule.verdict:12} {rule.rule}" for rule in gate.rules]
        lines.append(f"gate: {gate.verdict}")
    return [visible(line) for line in lines]
