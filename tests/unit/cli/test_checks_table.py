"""Lines under the table of a run."""

from __future__ import annotations

import pyarrow as pa

from ragnostic.cli.checks_table import print_checks
from ragnostic.metrics import parse_list
from ragnostic.offline.summary import score_run
from ragnostic.records import CHUNK_SCHEMA, record_schema
from ragnostic.report.run import RunData
from ragnostic.report.scorebook import ScoreBook

METRICS = parse_list("RR@5")


def run(rows) -> RunData:
    """A run of one stage, with the members of run.json that the lines are made of."""
    records = pa.Table.from_pylist(rows, record_schema(["retrieve"]))
    found = score_run(records, METRICS)
    meta = {"stages": found.stages, "account": found.account}
    return RunData(meta, records, CHUNK_SCHEMA.empty_table(), found.table)


def test_a_line_for_each_finding(capsys):
    """Ceiling, gold beyond the candidates, wordings, refusals."""
    judged = {"ids": ["a"]}
    rows = [
        {"query_id": "q1", "group": "g", "judged": judged}
        | {"retrieve": {"ids": ["x", "a"], "scores": [2.0, 1.0]}},
        {"query_id": "q2", "group": "g", "judged": judged}
        | {"retrieve": {"ids": ["x"], "scores": [2.0]}},
        {"query_id": "q3", "answerable": False, "retrieve": {"ids": ["x"], "scores": [1.0]}},
    ]
    found = run(rows)
    print_checks(found, ScoreBook(found))
    lines = capsys.readouterr().out.splitlines()
    assert [line.split(":")[0] for line in lines] == [
        "The same candidates in ideal order",
        "1 of 2 gold items (50%), in 1 of 2 queries, are not among the candidates",
        "Retrieval",
        "Retrieval",
    ]
    assert "RR@5 1.0000 instead of" not in lines[0]  # half of the gold is out of reach
    assert "MRR@5 is 0.250 on average" in lines[2]
    assert "lets 0% of the unanswerable ones (n 1) through" in lines[3]


def test_a_run_that_knows_nothing_of_it_has_no_lines(capsys):
    """An older run folder."""
    records = pa.Table.from_pylist([{"query_id": "q1"}], record_schema(["retrieve"]))
    scores = pa.table({"query_id": ["q1"]})
    found = RunData({}, records, CHUNK_SCHEMA.empty_table(), scores)
    print_checks(found, ScoreBook(found))
    assert not capsys.readouterr().out
