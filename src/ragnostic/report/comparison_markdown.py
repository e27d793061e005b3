"""A comparison as Markdown for a CI summary, never larger than such a page takes."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from gettext import NullTranslations
from typing import TYPE_CHECKING

from ragnostic.report.announced import in_words
from ragnostic.report.catalogue import N_, Language, catalogue
from ragnostic.report.comparison_model import build_comparison
from ragnostic.report.comparison_page import ChangedQuery, ComparisonPage, Few
from ragnostic.report.comparison_text import (
    METRIC_HEAD,
    SLICE_HEAD,
    difference_cells,
    interval,
    metric_cells,
    tally,
    telling_slices,
)
from ragnostic.report.comparison_view import ComparisonView
from ragnostic.report.comparison_words import (
    comparison_caveats,
    comparison_headline,
    doubt_sentence,
    gate_sentence,
    interval_sentence,
    method_sentence,
    rank_path,
    rule_reason,
)
from ragnostic.report.fitted import Section, fitted
from ragnostic.report.labels import canonical
from ragnostic.report.markdown import escaped
from ragnostic.report.numbers import NOTHING, decimal, signed
from ragnostic.report.page import Ranking
from ragnostic.report.visible import excerpt, run_on
from ragnostic.stats.gate_rules import LOST, Rule

if TYPE_CHECKING:
    from ragnostic.stats.gates import RuleResult

LISTED = 20
"""Losses, and gains, that are shown with both rankings."""
SLICES = 10
TOP = 5
_ID, _TEXT = 80, 200
"""Characters of an id and of a text that are shown."""


def comparison_markdown(view: ComparisonView, *, limit: int, language: Language = "en") -> str:
    """Verdict, metrics, gate, what else differs, slices, biggest losses and gains.

    At most ``limit`` bytes of UTF-8, whatever the input: rows that do not fit are counted.
    Nothing of the data is read as Markdown or HTML.
    """
    words = catalogue(language)
    page = build_comparison(view)
    return fitted(_sections(view, page, words), limit, words)


def _sections(
    view: ComparisonView, page: ComparisonPage, words: NullTranslations
) -> Iterator[Section]:
    yield _verdict(view, page, words)
    if page.gate is not None:
        yield _gate(page, words)
    yield Section(
        _table_head(METRIC_HEAD, words, texts=range(2)),
        [_line(map(escaped, metric_cells(found, words))) for found in view.comparison.metrics],
    )
    sentence = method_sentence(page, words)
    if sentence:
        yield Section([escaped(sentence)])
    if page.announced.total:
        rows = [f"- {_short(in_words(line, words), _TEXT * 2)}" for line in page.announced.items]
        yield _titled(N_("What else differs"), rows, words, page.announced.total)
    if page.settings:
        yield _settings(page, words)
    yield from _slices(view, words)
    yield from _changes(page, words)
    yield from _apart(page, words)
    if page.warnings.total:
        rows = [f"- {_short(line, _TEXT * 2)}" for line in page.warnings.items]
        yield _titled(N_("Warnings"), rows, words, page.warnings.total)


def _verdict(view: ComparisonView, page: ComparisonPage, words: NullTranslations) -> Section:
    names = f"{_short(page.base.name, _TEXT)} → {_short(page.candidate.name, _TEXT)}"
    counts = tally([found.finding for found in view.comparison.metrics], words)
    sentences = (
        comparison_headline(page, words),
        interval_sentence(page, words),
        doubt_sentence(page, words),
    )
    caveats = [f"> {escaped(sentence)}" for sentence in comparison_caveats(page, words)]
    head = [
        f"## {words.gettext('Retrieval comparison')} {names}",
        "",
        f"**{escaped(counts)}** ({_stages(page)})",
        "",
        escaped(run_on(sentences)),
    ]
    return Section([*head, *(["", *caveats] if caveats else [])])


def _stages(page: ComparisonPage) -> str:
    stages = dict.fromkeys((page.base.stage, page.candidate.stage))
    return " → ".join(_short(stage, _ID) for stage in stages)


def _gate(page: ComparisonPage, words: NullTranslations) -> Section:
    gate = page.gate
    assert gate is not None  # noqa: S101 - the caller looked
    title = f"### {_said(words.gettext('Gate'), gate.verdict, words)}"
    names = (N_("Rule"), N_("Verdict"), N_("Value"), N_("Interval"), "n", N_("Why"))
    rows = [
        _line(
            [
                _short(rule.rule, _TEXT),
                rule.verdict,
                *_rule_values(rule),
                str(rule.n),
                _short(rule_reason(rule, words), _TEXT),
            ]
        )
        for rule in gate.rules
    ]
    sentence = escaped(gate_sentence(gate, words))
    return Section([title, "", sentence, "", *_table_head(names, words, texts=(0, 1, 5))], rows)


def _rule_values(result: RuleResult) -> tuple[str, str]:
    """Value and interval; of a change with their sign."""
    rule = Rule.parse(result.rule)
    if not rule.absolute and rule.metric != LOST:
        return signed(result.value), interval(result.low, result.high)
    if result.low is None or result.high is None:
        return decimal(result.value), NOTHING
    return decimal(result.value), f"[{decimal(result.low)}, {decimal(result.high)}]"


def _settings(page: ComparisonPage, words: NullTranslations) -> Section:
    title = words.gettext("Settings that differ")
    head = _table_head((N_("Setting"), N_("Base"), N_("Candidate")), words, texts=range(3))
    rows = [_line([_short(cell, _TEXT) for cell in change]) for change in page.settings]
    return Section([f"### {title}", "", *head], rows)


def _slices(view: ComparisonView, words: NullTranslations) -> Iterator[Section]:
    for column, found in telling_slices(view.comparison).items():
        title = words.gettext("Slices by %(column)s, worst first (%(metric)s)") % {
            "column": _short(column, _ID),
            "metric": escaped(canonical(found[0].metric)),
        }
        head = _table_head((N_("Slice"), *SLICE_HEAD), words, texts=(0,))
        rows = [
            _line([_short(entry.value, _ID), *map(escaped, difference_cells(entry.difference))])
            for entry in found[:SLICES]
        ]
        yield Section([f"### {title}", "", *head], rows, len(found))


def _changes(page: ComparisonPage, words: NullTranslations) -> Iterator[Section]:
    totals: dict[str, int] = {entry.kind: entry.total for entry in page.filters}
    for kind, title in (("worse", N_("Biggest losses")), ("better", N_("Biggest gains"))):
        found = [query for query in page.queries if kind in query.kinds][:LISTED]
        if found:
            rows = [_query(query, words) for query in found]
            yield _titled(title, rows, words, totals.get(kind, 0))


def _query(query: ChangedQuery, words: NullTranslations) -> str:
    text = f" {_short(query.query, _TEXT)}" if query.query else ""
    values = f"{decimal(query.before)} → {decimal(query.after)}"
    change = f"{values} ({signed(query.after - query.before)})"
    path = rank_path(query, words)
    if path:
        change = words.gettext("%(change)s, %(path)s") % {"change": change, "path": path}
    line = f"- {_said(f'**{_short(query.query_id, _ID)}**{text}', change, words)}"
    names = (words.gettext("Base"), words.gettext("Candidate"))
    for name, ranking in zip(names, query.rankings, strict=True):
        if ranking is not None:
            line += f"\n  - {_said(name, _top(ranking, words), words)}"
    return line


def _top(ranking: Ranking, words: NullTranslations) -> str:
    """The first ids, relevant ones marked, and relevant ones below them with their rank."""
    hits = [hit for hit in (*ranking.top, *ranking.rest) if hit.rank <= TOP or hit.relevant]
    shown = [
        f"{hit.rank}. {_short(hit.passage.id, _ID) or '–'}" + (" ✓" if hit.relevant else "")
        for hit in hits
    ]
    return words.gettext(", ").join(shown) or words.gettext("no results")


def _apart(page: ComparisonPage, words: NullTranslations) -> Iterator[Section]:
    parts = (
        (N_("In the base only"), page.only_base),
        (N_("In the candidate only"), page.only_candidate),
        (N_("Without results in the base"), page.missing_base),
        (N_("Without results in the candidate"), page.missing_candidate),
    )
    rows = [_few(words.gettext(title), few, words) for title, few in parts if few.total]
    if rows:
        yield _titled(N_("Queries left aside"), rows, words)


def _few(title: str, few: Few, words: NullTranslations) -> str:
    ids = words.gettext(", ").join(_short(id_, _ID) for id_ in few.items)
    left = few.more
    more = " " + words.gettext("… and %(count)s more") % {"count": left} if left else ""
    listed = words.gettext("%(count)s (%(ids)s)") % {"count": few.total, "ids": ids + more}
    return f"- {_said(title, listed, words)}"


def _said(name: str, text: str, words: NullTranslations) -> str:
    """``name: text`` with the colon of the language."""
    return words.gettext("%(name)s: %(text)s") % {"name": name, "text": text}


def _titled(title: str, rows: Sequence[str], words: NullTranslations, total: int = 0) -> Section:
    return Section([f"### {words.gettext(title)}", ""], rows, total)


def _table_head(
    names: Sequence[str], words: NullTranslations, *, texts: Collection[int]
) -> list[str]:
    """The head and the rule below it; columns of ``texts`` are set left, numbers right."""
    sides = ["---" if at in texts else "--:" for at in range(len(names))]
    return [_line([words.gettext(name) for name in names]), _line(sides)]


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _short(text: str, limit: int) -> str:
    return escaped(excerpt(text, limit))
