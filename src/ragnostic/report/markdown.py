"""A page in a few lines of Markdown, for CI summaries and chat."""

from __future__ import annotations

import re
from collections.abc import Callable

from ragnostic.report.account_words import account_sentences
from ragnostic.report.catalogue import Language, catalogue
from ragnostic.report.labels import canonical, fault_label, metric_label, place_label
from ragnostic.report.numbers import bound, decimal, percent, signed
from ragnostic.report.page import MetricRow, Page, Tile
from ragnostic.report.robustness_words import robustness_sentences
from ragnostic.report.set_words import set_sentences
from ragnostic.report.unanswerable_words import unanswerable_sentence
from ragnostic.report.visible import excerpt, run_on, visible
from ragnostic.report.words import caveats, first_look, gain_sentence, headline, stage_label

WORST = 5

_MARKS = re.compile(r"([\\`*\[\]<>#|~&]|(?<!\w)[@_]|_(?!\w))")


def render_markdown(page: Page, *, language: Language = "en") -> str:
    """Verdict, a table of metrics by stage, where gold was lost, and the five worst queries."""
    words = catalogue(language)
    title = page.header.name or page.header.run
    head = f"{words.gettext('Retrieval check-up')} {escaped(title)}".strip()
    verdict = run_on((headline(page, words), gain_sentence(page, words), first_look(page, words)))
    blocks = [
        f"## {head}",
        escaped(verdict),
        "\n".join(f"> {escaped(sentence)}" for sentence in caveats(page, words)),
        _metrics(page, language),
        _sets(page, language),
        _losses(page, language),
        _checks(page, language),
        _worst(page, language),
        _faults(page, language),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


def escaped(text: str) -> str:
    r"""Text from data that stays text in Markdown.

    >>> escaped("a|b <i> `x`")
    'a\\|b \\<i\\> \\`x\\`'
    """
    return _MARKS.sub(r"\\\1", visible(text))


def _metrics(page: Page, language: Language) -> str:
    if not page.metrics:
        return ""
    words = catalogue(language)
    stages = [escaped(stage_label(stage, words)) for stage in page.header.stages]
    gain = [words.gettext("Gain")] if len(stages) > 1 else []
    head = [words.gettext("Metric"), *stages, *gain, "n", words.gettext("95% CI")]
    lines = [_line(head), _line(["---", *("--:" for _ in head[1:])])]
    lines += [_line(_metric_cells(row, language)) for row in page.metrics]
    return "\n".join(lines)


def _metric_cells(row: MetricRow, language: Language) -> list[str]:
    label = f"{metric_label(row.metric, catalogue(language))} {escaped(canonical(row.metric))}"
    gain = [] if len(row.tiles) < 2 else [signed(row.gain.difference if row.gain else None)]
    means = [decimal(mean) for mean in row.means]
    return [label, *means, *gain, str(row.n), _interval(row.final)]


def _interval(tile: Tile) -> str:
    return _ends(tile.low, tile.high, decimal)


def _ends(low: float | None, high: float | None, shown: Callable[[float], str]) -> str:
    return "–" if low is None or high is None else f"{shown(low)} … {shown(high)}"


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _sets(page: Page, language: Language) -> str:
    sets = page.sets
    if sets is None:
        return ""
    words = catalogue(language)
    gap, interval = words.gettext("Gap to %(set)s"), words.gettext("95% CI")
    head = [words.gettext("Metric"), *map(escaped, sets.names)]
    for name in sets.names[1:]:
        head += [gap % {"set": escaped(name)}, interval]
    lines = [_line(head), _line(["---", *("--:" for _ in head[1:])])]
    for row in sets.rows:
        label = f"{metric_label(row.metric, words)} {escaped(canonical(row.metric))}"
        cells = [label, *(decimal(value.mean) for value in row.values)]
        for found in row.gaps:
            cells += [signed(found.difference), _ends(found.low, found.high, bound)]
        lines.append(_line(cells))
    title = f"**{words.gettext('Evaluation sets')}**"
    return "\n".join([title, "", *lines, "", *map(escaped, set_sentences(sets, words))])


def _losses(page: Page, language: Language) -> str:
    words = catalogue(language)
    total = sum(number for _, number in page.losses.items)
    return "\n".join(
        f"- {place_label(place, words)}: {number} ({percent(number, total)})"
        for place, number in page.losses.items
    )


def _checks(page: Page, language: Language) -> str:
    """The reranker's room, robustness and unanswerable queries, a line each."""
    words = catalogue(language)
    lines = []
    if page.account is not None:
        lines += account_sentences(page.account, page.scores_metric, words)
    if page.robustness is not None:
        lines += robustness_sentences(page.robustness, words)
    if page.unanswerable:
        lines.append(unanswerable_sentence(page.unanswerable[-1], words))
    return "\n".join(f"- {escaped(line)}" for line in lines)


def _worst(page: Page, language: Language) -> str:
    cases = page.worst.cases[:WORST]
    if not cases:
        return ""
    words = catalogue(language)
    lines = [f"**{words.gettext('Worst queries')}**", ""]
    for case in cases:
        name, value = case.values[0]
        query = f" {escaped(excerpt(case.query, 80))}" if case.query else ""
        lines.append(f"1. {escaped(case.query_id)}{query} ({escaped(name)} {decimal(value)})")
    return "\n".join(lines)


def _faults(page: Page, language: Language) -> str:
    words = catalogue(language)
    return "\n".join(
        f"- {escaped(fault_label(group.kind, words))}: {group.count}" for group in page.faults
    )
