"""What scores mean travels from the retriever to the metrics of unanswerable queries."""

from __future__ import annotations

import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ragnostic.cli import app
from ragnostic.evalset.record_files import stages_of_ranks
from ragnostic.metrics import parse_list
from ragnostic.offline.judged_files import Shown, run_from_records
from ragnostic.offline.records_table import records_table
from ragnostic.offline.summary import score_run
from ragnostic.records import EvalQuery, Hits, rank_score_stages
from ragnostic.stats import unanswerable

QUERIES = [EvalQuery("q1", "leave"), EvalQuery("q2", "moon", answerable=False)]
JUDGED = [{"ids": ["a"], "grades": [1.0], "weights": None, "items": None, "facets": None}, None]
METRICS = "FalseRetrieval(t=0.5)@5,AUROC"


def table(*, ranks: bool) -> pa.Table:
    """Records of two stages; the first one's scores may be ranks."""
    first = [Hits(("a",), (0.9,), scores_are_ranks=ranks), Hits(("b",), (0.7,))]
    last = [Hits(("a",), (0.8,)), Hits(("b",), (0.1,))]
    return records_table(QUERIES, {"retrieve": first, "rerank": last}, JUDGED, "gold")


def test_a_fused_stage_has_no_threshold_and_the_next_one_has():
    """Each stage by itself."""
    found = score_run(table(ranks=True), parse_list(METRICS)).stages
    assert found["retrieve"]["unanswerable"]["reason"] == unanswerable.RANKS
    assert found["retrieve"]["metrics"]["AUROC"]["reason"] == "the scores only encode a rank"
    assert found["rerank"]["unanswerable"]["reason"] is None
    assert found["rerank"]["metrics"]["AUROC"]["mean"] == 1.0
    assert found["rerank"]["metrics"]["FalseRetrieval(t=0.5)@5"]["mean"] == 0.0


@pytest.fixture
def file(tmp_path):
    """Writes records, gives their path."""

    def write(*, ranks: bool):
        path = tmp_path / "records.parquet"
        pq.write_table(table(ranks=ranks), path)
        return path

    return write


def score(path, *options):
    """``ragnostic score`` on records, its JSON."""
    arguments = ["score", "--records", path, "--metrics", METRICS, "--json", *options]
    done = CliRunner().invoke(app, [str(word) for word in arguments])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)["metrics"]


def test_a_records_file_remembers_it(file):
    """Through ``score --records`` and ``report --records``."""
    path = file(ranks=True)
    assert stages_of_ranks(path) == ["retrieve"]
    assert score(path, "--stage", "retrieve")["AUROC"]["mean"] is None
    assert score(path)["AUROC"]["mean"] == 1.0
    run = run_from_records(path, Shown())
    assert rank_score_stages(run.records.schema) == ["retrieve"]


def test_records_without_such_scores_say_nothing(file):
    """Neither does a JSON Lines file."""
    assert stages_of_ranks(file(ranks=False)) == []
    assert score(file(ranks=False), "--stage", "retrieve")["AUROC"]["mean"] == 1.0


def test_records_may_hold_distances(tmp_path):
    """0.2 is nearer than 0.9, and both metrics know it."""
    path = tmp_path / "records.jsonl"
    rows = [
        {"query_id": "q1", "retrieve": {"ids": ["a"], "scores": [0.2]}, "judged": {"ids": ["a"]}},
        {"query_id": "q2", "retrieve": {"ids": ["b"], "scores": [0.9]}, "answerable": False},
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert stages_of_ranks(path) == []
    assert score(path)["AUROC"]["mean"] == 0.0
    assert score(path, "--score-order", "distance")["AUROC"]["mean"] == 1.0
