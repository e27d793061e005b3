"""Pairs of rankings in words."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.cli.probes_table import print_rerankings, print_retrieval, summary_of
from ragnostic.monitor.probes import PROBE_SCHEMA, RETRIEVAL

LONG = [f"c{number}" for number in range(12)]


def pair(kind, first, second):
    """A row of probes."""
    return {"query_id": "q", "perturbation": kind, "first": first, "second": second}


def retrieval(first, second):
    """The part about retrieval of one query."""
    rows = pa.Table.from_pylist([pair(RETRIEVAL, first, second)], PROBE_SCHEMA)
    return summary_of(rows, [], failed={}, unchanged={})["retrieval"]


def test_every_perturbation_that_was_asked_for_has_a_row(capsys):
    """Also one that changed nothing, and one whose calls all failed."""
    pairs = pa.Table.from_pylist([pair("seed", LONG, LONG[::-1])], PROBE_SCHEMA)
    counts = {"failed": {"mask": 1}, "unchanged": {"case": 2}}
    summary = summary_of(pairs, ["case", "mask", "seed"], **counts)
    assert list(summary["perturbations"]) == ["case", "mask", "seed"]
    assert summary["unchanged"] == {"case": 2, "mask": 0, "seed": 0}
    assert summary["perturbations"]["mask"]["RCS@10"]["failed"] == 1
    print_rerankings(summary)
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == ["perturbation", "all", "case", "mask", "seed"]
    assert "2 not changed by it; it changes no query" in lines[2]
    assert lines[4].split()[1] == "0.6667"


def test_retrieval_is_a_table_of_its_own(capsys):
    """With what was new, what failed, and why there is no value."""
    print_retrieval(retrieval(LONG[:4], LONG[:3]), 3)
    first = capsys.readouterr().out.splitlines()[1].split()
    assert (first[:2], first[-2:]) == (["retrieval", "0.7500"], ["1", "3"])
    print_retrieval(retrieval(None, LONG), 0)
    said = capsys.readouterr().out
    assert "1 query not asked before; no query was asked by an earlier run" in said
