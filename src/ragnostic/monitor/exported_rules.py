"""The alert rules of a store as rules of Prometheus, over what is exported, with words for people.

What PromQL can say of exported figures it says (:mod:`ragnostic.monitor.exported_promql`); the rest
(a baseline that learns, a change beyond its interval, slices other than categories, percentiles
that are not exported) is an alert on the state that Ragnostic's own check exports.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from ragnostic.exporters.prometheus_rules import (
    AlertingRule,
    RecordingRule,
    RuleGroup,
    literal,
    rules_text,
    span,
)
from ragnostic.monitor import exported_promql as promql
from ragnostic.monitor.alerts.rules import Condition, Rule
from ragnostic.monitor.exported import RELEVANCE, WINDOW_END
from ragnostic.monitor.exported_alerts import CHECKED, LABELS, REFERENCE, VALUE
from ragnostic.monitor.live_store import LiveStore
from ragnostic.monitor.rollups.series import read_series
from ragnostic.notify.phrases import Language, metric_name, said

_LOOKED_BACK = timedelta(days=30)
_LATE = {"hour": timedelta(hours=3), "day": timedelta(days=2)}
_UNCHECKED = timedelta(hours=50)
"""A store whose rules all look at days may be checked once a day, at any time of it."""
_WEEK = f'avg_over_time({RELEVANCE}{{window="day",category=""}}[7d])'
_HEAD = {
    "en": """\
Made by: ragnostic export rules. Change the alert rules of Ragnostic, not this file.

A breach must be seen {settle} longer than its windows (for), and an end as long
(keep_firing_for): in that time every exporter has gone on to the next window.
Where for is longer, several windows in a row must be in breach; other than in
ragnostic alerts check, a window without data makes that count begin anew.
A firing alert without data goes on, for 7 days at most.""",
    "zh": """\
由 ragnostic export rules 生成。请修改 Ragnostic 的告警规则，不要改动本文件。

越限须在其窗口之外再持续 {settle}（for），恢复也须持续同样时长（keep_firing_for）：
在此期间，导出程序必已转到下一个窗口。
for 更长的规则要求连续多个窗口越限；与 ragnostic alerts check 不同的是，
遇到没有数据的窗口，计数会重新开始。
告警期间若没有数据，告警继续，最长 7 天。""",
}
_WORDS: dict[str, tuple[str, str]] = {
    "state": (
        "By the state that ragnostic alerts check exports, which has to run.",
        "依据 ragnostic alerts check 导出的状态，须定时运行它。",
    ),
    "why": ("PromQL cannot express {why}.", "PromQL 无法表达{why}。"),
    "baseline": ("a baseline that is frozen while the rule fires", "在告警期间冻结的基线"),
    "interval": ("an interval", "置信区间"),
    "slice": ("a slice that is not exported", "未导出的切片"),
    "figure": ("a figure that is not exported", "未导出的指标"),
    "hour": ("the last hour", "最近一小时"),
    "day": ("the last day", "最近一天"),
    "is": ("{metric} of {window} is {value}.", "{window}的 {metric}为 {value}。"),
    "changed": (
        "{metric} of {window} changed by {value} against {against}.",
        "{window}的 {metric}与{against}相比变化 {value}。",
    ),
    "held": (
        "{metric} of {window} is {value}, held against {reference}.",
        "{window}的 {metric}为 {value}，对照值为 {reference}。",
    ),
    "below": ("Fires below {limit}{also}{more}.", "低于 {limit}{also} 时告警{more}。"),
    "above": ("Fires above {limit}{also}{more}.", "高于 {limit}{also} 时告警{more}。"),
    "drop": (
        "Fires after a fall by more than {limit}{also}{more}.",
        "降幅超过 {limit}{also} 时告警{more}。",
    ),
    "rise": (
        "Fires after a rise by more than {limit}{also}{more}.",
        "升幅超过 {limit}{also} 时告警{more}。",
    ),
    "while below": (" while {metric} is below {limit}", " 且 {metric}低于 {limit}"),
    "while above": (" while {metric} is above {limit}", " 且 {metric}高于 {limit}"),
    "times": (" in {times} windows in a row", "，须连续 {times} 个窗口"),
    "clear": (", ends at {clear}", "，回到 {clear} 时解除"),
    "cause": ("Likely cause: {cause}.", "可能原因：{cause}。"),
    "absent": (
        "Prometheus gets no figures of Ragnostic.",
        "Prometheus 没有收到 Ragnostic 的指标。",
    ),
    "late": (
        "The figures of {window} are old: nobody exports them.",
        "{window}的指标已经过时，没有新的导出。",
    ),
    "unchecked": (
        "ragnostic alerts check has not run: the alerts that go by its state stand still.",
        "ragnostic alerts check 没有运行，依据其状态的告警处于停滞状态。",
    ),
}


@dataclass(frozen=True, slots=True)
class Choices:
    """How the rules are written. ``base`` stands before the pages of ``runbook`` that are no
    address yet. ``settle``: how much longer than its windows a breach must be seen, and an end;
    longer than the pause between two exports. ``by_state``: all by the state of the check.
    """

    language: Language = "en"
    base: str = ""
    settle: timedelta = timedelta(minutes=10)
    by_state: bool = False


def prometheus_rules(
    rules: Iterable[Rule], stages: Mapping[str, str], choices: Choices
) -> list[RuleGroup]:
    """A group for each rule (its figures are recorded before its alert looks at them), one of
    weekly means, and one of alerts on Ragnostic itself.

    ``stages``: figure → the stage that a rule without one means, the last that the store has rows
    of; where it is not known, each stage has an alert of its own.
    """
    kept = list(rules)
    groups = [_group(rule, rule.stage or stages.get(rule.metric, ""), choices) for rule in kept]
    weekly = RecordingRule("ragnostic:relevance_ratio:avg7d", _WEEK)
    checked = any(_by_state(rule, choices) for rule in kept)
    return [
        *groups,
        RuleGroup("ragnostic-weeks", [weekly]),
        RuleGroup("ragnostic-itself", list(_on_itself(choices, checked=checked))),
    ]


def prometheus_file(rules: Iterable[Rule], stages: Mapping[str, str], choices: Choices) -> str:
    """The same as a file, which says at its head what holds for all of it."""
    head = _HEAD[choices.language].format(settle=span(choices.settle))
    return rules_text(prometheus_rules(rules, stages, choices), head)


def last_stages(store: LiveStore, figures: Iterable[str], now: datetime) -> dict[str, str]:
    """Figure → the stage that rules without one look at: the last one of the past weeks. Figures
    without rows are left out.
    """
    found = {}
    for figure in figures:
        keys = read_series(
            store.lake, figure, window="day", start=now - _LOOKED_BACK, end=now, zone=store.zone
        )
        stages = {key.stage for key in keys}
        if len(stages) == 1:
            found[figure] = stages.pop()
    return found


def _by_state(rule: Rule, choices: Choices) -> bool:
    return choices.by_state or bool(promql.hindrance(rule))


def _group(rule: Rule, stage: str, choices: Choices) -> RuleGroup:
    language = choices.language
    labels = {"severity": rule.severity, "rule": rule.id}
    labels |= {"owner": literal(rule.owner)} if rule.owner else {}
    if not _by_state(rule, choices):
        alert = AlertingRule(
            promql.alert_name(rule.id),
            promql.expression(rule),
            promql.lasting(rule, choices.settle),
            labels,
            dict(_annotations(rule, choices, _measured(rule, language))),
            choices.settle,
        )
        return RuleGroup(rule.id, [*promql.recordings(rule, stage), alert])
    why = promql.hindrance(rule)
    reason = [_said("why", language, why=_said(why, language))] if why else []
    comment = "\n".join([_said("state", language), *reason])
    labels |= {"metric": rule.metric}
    annotations = dict(_annotations(rule, choices, _held(rule, language)))
    expr = promql.state_expression(rule)
    # The window was final when it was checked; only a scrape that failed is bridged.
    name = promql.alert_name(rule.id)
    alert = AlertingRule(name, expr, timedelta(), labels, annotations, choices.settle)
    return RuleGroup(rule.id, [alert], comment)


def _annotations(rule: Rule, choices: Choices, found: str) -> Iterator[tuple[str, str]]:
    language = choices.language
    name = metric_name(rule.metric, language)
    summary = dict(rule.summary).get(language) or said("changed", language, metric=name)
    yield "summary", literal(summary)
    sentences = [found, _limits(rule, language)]
    if cause := dict(rule.likely_cause).get(language):
        sentences.append(_said("cause", language, cause=literal(cause)))
    yield "description", ("" if language == "zh" else " ").join(sentences)
    if rule.runbook:
        yield "runbook_url", literal(_runbook(rule.runbook, choices.base))


def _runbook(runbook: str, base: str) -> str:
    if not base or "://" in runbook:
        return runbook
    return f"{base.rstrip('/')}/{runbook.lstrip('/')}"


def _measured(rule: Rule, language: Language) -> str:
    """What Prometheus found; the places are filled by Prometheus."""
    how = "humanizePercentage" if rule.relative else 'printf "%.4g"'
    key = "is" if rule.compared_with == "limit" else "changed"
    text = _said(
        key,
        language,
        metric=_named(rule.metric, language),
        window=_said(rule.window, language),
        value=f"{{{{ $value | {how} }}}}",
        against=said(rule.compared_with, language),
    )
    return _prefix("category", language) + text


def _held(rule: Rule, language: Language) -> str:
    """What the check found; Prometheus asks itself for the figures."""
    text = _said(
        "held",
        language,
        metric=_named(rule.metric, language),
        window=_said(rule.window, language),
        value=_asked(VALUE, rule),
        reference=_asked(REFERENCE, rule),
    )
    return _prefix("slice", language) + text


def _named(metric: str, language: Language) -> str:
    """The name of a figure in a sentence: Chinese has a space only beside Latin letters."""
    name = metric_name(metric, language)
    return f"{name} " if language == "zh" and name[-1:].isascii() else name


def _prefix(label: str, language: Language) -> str:
    """The value of a label before a sentence, where there is any."""
    return f"{{{{ with $labels.{label} }}}}{{{{ . }}}}{said('colon', language)}{{{{ end }}}}"


def _asked(family: str, rule: Rule) -> str:
    names = ["instance", "job", *(name for name in LABELS if name != "rule")]
    wanted = ",".join(f"{name}=%q" for name in names)
    given = " ".join(f"$labels.{name}" for name in names)
    query = f'printf "{family}{{rule=\\"{rule.id}\\",{wanted}}}" {given} | query'
    found = '{{ . | first | value | printf "%.4g" }}'
    return f"{{{{ with {query} }}}}{found}{{{{ else }}}}–{{{{ end }}}}"


def _limits(rule: Rule, language: Language) -> str:
    also = "".join(_condition(one, language) for one in rule.conditions)
    more = ""
    if rule.times > 1:
        more = _said("times", language, times=rule.times)
    if rule.clear is not None:
        more += _said("clear", language, clear=f"{rule.clear:g}")
    limit = f"{rule.limit:.4g}" if not rule.relative else f"{rule.limit * 100:.4g} %"
    return _said(rule.comparison, language, limit=limit, also=also, more=more)


def _condition(condition: Condition, language: Language) -> str:
    limit = condition.below if condition.above is None else condition.above
    name = _named(condition.metric, language)
    return _said(f"while {condition.comparison}", language, metric=name, limit=f"{limit:g}")


def _on_itself(choices: Choices, *, checked: bool) -> Iterator[AlertingRule]:
    """Silence is not health: figures that do not come, or that are old."""
    language, wait = choices.language, max(choices.settle, timedelta(minutes=15))
    labels = {"severity": "P1"}
    words = {"summary": _said("absent", language)}
    yield AlertingRule("RagnosticAbsent", f"absent({WINDOW_END})", wait, labels, words)
    for window, longest in _LATE.items():
        words = {"summary": _said("late", language, window=_said(window, language))}
        old = f'time() - {WINDOW_END}{{window="{window}"}} > {longest.total_seconds():.0f}'
        yield AlertingRule("RagnosticLate", old, wait, labels | {"window": window}, words)
    if checked:
        words = {"summary": _said("unchecked", language)}
        old = f"absent({CHECKED}) or time() - {CHECKED} > {_UNCHECKED.total_seconds():.0f}"
        yield AlertingRule("RagnosticUnchecked", old, wait, labels, words)


def _said(key: str, language: Language, **values: object) -> str:
    return _WORDS[key][language == "zh"].format(**values)
