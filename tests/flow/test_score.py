"""``ragnostic score`` as a process: exit codes, and JSON alone on stdout."""

from __future__ import annotations

import gzip
import json
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

QRELS = "q1 0 文档 1\nq2 0 b 2\n"
RUN = "q1 Q0 x 1 2 t\nq1 Q0 文档 2 1 t\nq2 Q0 b 1 1 t\nq2 Q0 b 2 0 t\n"


def score(*arguments, code=0):
    """The finished process; its exit code is checked, and that there is no traceback."""
    command = [sys.executable, "-m", "ragnostic", "score", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == code, done.stderr
    assert "Traceback" not in done.stderr
    return done


@pytest.fixture
def files(tmp_path):
    """Qrels and a run, packed."""
    (tmp_path / "qrels.txt").write_text(QRELS, encoding="utf-8")
    (tmp_path / "run.txt.gz").write_bytes(gzip.compress(RUN.encode()))
    return ["--qrels", tmp_path / "qrels.txt", "--run", tmp_path / "run.txt.gz"]


def test_json_is_all_there_is_on_stdout(files, tmp_path):
    """Warnings are in it; values a query are in their file."""
    done = score(*files, "--metrics", "RR@5,AP", "--per-query", tmp_path / "p.jsonl", "--json")
    found = json.loads(done.stdout)
    assert found["metrics"]["RR@5"]["mean"] == 0.75
    assert found["duplicates"] == 1
    assert any("q2 (id b)" in line for line in found["warnings"])
    assert done.stderr == ""
    rows = [json.loads(line) for line in (tmp_path / "p.jsonl").read_text().splitlines()]
    assert rows[0] == {"query_id": "q1", "RR@5": 0.5, "AP": 0.5}


def test_the_same_input_prints_the_same_bytes(files):
    """Twice, in two processes with two hash seeds."""
    first, second = (score(*files, "--json").stdout for _ in range(2))
    assert first == second


def test_a_table_is_for_people(files):
    """And warnings go to stderr."""
    done = score(*files, "--metrics", "RR@5")
    assert "MRR@5" in done.stdout
    assert "0.7500" in done.stdout
    assert done.stderr.startswith("warning: ")


def test_records_hold_their_own_judgments(tmp_path):
    """Parquet, the last stage."""
    rows = {"query_id": ["q"], "judged": [{"ids": ["a"]}], "retrieve": [{"ids": ["x", "a"]}]}
    pq.write_table(pa.table(rows), tmp_path / "r.parquet")
    done = score("--records", tmp_path / "r.parquet", "--metrics", "RR", "--json")
    assert json.loads(done.stdout)["metrics"]["RR"]["mean"] == 0.5


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "is empty"),
        (b"\0\1\2\3", "binary"),
        (b"q1 Q0 a 1 nan t\n", "score 'nan' is no number"),
        (b"q1 Q0 a 1\n", "4 columns"),
        (b"query_id,doc_id,points\nq1,a,1\n", "no column score"),
        (b"PAR1 cut short", "not a readable Parquet file"),
        (b"\x1f\x8b\x08broken", "broken gzip"),
    ],
)
def test_bad_data_exits_with_three(files, tmp_path, content, said):
    """A message for a person that names the file, nothing on stdout."""
    (tmp_path / "run.txt.gz").write_bytes(content)
    done = score(*files, "--json", code=3)
    assert said in done.stderr
    assert "run.txt.gz" in done.stderr
    assert done.stdout == ""


def test_a_folder_and_a_missing_file_exit_with_two(files, tmp_path):
    """Whichever of the two it is."""
    for place in (tmp_path, tmp_path / "none.txt"):
        score("--qrels", place, *files[2:], code=2)
        score(*files[:2], "--run", place, code=2)


@pytest.mark.parametrize(
    "arguments",
    [["--metrics", "nDGC@10"], ["--metrics", ""], ["--metrics", "RecallCurve@5"],
     ["--missing", "maybe"], ["--per-query", "p.xlsx"], ["--nonsense"]],
)  # fmt: skip
def test_bad_usage_exits_with_two(files, arguments):
    """Nothing on stdout."""
    assert score(*files, *arguments, code=2).stdout == ""
