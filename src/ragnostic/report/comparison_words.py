"""The sentences of a comparison page, from its model."""

from __future__ import annotations

from gettext import NullTranslations
from typing import TYPE_CHECKING

from ragnostic.report.catalogue import N_
from ragnostic.report.comparison_page import ChangedQuery, ComparisonPage, Slopes
from ragnostic.report.labels import canonical, heading
from ragnostic.report.numbers import bound, decimal, signed, whole
from ragnostic.report.visible import excerpt, visible
from ragnostic.report.words import SMALL

if TYPE_CHECKING:
    from ragnostic.stats.comparison import Finding
    from ragnostic.stats.gates import GateResult, RuleResult, Verdict

_FINDINGS: dict[Finding, str] = {
    "better": N_("better"),
    "worse": N_("worse"),
    "same": N_("no difference"),
    "cannot_tell": N_("cannot tell"),
}
_HEADLINES: dict[Finding, str] = {
    "better": N_("Better: %(metric)s goes from %(base)s to %(candidate)s (%(difference)s)."),
    "worse": N_("Worse: %(metric)s goes from %(base)s to %(candidate)s (%(difference)s)."),
    "same": N_("No difference: %(metric)s is %(base)s on both sides, query by query."),
    "cannot_tell": N_(
        "Cannot tell: %(metric)s goes from %(base)s to %(candidate)s (%(difference)s),"
        " which may be chance."
    ),
}
_WHY: dict[Verdict, str] = {
    "PASS": N_("the whole interval is within the bound"),
    "FAIL": N_("the whole interval is beyond the bound"),
    "INCONCLUSIVE": N_("the interval holds the bound: these queries cannot decide it"),
}
_OF_FILTERS = {
    "all": N_("All"),
    "worse": N_("Worse"),
    "better": N_("Better"),
    "lost": N_("Lost"),
    "found": N_("Found"),
}
_TRAFFIC = {"head": N_("frequent"), "tail": N_("rare")}
_METHODS = {
    "bca": N_("BCa bootstrap, 10,000 resamples"),
    "normal": N_("normal interval, since there are many queries"),
    "point": N_("a point, since all differences are equal"),
}


def finding_label(finding: Finding, words: NullTranslations) -> str:
    """A finding in words."""
    return words.gettext(_FINDINGS[finding])


def filter_label(kind: str, words: NullTranslations) -> str:
    """The name of a filter of the list."""
    return words.gettext(_OF_FILTERS[kind])


def comparison_headline(page: ComparisonPage, words: NullTranslations) -> str:
    """The verdict in one sentence."""
    row = page.main
    if row is None or not row.difference.n:
        return words.gettext("Nothing to compare: no query has a value on both sides.")
    return words.gettext(_HEADLINES[row.finding]) % {
        "metric": canonical(row.name),
        "base": decimal(row.difference.base, 3),
        "candidate": decimal(row.difference.candidate, 3),
        "difference": signed(row.difference.value, 3),
    }


def interval_sentence(page: ComparisonPage, words: NullTranslations) -> str:
    """The interval of the main difference and what stands behind it."""
    row = page.main
    if row is None or not row.difference.n:
        return ""
    found = row.difference
    values = {"n": whole(found.n)} | {
        name: whole(count)
        for name, count in (("wins", found.wins), ("losses", found.losses), ("ties", found.ties))
    }
    counts = (
        words.gettext("%(n)s queries: %(wins)s better, %(losses)s worse, %(ties)s equal.") % values
    )
    if found.low is None or found.high is None or row.finding == "same":
        return counts
    return words.gettext("The 95%% CI of the difference is %(low)s to %(high)s. %(counts)s") % {
        "low": bound(found.low, 3),
        "high": bound(found.high, 3),
        "counts": counts,
    }


def doubt_sentence(page: ComparisonPage, words: NullTranslations) -> str:
    """Why nothing can be told, and what this set could have shown; empty where it can."""
    row = page.main
    if row is None or row.finding != "cannot_tell":
        return ""
    found = row.difference
    if found.low is not None and found.high is not None and found.low * found.high > 0:
        return words.ngettext(
            "The interval is off 0, but the test is not (p = %(p)s after Holm over %(count)s"
            " metric).",
            "The interval is off 0, but the test is not (p = %(p)s after Holm over %(count)s"
            " metrics).",
            len(page.metrics.rows),
        ) % {"p": probability(found.p_holm), "count": len(page.metrics.rows)}
    if found.detectable is None:
        return ""
    return words.gettext(
        "A set like this shows a difference of %(size)s or more in four cases out of five;"
        " a smaller one needs more queries."
    ) % {"size": decimal(found.detectable, 3)}


def others_sentence(page: ComparisonPage, words: NullTranslations) -> str:
    """What the other metrics say, by finding; empty where there are none."""
    told = []
    for finding in _FINDINGS:
        names = [canonical(row.name) for row in page.metrics.rows[1:] if row.finding == finding]
        if names:
            told.append(
                words.gettext("%(finding)s %(metrics)s")
                % {
                    "finding": finding_label(finding, words),
                    "metrics": visible(words.gettext(", ").join(names)),
                }
            )
    if not told:
        return ""
    return words.gettext("The other metrics: %(findings)s.") % {
        "findings": words.gettext("; ").join(told)
    }


def gate_sentence(gate: GateResult, words: NullTranslations) -> str:
    """The verdict of the gate in words."""
    count = len(gate.rules)
    failed = sum(rule.verdict == "FAIL" for rule in gate.rules)
    open_rules = sum(rule.verdict == "INCONCLUSIVE" for rule in gate.rules)
    if failed:
        message, some = words.gettext("Rules broken: %(some)s of %(count)s."), failed
    elif open_rules:
        message = words.gettext(
            "No rule is broken, but %(some)s of %(count)s cannot be decided with these queries."
        )
        some = open_rules
    else:
        message, some = words.gettext("All rules hold: %(some)s of %(count)s."), count
    return message % {"some": some, "count": count}


def rule_reason(rule: RuleResult, words: NullTranslations) -> str:
    """Why a rule came out as it did, where it has an interval."""
    if rule.low is None or rule.high is None:
        return ""
    return words.gettext(_WHY[rule.verdict])


def is_change(rule: RuleResult) -> bool:
    """Whether the value of a rule is a difference, and not a mean or a share."""
    return not rule.rule.startswith(("abs:", "lost"))


def slice_label(column: str, value: str, words: NullTranslations) -> str:
    """A value of a column in words, where it is one of ours."""
    if column == "language":
        return visible(heading(value, words))
    if column == "traffic" and value in _TRAFFIC:
        return words.gettext(_TRAFFIC[value])
    if column == "length":
        return words.gettext("%(count)s words") % {"count": visible(value)}
    return visible(excerpt(value, 80))


def colour_of(finding: Finding) -> str:
    """The class that colours a difference: only what holds after correction has a colour."""
    return {"better": "up", "worse": "down"}.get(finding, "even")


def comparison_caveats(page: ComparisonPage, words: NullTranslations) -> list[str]:
    """What limits the verdict: few queries, queries that a side lacks, other things changed."""
    found = []
    pairs = page.main.difference.n if page.main is not None else 0
    if 0 < pairs < SMALL:
        found.append(
            words.gettext("Only %(n)s queries are compared: read every number with its interval.")
            % {"n": pairs}
        )
    sides = (
        (N_("Queries that only the base has, left out: %(count)s."), page.only_base.total),
        (
            N_("Queries that only the candidate has, left out: %(count)s."),
            page.only_candidate.total,
        ),
        (N_("Queries without results in the base: %(count)s."), page.missing_base.total),
        (N_("Queries without results in the candidate: %(count)s."), page.missing_candidate.total),
        (
            N_("Queries with a value on one side only, left out: %(count)s."),
            _unpaired(page),
        ),
    )
    found += [words.gettext(message) % {"count": whole(count)} for message, count in sides if count]
    if page.unshared:
        found.append(
            words.gettext("On one side only, so not compared: %(metrics)s.")
            % {"metrics": visible(", ".join(map(canonical, page.unshared)))}
        )
    return found


def _unpaired(page: ComparisonPage) -> int:
    """Shared queries with a value on one side only; not told apart from ids that one side lacks,
    which have a line of their own.
    """
    if page.main is None or page.only_base.total or page.only_candidate.total:
        return 0
    return page.main.unpaired


def method_sentence(page: ComparisonPage, words: NullTranslations) -> str:
    """How the intervals and the p values were made."""
    methods: dict[str, list[str]] = {}
    for row in page.metrics.rows:
        if row.difference.method is not None:
            methods.setdefault(row.difference.method, []).append(visible(canonical(row.name)))
    if not methods:
        return ""
    told = {method: words.gettext(_METHODS[method]) for method in methods}
    if len(told) > 1:
        told = {
            method: words.gettext("%(metrics)s: %(method)s")
            % {"metrics": words.gettext(", ").join(names), "method": told[method]}
            for method, names in methods.items()
        }
    return words.gettext(
        "Paired over the queries with a value on both sides. Interval: %(method)s. p: paired"
        " randomization test, corrected by Holm over all metrics. Detectable: the smallest"
        " difference that these queries would show in four cases out of five."
    ) % {"method": words.gettext("; ").join(told.values())}


def slopes_sentence(slopes: Slopes, words: NullTranslations) -> str:
    """What the drawing of ranks leaves out."""
    told = []
    if slopes.still:
        told.append(
            words.gettext("first rank unchanged: %(count)s") % {"count": whole(slopes.still)}
        )
    if slopes.hidden:
        told.append(words.gettext("not drawn: %(count)s") % {"count": whole(slopes.hidden)})
    if slopes.read < slopes.total:
        told.append(
            words.gettext("looked at: %(read)s of %(total)s changed queries")
            % {"read": whole(slopes.read), "total": whole(slopes.total)}
        )
    return words.gettext("; ").join(told)


def rank_path(query: ChangedQuery, words: NullTranslations) -> str:
    """The first relevant ranks of one query: ``rank 1 → 5``; empty where they are not known."""
    if query.first is None:
        return ""
    before, after = query.first
    if before is not None and after is not None:
        return words.gettext("rank %(first)s → %(final)s") % {"first": before, "final": after}
    return " → ".join(
        words.gettext("none") if rank is None else words.gettext("rank %(final)s") % {"final": rank}
        for rank in query.first
    )


def probability(value: float | None) -> str:
    """A p value to three places.

    >>> probability(0.0421), probability(0.0001), probability(1.0), probability(None)
    ('0.042', '<0.001', '1.000', '–')
    """
    return "<0.001" if value is not None and value < 0.001 else decimal(value, 3)
