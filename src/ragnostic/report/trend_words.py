"""The sentences of a trend page, from its model."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.labels import canonical
from ragnostic.report.numbers import bound, decimal, signed
from ragnostic.report.trend_page import TrendLine, TrendPage, TrendPoint, TurnRow
from ragnostic.report.visible import visible


def trend_headline(page: TrendPage, words: NullTranslations) -> str:
    """Where the main metric stands, and whether it was ever better."""
    line = page.main
    if line is None:
        return words.gettext("No run has a value to show.")
    best = line.best_point
    values = {"metric": canonical(line.metric), "value": decimal(line.last.value.mean, 3)}
    if len(page.rows) == 1:
        return words.gettext("%(metric)s is %(value)s; a second run makes a trend.") % values
    if best is not None and _tied(line, best):
        return words.gettext("%(metric)s is %(value)s, as good as the best.") % values
    if best is None or best.number == line.last.number:
        return words.gettext("%(metric)s is %(value)s, the best so far.") % values
    return words.gettext("%(metric)s is %(value)s; it was %(best)s at its best.") % (
        values | {"best": decimal(best.value.mean, 3)}
    )


def _tied(line: TrendLine, best: TrendPoint) -> bool:
    """The latest run is not the one marked best, but has its value."""
    gap = (best.value.mean or 0.0) - (line.last.value.mean or 0.0)
    return best.number != line.last.number and abs(gap) < 1e-9


def turn_sentence(page: TrendPage, words: NullTranslations) -> str:
    """The latest turn of the main metric."""
    line = page.main
    if line is None or len(page.rows) < 2:
        return ""
    turns = [row for row in page.turns if row.turn.metric == line.metric]
    if not turns:
        return words.gettext(
            "No run differs from the one before it by more than chance would explain."
        )
    last = turns[0]
    message = (
        words.gettext("It last turned for the better with run %(run)s: %(difference)s%(interval)s.")
        if last.up
        else words.gettext(
            "It last turned for the worse with run %(run)s: %(difference)s%(interval)s."
        )
    )
    return message % {
        "run": _run(last),
        "difference": signed(last.turn.difference, 3),
        "interval": _interval(last, words),
    }


def _run(row: TurnRow) -> str:
    return visible(row.turn.run) if row.row is None else str(row.row.number)


def _interval(row: TurnRow, words: NullTranslations) -> str:
    low, high = row.turn.low, row.turn.high
    if low is None or high is None:
        return ""
    return words.gettext(" (95%% CI %(low)s to %(high)s)") % {
        "low": bound(low, 3),
        "high": bound(high, 3),
    }


def line_summary(line: TrendLine, words: NullTranslations) -> str:
    """A line in words: its best and its latest value."""
    latest = words.gettext("latest %(value)s") % {"value": decimal(line.last.value.mean, 3)}
    best = line.best_point
    if best is None:
        return latest
    return latest + words.gettext(", best %(value)s at run %(run)s") % {
        "value": decimal(best.value.mean, 3),
        "run": best.number,
    }
