"""The sentences and labels of the daily report."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.catalogue import N_
from ragnostic.report.daily_view import Anomaly, DailyView
from ragnostic.report.numbers import decimal, signed
from ragnostic.report.visible import visible

_SIGNALS = {
    "RR@5": N_("First useful result"),
    "R@10": N_("Recall"),
    "AP@10": N_("Precision over ranks"),
    "nDCG@10": N_("Quality of the order"),
    "QER@5": N_("Query efficiency"),
    "RDS(norm=random)": N_("Relevance distribution skew"),
    "RCS@10": N_("Rerank consistency"),
}
_COLOURS = {
    "green": N_("healthy"),
    "amber": N_("not yet healthy"),
    "red": N_("not healthy"),
    "grey": N_("no data"),
    "plain": N_("no limits set"),
}
_EVENTS = {
    "firing": N_("began to fire"),
    "resolved": N_("is over"),
    "acknowledged": N_("was acknowledged"),
    "closed": N_("was closed by hand"),
    "rebaselined": N_("is over: the new level is the baseline"),
    "withdrawn": N_("is over: the rule is gone"),
    "reopened": N_("was looked at again after late rows"),
}
_STATUSES = {
    "judged": N_("judged"),
    "refused": N_("answer declines"),
    "abstained": N_("nothing to look for"),
    "failed": N_("judge failed"),
}
_SHARES = {
    "coverage": N_("with a relevant result"),
    "empty": N_("without results"),
    "failed": N_("retrieval failed"),
}


def signal_title(figure: str, words: NullTranslations) -> str:
    """A signal in words.

    >>> signal_title("RR@5", NullTranslations())
    'First useful result'
    """
    return _label(_SIGNALS, figure, words)


def colour_label(colour: str, words: NullTranslations) -> str:
    """What a colour says, for those who do not see it."""
    return _label(_COLOURS, colour, words)


def event_label(event: str, words: NullTranslations) -> str:
    """What happened to an alert."""
    return _label(_EVENTS, event, words)


def status_label(status: str, words: NullTranslations) -> str:
    """What became of a judgment."""
    return _label(_STATUSES, status, words)


def share_label(share: str, words: NullTranslations) -> str:
    """Of what a share is."""
    return _label(_SHARES, share, words)


def _label(known: dict[str, str], name: str, words: NullTranslations) -> str:
    return words.gettext(known[name]) if name in known else visible(name)


def daily_headline(page: DailyView, words: NullTranslations) -> str:
    """The day in one sentence."""
    if not page.records:
        return words.gettext("Nothing came in on this day.")
    if page.firing:
        message = words.ngettext("%(n)s alert fires.", "%(n)s alerts fire.", len(page.firing))
        return message % {"n": len(page.firing)}
    worse = [one for one in page.changes if one.after < one.before]
    if worse:
        message = words.gettext("No alert fires, but %(figure)s fell (%(change)s).")
        change = max(worse, key=lambda one: one.before - one.after)
        return message % {
            "figure": change.figure,
            "change": signed(change.after - change.before, 3),
        }
    return words.gettext("A quiet day: no alert fires, and no signal fell.")


def daily_lead(page: DailyView, words: NullTranslations) -> str:
    """The change that is best explained, and by which slice."""
    parts = [(change, part) for change in page.changes for part in change.parts[:1]]
    if not parts:
        return ""
    change, part = max(
        parts, key=lambda pair: abs(pair[1].contribution / (pair[0].after - pair[0].before))
    )
    message = words.gettext(
        "%(figure)s went from %(before)s to %(after)s; %(column)s %(value)s alone makes %(part)s"
        " of it."
    )
    return message % {
        "figure": change.figure,
        "before": decimal(change.before, 3),
        "after": decimal(change.after, 3),
        "column": visible(part.column),
        "value": visible(part.value),
        "part": signed(part.contribution, 3),
    }


def anomaly_sentence(one: Anomaly, words: NullTranslations) -> str:
    """How far a query fell, and how often it was asked."""
    message = words.ngettext(
        "%(value)s where %(usual)s is usual for it; asked %(asked)s time.",
        "%(value)s where %(usual)s is usual for it; asked %(asked)s times.",
        one.asked,
    )
    if not one.known:
        message = words.ngettext(
            "%(value)s where %(usual)s is usual; new, asked %(asked)s time.",
            "%(value)s where %(usual)s is usual; new, asked %(asked)s times.",
            one.asked,
        )
    return message % {
        "value": decimal(one.value, 2),
        "usual": decimal(one.usual, 2),
        "asked": one.asked,
    }
