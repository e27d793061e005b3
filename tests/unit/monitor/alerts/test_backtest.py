"""The past again: the same episodes as a watch that was there, and who would have heard."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from ragnostic.monitor.alerts.backtest import backtest

CASE = runpy.run_path(str(Path(__file__).parent / "watch_case.py"))
Watch, Traffic, rule, book_of = CASE["Watch"], CASE["Traffic"], CASE["rule"], CASE["book_of"]
START, HOUR, DAY, N = CASE["START"], CASE["HOUR"], CASE["DAY"], CASE["N"]


def test_episodes_with_their_values(tmp_path):
    """When it would have been noticed, when it was over, and what was seen."""
    traffic = Traffic(tmp_path)
    traffic.write({0: 0.8, 1: 0.4, 2: 0.3, 3: 0.8, 5: 0.2, 6: 0.1})
    one = rule(**{"below": 0.5, "for": 2})
    found = backtest(traffic.lake, [one], START, START + 8 * HOUR, zone="UTC")
    first, second = found.episodes
    late = CASE["timedelta"](minutes=10)
    assert (first.rule, first.severity, first.since) == ("mrr-low", "P1", START + HOUR)
    assert (first.fired, first.ended) == (START + 3 * HOUR + late, START + 4 * HOUR + late)
    assert (first.value, first.reference) == (pytest.approx(0.3), 0.5)
    assert (first.n, first.how, first.told) == (N, "resolved", True)
    assert (second.ended, second.how) == (None, "")
    (watched,) = found.watched
    assert (watched.alerts, watched.windows, watched.with_data) == (1, 8, 6)
    assert found.messages == {"firing": 2, "resolved": 1}


def test_it_says_what_a_watch_would_have(tmp_path):
    """The same messages as checks that were made hour by hour."""
    rules = book_of(
        rule(drop=0.1, min_windows=3),
        rule(id="grave", below=0.3, severity="P0"),
        rule(id="sliced", below=0.5, slice="category", severity="P2"),
    )
    watch = Watch(tmp_path, rules)
    values = [0.8, 0.8, 0.8, 0.8, 0.6, 0.2, 0.2, 0.6, 0.8, 0.8, 0.2, 0.8]
    watch.traffic.write(dict(enumerate(values)))
    for name in ("a", "b"):
        watch.traffic.write(dict(enumerate(values)), "RR@5", "category", name)
    watch.run(range(len(values)))
    end = START + len(values) * HOUR
    found = backtest(watch.traffic.lake, rules.rules, START, end, zone="UTC")
    heard = [kind for _, kind, _ in watch.heard]
    assert found.messages == {kind: heard.count(kind) for kind in sorted(set(heard))}
    assert {(one.rule, one.told) for one in found.episodes} == {
        ("mrr-low", True),
        ("mrr-low", False),
        ("grave", True),
        ("sliced", False),
    }


def test_a_rule_without_data_is_listed(tmp_path):
    """Nobody takes silence for health."""
    found = backtest(Traffic(tmp_path).lake, [rule(below=0.5)], START, START + DAY, zone="UTC")
    assert [(one.rule, one.alerts, one.with_data) for one in found.watched] == [("mrr-low", 0, 0)]
    assert (found.episodes, found.messages) == ((), {})


@pytest.mark.shared
def test_the_case_of_a_lasting_drop(shared, tmp_path):
    """alert-level-shift, through roll-ups and the whole chain: told once."""
    case = json.loads((shared / "cases/alert-level-shift.json").read_text(encoding="utf-8"))
    traffic = Traffic(tmp_path)
    series = case["given"]["series"]
    traffic.write(dict(enumerate(series)))
    one = rule(drop=0.1, alpha=case["given"]["alpha"], min_windows=case["given"]["min_samples"])
    found = backtest(traffic.lake, [one], START, START + len(series) * HOUR, zone="UTC")
    (episode,) = found.episodes
    assert sum(found.messages.values()) == case["expect"]["notifications"]
    assert episode.since == START + case["expect"]["firing_windows"][0] * HOUR
    assert episode.reference == pytest.approx(case["expect"]["baseline_last"])
    assert episode.ended is None


@pytest.mark.shared
def test_the_case_of_a_drop_of_exactly_the_limit(shared, tmp_path):
    """alert-boundary: it does not fire."""
    case = json.loads((shared / "cases/alert-boundary.json").read_text(encoding="utf-8"))["given"]
    traffic = Traffic(tmp_path)
    traffic.write({0: case["yesterday"], 24: case["today"]})
    daily = rule(drop=0.1, against="yesterday", window="day")
    found = backtest(traffic.lake, [daily], START, START + 2 * DAY, zone="UTC")
    assert found.watched[0].with_data == 2
    assert found.episodes == ()


def test_every_hour_of_the_week_has_its_own_baseline(tmp_path):
    """What is usual at night is no alert; what is not usual for its hour is one."""
    traffic = Traffic(tmp_path)
    levels = {hour: 0.5 if hour % 24 < 8 else 0.8 for hour in range(3 * 168)}
    traffic.write(levels | {2 * 168 + 60: 0.5})
    seasonal = {"drop": 0.1, "min_windows": 1, "rebaseline_after": "never"}
    one = rule(**seasonal, seasonal=True)
    end = START + 3 * 168 * HOUR
    (episode,) = backtest(traffic.lake, [one], START, end, zone="UTC").episodes
    assert episode.since == START + (2 * 168 + 60) * HOUR
    plain = backtest(traffic.lake, [rule(**seasonal)], START, end, zone="UTC")
    assert [one.since for one in plain.episodes] != [episode.since]
