"""The sentences of a report, from the counts of the page model."""

from __future__ import annotations

from gettext import NullTranslations

from ragnostic.report.catalogue import N_
from ragnostic.report.labels import canonical, place_advice, place_label
from ragnostic.report.numbers import bound, decimal, percent, signed
from ragnostic.report.page import Curve, Gain, GoldRow, Losses, Page, TailGap, Tile, Verdict, Worst
from ragnostic.report.scorebook import MetricName
from ragnostic.report.visible import visible

SMALL = 30
"""Below this many scored queries a report warns that its means are rough."""

_STAGES = {"retrieve": N_("Retrieval"), "rerank": N_("Reranking")}
_EVEN = 0.005
_FEW_JUDGED = 0.5
_HALF = 0.5


def stage_label(stage: str, words: NullTranslations) -> str:
    """A stage in words; its own name where it is not one of the usual two.

    >>> stage_label("rerank", NullTranslations()), stage_label("fusion", NullTranslations())
    ('Reranking', 'fusion')
    """
    return words.gettext(_STAGES[stage]) if stage in _STAGES else visible(stage)


def headline(page: Page, words: NullTranslations) -> str:
    """The verdict in one sentence."""
    verdict = page.verdict
    if not verdict.scored:
        return words.gettext("No query could be scored.")
    message = words.gettext(
        "The top %(k)s results hold a relevant passage for %(share)s of the queries"
        " (%(found)s of %(n)s)."
    )
    return message % {
        "share": percent(verdict.found, verdict.scored),
        "found": verdict.found,
        "n": verdict.scored,
        "k": verdict.cutoff,
    }


def gain_sentence(page: Page, words: NullTranslations) -> str:
    """What the last stage did to the metric that is easiest to say; of one stage, its value."""
    gain, tile = page.verdict.gain, page.verdict.headline
    if gain is not None:
        return _gain(gain, stage_label(page.header.stages[-1], words), words)
    if tile is not None and tile.mean is not None:
        return words.gettext("%(metric)s is %(mean)s.") % {
            "metric": canonical(tile.metric),
            "mean": decimal(tile.mean, 2),
        }
    return ""


def _gain(gain: Gain, stage: str, words: NullTranslations) -> str:
    if abs(gain.difference) < _EVEN:
        message = words.gettext("%(stage)s leaves %(metric)s at %(after)s.")
    elif gain.difference > 0:
        message = words.gettext(
            "%(stage)s lifts %(metric)s from %(before)s to %(after)s (%(gain)s)."
        )
    else:
        message = words.gettext(
            "%(stage)s lowers %(metric)s from %(before)s to %(after)s (%(gain)s)."
        )
    return message % {
        "stage": stage,
        "metric": canonical(gain.metric),
        "before": decimal(gain.before, 2),
        "after": decimal(gain.after, 2),
        "gain": signed(gain.difference, 2),
    }


def first_look(page: Page, words: NullTranslations) -> str:
    """Where to look first: the place where most gold was lost, and what it means."""
    verdict = page.verdict
    place = verdict.worst_place
    if not verdict.scored:
        return ""
    if place is None:
        return words.gettext("No gold was lost; what is left to gain is the order within the top.")
    message = words.gettext(
        "Look first at what is %(place)s (%(count)s of %(lost)s lost gold items): %(advice)s."
    )
    return message % {
        "count": dict(verdict.lost)[place],
        "lost": sum(number for _, number in verdict.lost),
        "place": place_label(place, words),
        "advice": place_advice(place, verdict.cutoff, words),
    }


def caveats(page: Page, words: NullTranslations) -> list[str]:
    """What limits the verdict: few queries, few judgments, failures, queries without a score."""
    verdict, found = page.verdict, []
    if 0 < verdict.scored < SMALL:
        found.append(
            words.gettext("Only %(n)s queries were scored: read every mean with its interval.")
            % {"n": verdict.scored}
        )
    if verdict.scored and verdict.judged is not None and verdict.judged[1] < _FEW_JUDGED:
        found.append(
            words.gettext(
                "Only %(share)s of the top %(k)s results have a judgment; the others count as not"
                " relevant, so the true scores may be higher."
            )
            % {"k": verdict.judged[0], "share": percent(verdict.judged[1], 1)}
        )
    found += [sentence for sentence in _left_out(verdict, words) if sentence]
    tile = verdict.headline
    if tile is not None and tile.mean is None and tile.reason:
        found.append(f"{canonical(tile.metric)}: {visible(tile.reason)}")
    return found


def _left_out(verdict: Verdict, words: NullTranslations) -> list[str]:
    return [
        words.ngettext(
            "%(n)s query failed in retrieval and is left out.",
            "%(n)s queries failed in retrieval and are left out.",
            verdict.failed,
        )
        % {"n": verdict.failed}
        if verdict.failed
        else "",
        words.ngettext(
            "%(n)s query has no relevant judgment and cannot be scored.",
            "%(n)s queries have no relevant judgment and cannot be scored.",
            verdict.unscored,
        )
        % {"n": verdict.unscored}
        if verdict.unscored
        else "",
        words.ngettext(
            "%(n)s query is marked unanswerable and stays out of every mean.",
            "%(n)s queries are marked unanswerable and stay out of every mean.",
            verdict.unanswerable,
        )
        % {"n": verdict.unanswerable}
        if verdict.unanswerable
        else "",
    ]


def worst_lead(worst: Worst, words: NullTranslations) -> str:
    """How the worst queries were chosen, and how many queries are not among the candidates."""
    if not worst.metrics:
        return ""
    message = words.gettext(
        "Ordered by %(metric)s of the final stage; shown: %(shown)s of %(imperfect)s."
        " Perfect, no need to look: %(perfect)s. Cannot be ranked: %(unanswerable)s unanswerable,"
        " %(unscored)s unscored, %(failed)s failed."
    )
    if len(worst.cases) < worst.imperfect:
        message += words.gettext(
            " Values of all queries: scores.parquet in the run folder, or"
            " ragnostic score --per-query."
        )
    return message % {
        "metric": worst.metrics[0],
        "shown": len(worst.cases),
        "imperfect": worst.imperfect,
        "perfect": worst.perfect,
        "unanswerable": worst.unanswerable,
        "unscored": worst.unscored,
        "failed": worst.failed,
    }


def tile_note(tile: Tile, words: NullTranslations) -> str:
    """Reciprocal rank as people read it: the rank at which the first useful passage stands; nothing
    where most queries have none, since the reading would be below any cutoff.
    """
    if MetricName.of(tile.metric).family != "RR" or not tile.mean:
        return ""
    if tile.positive is not None and tile.positive < _HALF:
        return ""
    return words.gettext("first useful passage at about rank %(rank)s") % {
        "rank": decimal(1 / tile.mean, 1)
    }


def curve_sentence(curve: Curve, words: NullTranslations) -> str:
    """Half-life and plateau of one recall curve in words."""
    parts = []
    if curve.half_life is not None:
        parts.append(words.gettext("half of it is reached at rank %(k)s") % {"k": curve.half_life})
    if curve.k90 is not None and curve.k95 is not None:
        parts.append(
            words.gettext("90%% at rank %(k90)s, 95%% at rank %(k95)s")
            % {"k90": curve.k90, "k95": curve.k95}
        )
    start = words.gettext("Recall ends at %(recall)s by rank %(depth)s") % {
        "recall": decimal(curve.recall[-1], 3),
        "depth": curve.depth[-1],
    }
    return words.gettext("; ").join([start, *parts]) + words.gettext(".")


def tail_sentence(tail: TailGap, words: NullTranslations) -> str:
    """How much better frequent queries fare than rare ones."""
    found = words.gettext("frequent minus rare queries, %(metric)s: %(value)s") % {
        "metric": tail.metric,
        "value": signed(tail.value, 3),
    }
    if tail.low is None or tail.high is None:
        return found
    return found + words.gettext(" (95%% CI %(low)s to %(high)s)") % {
        "low": bound(tail.low, 3),
        "high": bound(tail.high, 3),
    }


def dangling_sentence(losses: Losses, words: NullTranslations) -> str:
    """The means if gold that is not in the corpus were left out; empty where there is none."""
    if not losses.without_dangling:
        return ""
    means = ", ".join(
        f"{canonical(metric)} {decimal(mean)}" for metric, mean in losses.without_dangling
    )
    return words.gettext("Without gold that is not in the corpus: %(means)s") % {"means": means}


def gold_path(gold: GoldRow, words: NullTranslations) -> str:
    """Where one gold item stood: ``rank 3 → 9``, ``rank 14``, or nothing."""
    if gold.final is not None and gold.first is not None and gold.final != gold.first:
        return words.gettext("rank %(first)s → %(final)s") % {
            "first": gold.first,
            "final": gold.final,
        }
    if gold.final is not None:
        return words.gettext("rank %(final)s") % {"final": gold.final}
    if gold.first is not None:
        return words.gettext("rank %(first)s → dropped") % {"first": gold.first}
    return ""
