"""The rules of a store as a file of Prometheus: recordings, alerts, and words for people."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import timedelta

from ragnostic.exporters.prometheus_rules import Alerting, Group, literal, rules_text, span
from ragnostic.monitor.alerts import promql
from ragnostic.monitor.alerts.rules import Condition, Rule
from ragnostic.monitor.exported_alerts import CHECKED, REFERENCE, VALUE
from ragnostic.monitor.exported_figures import WINDOW_END
from ragnostic.notify.phrases import Language, metric_name, said

_SILENT = timedelta(hours=3)
"""The exporter gives the hour that has closed, and so never lags two."""
_UNCHECKED = timedelta(hours=50)
"""A store whose rules all look at days may be checked once a day, at any time of it."""
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
    "is": ("{metric} of {window} is {value}.", "{window}的 {metric} 为 {value}。"),
    "changed": (
        "{metric} of {window} changed by {value} against {against}.",
        "{window}的 {metric} 与{against}相比变化 {value}。",
    ),
    "held": (
        "{metric} of {window} is {value}, held against {reference}.",
        "{window}的 {metric} 为 {value}，对照值为 {reference}。",
    ),
    "below": ("Fires below {limit}{more}.", "低于 {limit} 时告警{more}。"),
    "above": ("Fires above {limit}{more}.", "高于 {limit} 时告警{more}。"),
    "drop": ("Fires after a fall by more than {limit}{more}.", "降幅超过 {limit} 时告警{more}。"),
    "rise": ("Fires after a rise by more than {limit}{more}.", "升幅超过 {limit} 时告警{more}。"),
    "while below": (" while {metric} is below {limit}", "，且 {metric} 低于 {limit}"),
    "while above": (" while {metric} is above {limit}", "，且 {metric} 高于 {limit}"),
    "times": (" in {times} windows in a row", "，须连续 {times} 个窗口"),
    "clear": (", ends at {clear}", "，回到 {clear} 时解除"),
    "cause": ("Likely cause: {cause}.", "可能原因：{cause}。"),
    "silent": (
        "Prometheus gets no new figures of Ragnostic.",
        "Prometheus 没有收到 Ragnostic 的新指标。",
    ),
    "silent more": (
        "The exporter is down, or its roll-ups stand still: no other alert can begin.",
        "导出程序已停止，或汇总数据没有更新。在此期间，Ragnostic 的其他告警都无法触发。",
    ),
    "unchecked": (
        "ragnostic alerts check has not run.",
        "ragnostic alerts check 没有运行。",
    ),
    "unchecked more": (
        "The alerts that depend on its state stand still.",
        "依赖其状态的告警处于停滞状态。",
    ),
}


@dataclass(frozen=True, slots=True)
class Choices:
    """How the rules are written. ``settle``: how much longer than its windows a breach must be
    seen, and an end; longer than the pause between two exports. ``runbooks``: what stands before
    the address of a runbook that is no address yet. ``by_state``: all of them by the state that
    ``alerts check`` exports.
    """

    language: Language = "en"
    settle: timedelta = timedelta(minutes=10)
    runbooks: str = ""
    by_state: bool = False


def prometheus_alerts(rules: Iterable[Rule], choices: Choices) -> str:
    """The file for these rules, which are switched on.

    >>> text = prometheus_alerts([Rule(id="a", metric="RR@5", below=0.5)], Choices())
    >>> 'alert: "a"' in text
    True
    """
    kept = list(rules)
    groups = [_group(rule, choices) for rule in kept]
    by_state = any(_by_state(rule, choices) for rule in kept)
    own = Group("ragnostic", list(_own(choices, checked=by_state)))
    head = _HEAD[choices.language].format(settle=span(choices.settle))
    return rules_text([*groups, own], head)


def _by_state(rule: Rule, choices: Choices) -> bool:
    return choices.by_state or bool(promql.hindrance(rule))


def _group(rule: Rule, choices: Choices) -> Group:
    language = choices.language
    labels = {"severity": rule.severity, "rule": rule.id}
    if not _by_state(rule, choices):
        alert = Alerting(
            rule.id,
            promql.expression(rule),
            promql.lasting(rule, choices.settle),
            choices.settle,
            labels,
            dict(_annotations(rule, choices, _measured(rule, language))),
        )
        return Group(rule.id, [*promql.recordings(rule), alert])
    why = promql.hindrance(rule)
    reason = [_said("why", language, why=_said(why, language))] if why else []
    comment = "\n".join([_said("state", language), *reason])
    labels |= {"metric": rule.metric}
    annotations = dict(_annotations(rule, choices, _held(rule, language)))
    expr = promql.state_expression(rule)
    # The window was final when it was checked; only a scrape that failed is bridged.
    alert = Alerting(rule.id, expr, timedelta(), choices.settle, labels, annotations)
    return Group(rule.id, [alert], comment)


def _annotations(rule: Rule, choices: Choices, found: str) -> Iterator[tuple[str, str]]:
    language = choices.language
    name = metric_name(rule.metric, language)
    summary = dict(rule.summary).get(language) or said("changed", language, metric=name)
    yield "summary", literal(summary)
    sentences = [found, _limits(rule, language)]
    if cause := dict(rule.likely_cause).get(language):
        sentences.append(_said("cause", language, cause=literal(cause)))
    yield "description", ("" if language == "zh" else " ").join(sentences)
    if rule.owner:
        yield "owner", literal(rule.owner)
    if rule.runbook:
        yield "runbook_url", literal(_runbook(rule.runbook, choices.runbooks))


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
        metric=metric_name(rule.metric, language),
        window=_said(rule.window, language),
        value=f"{{{{ $value | {how} }}}}",
        against=said(rule.compared_with, language),
    )
    return f"{{{{ with $labels.category }}}}{{{{ . }}}}: {{{{ end }}}}{text}"


def _held(rule: Rule, language: Language) -> str:
    """What the check found; Prometheus asks itself for the figures."""
    text = _said(
        "held",
        language,
        metric=metric_name(rule.metric, language),
        window=_said(rule.window, language),
        value=_asked(VALUE, rule),
        reference=_asked(REFERENCE, rule),
    )
    return f"{{{{ with $labels.value }}}}{{{{ . }}}}: {{{{ end }}}}{text}"


def _asked(family: str, rule: Rule) -> str:
    names = ("instance", "job", "stage", "judge", "value")
    wanted = ",".join(f"{name}=%q" for name in names)
    given = " ".join(f"$labels.{name}" for name in names)
    query = f'printf "{family}{{rule=\\"{rule.id}\\",{wanted}}}" {given} | query'
    found = '{{ . | first | value | printf "%.4g" }}'
    return f"{{{{ with {query} }}}}{found}{{{{ else }}}}–{{{{ end }}}}"


def _limits(rule: Rule, language: Language) -> str:
    more = "".join(_condition(one, language) for one in rule.conditions)
    if rule.times > 1:
        more += _said("times", language, times=rule.times)
    if rule.clear is not None:
        more += _said("clear", language, clear=f"{rule.clear:g}")
    limit = f"{rule.limit:.4g}" if not rule.relative else f"{rule.limit * 100:.4g} %"
    return _said(rule.comparison, language, limit=limit, more=more)


def _condition(condition: Condition, language: Language) -> str:
    limit = condition.below if condition.above is None else condition.above
    name = metric_name(condition.metric, language)
    return _said(f"while {condition.comparison}", language, metric=name, limit=f"{limit:g}")


def _own(choices: Choices, *, checked: bool) -> Iterator[Alerting]:
    """Alerts on Ragnostic itself: without figures no rule can fire."""
    by_family = [("silent", WINDOW_END, _SILENT)]
    by_family += [("unchecked", CHECKED, _UNCHECKED)] if checked else []
    for key, family, longest in by_family:
        seconds = int(longest.total_seconds())
        yield Alerting(
            f"ragnostic-{key}",
            f"absent({family})\nor time() - max by ({promql.STORE}) ({family}) > {seconds}",
            choices.settle,
            labels={"severity": "P1"},
            annotations={
                "summary": _said(key, choices.language),
                "description": _said(f"{key} more", choices.language),
            },
        )


def _said(key: str, language: Language, **values: object) -> str:
    return _WORDS[key][language == "zh"].format(**values)
