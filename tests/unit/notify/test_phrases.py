"""The words of messages, the same as those of the pages."""

from __future__ import annotations

import string

import pytest

from ragnostic.notify.phrases import (
    _METRICS,
    _SAID,
    _SLICES,
    metric_label,
    metric_name,
    slice_label,
)
from ragnostic.report.catalogue import catalogue
from ragnostic.report.labels import heading
from ragnostic.report.labels import metric_label as page_label
from ragnostic.text import has_han


@pytest.mark.parametrize("metric", sorted(_METRICS))
def test_a_metric_has_the_name_that_the_report_gives_it(metric):
    """Where the report knows it; a reader meets one word for one thing."""
    for language, label in zip(("en", "zh"), _METRICS[metric], strict=True):
        told = page_label(metric, catalogue(language))
        if metric not in {told, "coverage"}:
            assert label.casefold() == told.casefold()


@pytest.mark.parametrize("column", sorted(_SLICES))
def test_a_slice_has_the_name_that_the_report_gives_it(column):
    """Where the report knows it."""
    told = heading(column, catalogue("zh"))
    if has_han(told) and column != "judge":
        assert slice_label(column, "zh") == told


@pytest.mark.parametrize("key", sorted(_SAID))
def test_both_languages_say_the_same(key):
    """With the same places, except where a language needs no word for it."""
    english, chinese = (
        {name for _, name, _, _ in string.Formatter().parse(text) if name} for text in _SAID[key]
    )
    assert english == chinese


@pytest.mark.parametrize(
    ("metric", "name", "label"),
    [
        ("RR(weight=soft)@5", "MRR(weight=soft)@5", "平均倒数排名"),
        ("MAP@10", "MAP@10", "平均精度均值"),
        ("latency:p95", "P95 检索耗时", "检索耗时"),
        ("mine:p99", "P99 mine", ""),
        ("coverage", "coverage", "找到相关结果的查询占比"),
        ("coverage@5", "coverage@5", "侧面覆盖率"),
        ("？", "？", ""),
    ],
)
def test_a_metric_is_named_as_its_mean_is_called(metric, name, label):
    """Parameters and cutoff stay in the name."""
    assert metric_name(metric, "zh") == name
    assert metric_label(metric, "zh") == label
