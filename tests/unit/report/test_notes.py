"""The small print: faults and facts."""

from __future__ import annotations

from ragnostic.report.model import build_page


def test_faults_are_grouped_counted_and_not_said_twice(make_run):
    """The same line from two stages counts once; most frequent kinds come first."""
    line = {"kind": "duplicate_retrieved", "message": "q1: A twice", "where": "run.txt:3"}
    meta = {
        "warnings": [{"kind": "encoding", "message": "GB18030", "count": 7}, "a bare line", {}],
        "stages": {"retrieve": {"warnings": [line, line | {"message": "q2: B twice"}]}},
    }
    groups = build_page(make_run(meta=meta)).faults
    assert [(group.kind, group.count) for group in groups] == [
        ("encoding", 7),
        ("duplicate_retrieved", 2),
        ("other", 2),
    ]
    assert groups[1].examples[0] == "run.txt:3: q1: A twice"


def test_only_the_first_examples_are_kept(make_run):
    """A thousand faults are one group with five lines."""
    warnings = [{"kind": "null_retrieved_id", "message": f"row {at}"} for at in range(1000)]
    (group,) = build_page(make_run(meta={"warnings": warnings})).faults
    assert (group.count, len(group.examples), group.more) == (1000, 5, 995)


def test_settings_are_flat_and_secrets_are_covered(make_run):
    """Nested keys are joined; what looks like a secret is not shown, max_tokens is."""
    http = {"headers": {"Authorization": "Bearer x", "X-Api-Key": "y"}, "timeout": 3.5}
    meta = {
        "settings": {
            "retrieve": {"http": http},
            "chunk": {"max_tokens": 400, "flag": True, "none": None},
            "rerank": None,
        },
        "durations": {"load": 75},
    }
    tables = {table.heading: dict(table.rows) for table in build_page(make_run(meta=meta)).facts}
    assert tables["settings.retrieve"] == {
        "http.headers.Authorization": "•••",
        "http.headers.X-Api-Key": "•••",
        "http.timeout": "3.5",
    }
    assert tables["settings.chunk"] == {"max_tokens": "400", "flag": "true", "none": "–"}
    assert tables["durations"] == {"load": "1 min 15 s"}
    assert "settings.rerank" not in tables


def test_a_header_takes_what_is_there(make_run, page):
    """Sizes and pipeline parts where the run has them."""
    assert page.header.parts == (("retrieve", "bm25"), ("rerank", "embedding"))
    assert page.header.chunks == 60
    bare = build_page(make_run()).header
    assert (bare.run, bare.name, bare.documents, bare.parts) == ("", None, None, ())
