"""The stage account in sentences."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.account import Account, Reach
from ragnostic.report.labels import canonical
from ragnostic.report.numbers import decimal, percent
from ragnostic.report.words import stage_label

_SAME = 1e-9


def account_title(account: Account, words: NullTranslations) -> str:
    """Heading of the section."""
    if account.stage is None:
        return words.gettext("What a reranker could reach")
    return words.gettext("What the reranker could reach")


def account_sentences(account: Account, main: str | None, words: NullTranslations) -> list[str]:
    """The ceiling of one metric, gold beyond the candidates, what was moved, what was cut; nothing
    where a single stage has found all gold in the best order.

    ``main``: the metric of the first sentence; the first of all where the account lacks it.
    """
    row = _main(account, main)
    if account.stage is None and not account.beyond.items and not _has_room(row):
        return []
    found = [] if row is None else [_ceiling(account, row, words)]
    found.append(beyond_sentence(account, words))
    if account.promoted is not None and account.demoted is not None:
        found.append(
            words.gettext("%(stage)s moved %(up)s gold items up and %(down)s down.")
            % {
                "stage": stage_label(account.stage or "", words),
                "up": account.promoted.items,
                "down": account.demoted.items,
            }
        )
    if account.truncated:
        found.append(
            words.gettext("%(share)s of the candidates were cut before the reranker read them.")
            % {"share": percent(account.truncated, 1)}
        )
    return found


def _main(account: Account, main: str | None) -> Reach | None:
    named = (row for row in account.rows if row.metric == main)
    return next(named, account.rows[0] if account.rows else None)


def _has_room(row: Reach | None) -> bool:
    return row is not None and (row.ceiling or 0.0) - (row.before or 0.0) > _SAME


def _ceiling(account: Account, row: Reach, words: NullTranslations) -> str:
    values = {
        "metric": canonical(row.metric),
        "stage": stage_label(account.stage or account.candidates, words),
        "before": decimal(row.before),
        "after": decimal(row.after),
        "ceiling": decimal(row.ceiling),
        "reached": percent(row.reached or 0, 1),
    }
    if account.stage is None:
        return (
            words.gettext(
                "The same candidates in ideal order: %(metric)s %(ceiling)s instead of %(before)s."
            )
            % values
        )
    if row.reached is None or row.reached <= 0:
        return (
            words.gettext(
                "The same candidates in ideal order: %(metric)s %(ceiling)s; %(stage)s has"
                " %(after)s, it had %(before)s before."
            )
            % values
        )
    return (
        words.gettext(
            "The same candidates in ideal order: %(metric)s %(ceiling)s; %(stage)s goes from"
            " %(before)s to %(after)s, %(reached)s of that way."
        )
        % values
    )


def beyond_sentence(account: Account, words: NullTranslations) -> str:
    """How much gold no reranker can bring back."""
    beyond = account.beyond
    if not beyond.items:
        return words.gettext("All gold is among the candidates.")
    return words.gettext(
        "%(items)s of %(of_items)s gold items (%(share)s), in %(queries)s of %(of_queries)s"
        " queries, are not among the candidates: no reranker can bring them back."
    ) % {
        "items": beyond.items,
        "of_items": beyond.of_items,
        "share": percent(beyond.items, beyond.of_items),
        "queries": beyond.queries,
        "of_queries": beyond.of_queries,
    }


def move_path(before: int | None, after: int | None, words: NullTranslations) -> str:
    """``2 → 6``, with a word where a list lacks the item.

    >>> move_path(2, 6, NullTranslations()), move_path(3, None, NullTranslations())
    ('2 → 6', '3 → dropped')
    """
    first = words.gettext("absent") if before is None else str(before)
    return f"{first} → {words.gettext('dropped') if after is None else after}"
