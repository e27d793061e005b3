"""The words of messages, in both languages: what is measured, what is sliced by, what is said."""

from __future__ import annotations

import re
from typing import Literal

Language = Literal["zh", "en"]

_MEANS = {"RR": "MRR", "AP": "MAP"}
_METRICS: dict[str, tuple[str, str]] = {
    "AP": ("mean average precision", "平均精度均值"),
    "F1": ("F1", "F1 值"),
    "Judged": ("judged share", "已标注占比"),
    "P": ("precision", "精确率"),
    "QER": ("query efficiency ratio", "检索效率比"),
    "R": ("recall", "召回率"),
    "RBO": ("rank-biased overlap", "排序重叠度"),
    "RCS": ("rerank consistency", "重排一致性"),
    "RDS": ("relevance distribution skew", "相关性分布偏斜"),
    "RR": ("mean reciprocal rank", "平均倒数排名"),
    "RetrievalOverlap": ("retrieval overlap with the day before", "检索结果与前一天的重合度"),
    "RetrievalRBO": ("retrieval rank overlap with the day before", "检索排序与前一天的重合度"),
    "Rprec": ("R-precision", "R-精确率"),
    "Success": ("hit rate", "命中率"),
    "bpref": ("binary preference", "二元偏好"),
    "coverage": ("queries with a relevant chunk", "找到相关结果的查询占比"),
    "empty": ("retrievals without results", "空结果占比"),
    "failed": ("failed retrievals", "失败占比"),
    "latency": ("time of a retrieval", "检索耗时"),
    "nDCG": ("ranking quality", "归一化折损累计增益"),
}
_SLICES: dict[str, tuple[str, str]] = {
    "category": ("category", "类别"),
    "hour": ("hour", "小时"),
    "judge": ("judge", "评判方式"),
    "language": ("language", "语言"),
    "length": ("query length", "查询长度"),
    "model_version": ("model version", "模型版本"),
    "perturbation": ("perturbation", "扰动方式"),
    "service": ("service", "服务"),
    "weekday": ("weekday", "星期"),
}
_SAID: dict[str, tuple[str, str]] = {
    "baseline": ("baseline", "基线"),
    "yesterday": ("yesterday", "昨天"),
    "last week": ("last week", "上周"),
    "limit": ("limit", "阈值"),
    "fell": ("{metric} fell", "{metric} 下降"),
    "rose": ("{metric} rose", "{metric} 上升"),
    "below": ("{metric} is too low", "{metric} 过低"),
    "above": ("{metric} is too high", "{metric} 过高"),
    "changed": ("alert on {metric}", "{metric} 告警"),
    "title repeat": ("still: {state}", "仍未恢复：{state}"),
    "title resolved": ("resolved: {metric}", "已恢复：{metric}"),
    "title rebaselined": ("new baseline: {metric}", "已改用新基线：{metric}"),
    "title test": ("test: {state}", "测试：{state}"),
    "is below": (
        "{named} is {value}, below its limit of {reference}.",
        "{named}为 {value}，低于阈值 {reference}。",
    ),
    "is above": (
        "{named} is {value}, above its limit of {reference}.",
        "{named}为 {value}，高于阈值 {reference}。",
    ),
    "fell from": (
        "{named} fell from {reference} ({against}) to {value}: {change}.",
        "{named}由 {reference}（{against}）降至 {value}，变化 {change}。",
    ),
    "rose from": (
        "{named} rose from {reference} ({against}) to {value}: {change}.",
        "{named}由 {reference}（{against}）升至 {value}，变化 {change}。",
    ),
    "is compared": (
        "{named} is {value} ({against}: {reference}).",
        "{named}为 {value}（{against}：{reference}）。",
    ),
    "is alone": ("{named} is {value}.", "{named}为 {value}。"),
    "is nothing": ("{named} has no value in this window.", "{named}在该时段没有数值。"),
    "back": (
        "{named} is back at {value} ({against}: {reference}).",
        "{named}已恢复至 {value}（{against}：{reference}）。",
    ),
    "over": ("The alert on {named} is over.", "{named}的告警已结束。"),
    "rebaselined": (
        "{named} has stayed at {value}: its new baseline (before: {reference}). Alert closed.",
        "{named}长期保持在 {value}，今后以此为基线（原为 {reference}）。告警已关闭。",
    ),
    "prefix repeat": ("Still firing. ", "仍在告警。"),
    "prefix test": (
        "This is only a test; nothing is wrong. ",
        "这是一条测试消息，并无异常。",
    ),
    "measured": ("Measured", "测量值"),
    "interval": (
        "{value} (95% interval {low} to {high}, n = {n})",
        "{value}（95% 区间 {low} 至 {high}，n = {n}）",
    ),
    "counted": ("{value} (n = {n})", "{value}（n = {n}）"),
    "window": ("Window", "时段"),
    "since": ("Since", "开始于"),
    "stage": ("Stage", "阶段"),
    "worst query": ("Worst example", "最差查询示例"),
    "likely cause": ("Likely cause", "可能原因"),
    "owner": ("Owner", "负责人"),
    "rule": ("Rule", "规则"),
    "runbook": ("What to do", "处理手册"),
    "link": ("Details", "详情"),
    "colon": (": ", "："),
    "left out": ("… ({count} more characters)", "…（略去 {count} 字）"),
    "several": ("Ragnostic: {count} notices ({kinds})", "Ragnostic：{count} 条通知（{kinds}）"),
    "comma": (", ", "，"),
    "not shown": (
        "{count} more ({kinds}), too many to be shown here: ragnostic alerts list shows all.",
        "另有 {count} 条（{kinds}）过多未显示，可用 ragnostic alerts list 查看全部。",
    ),
    "cut": ("… (cut: the whole was too long)", "…（内容过长，已截断）"),
}
_FAMILY = re.compile(r"[A-Za-z0-9]+")
_PERCENTILE = re.compile(r"([A-Za-z0-9_]+):(p[0-9]{1,3})")


def said(key: str, language: Language, **values: object) -> str:
    """A phrase of this catalogue in a language, its places filled.

    >>> said("rule", "zh"), said("title resolved", "en", metric="MRR@5")
    ('规则', 'resolved: MRR@5')
    """
    return _SAID[key][language == "zh"].format(**values)


def metric_name(metric: str, language: Language) -> str:
    """The short name of a metric as its mean is called (METRICS 1.1); a percentile in words.

    >>> metric_name("RR@5", "en"), metric_name("latency:p95", "zh")
    ('MRR@5', 'P95 检索耗时')
    """
    percentile = _PERCENTILE.fullmatch(metric)
    if percentile:
        family = metric_label(percentile[1], language) or percentile[1]
        return f"{percentile[2].upper()} {family}"
    match = _FAMILY.match(metric)
    name = match[0] if match else ""
    return _MEANS.get(name, name) + metric[len(name) :]


def metric_label(metric: str, language: Language) -> str:
    """What a metric is in words, or nothing.

    >>> metric_label("nDCG(gain=exp)@10", "zh"), metric_label("mine", "zh")
    ('归一化折损累计增益', '')
    """
    match = _FAMILY.match(metric)
    family = match[0] if match else ""
    if family == "coverage" and metric != family:  # of facets: another thing
        return "侧面覆盖率" if language == "zh" else "facet coverage"
    plain = {mean: name for name, mean in _MEANS.items()}.get(family, family)
    return _METRICS.get(plain, ("", ""))[language == "zh"]


def slice_label(column: str, language: Language) -> str:
    """What is sliced by; the column's own name where it has no other.

    >>> slice_label("category", "zh"), slice_label("tenant", "zh")
    ('类别', 'tenant')
    """
    return _SLICES.get(column, (column, column))[language == "zh"]
