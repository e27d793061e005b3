"""The catalogue on the command line."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.cli.metrics import describe
from ragnostic.errors import UsageError
from ragnostic.metrics import Metric, definitions, signals
from ragnostic.metrics.registry import Definition


def metrics(*arguments):
    """The command's result."""
    return CliRunner().invoke(cli.app, ["metrics", *arguments])


def test_the_list_names_every_metric_with_range_and_purpose():
    """One line each, below a head."""
    lines = metrics().stdout.splitlines()
    found = list(definitions())
    live = list(signals())
    assert len(lines) == len(found) + len(live) + 1
    for line, one in zip(lines[1 + len(found) :], live, strict=True):
        assert line.startswith(one.write)
        assert one.purpose in line
    for line, definition in zip(lines[1:], found, strict=False):
        assert line.startswith(definition.name)
        assert definition.purpose in line
        assert "0 to 1" in line


@pytest.mark.parametrize("name", [d.name for d in definitions()])
def test_one_metric_is_explained(name):
    """By its bare name and by a full one."""
    for spelling in (name, f"{name}@5", f"{name.lower()}(x=y)"):
        assert metrics(spelling).stdout.startswith(f"{name}: ")


@pytest.mark.parametrize("one", list(signals()), ids=lambda one: one.name)
def test_one_signal_is_explained(one):
    """What it needs, and where it is defined."""
    lines = metrics(one.write.partition(" ")[0]).stdout.splitlines()
    assert lines[0] == f"{one.name}: {one.purpose}"
    assert f"  needs       {one.needs}" in lines


def test_a_signal_is_no_metric_of_a_ranking():
    """Said where somebody asks for it offline, with where to look instead."""
    with pytest.raises(UsageError, match="QER is a signal of live traffic: it needs durations"):
        Metric.parse("qer@5")


def test_an_alias_finds_its_metric():
    """top1 is Success@1."""
    assert metrics("top1").stdout.startswith("Success: ")
    assert metrics("mrr@5").stdout.startswith("RR: ")


def test_what_is_said_of_one_metric():
    """Aliases and allowed words."""
    lines = metrics("map(norm=min)@10").stdout.splitlines()
    assert lines[0].startswith("AP: ")
    assert "  write       AP[@k]" in lines
    assert "  also        map" in lines
    assert "  parameter   norm = relevant | min | hits (default relevant)" in lines
    assert "  parameter   rel = 1 by default" in lines
    assert "  parameter   facet = none by default" in lines
    assert "  write       nDCG[@k]" in metrics("ndcg").stdout
    assert "  write       P@k" in metrics("P@5").stdout
    assert "  write       bpref" in metrics("bpref").stdout


def test_a_broken_full_name_still_finds_its_metric():
    """What stands before the parenthesis is looked up."""
    assert metrics("nDCG(gain=log)@10").stdout.startswith("nDCG: ")


def test_an_unknown_name_has_a_hint():
    """Exit 2."""
    result = metrics("ndgc@5")
    assert result.exit_code == 2
    assert "did you mean nDCG?" in result.stderr


def test_a_metric_without_bounds_says_so():
    """QER-like measures may be any number."""
    some = next(definitions())
    fields = {name: getattr(some, name) for name in some.__slots__}
    lines = describe(Definition(**{**fields, "range": None}))
    assert "  range       any" in lines
