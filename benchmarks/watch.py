"""The watch on thirty simulated days: python benchmarks/watch.py [--seeds N].

Faults are planted into traffic with daily and weekly season (``watch_traffic.py``), and the shipped
rules are followed through it by the real evaluation, state machine and inhibition. Prints, for the
shipped baselines (α = 0.2) and for α = 0.8, how long after its beginning each fault was told, and
how many false alarms clean days gave. Exit code 1 where the shipped rules miss a fault, tell it
later than they may, or give more than one false P0 or P1 in thirty clean days.
"""

from __future__ import annotations

import argparse
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from ragnostic.monitor.alerts.lanes import Lane
from ragnostic.monitor.alerts.rounds import Round
from ragnostic.monitor.alerts.rule_files import RuleBook, load_rules
from ragnostic.monitor.alerts.rules import Rule
from ragnostic.monitor.alerts.states import AlertKey, Track
from ragnostic.monitor.alerts.terms import terms_of
from ragnostic.ports import Notice
from watch_traffic import DAY, HOUR, START, ZONE, Conditions, Traffic, Weather, simulated

ONSET = START + 14 * DAY
"""Midnight of the day of the faults, a Monday."""
_USUAL = Conditions()


class Told(NamedTuple):
    """A message: when, by which rule, how severe, about which slice value."""

    at: datetime
    kind: str
    rule: str
    severity: str
    value: str


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is planted. ``rule`` must tell it ``within`` of ``onset``; no rule at all
    may, where it is empty.
    """

    name: str
    weather: Weather
    rule: str = ""
    onset: datetime = ONSET
    within: timedelta = timedelta()


def from_(onset: datetime, changed: Conditions, last: timedelta = 30 * DAY) -> Weather:
    """As usual, but for some time."""
    return lambda start: changed if onset <= start < onset + last else _USUAL


def drifting(a_day: float, days: int) -> Weather:
    """MRR falls a little every day, and stays low."""

    def weather(start: datetime) -> Conditions:
        gone = min(max((start - ONSET) / DAY, 0.0), days)
        return Conditions(mrr=-a_day * gone)

    return weather


TEN = ONSET + 10 * HOUR
SURGE = Conditions(traffic=3.0, latency=1.8, mrr=-0.03, mix={"orders": 3.0, "tax": 0.5})
FAULTS = (
    Fault("slow drift of MRR, 0.03 a day", drifting(0.03, 9), "mrr-drop", within=9 * DAY),
    Fault(
        "jump of RDS(norm) after a chunking change",
        from_(TEN, Conditions(torn=0.3)),
        "rds-norm-rise",
        TEN,
        2 * DAY,
    ),
    Fault(
        "rerank jitter after an upgrade, strong",
        from_(TEN, Conditions(steady=0.72)),
        "rcs-unstable",
        TEN,
        4 * HOUR,
    ),
    Fault(
        "rerank jitter after an upgrade, mild",
        from_(TEN, Conditions(steady=0.82)),
        "rcs-three-nights",
        TEN,
        4 * DAY,
    ),
    Fault(
        "QER collapse under load",
        from_(TEN, Conditions(traffic=2.5, latency=4.0, used=0.7), 6 * HOUR),
        "qer-collapse",
        TEN,
        2 * HOUR,
    ),
    Fault(
        "one category gone bad, 13 % of traffic",
        from_(TEN, Conditions(mrr_of={"travel": -0.35})),
        "mrr-drop-category",
        TEN,
        2 * DAY,
    ),
    Fault("sale-day surge, three times the traffic", from_(ONSET + 4 * DAY, SURGE, DAY)),
)
TOO_SLOW = Fault(
    "drift of MRR, 0.01 a day: below α times the limit", drifting(0.01, 16), "mrr-drop"
)
"""Shown, not judged: what no baseline that follows can see."""


def rules_with(alpha: float | None) -> RuleBook:
    """The shipped rules, with another weight for all baselines."""
    if alpha is None:
        return load_rules(None)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "alerts.toml"
        path.write_text(f"[baseline]\nalpha = {alpha}\n", encoding="utf-8")
        return load_rules(path)


def followed(rules: RuleBook, traffic: Traffic) -> list[Told]:
    """Every message of thirty days, each window looked at when it has ended."""
    told: list[Told] = []

    def speak(notices: Sequence[Notice], now: datetime) -> None:
        told.extend(
            Told(now, one.kind, one.rule, one.severity, "/".join(one.slice.values()))
            for one in notices
        )

    lanes = {lane.key: lane for rule in rules.enabled for lane in _lanes(rule, traffic)}
    Round(lanes, (), speak).go_on(lambda end: end, warm_up=False)
    return told


def _lanes(rule: Rule, traffic: Traffic) -> Iterable[Lane]:
    figures = {name: traffic.series(rule.window, name, rule.slice) for name in rule.figures}
    for value in figures[rule.metric]:
        key = AlertKey(rule.id, "gold", "rerank", rule.slice, value)
        points = {name: found[value] for name, found in figures.items()}
        yield Lane(rule, terms_of(rule), key, key.labels, points, ZONE, Track())


def begun(told: Iterable[Told]) -> list[Told]:
    """The beginnings of episodes."""
    return [one for one in told if one.kind == "firing"]


def delay(fault: Fault, told: Iterable[Told]) -> timedelta | None:
    """From the beginning of a fault to the message of its rule; None where there was none."""
    after = [one.at for one in begun(told) if one.rule == fault.rule and one.at > fault.onset]
    return after[0] - fault.onset if after else None


def false_alarms(told: Iterable[Told], severities: Iterable[str] = ("P0", "P1")) -> list[Told]:
    """What fired on days on which nothing was wrong."""
    return [one for one in begun(told) if one.severity in severities]


class Results(NamedTuple):
    """Of one fault: a delay a seed, and what else was told, a list a seed."""

    fault: Fault
    delays: list[timedelta | None]
    others: list[list[Told]]


def planted(rules: Sequence[RuleBook], fault: Fault, seeds: Iterable[int]) -> list[Results]:
    """A fault under several rule books, on the same traffic."""
    results = [Results(fault, [], []) for _ in rules]
    for seed in seeds:
        traffic = simulated(seed, fault.weather)
        for book, found in zip(rules, results, strict=True):
            told = followed(book, traffic)
            found.delays.append(delay(fault, told))
            found.others.append([one for one in begun(told) if one.rule != fault.rule])
    return results


def _hours(value: timedelta) -> str:
    hours = value / HOUR
    return f"{hours:.0f} h" if hours < 48 else f"{hours / 24:.1f} d"


def _row(found: Results) -> str:
    fault, seen = found.fault, [one for one in found.delays if one is not None]
    others = sum(map(len, found.others))
    if not fault.rule:
        return f"| {fault.name} | none | | | {others} |"
    spans = (statistics.median(seen), min(seen), max(seen)) if seen else ()
    told = f"{_hours(spans[0])} ({_hours(spans[1])} to {_hours(spans[2])})" if seen else "never"
    share = f"{len(seen)} of {len(found.delays)}"
    return f"| {fault.name} | `{fault.rule}` | {share} | {told} | {others} |"


def _passes(found: Results) -> bool:
    if not found.fault.rule:
        return not any(found.others)
    return all(one is not None and one <= found.fault.within for one in found.delays)


def main() -> int:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    seeds = range(1, parser.parse_args().seeds + 1)
    alphas = (None, 0.8)
    books = [rules_with(alpha) for alpha in alphas]
    tables = list(
        zip(*(planted(books, fault, seeds) for fault in (*FAULTS, TOO_SLOW)), strict=True)
    )
    months = (simulated(seed, lambda _: _USUAL) for seed in seeds)
    clean = list(zip(*([followed(book, one) for book in books] for one in months), strict=True))
    for alpha, table, told in zip(alphas, tables, clean, strict=True):
        print(f"\n### {'Shipped rules (α = 0.2)' if alpha is None else f'α = {alpha}'}\n")
        print("| planted | rule | told in | after (median, range) | other messages |")
        print("| --- | --- | --- | --- | --- |")
        print("\n".join(map(_row, table)))
        grave, light = ([len(false_alarms(one, kinds)) for one in told] for kinds in _KINDS)
        print(
            f"\n{len(told)} × 30 clean days: {sum(grave)} false P0 or P1 "
            f"(at most {max(grave)} in 30 days), {sum(light)} P2."
        )
    shipped = all(map(_passes, tables[0][: len(FAULTS)]))
    return 0 if shipped and max(len(false_alarms(one)) for one in clean[0]) <= 1 else 1


_KINDS = (("P0", "P1"), ("P2",))

if __name__ == "__main__":
    sys.exit(main())
