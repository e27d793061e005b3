"""Cases from the field: what is written for people must not run, grow without bound, or lie."""

from __future__ import annotations

import csv
import html
import json
import re

import pyarrow as pa
import pytest

from ragnostic.offline.per_query import write_per_query
from ragnostic.records import CHUNK_SCHEMA, record_schema
from ragnostic.report import RunData, render_run

pytestmark = pytest.mark.shared


def _case(shared, name):
    return json.loads((shared / "cases" / f"{name}.json").read_text(encoding="utf-8"))


def _run(rows):
    """Records of queries that were answered, with one gold chunk found second."""
    stage = {"ids": ["x", "gold"], "top_k": 5, "status": "ok"}
    judged = {"ids": ["gold"], "grades": [1.0], "items": [0]}
    full = [
        {"retrieve": stage, "judged": judged, "record_id": row["query_id"], **row} for row in rows
    ]
    records = pa.Table.from_pylist(full, record_schema(["retrieve"]))
    scores = pa.table(
        {
            "record_id": records["record_id"],
            "query_id": records["query_id"],
            "stage": pa.array(["retrieve"] * len(rows)),
            "metric": pa.array(["RR@5"] * len(rows)),
            "value": pa.array([0.5] * len(rows)),
            "status": pa.array(["ok"] * len(rows)),
        }
    )
    summary = {"RR@5": {"mean": 0.5, "n": len(rows), "missing": 0, "unscored": 0, "failed": 0}}
    return RunData(
        {"stages": {"retrieve": {"metrics": summary}}}, records, CHUNK_SCHEMA.empty_table(), scores
    )


def test_cells_that_a_spreadsheet_would_run_are_text(shared, tmp_path):
    """Case report-csv-formula: text is neutralised, numbers stay numbers."""
    case = _case(shared, "report-csv-formula")
    cells, expect = case["given"]["cells"], case["expect"]
    numbers = case["given"]["numeric_cells"] * len(cells)
    table = pa.table({"text": cells, "value": numbers[: len(cells)]})
    write_per_query(table, tmp_path / "cells.csv")
    with (tmp_path / "cells.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    written = dict(zip(cells, (row["text"] for row in rows), strict=True))
    for cell in expect["as_text"]:
        assert written[cell] == f"'{cell}"
    for cell in expect["round_trip"]:
        assert written[cell] == cell
    for start in expect["no_cell_starts_with"]:
        assert not any(row["text"].startswith(start) for row in rows)
    for number in expect["numbers_stay_numbers"]:
        assert written[str(number)] == str(number)
        assert {float(row["value"]) for row in rows} == {number}


@pytest.mark.parametrize("language", ["zh", "en"])
def test_model_output_is_text_never_markup(shared, language):
    """Case report-html-escape: answers, queries and ids are shown as they are."""
    case = _case(shared, "report-html-escape")
    answers, expect = case["given"]["answers"], case["expect"]
    rows = [
        {"query_id": id_ + answer, "query": answer, "answer": answer}
        for id_, answer in answers.items()
    ]
    page = render_run(_run(rows), language=language)
    for markup in expect["html_must_not_contain"]:
        assert markup not in page
    assert len(re.findall(r"<script", page)) == expect["scripts_run"]
    shown = html.unescape(re.sub(r"<[^>]+>", "", page))
    for text in expect["visible_text"].values():
        assert text in shown


def test_a_report_over_many_rows_still_opens(shared):
    """Case report-large-table: a bounded page that says how many queries there are."""
    case = _case(shared, "report-large-table")
    row = {name: cell["repeat"] * cell["times"] for name, cell in case["given"]["row"].items()}
    size = case["given"]["rows"]
    page = render_run(_run([{"query_id": f"q{place}", **row} for place in range(size)]), worst=200)
    assert len(page.encode()) <= case["expect"]["html_bytes_at_most"]
    assert f"{case['expect']['states_total']:,}" in page
