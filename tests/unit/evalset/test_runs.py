"""Runs of every format."""

from __future__ import annotations

import json
import random

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from ragnostic.errors import DataError
from ragnostic.evalset import runs as runs_module
from ragnostic.evalset.runs import Run, load_run

HITS = [
    ("q1", "d3", 0.5), ("q1", "007", 2.5), ("q1", "7", 0.5), ("q2", "文档", -1.0),
    ("q3", "a", 1e-3), ("q3", "b", 7.0), ("q3", "c", 7.0),
]  # fmt: skip
EXPECTED = {"q1": ["007", "d3", "7"], "q2": ["文档"], "q3": ["c", "b", "a"]}


def rankings(run):
    """A run as query → ids, best first."""
    return {row["query_id"]: row["retrieve"]["ids"] for row in run.table().to_pylist()}


def _trec(path):
    path.write_text("".join(f"{q} Q0 {c} 0 {s!r} tag\n" for q, c, s in HITS))


def _table(path):
    path.write_text("query_id,doc_id,score\n" + "".join(f"{q},{c},{s!r}\n" for q, c, s in HITS))


def _tsv(path):
    _table(path)
    path.write_text(path.read_text().replace(",", "\t"))


def _jsonl(path):
    rows = [json.dumps({"query_id": q, "chunk_id": c, "score": s}) for q, c, s in HITS]
    path.write_text("\n".join(rows))


def _one_json(path):
    found = {}
    for query, chunk, score in HITS:
        found.setdefault(query, {})[chunk] = score
    path.write_text(json.dumps(found))


def columns(hits, kind=None):
    """Arrow columns of hits."""
    texts = (pa.array([h[i] for h in hits], pa.string()).cast(kind or pa.string()) for i in (0, 1))
    scores = pa.array([h[2] for h in hits])
    return pa.table(dict(zip(("query_id", "doc_id", "score"), (*texts, scores), strict=True)))


def _parquet(path):
    pq.write_table(columns(HITS), path)


def _parquet_grouped(path):
    by_query = sorted(HITS, key=lambda hit: "q2q1q3".index(hit[0]))
    pq.write_table(columns(by_query), path, row_group_size=2)


def _parquet_scattered(path):
    hits = list(HITS)
    random.Random(3).shuffle(hits)
    pq.write_table(columns(hits), path, row_group_size=2)


def _parquet_dictionary(path):
    pq.write_table(columns(HITS, pa.dictionary(pa.int32(), pa.string())), path, row_group_size=2)


def _parquet_large(path):
    pq.write_table(columns(HITS, pa.large_string()), path)


def _parquet_view(path):
    pq.write_table(columns(HITS, pa.string_view()), path)


@pytest.mark.parametrize("block", [2, 1 << 18])
@pytest.mark.parametrize(
    "write",
    [_trec, _table, _tsv, _jsonl, _one_json, _parquet, _parquet_grouped, _parquet_scattered,
     _parquet_dictionary, _parquet_large, _parquet_view],
)  # fmt: skip
def test_every_format_gives_the_same_rankings(tmp_path, monkeypatch, write, block):
    """Whatever the order of the rows and the size of a block."""
    monkeypatch.setattr(runs_module, "_ROWS", block)
    path = tmp_path / ("r.json" if write is _one_json else "r.data")
    write(path)
    run = load_run(path)
    assert rankings(run) == EXPECTED
    assert run.ties == 2
    assert (run.bad, run.faults) == (0, [])
    assert rankings(run) == EXPECTED
    assert run.ties == 2


def test_a_query_stands_in_one_batch_only(tmp_path, monkeypatch):
    """However long its ranking is."""
    monkeypatch.setattr(runs_module, "_ROWS", 2)
    hits = [("q1", f"d{i}", 9.0 - i) for i in range(5)] + [("q2", "x", 1.0)]
    pq.write_table(columns(hits), tmp_path / "r.parquet")
    batches = [b.to_pylist() for b in Run(tmp_path / "r.parquet").batches()]
    assert [[row["query_id"] for row in batch] for batch in batches] == [["q1"], ["q2"]]
    assert batches[0][0]["retrieve"]["ids"] == [f"d{i}" for i in range(5)]


def test_distances_and_32_bit_scores(tmp_path):
    """Lower is better; what rounds alike ties."""
    (tmp_path / "r.txt").write_text("q Q0 a 1 1.0 t\nq Q0 b 2 1.000000001 t\nq Q0 c 3 0.5 t\n")
    path = tmp_path / "r.txt"
    assert rankings(Run(path)) == {"q": ["b", "a", "c"]}
    assert rankings(Run(path, score_order="distance")) == {"q": ["c", "a", "b"]}
    rounded = Run(path, score_precision="float32")
    assert rankings(rounded) == {"q": ["b", "a", "c"]}
    assert rounded.ties == 1


def test_a_rank_column_that_contradicts_the_scores_is_reported(tmp_path):
    """The scores are believed; ranks that are no numbers say nothing."""
    (tmp_path / "r.txt").write_text("q Q0 a 2 9 t\nq Q0 b 1 1 t\nr Q0 a x 9 t\nr Q0 b y 1 t\n")
    run = Run(tmp_path / "r.txt")
    assert rankings(run)["q"] == ["a", "b"]
    assert [(f.kind, f.ids) for f in run.faults] == [("rank_disagrees_with_score", ("q",))]


def test_a_score_that_is_no_number_is_set_aside(tmp_path):
    """By line in text, by count in Parquet; a null id keeps its rank."""
    (tmp_path / "r.txt").write_text("q Q0 a 1 nan t\nq Q0 b 2 1 t\nq Q0 c 3 x t\nshort\n")
    run = Run(tmp_path / "r.txt")
    assert rankings(run) == {"q": ["b"]}
    assert sorted(f.where for f in run.faults) == ["r.txt:1", "r.txt:3", "r.txt:4"]
    assert run.bad == 3
    hits = [("q", "a", None), ("q", None, 3.0), ("q", "b", float("nan")), (None, "c", 1.0),
            ("", "d", 1.0), ("q", "e", 2.0)]  # fmt: skip
    pq.write_table(columns(hits), tmp_path / "r.parquet")
    run = Run(tmp_path / "r.parquet")
    assert rankings(run) == {"q": [None, "e"]}
    assert run.bad == 4
    assert [(f.kind, f.count) for f in run.faults] == [("quarantined", 2)] * 2
    assert "rows have no score" in run.faults[0].message
    assert "rows have no query id" in run.faults[1].message


def test_whole_numbers_as_ids_are_their_text(tmp_path):
    """And floats are refused."""
    path = tmp_path / "r.parquet"
    pq.write_table(pa.table({"query_id": [1, 1], "doc_id": [7, 8], "score": [1, 2]}), path)
    assert rankings(Run(path)) == {"1": ["8", "7"]}
    pq.write_table(pa.table({"query_id": [1], "doc_id": [7.0], "score": [1]}), path)
    with pytest.raises(DataError, match="column doc_id holds double"):
        Run(path).table()


def test_a_parquet_file_with_a_row_a_query_keeps_its_order(tmp_path):
    """The layout of records."""
    path = tmp_path / "r.parquet"
    rows = {"query_id": pa.array(["q"]).dictionary_encode(), "retrieve": [{"ids": ["b", "a"]}]}
    pq.write_table(pa.table(rows), path)
    run = Run(path)
    assert rankings(run) == {"q": ["b", "a"]}
    assert run.rows == 1
    pq.write_table(pa.table({"retrieve": [{"ids": ["b"]}]}), path)
    with pytest.raises(DataError, match="no column query_id"):
        Run(path).table()


def test_a_json_object_of_lists_keeps_its_order(tmp_path):
    """An empty list is an empty ranking, not a missing one."""
    (tmp_path / "r.json").write_text('{"q1": ["b", "a"], "q2": [], "q3": ["b", null]}')
    run = Run(tmp_path / "r.json")
    assert rankings(run) == {"q1": ["b", "a"], "q3": ["b", None], "q2": []}
    assert run.ties == 0
    (tmp_path / "r.json").write_text('{"q1": {"b": 1}, "q2": {}}')
    assert rankings(Run(tmp_path / "r.json")) == {"q1": ["b"], "q2": []}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"q": [1]}', "ids must be text"),
        ('{"": ["a"]}', "a query id is empty"),
        ('{"q": ["a"], "r": {"a": 1}}', "some queries hold lists"),
        ('{"q": {"a": "x"}}', "q, a: score 'x'"),
        ("{}", "no usable result"),
        ("{", "not valid JSON"),
    ],
)
def test_a_json_run_that_cannot_be_ranked_is_refused(tmp_path, text, said):
    """With the query and the id."""
    (tmp_path / "r.json").write_text(text)
    with pytest.raises(DataError, match=said):
        Run(tmp_path / "r.json").table()


@pytest.mark.parametrize("content", [b"", b"\n", b"q1 0 d1 1\n", b"\0\1", b"PAR1"])
def test_a_file_with_nothing_usable_is_refused(tmp_path, content):
    """Empty, blank, qrels instead of a run, binary, cut short."""
    (tmp_path / "r.txt").write_bytes(content)
    with pytest.raises(DataError, match=r"r\.txt"):
        Run(tmp_path / "r.txt").table()


def test_a_parquet_file_without_rows_is_refused(tmp_path):
    """As an empty text file is."""
    pq.write_table(columns([]), tmp_path / "r.parquet")
    with pytest.raises(DataError, match="no usable result"):
        Run(tmp_path / "r.parquet").table()


def test_a_folder_and_a_missing_file_are_refused(tmp_path):
    """When they are read."""
    for path in (tmp_path, tmp_path / "none"):
        with pytest.raises(DataError):
            Run(path).table()


def test_query_ids_of_one_hash_are_two_queries(tmp_path, monkeypatch, forge):
    """A file whose queries only look scattered is read all the same."""
    monkeypatch.setattr(runs_module, "_ROWS", 2)
    first, second = forge(77, 2)
    hits = [(first, "a", 2.0), (first, "b", 1.0), (second, "c", 1.0), (second, "d", 3.0)]
    pq.write_table(columns(hits), tmp_path / "r.parquet")
    assert rankings(Run(tmp_path / "r.parquet")) == {first: ["a", "b"], second: ["d", "c"]}
