"""The score command, inside the process."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ragnostic import cli

QRELS = "q1 0 a 1\nq2 0 b 2\nq3 0 c 0\n"
RUN = "q1 Q0 x 1 2 t\nq1 Q0 a 2 1 t\nq2 Q0 b 1 1 t\nq9 Q0 z 1 1 t\n"


@pytest.fixture
def files(tmp_path):
    """Qrels and a run."""
    (tmp_path / "qrels.txt").write_text(QRELS)
    (tmp_path / "run.txt").write_text(RUN)
    return ["--qrels", str(tmp_path / "qrels.txt"), "--run", str(tmp_path / "run.txt")]


@pytest.fixture
def records(tmp_path):
    """Records with two stages."""
    rows = [
        {
            "query_id": f"q{i}",
            "judged": {"ids": ["a"]},
            "retrieve": {"ids": ["x", "a"]},
            "rerank": {"ids": ["a", "x"]},
        }
        for i in range(2)
    ]
    path = tmp_path / "records.jsonl"
    path.write_text("\n".join(map(json.dumps, rows)))
    return path


def score(*arguments):
    """The command's result."""
    return CliRunner().invoke(cli.app, ["score", *map(str, arguments)])


def parsed(*arguments):
    """The JSON that the command prints."""
    result = score(*arguments, "--json")
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_a_run_against_qrels(files):
    """Means with n, missing, unscored, failed; Judged, ties, duplicates, unjudged."""
    found = parsed(*files, "--metrics", "mrr@5,nDCG@10")
    assert list(found["metrics"]) == ["RR@5", "nDCG@10"]
    assert found["metrics"]["RR@5"]["mean"] == 0.75
    assert found["metrics"]["RR@5"]["n"] == 2
    assert found["metrics"]["RR@5"]["unscored"] == 1
    assert found["Judged@5"] == pytest.approx(0.75)
    assert (found["ties"], found["duplicates"], found["unjudged_queries"]) == (0, 0, 1)


def test_a_table_shows_what_the_mean_is_called(files):
    """MRR, four places, warnings on stderr only."""
    result = score(*files, "--metrics", "RR@5")
    assert result.exit_code == 0
    assert "MRR@5" in result.stdout
    assert "0.7500" in result.stdout
    assert "Judged@5" in result.stdout
    assert "warning" not in result.stdout
    assert "has no judgment" in result.stderr


def test_a_mean_that_is_none_says_why(records):
    """In the table as in the JSON."""
    result = score("--records", records, "--metrics", "TokenPrecision")
    assert "TokenPrecision (the data holds no token counts)" in result.stdout


def test_options_reach_the_scores(files, tmp_path):
    """missing, score order and precision, grades."""
    assert (
        parsed(*files, "--metrics", "RR", "--score-order", "distance")["metrics"]["RR"]["mean"] == 1
    )
    (tmp_path / "qrels.txt").write_text("q1 0 a 0.5\nq2 0 b 1\nq5 0 z 1\n")
    options = ("--metrics", "RR", "--grades", "real", "--missing", "skip")
    found = parsed(*files, *options, "--score-precision", "float32")["metrics"]["RR"]
    assert (found["mean"], found["n"], found["missing"]) == (1, 1, 0)


def test_records_are_scored_at_their_last_stage_unless_another_is_named(records):
    """The relevant one is at rank 2, then at rank 1."""
    assert parsed("--records", records, "--metrics", "RR")["metrics"]["RR"]["mean"] == 1
    at = parsed("--records", records, "--stage", "retrieve", "--metrics", "RR")
    assert at["metrics"]["RR"]["mean"] == 0.5


def test_values_a_query_are_written(files, tmp_path):
    """Where and as what the option says."""
    assert score(*files, "--metrics", "RR", "--per-query", tmp_path / "p.csv").exit_code == 0
    text = (tmp_path / "p.csv").read_text(encoding="utf-8-sig")
    assert text.splitlines() == ["query_id,RR", "q1,0.5", "q2,1.0", "q3,", "q9,"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "give either --qrels FILE and --run FILE"),
        (["--qrels", "x"], "give either"),
        (["--records", "x", "--qrels", "y"], "give either"),
    ],
)
def test_half_an_input_is_a_usage_error(arguments, said):
    """Exit 2."""
    result = score(*arguments)
    assert result.exit_code == 2
    assert said in result.stderr


def test_a_stage_that_is_not_there_is_named_with_those_that_are(records, files):
    """And --stage belongs to records only."""
    result = score("--records", records, "--stage", "fuse")
    assert result.exit_code == 2
    assert "no stage 'fuse'; there are: retrieve, rerank" in result.stderr
    assert score(*files, "--stage", "retrieve").exit_code == 2


@pytest.mark.parametrize("which", ["qrels.txt", "run.txt"])
def test_too_many_bad_rows_stop_the_scoring(files, tmp_path, which):
    """Unless they are allowed; exit 3."""
    with (tmp_path / which).open("a") as file:
        file.write("broken\n")
    result = score(*files)
    assert result.exit_code == 3
    assert f"{which}:" in result.stderr
    assert score(*files, "--bad-rows", "0.9").exit_code == 0


def test_too_many_bad_records_stop_the_scoring(records):
    """The same for records."""
    with records.open("a") as file:
        file.write("\nbroken")
    assert score("--records", records).exit_code == 3
    assert score("--records", records, "--bad-rows", "0.5").exit_code == 0


@pytest.mark.parametrize("share", ["5", "-0.1"])
def test_a_share_of_bad_rows_is_a_share(files, share):
    """As in a configuration."""
    result = score(*files, "--bad-rows", share)
    assert result.exit_code == 2
    assert "--bad-rows" in result.output


@pytest.mark.parametrize("option", ["--qrels", "--run"])
@pytest.mark.parametrize("name", ["missing.txt", "missing.parquet", "."])
def test_a_path_that_names_no_file_is_a_wrong_argument(files, tmp_path, option, name):
    """Exit 2, and not that of bad data."""
    arguments = [*files, option, str(tmp_path / name)]
    assert score(*arguments).exit_code == 2
