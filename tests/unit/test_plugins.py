"""Names to implementations."""

from __future__ import annotations

import sys
import tomllib
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from ragnostic import plugins
from ragnostic.errors import UsageError

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]
GROUPS = {
    group.removeprefix("ragnostic."): points
    for group, points in PROJECT["entry-points"].items()
    if group.startswith("ragnostic.")
}


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k, points in GROUPS.items() for n in points])
def test_every_entry_point_loads_a_plugin(kind, name):
    """With options, and a way to build it; a channel is built by calling it."""
    found = plugins.load(kind, name)
    assert hasattr(found, "send" if kind == "notifiers" else "build")
    assert hasattr(found, "Options")


def test_names_are_sorted():
    """The built-in ones among them."""
    names = plugins.names("chunkers")
    assert names == sorted(names)
    assert {"none", "fixed"} <= set(names)


def test_an_unknown_name_is_answered_with_the_nearest():
    """And all that are known."""
    with pytest.raises(UsageError) as caught:
        plugins.load("retrievers", "dens")
    assert "unknown retriever 'dens'; known: bm25, dense" in str(caught.value)
    assert "did you mean dense?" in str(caught.value)
    assert plugins.nearest("zzz", ["dense"]) == ""


def test_a_package_that_is_not_installed_is_named(monkeypatch):
    """With the way to install it."""
    point = EntryPoint("odd", "ragnostic_absent.module:Class", "ragnostic.embedders")
    monkeypatch.setitem(plugins._group("embedders"), "odd", point)
    with pytest.raises(UsageError, match=r"embedder 'odd' needs .* ragnostic_absent"):
        plugins.load("embedders", "odd")
    assert "ragnostic_absent" not in sys.modules
