"""The state machine: against a simple model, and the rules of METRICS 13 one by one."""

from __future__ import annotations

import json
import random
import runpy
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from pydantic import TypeAdapter

from ragnostic.monitor.alerts.evaluation import Outcome
from ragnostic.monitor.alerts.machine import (
    Step,
    Terms,
    acknowledged,
    advance,
    caught_up,
    rebaselined,
    step,
    tell,
)
from ragnostic.monitor.alerts.silences import Silence
from ragnostic.monitor.alerts.states import Acknowledgement, AlertState, Told
from ragnostic.monitor.rollups.series import Point
from ragnostic.stats.ewma import Baseline

Story = runpy.run_path(str(Path(__file__).parent / "machine_model.py"))["Story"]
START = datetime(2026, 3, 2, tzinfo=UTC)
HOUR = timedelta(hours=1)
STATES = TypeAdapter(AlertState)
STEPS = 10_000


def outcome(hour: int, state: str, value: float | None = 0.5, n: int = 300) -> Outcome:
    """What a rule found in an hour."""
    window = Point(START + hour * HOUR, START + (hour + 1) * HOUR, value, n, None, None)
    return Outcome(state, value, 0.7, None, None, n, window, "", {})


def follow(terms: Terms, states: list[str], **values: Any) -> list[Step]:
    """The steps of an alert, an hour each, looked at when each has ended."""
    steps: list[Step] = []
    state = AlertState()
    for hour, found in enumerate(states):
        now = START + (hour + 1) * HOUR
        steps.append(step(terms, state, outcome(hour, found, **values), now))
        state = steps[-1].state
    return steps


def kinds(steps: list[Step]) -> list[str]:
    """What was told, in order."""
    return [kind for one in steps for kind in one.kinds]


@pytest.mark.parametrize("seed", range(25))
def test_it_agrees_with_a_simple_model(seed):
    """On 10,000 random steps in all: status, baseline, messages; with restarts in between."""
    draw = random.Random(seed)
    baseline = Baseline(alpha=draw.choice([0.2, 0.8]), min_windows=draw.choice([1, 3, 7]))
    rebaseline = draw.choice([None, 5, 20])
    repeat = draw.choice([None, 4])
    terms = Terms(
        times=draw.choice([1, 2, 3]),
        repeat=None if repeat is None else repeat * HOUR,
        min_samples=200,
        baseline=baseline,
        rebaseline_after=None if rebaseline is None else rebaseline * HOUR,
    )
    story = Story(terms.times, 200, baseline.alpha, baseline.min_windows, rebaseline, repeat)
    state = AlertState()
    hour, verdict, silenced, inhibited = 0, "clear", False, False
    for _ in range(STEPS // 25):
        if draw.random() < 0.3:  # what is so, mostly stays so
            verdict = draw.choice(["breach", "breach", "hold", "clear", "no data"])
        if draw.random() < 0.1:
            silenced = not silenced
        if draw.random() < 0.1:
            inhibited = not inhibited
        hour += draw.choice([-1, 0, 1, 1, 1, 1, 1, 2])
        hour = max(hour, 0)
        value = draw.choice([None, draw.random()]) if verdict == "no data" else draw.random()
        n = draw.choice([10, 300]) if verdict == "no data" else 300
        now = START + (hour + 1) * HOUR

        state = advance(terms, state, outcome(hour, verdict, value, n))
        story.add(hour, verdict, value, n)
        state, said = tell(
            terms, state, now, silence=int(silenced), inhibitor="graver" if inhibited else ""
        )
        heard = story.speak(hour + 1, silenced=silenced, inhibited=inhibited)
        assert list(said) == heard

        status, level = story.told()["status"]
        assert state.status == status
        known = state.baselines.get(0)
        assert (None if known is None else known.value) == (
            level if level is None else pytest.approx(level, abs=1e-12)
        )
        if heard and heard[0] in {"resolved", "rebaselined"}:
            story.seen_by_somebody = False
        if status == "firing" and draw.random() < 0.05:
            state = acknowledged(state, Acknowledgement("li", now))
            story.seen_by_somebody = True
        elif status != "firing":
            story.seen_by_somebody = story.seen_by_somebody and state.acknowledged is not None
        if draw.random() < 0.2:  # a restart
            state = STATES.validate_json(STATES.dump_json(state))


def test_one_message_an_episode_and_one_for_its_end():
    """However long it lasts."""
    steps = follow(Terms(times=2), ["breach"] * 9 + ["clear"] * 3 + ["breach"] * 3 + ["clear"])
    assert kinds(steps) == ["firing", "resolved", "firing", "resolved"]
    assert [one.state.status for one in steps[:3]] == ["pending", "firing", "firing"]
    assert [one.state.status for one in steps[9:12]] == ["resolved", "inactive", "inactive"]
    assert steps[1].state.since == START
    assert steps[-1].state.episode == 2


def test_no_data_neither_counts_nor_resets():
    """It only waits; and it ends nothing."""
    steps = follow(Terms(times=2), ["breach", "no data", "no data", "breach", "no data"])
    assert [one.state.status for one in steps] == ["pending"] * 3 + ["firing"] * 2
    assert steps[-1].state.reading.state == "no data"


def test_between_clear_and_threshold_it_stays_as_it_is():
    """Hysteresis: firing goes on, pending is over."""
    steps = follow(Terms(times=2), ["breach", "hold", "breach", "breach", "hold", "clear"])
    assert [one.state.status for one in steps] == [
        *("pending", "inactive", "pending", "firing", "firing", "resolved")
    ]


def test_the_same_window_twice_changes_nothing():
    """Nor does an older one."""
    terms = Terms(baseline=Baseline(min_windows=1))
    state = follow(terms, ["clear", "breach"])[-1].state
    assert advance(terms, state, outcome(1, "breach")) is state
    assert advance(terms, state, outcome(0, "clear")) is state


def test_a_lasting_drop_is_told_once(shared):
    """The case alert-level-shift: the baseline is frozen while the rule fires."""
    case = json.loads((shared / "cases/alert-level-shift.json").read_text(encoding="utf-8"))
    terms = Terms(min_samples=1, baseline=Baseline(alpha=case["given"]["alpha"], min_windows=5))
    state, firing, told = AlertState(), [], 0
    for hour, value in enumerate(case["given"]["series"]):
        level = state.baselines[0].value if state.baselines else None
        breach = level is not None and level - value > 0.1 + 1e-9
        found = "breach" if breach else "no data" if level is None else "clear"
        state, said = step(terms, state, outcome(hour, found, value), START + (hour + 1) * HOUR)
        told += len(said)
        firing += [hour] if state.status == "firing" else []
    assert firing == case["expect"]["firing_windows"]
    assert state.baselines[0].value == pytest.approx(case["expect"]["baseline_last"])
    assert told == case["expect"]["notifications"]


def test_a_lasting_shift_becomes_the_baseline():
    """After ``rebaseline_after``, which is told; and the new level is no trouble any more."""
    terms = Terms(
        baseline=Baseline(min_windows=2), min_samples=1, rebaseline_after=timedelta(hours=5)
    )
    state = AlertState()
    said: list[str] = []
    for hour, value in enumerate([0.8] * 3 + [0.5] * 10):
        level = state.baselines[0].value if state.baselines else None
        breach = level is not None and level - value > 0.1
        found = outcome(hour, "breach" if breach else "clear", value)
        state, more = step(terms, state, found, START + (hour + 1) * HOUR)
        said += more
    assert said == ["firing", "rebaselined"]
    assert state.status == "inactive"
    assert state.baselines[0].value == pytest.approx(0.5)


def test_nothing_is_made_the_baseline_while_nothing_is_known():
    """It fires on until there is a level to take; by hand it ends at once, with the old one."""
    terms = Terms(
        baseline=Baseline(min_windows=1), min_samples=1, rebaseline_after=timedelta(hours=1)
    )
    state = replace(
        AlertState(), status="firing", fired=START, told=Told(is_open=True, episode=1, at=START)
    )
    after = advance(terms, state, outcome(5, "no data", None, 0))
    assert after.status == "firing"
    closed = rebaselined(after, "closed")
    assert (closed.status, closed.ending) == ("resolved", "closed")
    assert tell(terms, closed, START).kinds == ("resolved",)


def test_a_silence_holds_back_what_is_told_later_if_it_is_still_so():
    """And nothing of what came and went in it."""
    end = START + 4 * HOUR
    silence = Silence(START, end, "sale", "li", "mrr-*", {"category": "refunds"}, id=7)
    terms = Terms(rule="mrr-drop", severity="P1")
    state, said = AlertState(), []
    verdicts = ["breach", "clear", "breach", "breach", "breach", "clear"]
    for hour, found in enumerate(verdicts):
        now = START + (hour + 1) * HOUR
        labels = {"category": "refunds"}
        state, more = step(terms, state, outcome(hour, found), now, [silence], labels=labels)
        said += [(hour, kind) for kind in more]
        assert state.silence == (7 if found == "breach" and now < end else 0)
    assert said == [(3, "firing"), (5, "resolved")]


def test_an_end_waits_for_the_end_of_a_silence():
    """An episode that comes back meanwhile is the same one to people."""
    terms = Terms()
    state = follow(terms, ["breach"])[-1].state
    state = tell(terms, advance(terms, state, outcome(1, "clear")), START, silence=1).state
    assert state.told.is_open
    again = advance(terms, state, outcome(2, "breach"))
    assert (again.status, again.episode) == ("firing", 1)
    assert tell(terms, again, START).kinds == ()
    assert tell(terms, advance(terms, state, outcome(2, "clear")), START).kinds == ("resolved",)


def test_reminders_only_where_the_rule_wants_them_and_nobody_has_acknowledged():
    """One a repeat interval."""
    assert kinds(follow(Terms(), ["breach"] * 50)) == ["firing"]
    terms = Terms(repeat=timedelta(hours=24))
    steps = follow(terms, ["breach"] * 50)
    assert kinds(steps) == ["firing", "repeat", "repeat"]
    seen = acknowledged(steps[10].state, Acknowledgement("li", START))
    assert tell(terms, seen, START + 40 * HOUR).kinds == ()
    over = tell(terms, advance(terms, seen, outcome(60, "clear")), START + 61 * HOUR)
    assert over.kinds == ("resolved",)
    assert over.state.acknowledged is None


def test_an_inhibited_alert_is_told_when_the_graver_one_is_over():
    """Its end is told only if its beginning was."""
    terms = Terms()
    state = advance(terms, AlertState(), outcome(0, "breach"))
    held, said = tell(terms, state, START, inhibitor="graver")
    assert (held.inhibitor, said) == ("graver", ())
    assert tell(terms, held, START).kinds == ("firing",)
    assert tell(terms, advance(terms, held, outcome(1, "clear")), START).kinds == ()


def test_late_rows_change_what_is_but_not_what_was_told():
    """The same episode goes on, with whoever acknowledged it; one that is gone ends."""
    by = Acknowledgement("li", START)
    known = acknowledged(follow(Terms(), ["clear", "breach"])[-1].state, by)
    still = replace(AlertState(), status="firing", fired=START, window=known.window)
    again = caught_up(known, still)
    assert (again.episode, again.acknowledged) == (1, by)
    assert tell(Terms(), again, START).kinds == ()
    gone = caught_up(known, replace(AlertState(), window=known.window))
    assert tell(Terms(), gone, START).kinds == ("resolved",)
    fresh = caught_up(gone := tell(Terms(), gone, START).state, still)
    assert fresh.episode == gone.episode + 1
    assert tell(Terms(), fresh, START).kinds == ("firing",)


def test_too_few_rows_teach_no_baseline():
    """Nor does a window in breach, or one without a value."""
    terms = Terms(times=3, baseline=Baseline(min_windows=1), min_samples=200)
    for found in (
        outcome(0, "no data", 0.5, 199),
        outcome(0, "breach", 0.5, 200),
        outcome(0, "no data", None, 200),
    ):
        assert advance(terms, AlertState(), found).baselines == {}
    taught = advance(terms, AlertState(), outcome(0, "no data", 0.5, 200), season=17)
    assert taught.baselines[17].value == pytest.approx(0.5)
