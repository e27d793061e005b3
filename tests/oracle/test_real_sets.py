"""Known values of real collections: LeCaRD's runs, and BM25 on sets of documents and of spans."""

from __future__ import annotations

import json

import pytest
from typer.testing import CliRunner

from ragnostic import cli
from ragnostic.offline.evaluation import evaluate

MEASURES = {
    "P@5": "P_5",
    "P@10": "P_10",
    "AP": "map",
    "RR": "recip_rank",
    "bpref": "bpref",
    "R@30": "recall_30",
    "R@100": "recall_100",
    "nDCG@10": "ndcg_cut_10",
    "nDCG@30": "ndcg_cut_30",
}
JUDGED_ONLY = {
    "P(rel=3,judged_only=True)@5": "P(rel=3)@5",
    "P(rel=3,judged_only=True)@10": "P(rel=3)@10",
    "AP(norm=hits,rel=3,judged_only=True)": "AP(rel=3, over retrieved)",
    "nDCG(judged_only=True)@10": "nDCG@10",
    "nDCG(judged_only=True)@30": "nDCG@30",
}


@pytest.mark.shared
@pytest.mark.parametrize("run", ["bm25", "tfidf", "lm", "bert-1", "bert-2"])
def test_lecard_runs_score_as_published(shared, run):
    """Graded judgments, few judged candidates: plain and judged-only values to 4 places."""
    folder = shared / "data/lecard"
    known = json.loads((folder / "expected.json").read_text())["runs"][run]
    result = evaluate(
        folder / "qrels/test.tsv",
        folder / f"runs/{run}.run.gz",
        [*MEASURES, "AP(rel=3)", "RR(rel=3)", *JUDGED_ONLY],
        missing="skip",
    )
    for ours, theirs in MEASURES.items():
        assert result[ours].mean == pytest.approx(known["all"]["level1"][theirs], abs=6e-5), ours
    for ours, theirs in {"AP(rel=3)": "map", "RR(rel=3)": "recip_rank"}.items():
        assert result[ours].mean == pytest.approx(known["all"]["level3"][theirs], abs=6e-5), ours
    for ours, theirs in JUDGED_ONLY.items():
        value = known["judged_only"]["all"][theirs]
        assert result[ours].mean == pytest.approx(value, abs=6e-5), ours


def bm25(tmp_path, settings: str) -> dict[str, float]:
    """Means of BM25 alone under a configuration."""
    config = tmp_path / "eval.toml"
    config.write_text(settings + '\n[rerank]\nuse = "none"\n', encoding="utf-8")
    done = CliRunner().invoke(cli.app, ["eval", str(config), "--out", str(tmp_path), "--json"])
    assert done.exit_code == 0, done.output
    metrics = json.loads(done.stdout)["stages"]["retrieve"]["metrics"]
    return {name: found["mean"] for name, found in metrics.items()}


@pytest.mark.shared
@pytest.mark.parametrize(("name", "value"), [("scifact", 0.679), ("rgb-zh", 0.687)])
def test_bm25_gives_the_known_value(shared, tmp_path, name, value):
    """nDCG@10 within 0.01, from a BEIR folder as it stands."""
    found = bm25(
        tmp_path, f'[dataset]\npath = "{shared}/data/{name}"\n[score]\nmetrics = ["nDCG@10"]'
    )
    assert found["nDCG@10"] == pytest.approx(value, abs=0.01)


@pytest.mark.shared
def test_gold_spans_are_found_by_chunks_and_whole_files_score_as_known(shared, tmp_path):
    """One span set over a folder of Markdown: whole files by document, chunks by span."""
    folder = shared / "data/gitlab-handbook"
    texts = {}
    for line in (folder / "queries.jsonl").read_text().splitlines():
        query = json.loads(line)
        texts[query["_id"]] = query["text"]
    documents: dict[str, list[str]] = {}
    for line in (folder / "qrels/test.tsv").read_text().splitlines()[1:]:
        query_id, doc_id, _ = line.split("\t")
        documents.setdefault(query_id, []).append(doc_id)
    spans: dict[str, list[dict]] = {}
    for line in (folder / "spans.jsonl").read_text().splitlines():
        span = json.loads(line)
        gold = {key: span[key] for key in ("doc_id", "start", "end")}
        spans.setdefault(span["query_id"], []).append(gold)
    for name, gold in (("files", documents), ("spans", spans)):
        rows = ({"query_id": q, "query": texts[q], "gold": g} for q, g in gold.items())
        (tmp_path / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    base = f'[dataset]\npath = "{{}}.jsonl"\ncorpus = "{folder}/corpus_md"\n'
    metrics = '[score]\nmetrics = ["nDCG@10", "R@10", "R@20"]\n'
    whole = bm25(tmp_path, base.format("files") + metrics)
    assert whole["nDCG@10"] == pytest.approx(0.7445, abs=0.015)
    assert whole["R@10"] == pytest.approx(0.8787, abs=0.015)
    cut = bm25(
        tmp_path, base.format("spans") + metrics + '[chunk]\nby = "markdown"\nmax_tokens = 300\n'
    )
    assert 0.4 < cut["R@10"] < cut["R@20"] < 1
