"""A dashboard for Grafana over what is exported: health, slices, one category."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from ragnostic.monitor.alerts.health import Health
from ragnostic.monitor.exported import (
    CONSISTENCY,
    EFFICIENCY,
    RELEVANCE,
    ROWS,
    SKEW,
    UNCHANGED,
    WAIT,
    family_of,
)
from ragnostic.monitor.exported_alerts import STATE
from ragnostic.monitor.live_metrics import QER, RCS, RDS_NORM

Language = Literal["zh", "en"]
Kind = Literal["stat", "timeseries", "table", "bargauge"]
_SCHEMA = 39
_WIDE = 24
_SOURCE = {"type": "prometheus", "uid": "${datasource}"}
_WHERE = 'window="$window",stage=~"$stage",judge=~"$judge"'
_ALL = f'{_WHERE},category=""'
_EACH = f'{_WHERE},category!=""'
_ONE = f'{_WHERE},category=~"$category"'
_COLOURS = {"red": "red", "amber": "orange", "green": "green"}


@dataclass(frozen=True, slots=True)
class _Panel:
    """``figure``: that whose colours are shown; ``legend``: labels that tell series apart."""

    title: Mapping[str, str]
    kind: Kind
    query: str
    size: tuple[int, int]
    legend: str = ""
    unit: str = "none"
    figure: str = ""


def _titles(zh: str, en: str) -> dict[str, str]:
    return {"zh": zh, "en": en}


def _relevance(metric: str, where: str = _ALL) -> str:
    return f'{RELEVANCE}{{metric="{metric}",{where}}}'


_SIGNALS = (
    ("RR@5", _relevance("RR@5"), _titles("首个有用结果 MRR@5", "First useful result: MRR@5")),
    ("R@10", _relevance("R@10"), _titles("召回率 R@10", "Recall: R@10")),
    ("AP@10", _relevance("AP@10"), _titles("平均精度 MAP@10", "Precision over ranks: MAP@10")),
    ("nDCG@10", _relevance("nDCG@10"), _titles("排序质量 nDCG@10", "Order: nDCG@10")),
    (
        QER,
        f"{EFFICIENCY}{{{_ALL}}}",
        _titles("检索效率 QER（块/秒）", "Efficiency: QER (chunks/s)"),
    ),
    (
        RDS_NORM,
        f'{SKEW}{{metric="{RDS_NORM}",{_ALL}}}',
        _titles("相关分布偏斜 RDS", "Relevance skew: RDS"),
    ),
    (
        RCS,
        f'{CONSISTENCY}{{metric="{RCS}",{_ALL}}}',
        _titles("重排一致性 RCS@10", "Rerank consistency: RCS@10"),
    ),
)
_HEALTH = (
    *(
        _Panel(title, "stat", query, (3, 5), "stage", figure=figure)
        for figure, query, title in _SIGNALS
    ),
    _Panel(_titles("触发中的告警", "Firing alerts"), "stat", f"sum({STATE} == bool 2)", (3, 5)),
    _Panel(
        _titles("七日均值", "Seven-day mean"),
        "timeseries",
        f'avg_over_time({RELEVANCE}{{metric=~"RR@5|nDCG@10|R@10",{_ALL}}}[7d])',
        (12, 8),
        "stage metric",
    ),
    _Panel(_titles("告警状态", "Alerts"), "table", f"{STATE} > 0", (12, 8), "rule"),
)
_SLICES = (
    _Panel(
        _titles("各类别 MRR@5", "MRR@5 by category"),
        "bargauge",
        f"sort({_relevance('RR@5', _EACH)})",
        (12, 9),
        "category stage",
        figure="RR@5",
    ),
    _Panel(
        _titles("各类别一天内的变化", "Change by category in a day"),
        "table",
        f"sort({_relevance('RR@5', _EACH)} - {_relevance('RR@5', _EACH)} offset 1d)",
        (12, 9),
        "category stage",
    ),
    _Panel(
        _titles("召回随深度的变化", "Recall by depth"),
        "timeseries",
        f'{RELEVANCE}{{metric=~"R@.*",{_ALL}}}',
        (12, 8),
        "stage metric",
    ),
    _Panel(
        _titles("样本数", "Rows"),
        "timeseries",
        f'{ROWS}{{metric="RR@5",{_EACH}}}',
        (12, 8),
        "category stage",
    ),
)
_DETAIL = (
    _Panel(
        _titles("所选类别的全部指标", "All metrics of the category"),
        "timeseries",
        f"{RELEVANCE}{{{_ONE}}}",
        (12, 9),
        "category stage metric",
    ),
    _Panel(
        _titles("耗时（百分位）", "Duration by percentile"),
        "timeseries",
        f"{WAIT}{{{_ONE}}}",
        (12, 9),
        "category stage percentile",
        "s",
    ),
    _Panel(
        _titles("与前一天的检索重合", "Retrieval against the day before"),
        "timeseries",
        f"{UNCHANGED}{{{_ALL}}}",
        (8, 7),
        "metric",
    ),
    _Panel(
        _titles("进入的记录", "Rows that came in"),
        "timeseries",
        "rate(ragnostic_intake_rows_total[10m])",
        (8, 7),
        "outcome",
        "cps",
    ),
    _Panel(
        _titles("等待处理", "Waiting for the worker"),
        "timeseries",
        "ragnostic_queue_waiting_records",
        (8, 7),
    ),
)
_ROWS: tuple[tuple[Mapping[str, str], tuple[_Panel, ...]], ...] = (
    (_titles("一、总体健康", "1 · Health"), _HEALTH),
    (_titles("二、分组对比", "2 · Slices"), _SLICES),
    (_titles("三、单个类别与链路", "3 · One category, and the pipeline"), _DETAIL),
)


def dashboard(
    health: Iterable[Health], language: Language = "en", pages: str = ""
) -> dict[str, Any]:
    """The JSON of the dashboard, as Grafana imports it; colours are those of ``[[health]]``.

    ``pages``: the address of Ragnostic's pages, linked from the top.
    """
    limits = {one.metric: one for one in health}
    link = {"title": "Ragnostic", "type": "link", "url": pages, "targetBlank": True}
    return {
        "uid": f"ragnostic-{language}",
        "title": _titles("Ragnostic 检索体检", "Ragnostic: retrieval check-up")[language],
        "tags": ["ragnostic"],
        "schemaVersion": _SCHEMA,
        "editable": True,
        "refresh": "1m",
        "time": {"from": "now-7d", "to": "now"},
        "links": [link] if pages else [],
        "templating": {"list": list(_variables())},
        "panels": list(_panels(limits, language)),
    }


def _variables() -> Iterator[dict[str, Any]]:
    yield {"name": "datasource", "type": "datasource", "query": "prometheus"}
    yield {
        "name": "window",
        "type": "custom",
        "query": "hour,day",
        "current": {"text": "day", "value": "day"},
    }
    for name in ("stage", "judge", "category"):
        yield {
            "name": name,
            "type": "query",
            "datasource": _SOURCE,
            "query": f"label_values({RELEVANCE}, {name})",
            "includeAll": True,
            "allValue": ".*",
            "multi": True,
            "current": {"text": "All", "value": "$__all"},
        }


def _panels(limits: Mapping[str, Health], language: Language) -> Iterator[dict[str, Any]]:
    number, top = 0, 0
    for title, panels in _ROWS:
        number += 1
        place = {"x": 0, "y": top, "w": _WIDE, "h": 1}
        yield {"id": number, "type": "row", "title": title[language], "gridPos": place}
        left, top, height = 0, top + 1, 0
        for panel in panels:
            width, tall = panel.size
            if left + width > _WIDE:
                left, top, height = 0, top + height, 0
            number += 1
            place = {"x": left, "y": top, "w": width, "h": tall}
            yield _panel(panel, number, place, limits.get(panel.figure), language)
            left, height = left + width, max(height, tall)
        top += height


def _panel(
    panel: _Panel, number: int, place: Mapping[str, int], health: Health | None, language: Language
) -> dict[str, Any]:
    legend = " ".join(f"{{{{{label}}}}}" for label in panel.legend.split())
    target: dict[str, Any] = {
        "refId": "A",
        "datasource": _SOURCE,
        "expr": panel.query,
        "legendFormat": legend,
    }
    if panel.kind in {"table", "stat", "bargauge"}:
        target["instant"] = True
    if panel.kind == "table":
        target["format"] = "table"
    return {
        "id": number,
        "type": panel.kind,
        "title": panel.title[language],
        "gridPos": dict(place),
        "datasource": _SOURCE,
        "targets": [target],
        "fieldConfig": {"defaults": _defaults(panel, health), "overrides": []},
    }


def _defaults(panel: _Panel, health: Health | None) -> dict[str, Any]:
    found: dict[str, Any] = {"unit": panel.unit, "decimals": 3 if panel.figure else None}
    known = family_of(panel.figure) if panel.figure else None
    if known is not None and known[0] == RELEVANCE:
        found |= {"min": 0, "max": 1}
    if health is not None and _limits(health):
        found |= {"thresholds": {"mode": "absolute", "steps": _steps(health)}}
    return {name: value for name, value in found.items() if value is not None}


def _steps(health: Health) -> list[dict[str, Any]]:
    """Colours from the lowest value up, as :meth:`Health.colour` gives them without a baseline."""
    ends = _limits(health)
    colours = [health.colour(ends[0] - 1.0), *(health.colour(end + 1e-6) for end in ends)]
    return [
        {"color": _COLOURS[colour], "value": end}
        for colour, end in zip(colours, [None, *ends], strict=True)
    ]


def _limits(health: Health) -> list[float]:
    """None where the colour depends on a baseline, which Grafana does not know."""
    limits = (health.healthy_above, health.healthy_below, health.red_below, health.red_above)
    return sorted({limit for limit in limits if limit is not None})
