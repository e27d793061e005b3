"""The field's own cases about evaluation-set files and ids, and other instances of their kinds."""

from __future__ import annotations

import base64
import json

import pytest

from ragnostic.evalset.loading import load_evaluation_set
from ragnostic.evalset.near_matches import near_matches
from ragnostic.judges.gold import GoldJudge
from ragnostic.records import Chunk, EvalQuery, GoldSpan, Hits

pytestmark = pytest.mark.shared


@pytest.fixture
def case(shared):
    """Reads a case by its id."""

    def read(name):
        return json.loads((shared / "cases" / f"{name}.json").read_text(encoding="utf-8"))

    return read


def load(folder, given):
    """Queries and faults of the first file of a case."""
    (file,) = given["files"]
    data = base64.b64decode(file["base64"]) if "base64" in file else file["text"].encode()
    path = folder / file["name"]
    path.write_bytes(data)
    faults = []
    queries = load_evaluation_set(path, mapping=given.get("mapping"), faults=faults)
    return queries, faults


def check(expect, queries, faults):
    """Everything that the case names, as far as it names it."""
    assert len(queries) == expect["rows"]
    assert [query.query_id for query in queries] == expect["query_ids"]
    by_id = {query.query_id: query for query in queries}
    for query_id, ids in expect.get("gold", {}).items():
        assert [span.id for item in by_id[query_id].gold for span in item] == ids
    for query_id, text in expect.get("query", {}).items():
        assert by_id[query_id].query == text
    quarantined = [fault for fault in faults if fault.kind == "quarantined"]
    if "quarantined" in expect:
        assert len(quarantined) == expect["quarantined"]["count"]
        lines = [int(fault.where.rpartition(":")[2]) for fault in quarantined]
        assert lines == expect["quarantined"].get("lines", [])
    for word in expect.get("each_names", ()):
        assert all(word in str(fault) for fault in quarantined)
    if "encoding_named_as" in expect:
        (announced,) = [fault for fault in faults if fault.kind == "encoding"]
        assert any(name in str(announced).lower() for name in expect["encoding_named_as"])
    for mark in expect.get("must_not_contain", ()):
        assert mark not in repr(queries) + repr(faults)
        assert all(mark not in query.query_id + query.query for query in queries)


@pytest.mark.parametrize(
    "name", ["input-csv-bom-crlf", "input-csv-gbk", "input-jsonl-broken-lines"]
)
def test_evaluation_set_files(case, tmp_path, name):
    """Queries, gold, encoding and quarantined lines are as the case says."""
    found = case(name)
    check(found["expect"], *load(tmp_path, found["given"]))


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "gb18030"])
@pytest.mark.parametrize("end", [b"\n", b"\r\n"])
def test_the_spreadsheet_in_other_encodings_and_line_ends(case, tmp_path, encoding, end):
    """The same queries from each way to save it."""
    found = case("input-csv-bom-crlf")
    text = base64.b64decode(found["given"]["files"][0]["base64"]).decode("utf-8-sig")
    if end == b"\n":
        text = text.replace("\r\n", "\n")
    file = {"name": "评测.csv", "base64": base64.b64encode(text.encode(encoding))}
    check(found["expect"], *load(tmp_path, {"files": [file]}))


@pytest.mark.parametrize(
    "broken",
    [
        "{'query_id': 'x'}",
        '{"query_id": "x", "query": "?", "gold": [Infinity]}',
        '{"query_id": "x", "query": "?", "query": "!"}',
        '{"query_id": "x", "query": "\\ud83d"}',
        '{"query_id": null, "query": "?"}',
        "[" * 10_000 + "]" * 10_000,
        "null",
        "42",
        "\x1b[31m",
    ],
)
def test_other_broken_lines(case, tmp_path, broken):
    """Each alone is set aside by its physical line among the good lines of the case."""
    lines = case("input-jsonl-broken-lines")["given"]["files"][0]["text"].split("\n")
    good = [lines[0], "", broken, lines[4]]
    file = {"name": "other.jsonl", "text": "\n".join(good)}
    expect = {
        "rows": 2,
        "query_ids": ["q1", "q4"],
        "quarantined": {"count": 1, "lines": [3]},
        "each_names": ["other.jsonl", "line"],
    }
    check(expect, *load(tmp_path, {"files": [file]}))


def queries_of(gold):
    """Queries with plain gold ids."""
    return [
        EvalQuery(query_id, "?", tuple((GoldSpan(id=identity),) for identity in ids))
        for query_id, ids in gold.items()
    ]


def test_dangling_gold(case):
    """Count, ids, queries and share are all in one message; the ids stay in R."""
    found = case("input-dangling-gold")
    given, expect = found["given"], found["expect"]
    chunks = [Chunk(identity, "d", 0, 1, 1, "x") for identity in given["corpus_ids"]]
    queries = queries_of(given["gold"])
    judge = GoldJudge.build(queries, chunks)
    (fault,) = judge.faults
    assert judge.dangling == set(expect["dangling"]["ids"])
    assert fault.count == expect["dangling"]["count"]
    assert set(fault.ids) == {*expect["dangling"]["ids"], *expect["dangling"]["queries"]}
    for word in (*expect["must_name"], f"{expect['share_of_queries']:.1%}"):
        assert word in str(fault)
    for query in queries:
        assert judge.judge(query, {})["ids"] == given["gold"][query.query_id]


def test_near_match_ids(case):
    """Listed with both ids and the query, and not matched."""
    found = case("input-near-match-ids")
    given, expect = found["given"], found["expect"]
    gold = [identity for ids in given["gold"].values() for identity in ids]
    known = [identity for ids in given["run"].values() for identity in ids]
    pairs = near_matches(gold, known)
    assert [list(pair) for pair in pairs] == expect["listed_near_matches"]
    judge = GoldJudge.build(queries_of(given["gold"]), None)
    for query in queries_of(given["gold"]):
        hits = Hits(ids=tuple(given["run"][query.query_id]))
        assert judge.judge(query, {"retrieve": hits})["ids"] == given["gold"][query.query_id]
    said = "\n".join(map(str, judge.faults))
    assert [fault.kind for fault in judge.faults] == ["near_match"] * len(pairs)
    assert all(word in said for word in expect["must_name"])
    assert all(word not in said for word in expect["not_listed"])
