"""Maps from any JSON to record rows."""

from __future__ import annotations

import pytest

from ragnostic.corpus.strict_json import RowError
from ragnostic.errors import ConfigError
from ragnostic.gateway.mapping import Misses, build_map, read_map
from ragnostic.gateway.validation import check_row

MAP = """
trace_id = "id"
ts = "at"
query = "request.query"
answer = "response.answer"
outcome = "response.error && 'failed' || 'ok'"
fanout = 2
service = "'shop'"

[retrieve]
ids = "response.hits[].id"
scores = "response.hits[].score"
top_k = 20
took_ms = "response.took"

[rerank]
ids = "response.reranked"
status = "response.error && 'failed'"

[labels]
shop = "request.shop"
"""


@pytest.fixture
def record_map(tmp_path):
    """The map above."""
    (tmp_path / "map.toml").write_text(MAP)
    return read_map(tmp_path / "map.toml")


def test_a_document_becomes_a_row(record_map):
    """Fields, stages in order, labels; numbers stand for themselves, nulls keep their place."""
    document = {
        "id": "t1",
        "at": 1767225600,
        "request": {"query": "q", "shop": 7},
        "response": {
            "answer": "a",
            "took": 12.5,
            "hits": [{"id": "x", "score": 1}, {"id": None, "score": 0.5}],
            "reranked": ["x"],
        },
    }
    row = record_map.row(document)
    assert row == {
        "trace_id": "t1", "ts": 1767225600, "query": "q", "answer": "a", "outcome": "ok",
        "fanout": 2, "service": "shop",
        "stages": {
            "retrieve": {"ids": ["x", None], "scores": [1, 0.5], "top_k": 20, "took_ms": 12.5},
            "rerank": {"ids": ["x"]},
        },
        "labels": {"shop": 7},
    }  # fmt: skip
    assert list(row["stages"]) == ["retrieve", "rerank"]
    assert check_row(row).faults == ("null_id",)


def test_a_failed_answer_has_a_failed_stage(record_map):
    """A stage without ids is left out unless it says that it failed."""
    document = {"id": "t", "at": 1767225600, "request": {"query": "q"}, "response": {"error": 1}}
    row = record_map.row(document)
    assert row["outcome"] == "failed"
    assert row["stages"] == {"rerank": {"status": "failed"}}
    assert check_row(row).row["stages"]["rerank"]["ids"] == []


def test_what_is_never_found_is_told(record_map):
    """A misspelt name, a list of which no element has the name."""
    misses = Misses()
    for hits in ([{"ident": "x"}], [{}], []):
        response = {"hits": hits, "reranked": ["x"]}
        record_map.row({"request": {"query": "q"}, "response": response}, misses)
    assert misses.documents == 3
    lines = misses.lines(record_map.where)
    assert len(lines) == len({line.split()[1] for line in lines})
    never = {line.split()[1] for line in lines}
    assert {"trace_id", "ts", "answer", "labels.shop", "rerank.status"} < never
    assert not {"query", "retrieve.ids"} & never
    assert all(line.endswith("finds nothing in any of 3 documents") for line in lines)
    assert misses.counts["retrieve.ids"] == 2
    assert record_map.where["retrieve.ids"] == "map.toml:11"


@pytest.mark.parametrize("document", [[1], "text", None, 7])
def test_a_document_that_is_no_object_gives_what_stands_for_itself(record_map, document):
    """Nothing is found in it."""
    assert record_map.row(document) == {"outcome": "ok", "fanout": 2, "service": "shop"}


def test_an_expression_that_fails_on_a_row_refuses_the_row():
    """With its name."""
    record_map = build_map({"query": "length(q)"}, lambda _: "")
    with pytest.raises(RowError, match=r"^query: .*length"):
        record_map.row({"q": 7})


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ('qery = "q"', ["map.toml:1: unknown key qery", "did you mean query?"]),
        ('query = "q["', ["map.toml:1: query: 'q[' is not a JMESPath expression"]),
        ("query = ['q']", ["map.toml:1: query: must be a JMESPath expression or a number"]),
        ('[retrieve]\nid = "q"', ["map.toml:2: unknown key retrieve.id", "retrieve.ids"]),
        ('[query]\nids = "q"', ["map.toml:1: query must be an expression, not a table"]),
        ('judged = "q"', ["map.toml:1: unknown key judged"]),
        ("", ["map.toml: the map is empty"]),
        ('a = "', ["map.toml:1: not valid TOML"]),
        ('[labels]\nshop = "nope(a)"', ["map.toml:2: labels.shop: 'nope(a)'"]),
    ],
)  # fmt: skip
def test_faults_of_a_map_are_told_all_at_once_with_their_lines(tmp_path, text, wanted):
    """With the nearest name."""
    (tmp_path / "map.toml").write_text(text)
    with pytest.raises(ConfigError) as found:
        read_map(tmp_path / "map.toml")
    for part in wanted:
        assert part in str(found.value)


def test_another_map_has_another_fingerprint():
    """The order of keys does not matter."""
    one, same, other = (
        build_map(tree, lambda _: "").fingerprint
        for tree in ({"query": "a", "ts": "b"}, {"ts": "b", "query": "a"}, {"query": "b"})
    )
    assert one == same != other
