"""Live records into rows of scores: the same values as offline, and the inputs of the signals."""

from __future__ import annotations

import hashlib
import runpy
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from ragnostic.metrics import Metric
from ragnostic.metrics.spread import relevance_spread
from ragnostic.monitor.corpus_view import CorpusView
from ragnostic.monitor.live_metrics import CURVE, DEFAULT_METRICS
from ragnostic.monitor.signals import SignalScorer, score_records
from ragnostic.records import JUDGED_TYPE
from ragnostic.scoring import Plan, score

ROWS = runpy.run_path(str(Path(__file__).parent / "live_rows.py"))
record, records, judgment = ROWS["record"], ROWS["records"], ROWS["judgment"]
judgments, corpus, Corpus = ROWS["judgments"], ROWS["corpus"], ROWS["Corpus"]


def scored(row, said, **options):
    """The one row of scores of one record and judgment."""
    (found,) = score_records(records(row), judgments(said), **options).to_pylist()
    return found


def test_values_are_those_of_the_offline_core():
    """Every metric of every row and stage is what ``score`` gives for the same records."""
    given, judged = ROWS["many"](300)
    joined = given.set_column(
        given.schema.get_field_index("judged"),
        given.schema.field("judged"),
        pa.StructArray.from_arrays(
            [
                judged[f.name].combine_chunks() if f.name != "facets" else pa.nulls(300, f.type)
                for f in JUDGED_TYPE
            ],
            fields=list(JUDGED_TYPE),
        ),
    )
    found = score_records(given, judged)
    for stage in ("retrieve", "rerank"):
        rows = {r["record_id"]: r for r in found.to_pylist() if r["stage"] == stage}
        plan = Plan(DEFAULT_METRICS, stage, curve_depth=12)
        known = [
            row
            for row, has in zip(
                score(joined, plan).table.to_pylist(), joined[stage].is_valid(), strict=True
            )
            if has.as_py()
        ]
        assert len(known) == len(rows)
        for row in known:
            mine = rows[row["record_id"]]
            assert mine["status"] == row["status"]
            for metric in map(str, DEFAULT_METRICS):
                assert mine[metric] == row[metric], metric
            curve = row["RecallCurve@12"]
            if curve[0] is None:
                assert mine[CURVE] is None
            else:
                last = mine[CURVE][-1] if mine[CURVE] else 0.0
                assert mine[CURVE] + [last] * (12 - len(mine[CURVE])) == curve


def test_large_inputs_are_worked_through_in_parts(monkeypatch):
    """Cut anywhere, the rows are the same."""
    given, judged = ROWS["many"](50)
    whole = score_records(given, judged)
    monkeypatch.setattr("ragnostic.monitor.signals._ROWS", 7)
    order = [("record_id", "ascending"), ("stage", "ascending")]
    assert score_records(given, judged).sort_by(order).equals(whole.sort_by(order))


def test_used_chunks_are_relevant_and_given_to_the_generator():
    """Of the relevant top 5 only those in the context count; QER is used by seconds."""
    said = judgment("r", ["a", "b", "z"])
    row = scored(record("r", ["a", "x", "b"], context_ids=["b", "x"], fanout=2), said)
    assert (row["used@5"], row["latency_s"], row["fanout"], row["QER@5"]) == (1.0, 0.1, 2, 5.0)
    assert row["context_logged"]
    assert row["latency_from"] == "stages"


def test_without_a_logged_context_relevant_chunks_count():
    """And the row says that the context is unknown; fan-out is 1."""
    row = scored(record("r", ["a", "x", "b"]), judgment("r", ["a", "b"]))
    assert (row["used@5"], row["context_logged"], row["fanout"]) == (2.0, False, 1)


def test_an_empty_context_used_nothing():
    """It was logged, and nothing was given."""
    row = scored(record("r", ["a"], context_ids=[]), judgment("r", ["a"]))
    assert (row["used@5"], row["context_logged"]) == (0.0, True)


def test_a_repeated_chunk_is_used_once():
    """The ranking closes up, so the fifth distinct chunk counts."""
    ids = ["a", "a", "x", "y", "z", "b"]
    row = scored(record("r", ids), judgment("r", ["a", "b"]))
    assert (row["used@5"], row["duplicates"], row["results"]) == (2.0, 1, 5)


def test_no_use_is_known_where_nothing_relevant_is_judged_or_top_k_is_small():
    """Undefined, not zero."""
    assert scored(record("r", ["a"]), judgment("r", []))["used@5"] is None
    shallow = record("r", ["a"], stage={"top_k": 3})
    assert scored(shallow, judgment("r", ["a"]))["QER@5"] is None


@pytest.mark.parametrize("form", ["{}", "sha256:{}", "{:.16}"])
def test_hashes_of_contexts_resolve_through_the_snapshot(form):
    """A context given as the hash of a text is every chunk with that text."""
    snapshot = Corpus({"a": "same", "b": "same", "c": "other"})
    name = form.format(hashlib.sha256(b"same").hexdigest())
    row = record("r", ["a", "c"], context_ids=[name, "c"])
    found = scored(row, judgment("r", ["a", "c"]), snapshot=snapshot)
    assert (found["used@5"], found["context_unresolved"]) == (2.0, 0)


def test_unresolved_contexts_are_counted():
    """What is neither in the ranking nor in the snapshot; none known at all is not logged."""
    snapshot = Corpus({"a": "A", "d": "D"})
    row = record("r", ["a", "b"], context_ids=["a", "d", "?"])
    found = scored(row, judgment("r", ["a", "b"]), snapshot=snapshot)
    assert (found["used@5"], found["context_unresolved"], found["context_logged"]) == (1.0, 1, True)
    found = scored({**row, "context_ids": ["?"]}, judgment("r", ["a", "b"]))
    assert (found["used@5"], found["context_unresolved"], found["context_logged"]) == (
        2.0,
        1,
        False,
    )


@pytest.mark.parametrize(
    ("stages", "whole", "expected"),
    [
        ((100.0, 50.0), 900.0, (0.15, "stages")),
        ((None, None), 900.0, (0.9, "request")),
        ((None, 50.0), 900.0, (None, "missing")),
        ((100.0, None), None, (None, "missing")),
        ((-1.0, 50.0), 900.0, (None, "negative")),
        ((None, None), None, (None, "missing")),
        ((None, None), -3.0, (None, "negative")),
        ((float("inf"), 1.0), 5.0, (None, "missing")),
        ((0.0, 0.0), 5.0, (0.0, "stages")),
    ],
)
def test_latency_is_the_sum_of_the_stages(stages, whole, expected):
    """Up to the scored one; the whole request only without any stage time; faults leave."""
    first, second = ({"ids": ["a"], "top_k": 10, "took_ms": took} for took in stages)
    row = {**record("r", latency_ms=whole), "retrieve": first, "rerank": second}
    table = score_records(records(row, stages=("retrieve", "rerank")), judgments(judgment("r", [])))
    last = table.to_pylist()[1]
    assert (last["stage"], last["stage_place"]) == ("rerank", 1)
    assert (last["latency_s"], last["latency_from"]) == expected


def test_a_stage_that_a_record_does_not_have_gives_no_row():
    """And costs no time; the query is not missing there."""
    rows = [
        {**record("r", ["a"]), "rerank": {"ids": ["a"], "took_ms": 10.0}},
        {**record("s"), "rerank": {"ids": ["a"], "took_ms": 10.0}},
    ]
    table = records(*rows, stages=("retrieve", "rerank"))
    found = score_records(table, judgments(judgment("r", ["a"]), judgment("s", ["a"])))
    shown = [(row["record_id"], row["stage"], row["latency_s"]) for row in found.to_pylist()]
    assert shown == [("r", "retrieve", 0.1), ("r", "rerank", 0.11), ("s", "rerank", 0.01)]


@pytest.mark.parametrize(
    ("row", "said", "status"),
    [
        (record("r", ["a"]), judgment("r", ["a"]), "ok"),
        (record("r", ["a"]), judgment("r", ["a"], grades=[0.0]), "unscored"),
        (record("r", ["a"]), judgment("r", status="refused"), "refused"),
        (record("r", ["a"]), judgment("r", ["a"], status="refused"), "refused"),
        (record("r", ["a"]), judgment("r", status="abstained"), "abstained"),
        (record("r", ["a"]), judgment("r", status="failed"), "judge_failed"),
        (record("r", ["a"]), judgment("other", ["a"]), "unjudged"),
        (record("r", [], stage={"status": "failed"}), judgment("r", ["a"]), "failed"),
        (record("r", [], stage={"status": "failed"}), judgment("r", status="refused"), "failed"),
        (record("r"), judgment("r", ["a"]), "missing"),
        (record("r", outcome="ok"), judgment("r", ["a"]), "missing"),
        (record("r", outcome="failed"), judgment("r", ["a"]), "failed"),
        (record("r", outcome="rejected"), judgment("r", ["a"]), "rejected"),
        (record("r", ["a"], outcome="failed"), judgment("r", ["a"]), "ok"),
    ],
)
def test_a_row_says_what_became_of_it(row, said, status):
    """The judge's silence, a failed retrieval, a request that never came to one."""
    found = scored(row, said)
    assert found["status"] == status
    if status not in ("ok", "missing"):
        assert found["RR@5"] is None
        assert found["used@5"] is None


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        (judgment("r", ["z"]), True),
        (judgment("r", [None], items=[0]), False),
        (judgment("r", ["a"], grades=[0.0]), False),
        (judgment("r", status="abstained"), False),
        (judgment("r", status="refused"), None),
    ],
)
def test_coverage_counts_relevant_chunks_anywhere(said, expected):
    """An item that no chunk matches is no chunk found; a refusal cannot tell."""
    assert scored(record("r", ["a"]), said)["any_relevant"] is expected


def test_several_judges_have_rows_of_their_own():
    """Of two judgments of one judge the later counts; who nobody judged has no judge."""
    said = [
        judgment("r", ["a"]),
        judgment("r", ["b"], judge="gold"),
        judgment("r", ["x"]),
        judgment("nobody", ["x"]),
    ]
    table = score_records(records(record("r", ["a", "b"]), record("s", ["a"])), judgments(*said))
    shown = [(row["record_id"], row["judge"], row["RR@5"]) for row in table.to_pylist()]
    assert shown == [("r", "answer_span", 0.0), ("r", "gold", 0.5), ("s", None, None)]


def test_spreads_are_those_of_the_metric():
    """Of 2 to 80 relevant chunks, also where pairs are sampled; chunks without vectors are out."""
    draw = np.random.default_rng(1)
    vectors = {f"c{i}": row.tolist() for i, row in enumerate(draw.normal(size=(90, 5)))}
    rows, said, wanted = [], [], {}
    for count in (0, 1, 2, 3, 3, 64, 65, 80):
        name = f"q{len(rows)}"
        chosen = draw.permutation(list(vectors))[:count].tolist()
        rows.append(record(name, ["c1"]))
        said.append(judgment(name, [*chosen, "unknown", *chosen[:1]]))
        wanted[name] = [np.float32(vectors[chunk]) for chunk in chosen]
        wanted[name] = [np.float32(vectors[c]) for c in sorted(chosen, key=list(vectors).index)]
    found = score_records(records(*rows), judgments(*said), snapshot=corpus(vectors))
    expected = relevance_spread(wanted)[0].value
    assert found["spread"].to_numpy() == pytest.approx(expected, nan_ok=True, abs=1e-9)


def test_a_vector_without_direction_keeps_the_spread_away():
    """It is a fault of the record, also where the vector is not finite; alone it harms nobody."""
    snapshot = corpus({"a": [1, 0], "zero": [0, 0], "nan": [float("nan"), 0], "b": [0, 1]})
    rows = [record(name, ["a"]) for name in "qrst"]
    said = [["a", "b"], ["a", "zero"], ["a", "b", "nan"], ["zero"]]
    judged = [judgment(name, ids) for name, ids in zip("qrst", said, strict=True)]
    found = score_records(records(*rows), judgments(*judged), snapshot=snapshot)
    assert found["spread"].to_pylist() == [1.0, None, None, None]
    assert found["zero_vector"].to_pylist() == [False, True, True, False]


def test_random_pairs_are_drawn_from_chunks_with_a_direction():
    """Of two orthogonal vectors every pair is 1 apart; the fingerprint decides the draw."""
    pair = CorpusView(corpus({"a": [1, 0], "b": [0, 2], "zero": [0, 0]}))
    assert pair.random_distance == pytest.approx(1.0)
    draw = np.random.default_rng(2)
    many = corpus({f"c{i}": row.tolist() for i, row in enumerate(draw.normal(size=(50, 3)))})
    one = CorpusView(many).random_distance
    assert one == CorpusView(many).random_distance
    assert one != CorpusView(replace(many, fingerprint="11" * 8)).random_distance
    assert CorpusView(corpus({"a": [1, 0]})).random_distance is None
    assert CorpusView(Corpus({"a": "A"})).random_distance is None
    assert CorpusView(Corpus({"a": "A"})).unit(np.array([0])).shape == (1, 0)


def test_token_counts_of_the_snapshot_serve_metrics_of_a_budget():
    """Null where the snapshot does not know them."""
    metric = [Metric.parse("R(budget=2000)")]
    counted = Corpus({"a": "A", "b": "B"}, extra={"tokens": [1500, 600]})
    row, said = record("r", ["a", "b"]), judgment("r", ["a", "b"])
    assert scored(row, said, metrics=metric, snapshot=counted)["R(budget=2000)"] == 0.5
    assert scored(row, said, metrics=metric, snapshot=Corpus({}))["R(budget=2000)"] is None


def test_slices_are_told_by_the_record_and_its_query():
    """Hour and weekday in the zone; the language of the query where none is given."""
    row = record("r", ["a"], query="如何重置 VPN", service="s", revision=3)
    found = scored(row, judgment("r", ["a"]), zone="Asia/Shanghai")
    shown = [found[name] for name in ("day", "hour", "weekday", "language", "service")]
    assert shown == ["2026-03-02", 12, 1, "zh", "s"]
    assert found["length"] == "≤3"
    given = scored({**row, "language": "fr"}, judgment("r", ["a"]), zone="UTC")
    assert (given["hour"], given["language"]) == (4, "fr")
    assert given["query_key"] == found["query_key"]
    unknown = scored({**row, "query": None, "ts": None}, judgment("r", ["a"]))
    assert [unknown[name] for name in ("day", "hour", "tokens", "length", "query_key")] == [
        None
    ] * 5


def test_a_revision_goes_with_its_row():
    """So that the store can tell the newest."""
    table = records(record("r", ["a"])).append_column("revision", pa.array([4]))
    assert score_records(table, judgments(judgment("r", ["a"])))["revision"].to_pylist() == [4]


def test_records_without_any_stage_are_rows_all_the_same():
    """Nothing was found in the traffic: the query is missing, not gone."""
    table = records(record("r"), stages=())
    (row,) = score_records(table, judgments(judgment("r", ["a"]))).to_pylist()
    assert (row["stage"], row["status"], row["RR@5"]) == ("retrieve", "missing", 0.0)


def test_minimal_records_are_scored():
    """Without time, context, fan-out, outcome or top_k, and judged by nobody."""
    table = pa.table({"record_id": ["r"], "query_id": ["r"], "retrieve": [{"ids": ["a"]}]})
    (row,) = score_records(table, judgments()).to_pylist()
    assert (row["status"], row["judge"], row["latency_from"]) == ("unjudged", None, "missing")
    assert row["top_k"] is None


def test_no_records_give_no_rows_but_all_columns():
    """A batch may be empty."""
    whole = score_records(records(record("r", ["a"])), judgments(judgment("r", ["a"])))
    empty = SignalScorer().score(records(), judgments())
    assert (empty.num_rows, empty.schema) == (0, whole.schema)
    assert SignalScorer().score(records(stages=()), judgments()).schema == whole.schema
