"""The process that stores: what it says of a map that finds nothing."""

from __future__ import annotations

import runpy
from pathlib import Path

from ragnostic.cli.gateway_storing import telling
from ragnostic.gateway.mapping import build_map
from ragnostic.gateway.recording import RowBuilder
from ragnostic.gateway.settings import GatewaySettings, UpstreamSettings

HERE = Path(__file__).parent
PASSED = runpy.run_path(str(HERE.parent / "gateway" / "test_recording.py"))["passed"]


def builder(tree):
    """A maker of rows by a map."""
    settings = GatewaySettings(upstream=UpstreamSettings(url="http://h"))
    record_map = build_map(tree, lambda path: f"gateway.toml:{len(path)}")
    return RowBuilder(settings, record_map, lambda _: None), record_map.where


def test_an_expression_that_finds_nothing_is_named_once(capsys):
    """After so many answers; requests that failed have no answer and say nothing of the map."""
    rows, where = builder({"query": "request.query", "answer": "response.anwser"})
    row = telling(rows, where, 3)
    for outcome in ("ok", "error", "ok", "error", "ok", "ok", "ok"):
        row(PASSED(response=b'{"answer": "a"}', outcome=outcome))
    assert capsys.readouterr().err == (
        "warning: gateway.toml:1: answer finds nothing in any of 3 documents\n"
    )


def test_a_map_that_finds_something_is_not_named(capsys):
    """One answer is enough."""
    rows, where = builder({"query": "request.query", "answer": "response.answer"})
    row = telling(rows, where, 2)
    for response in (b'{"answer": "a"}', b"{}", b"{}"):
        row(PASSED(response=response))
    assert capsys.readouterr().err == ""
