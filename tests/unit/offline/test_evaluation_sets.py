"""Several evaluation sets in one run: loading, means a set, gaps."""

from __future__ import annotations

import json

import pyarrow as pa
import pytest

from ragnostic import config, plugins
from ragnostic.errors import DataError
from ragnostic.metrics import Metric
from ragnostic.offline.asked_queries import fingerprint_queries, load_queries, set_members
from ragnostic.offline.evaluation_sets import sets_meta
from ragnostic.records import EvalQuery

QUERIES = [EvalQuery(name, name, answerable=name != "d") for name in "abcdef"]
SETS = {"a": "old", "b": "old", "c": "old", "d": "old", "e": "new", "f": "new"}


def _scores(values, metric="RR@5", stage="retrieve"):
    rows = [
        {
            "record_id": name,
            "query_id": name,
            "stage": stage,
            "metric": metric,
            "value": value,
            "status": "unanswerable" if name == "d" else "ok",
        }
        for name, value in values.items()
    ]
    return pa.Table.from_pylist(rows)


def test_one_set_has_no_sets():
    """Null, not an empty table."""
    found = sets_meta(QUERIES, {}, _scores({"a": 1.0}), ["retrieve"], [])
    assert found == {"sets": None, "set_gaps": None}


def test_means_and_gaps_by_hand():
    """Three values of 1, .5 and 0 against two of .2 and .4; the unanswerable one is in no mean."""
    values = {"a": 1.0, "b": 0.5, "c": 0.0, "d": None, "e": 0.2, "f": 0.4}
    found = sets_meta(QUERIES, SETS, _scores(values), ["retrieve"], [Metric.parse("RR@5")])
    old = found["sets"]["old"]
    assert list(found["sets"]) == ["old", "new"]
    assert (old["queries"], old["answerable"]) == (4, 3)
    assert old["sha256"] == fingerprint_queries(QUERIES[:4])
    mean = old["stages"]["retrieve"]["RR@5"]
    assert (mean["mean"], mean["n"], mean["low"], mean["high"]) == (0.5, 3, 0.0, 1.0)
    (gap,) = found["set_gaps"]
    assert (gap["set"], gap["against"], gap["metric"]) == ("old", "new", "RR@5")
    assert gap["difference"] == pytest.approx(0.2)
    # Welch: errors .5/sqrt(3) and .1, degrees 2.48 rounded down to 2, t = 4.3027.
    half = 4.302653 * (0.25 / 3 + 0.02 / 2) ** 0.5
    assert gap["low"] == pytest.approx(0.2 - half, abs=1e-5)
    assert gap["high"] == pytest.approx(0.2 + half, abs=1e-5)


def test_a_mean_of_a_set_has_the_interval_of_the_main_table():
    """Also where all values are 1: Wilson's interval is for gates."""
    scores = _scores(dict.fromkeys("abcef", 1.0), "Success@5")
    found = sets_meta(QUERIES, SETS, scores, ["retrieve"], [Metric.parse("Success@5")])
    mean = found["sets"]["new"]["stages"]["retrieve"]["Success@5"]
    assert mean == {"mean": 1.0, "n": 2, "low": 1.0, "high": 1.0}


def test_a_set_without_values_has_no_mean_and_no_gap():
    """Null where nothing was scored; a single value has no interval."""
    values = {"a": 1.0, "b": None, "c": None, "d": None, "e": None, "f": None}
    found = sets_meta(QUERIES, SETS, _scores(values), ["retrieve"], [Metric.parse("RR@5")])
    new = found["sets"]["new"]["stages"]["retrieve"]["RR@5"]
    assert (new["mean"], new["n"], new["low"]) == (None, 0, None)
    (gap,) = found["set_gaps"]
    assert (gap["difference"], gap["low"], gap["high"]) == (None, None, None)


def test_gaps_are_those_of_the_final_stage():
    """Means are there for every stage; a metric of all queries together has no gap."""
    values = dict.fromkeys("abcdef", 0.5)
    tables = [
        _scores(values, metric, stage)
        for stage in ("retrieve", "rerank")
        for metric in ("RR@5", "AUROC")
    ]
    metrics = [Metric.parse("RR@5"), Metric.parse("AUROC")]
    found = sets_meta(QUERIES, SETS, pa.concat_tables(tables), ["retrieve", "rerank"], metrics)
    assert [(gap["metric"], gap["stage"]) for gap in found["set_gaps"]] == [("RR@5", "rerank")]
    assert set(found["sets"]["new"]["stages"]) == {"retrieve", "rerank"}
    assert "AUROC" in found["sets"]["new"]["stages"]["rerank"]


def test_an_id_in_two_sets_is_refused_naming_both():
    """Ten at most are named."""
    queries = [EvalQuery(f"q{at}", "?") for at in range(12)]
    with pytest.raises(DataError) as caught:
        set_members({"frozen": queries, "other": [EvalQuery("x", "?")], "fresh": queries})
    text = str(caught.value)
    assert text.startswith("12 query ids in more than one evaluation set\n")
    assert "query id 'q0' is in set frozen and in set fresh" in text
    assert "… and 2 more" in text
    assert "q10" not in text


def _configuration(folder, text):
    (folder / "eval.toml").write_text(text, encoding="utf-8")
    return config.load(folder / "eval.toml", find_plugin=plugins.load, check_metric=str)


def _beir(folder, splits):
    (folder / "qrels").mkdir(parents=True)
    for name in ("corpus", "queries"):
        rows = [{"_id": f"{name[0]}{split}", "text": split} for split in splits]
        lines = "\n".join(map(json.dumps, rows))
        (folder / f"{name}.jsonl").write_text(lines, encoding="utf-8")
    for split in splits:
        lines = f"query-id\tcorpus-id\tscore\nq{split}\tc{split}\t1\n"
        (folder / "qrels" / f"{split}.tsv").write_text(lines, encoding="utf-8")


def test_sets_may_be_beir_splits_and_files_with_a_mapping(tmp_path):
    """Each set its split; the mapping is that of the dataset."""
    _beir(tmp_path / "beir", ["test", "dev"])
    (tmp_path / "own.jsonl").write_text('{"id": "mine", "query": "?", "gold": ["cdev"]}\n')
    found = _configuration(
        tmp_path,
        """[dataset]
mapping = {query_id = "id"}
set = [
  {name = "frozen", path = "beir"},
  {name = "fresh", path = "beir", split = "dev"},
  {name = "own", path = ["own.jsonl"]},
]
""",
    )
    faults = []
    queries, sets = load_queries(found, faults)
    assert sets == {"qtest": "frozen", "qdev": "fresh", "mine": "own"}
    assert [query.query_id for query in queries] == list(sets)
    assert faults == []
