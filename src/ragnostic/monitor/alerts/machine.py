"""The state of an alert, from window to window: pure, and with the time handed in.

::

    inactive ──breach──▶ pending ──breach, for times in all──▶ firing ──clear──▶ resolved
        ▲                   │                                    │                  │
        └───hold, clear─────┘                          hold: goes on firing         │
        └──────────────────────────hold, clear──────────────────────────────────────┘

*No data* changes nothing: it neither counts for ``for`` nor resets it, and ends nothing. *Hold*
(back at the limit and not yet at ``clear``, or beyond the limit only by chance) keeps a firing
alert firing; it is no breach, so it ends a pending one.

Two functions, so that a window may be looked at again: :func:`advance` follows the windows, and
:func:`tell` compares what is with what people were told last. Whatever happened in between, a
person hears of the beginning of an episode once and of its end once (METRICS 13).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import NamedTuple

from ragnostic.monitor.alerts.evaluation import Outcome
from ragnostic.monitor.alerts.silences import Silence, silence_of
from ragnostic.monitor.alerts.states import Acknowledgement, AlertState, Ending, Reading, Told
from ragnostic.ports import NoticeKind
from ragnostic.stats.ewma import Baseline


@dataclass(frozen=True, slots=True)
class Terms:
    """What the machine needs of a rule.

    ``times``: breaches in a row until it fires (``for``). ``repeat``: pause between reminders,
    None for none. ``baseline``: a new one to learn with, None where the rule needs none, and
    ``shadow`` one for the level while it fires. ``rebaseline_after``: how long it fires before
    that level becomes the baseline, None for never. A window of fewer than ``min_samples`` rows
    teaches no baseline.
    """

    rule: str = ""
    severity: str = "P2"
    times: int = 1
    repeat: timedelta | None = None
    min_samples: int = 200
    baseline: Baseline | None = None
    shadow: Baseline | None = None
    rebaseline_after: timedelta | None = None


class Step(NamedTuple):
    """The new state, and what is to be told: nothing, or one notice of this kind."""

    state: AlertState
    kinds: tuple[NoticeKind, ...]


def step(
    terms: Terms,
    state: AlertState,
    outcome: Outcome,
    now: datetime,
    silences: Iterable[Silence] = (),
    *,
    labels: Mapping[str, str] | None = None,
    season: int = 0,
) -> Step:
    """One alert alone, one window on: :func:`advance`, then :func:`tell`."""
    held = silence_of(silences, terms.rule, terms.severity, labels or {}, now)
    after = advance(terms, state, outcome, season=season)
    return tell(terms, after, now, silence=0 if held is None else held.id)


def advance(terms: Terms, state: AlertState, outcome: Outcome, *, season: int = 0) -> AlertState:
    """The state after a window. One that was looked at already, or is older, changes nothing.

    ``season`` is which of the baselines the window was compared with.
    """
    window = outcome.window
    if state.window is not None and window.start <= state.window:
        return state
    seen = replace(
        state,
        window=window.start,
        reading=Reading(
            outcome.state,
            outcome.value,
            outcome.reference,
            outcome.low,
            outcome.high,
            outcome.n,
            outcome.reason,
            window.start,
            window.end,
        ),
    )
    moved = _moved(terms, seen, outcome)
    return _rebaselined(terms, _taught(terms, moved, outcome, season), window.end)


def _moved(terms: Terms, state: AlertState, outcome: Outcome) -> AlertState:
    if outcome.state == "breach":
        return _breached(terms, state, outcome)
    if outcome.state == "no data" or (outcome.state == "hold" and state.status == "firing"):
        return state
    if state.status == "firing":
        return ended(state, "cleared")
    return replace(state, status="inactive", count=0, since=None, fired=None)


def _breached(terms: Terms, state: AlertState, outcome: Outcome) -> AlertState:
    if state.status == "firing":
        return state
    pending = state.status == "pending"
    count = state.count + 1 if pending else 1
    since = state.since if pending else outcome.window.start
    counted = replace(state, status="pending", count=count, since=since)
    if count < terms.times:
        return counted
    # An episode whose end nobody was told of goes on: to people it is the same trouble.
    episode = state.told.episode if state.told.is_open else state.episode + 1
    return replace(
        counted,
        status="firing",
        fired=outcome.window.end,
        episode=episode,
        ending="",
        shadows={},
        acknowledged=state.acknowledged if state.told.is_open else None,
    )


def ended(state: AlertState, how: Ending) -> AlertState:
    """A firing alert whose episode is over; ``how`` it ended."""
    return replace(
        state, status="resolved", count=0, ending=how, acknowledged=None, inhibitor="", silence=0
    )


def _taught(terms: Terms, state: AlertState, outcome: Outcome, season: int) -> AlertState:
    """The baseline learns of a window, unless it is in breach or the rule fires: what is wrong
    must not become what is usual. Meanwhile the shadow learns what it may become.
    """
    if terms.baseline is None or outcome.value is None or outcome.n < terms.min_samples:
        return state
    if state.status == "firing":
        known = state.shadows.get(season, terms.shadow or terms.baseline)
        return replace(state, shadows={**state.shadows, season: known.updated(outcome.value)})
    if outcome.state == "breach":
        return state
    known = state.baselines.get(season, terms.baseline)
    return replace(state, baselines={**state.baselines, season: known.updated(outcome.value)})


def _rebaselined(terms: Terms, state: AlertState, now: datetime) -> AlertState:
    """What has been so for long is how it is now, as soon as enough of it is known."""
    long = terms.rebaseline_after
    if state.status != "firing" or terms.baseline is None or long is None or state.fired is None:
        return state
    return rebaselined(state, "rebaselined") if now - state.fired >= long else state


def rebaselined(state: AlertState, how: Ending) -> AlertState:
    """The episode is over, and the level in it is the baseline now, where one has been learned.

    Without any, a state that is to be ``rebaselined`` stays as it is, and one that is ``closed``
    by hand ends with the baseline that it has.
    """
    learned = {key: one for key, one in state.shadows.items() if one.value is not None}
    if not learned:
        return state if how == "rebaselined" else ended(state, how)
    after = ended(state, "rebaselined")
    return replace(after, baselines={**state.baselines, **learned}, shadows={})


def tell(
    terms: Terms, state: AlertState, now: datetime, *, silence: int = 0, inhibitor: str = ""
) -> Step:
    """What is to be told, and the state in which it has been.

    A silence holds everything back, an inhibitor (a rule) only beginnings and reminders. What is
    held back is late, not lost: it is told once nothing holds it back, if it is still so.
    """
    told = state.told
    if state.status != "firing":
        if not told.is_open or silence:
            return Step(_held(state, silence if told.is_open else 0, ""), ())
        kind: NoticeKind = "rebaselined" if state.ending == "rebaselined" else "resolved"
        return Step(replace(_held(state, 0, ""), told=Told(episode=told.episode, at=now)), (kind,))
    held = _held(state, silence, inhibitor)
    if silence or inhibitor or (told.is_open and not _is_due(terms, state, now)):
        return Step(held, ())
    kind = "repeat" if told.is_open else "firing"
    episode = told.episode if told.is_open else state.episode
    return Step(replace(held, told=Told(is_open=True, episode=episode, at=now)), (kind,))


def _held(state: AlertState, silence: int, inhibitor: str) -> AlertState:
    if (state.silence, state.inhibitor) == (silence, inhibitor):
        return state
    return replace(state, silence=silence, inhibitor=inhibitor)


def _is_due(terms: Terms, state: AlertState, now: datetime) -> bool:
    """Whether a reminder is: only where the rule wants any, and nobody has said they know."""
    at = state.told.at
    if terms.repeat is None or state.acknowledged is not None or at is None:
        return False
    return now - at >= terms.repeat


def acknowledged(state: AlertState, by: Acknowledgement) -> AlertState:
    """Somebody has seen a firing alert: no reminders until its end."""
    return replace(state, acknowledged=by)


def caught_up(before: AlertState, replayed: AlertState) -> AlertState:
    """The state after windows were looked at again, with what people were told and did kept.

    ``before`` is what was known until now. An episode that is still on stays the same one.
    """
    kept = replace(replayed, told=before.told, silence=before.silence, inhibitor=before.inhibitor)
    if replayed.status != "firing":
        return replace(kept, episode=before.episode, acknowledged=None)
    same = before.status == "firing" or before.told.is_open
    return replace(
        kept,
        episode=before.episode if same else before.episode + 1,
        acknowledged=before.acknowledged if same else None,
    )
