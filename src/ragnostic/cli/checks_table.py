"""Lines under the table of a run: the reranker's room, robustness, unanswerable queries."""

from __future__ import annotations

from gettext import NullTranslations

import typer

from ragnostic.report.account import read_account
from ragnostic.report.account_words import account_sentences
from ragnostic.report.robustness import read_robustness
from ragnostic.report.robustness_words import robustness_sentences
from ragnostic.report.run import RunData
from ragnostic.report.scorebook import ScoreBook
from ragnostic.report.unanswerable import read_unanswerable
from ragnostic.report.unanswerable_words import unanswerable_sentence
from ragnostic.report.visible import visible


def print_checks(run: RunData, book: ScoreBook) -> None:
    """A line for each finding of the final stage; nothing for what the run does not know."""
    words = NullTranslations()
    lines: list[str] = []
    account, robustness = read_account(run, book), read_robustness(run)
    refusals = read_unanswerable(run)
    if account is not None:
        telling = book.telling(run.stages[-1])
        lines += account_sentences(account, telling[0] if telling else None, words)
    if robustness is not None:
        lines += robustness_sentences(robustness, words)
    if refusals:
        lines.append(unanswerable_sentence(refusals[-1], words))
    for line in lines:
        typer.echo(visible(line))
