"""The answer link of a run as tables."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import typer

from ragnostic.cli.console import print_table
from ragnostic.errors import counted
from ragnostic.metrics import Metric
from ragnostic.report.answer_link import AnsweredCase, AnswerLink, Exchange
from ragnostic.report.numbers import bound, decimal, grade, signed
from ragnostic.report.visible import excerpt, visible

_SHOWN_CASES = 5
_TEXT = 100


def print_answer_link(link: AnswerLink) -> None:
    """Grades with and without context, the exchange rate a metric, and the telling queries."""
    for line in _facts(link):
        typer.echo(visible(line))
    typer.echo()
    print_table(["queries", "without", "with", "difference", "95 % interval", "n"], _means(link))
    if link.exchange:
        typer.echo()
        typer.echo("grade with context for 0.1 (and 1) more of a metric; HC3 intervals, 95 %:")
        head = ["metric", "per 0.1", "95 % interval", "per 1", "Spearman", "n"]
        print_table(head, map(_rate, link.exchange))
        for one in link.exchange:
            if one.slope.reason is not None:
                typer.echo(f"{one.metric}: {one.slope.reason}")
    for title, cases in (
        ("retrieval was right, the answer wrong", link.right_but_wrong),
        ("the context made the answer worse", link.made_worse),
        ("right without any context: the model knew it", link.known_without),
    ):
        for line in _cases(title, cases):
            typer.echo(visible(line))


def _facts(link: AnswerLink) -> Iterator[str]:
    yield f"context: first {link.top_n} of {link.stage}; model: {', '.join(link.models) or '–'}"
    for arm, found in link.statuses.items():
        counts = ", ".join(f"{count} {status}" for status, count in found.items())
        yield f"{arm} context: {counts or 'nothing asked'}"
    if not link.graders:
        yield "no grades yet"
        return
    yield f"grades 0 to {link.max_grade} by {', '.join(link.graders)}"
    shared = link.agreement
    if shared.items:
        yield (
            f"agreement on {counted(shared.items, 'answer')}: equal {decimal(shared.equal, 2)}, "
            f"at most 1 apart {decimal(shared.near, 2)}, "
            f"Krippendorff's alpha {decimal(shared.alpha, 2)}"
        )
    if link.ungraded:
        yield f"{counted(link.ungraded, 'answer')} without a grade"
    if link.stale:
        yield f"{counted(link.stale, 'grade')} of answers that are no longer there (not used)"


def _means(link: AnswerLink) -> Iterator[list[str]]:
    for name, found in link.differences.items():
        yield [
            name,
            decimal(found.base),
            decimal(found.candidate),
            signed(found.value),
            _interval(found.low, found.high),
            str(found.n),
        ]


def _rate(one: Exchange) -> list[str]:
    value, low, high = one.per_step()
    return [
        Metric.parse(one.metric).label,
        signed(value),
        _interval(low, high),
        signed(one.slope.value),
        signed(one.slope.rho, 2),
        str(one.slope.n),
    ]


def _interval(low: float | None, high: float | None) -> str:
    return decimal(None) if low is None else f"[{bound(low)}, {bound(high)}]"


def _cases(title: str, cases: Sequence[AnsweredCase]) -> Iterator[str]:
    if not cases:
        return
    yield ""
    yield f"{title}: {counted(len(cases), 'query', 'queries')}"
    for case in cases[:_SHOWN_CASES]:
        rank = "" if case.first is None else f", relevant chunk at rank {case.first}"
        yield f"  {case.query_id}: {excerpt(case.query or '', _TEXT)}{rank}"
        if case.expected:
            yield f"    expected: {excerpt(case.expected, _TEXT)}"
        yield f"    with    {_given(case.with_grade, case.with_answer)}"
        yield f"    without {_given(case.without_grade, case.without_answer)}"
    if len(cases) > _SHOWN_CASES:
        yield f"  … and {len(cases) - _SHOWN_CASES} more (--json has all)"


def _given(mean: float | None, answer: str | None) -> str:
    return f"{grade(mean) or '–'}: {excerpt(answer or '(no answer)', _TEXT)}"
