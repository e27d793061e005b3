"""``ragnostic demo``: the bundled set, from the command to the report."""

from __future__ import annotations

import re
from importlib.resources import files
from pathlib import Path

from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.offline.run_folder import list_runs, read_run


def _bundled() -> Path:
    return Path(str(files("ragnostic.evalset").joinpath("demo")))


def test_the_demo_shows_what_the_reranker_gains(tmp_path, monkeypatch):
    """Two stages over 200 queries in both languages; all gold is found in the corpus; the first
    line says what is done, the last ones where the report and the comparison with BM25 alone are,
    why passages are missed, and how the pages are had in English. Embeds about 59,000 tokens.
    """
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    done = CliRunner().invoke(cli.app, ["demo", "--out", str(tmp_path / "out")])
    assert done.exit_code == 0, done.output
    assert "warning" not in done.stderr
    alone, folder = list_runs(tmp_path / "out")
    page = tmp_path / "out" / "comparison.html"
    assert re.match(r"demo: BM25, .* \d{3} documents, \d{3} queries;", done.stderr)
    place, said, compared, missed, first, advice, why, *english = done.stdout.splitlines()[-10:]
    assert place == f"report: {folder / 'report.html'}"
    assert said.startswith("with the reranker against BM25 alone: better on 4 of 5 metrics")
    assert compared == f"comparison: {page}"
    assert "检索对比" in page.read_text(encoding="utf-8")
    assert re.fullmatch(
        r"missed: \d+ of \d+ relevant items in the top 5: "
        r"\d+% the search does not see it, .*",
        missed,
    )
    assert first.startswith("mend first: the search does not see it, worth +0.")
    assert advice.startswith("try: a hybrid or dense search")
    assert why == f"diagnosis: {tmp_path / 'out' / 'diagnosis.html'}"
    assert english == [
        "in English:",
        f"  ragnostic report {folder} --lang en",
        f"  ragnostic compare {alone} {folder} --lang en --html {page}",
    ]
    assert re.search(r"\nembedding \d+ passages \(kept for the next run\)\n", done.stderr)
    run = read_run(folder)
    before, after = (run.meta["stages"][stage]["metrics"] for stage in run.stages)
    assert after["RR@5"]["mean"] > before["RR@5"]["mean"] + 0.05
    assert after["R@20"]["mean"] == before["R@20"]["mean"]
    assert 0.2 < before["Success@1"]["mean"] < 0.9
    assert set(run.records["language"].to_pylist()) == {"zh", "en"}
    assert (tmp_path / "cache" / "ragnostic").is_dir()


def test_the_demo_set_can_be_evaluated_by_the_users_own_settings(tmp_path):
    """Its configuration is an example to copy: every table of it is an ordinary setting."""
    command = ["eval", str(_bundled() / "demo.toml"), "--out", str(tmp_path)]
    sets = ["--set", "rerank.use=none", "--set", "report.language=en"]
    done = CliRunner().invoke(cli.app, [*command, *sets])
    assert done.exit_code == 0, done.output
    (folder,) = list_runs(tmp_path)
    data = read_run(folder).meta["data"]
    assert data["evaluation_set"]["queries"] >= 150
    assert data["evaluation_set"]["queries"] - data["evaluation_set"]["answerable"] >= 20
    assert data["corpus"]["documents"] >= 100
