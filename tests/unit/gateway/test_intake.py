"""The intake: a balance that always holds, identity, redaction, cutting."""

from __future__ import annotations

import hashlib
import json
import runpy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragnostic.gateway.balance import Balance
from ragnostic.gateway.intake import Intake, Unreadable, Where
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.redaction import Options, Redactor
from ragnostic.gateway.validation import check_row

HERE = Path(__file__).parent
MEMORY = runpy.run_path(str(HERE / "memory_log.py"))
TS = 1767225600
PLACE = Where("test")


class Store:
    """An intake over memory, and what it wrote."""

    def __init__(self, folder, redactor=None, **options):
        self.folder = folder
        self.log, self.state = MEMORY["MemoryLog"](), MEMORY["MemoryState"]()
        self.quarantine = Quarantine(folder, redactor)
        self.intake = Intake(self.log, self.quarantine, redactor, self.state, **options)

    def take(self, *rows, batch=None):
        """The balance of some rows."""
        return self.intake.accept([(row, PLACE) for row in rows], batch=batch)

    def set_aside(self):
        """What the quarantine holds."""
        files = sorted(self.folder.glob("day=*/*.jsonl"))
        return [json.loads(line) for file in files for line in file.read_text().split("\n")[:-1]]


@pytest.fixture
def store(tmp_path):
    """A store that redacts."""
    return Store(tmp_path, Redactor())


def row(**fields):
    """A sound row."""
    return {"query": "q", "ts": TS, "latency_ms": 5, **fields}


def test_each_row_has_a_fate(store):
    """Stored, known, or set aside with place and reason."""
    rows = [row(trace_id="t", span_id="s"), row(trace_id="t", span_id="s"), {"ts": 1}, 7]
    balance = store.take(*rows, Unreadable("no JSON", b"{"))
    assert balance == Balance(5, stored=1, duplicate=1, quarantined=3)
    assert [entry["reason"] for entry in store.set_aside()] == [
        "is no record: it has neither a query nor a stage with ids",
        "a row must be an object, not a int",
        "no JSON",
    ]
    assert store.state.counts["quarantined"] == 3
    assert store.state.counts["received"] == 5


def test_a_record_is_one_retrieval(store):
    """Trace and span, else the id given, else all that the row says (METRICS 13)."""
    store.take(
        row(trace_id="t", span_id="a"),
        row(trace_id="t", span_id="b"),
        row(trace_id="t", span_id="b", query="other"),
        row(record_id="own", trace_id="t", span_id="c"),
        row(trace_id="t"),
        row(trace_id="t", ts=TS * 1000),
        row(trace_id="t", query="other"),
    )
    ids = [one["record_id"] for one in store.log.rows]
    assert ids[:3] == ["t:a", "t:b", "own"]
    assert len(ids) == 5
    assert all(one["query_id"] == one["record_id"] for one in store.log.rows)


def test_a_later_revision_is_stored_beside(store):
    """The log knows id and revision; without an id, the revision does not change it."""
    assert store.take(row(), row(revision=1), row(revision=1)).stored == 2
    assert len({key for key, _ in store.log.events}) == 1


def test_rows_that_differ_in_what_is_masked_are_two(store):
    """The id is taken before redaction."""
    assert store.take(row(answer="13800138000"), row(answer="13900139000")).stored == 2
    assert {one["answer"] for one in store.log.rows} == {"‹phone›"}


def test_a_failed_request_is_masked_like_any_other(store):
    """Error, traceback and address; in the quarantine too; the status stays."""
    secret, phone = "sk-test-0000-not-real", "13800138000"
    text = f"HTTP 500 for url /v1/chat?key={secret}: Bearer {secret} said 请联系 {phone} 办理"
    good = row(
        query=f"请联系 {phone} 办理",
        outcome="failed",
        stages={"retrieve": {"status": "failed", "error": text, "ids": []}},
        capture={"request": {"headers": {"authorization": f"Bearer {secret}"}}, "error": text},
    )
    store.take(good, {**good, "fanout": -1}, Unreadable(f"bad {phone}", text))
    kept = json.dumps([store.log.rows, store.set_aside()], ensure_ascii=False)
    assert secret not in kept
    assert phone not in kept
    assert kept.count("500") >= 3
    assert store.log.rows[0]["outcome"] == "failed"


def test_one_huge_value_is_cut_and_its_neighbour_is_untouched(store):
    """On a character, with its true length and hash; the record stays."""
    text = "汉" * 200_000
    balance = store.take(row(span_id="1", trace_id="t", answer=text), row(answer="ok"))
    assert balance.stored == 2
    huge, small = store.log.rows
    assert huge["answer"] == "汉" * (65536 // 3)
    assert huge["capture"] == {
        "truncated": True,
        "cut": {"answer": {"bytes": 600_000, "sha256": hashlib.sha256(text.encode()).hexdigest()}},
    }
    assert small["answer"] == "ok"
    assert "capture" not in small
    assert store.intake.faults["text_cut"] == 1
    assert store.intake.fault_ids["text_cut"] == ["t:1"]


def test_what_capture_held_stays_beside_the_cuts(tmp_path):
    """The gateway's own lengths are not lost."""
    store = Store(tmp_path, max_text=8)
    store.take(row(answer="x" * 9, capture={"truncated": False, "cut": {"body": 1}, "bytes": 7}))
    capture = store.log.rows[0]["capture"]
    assert capture["bytes"] == 7
    assert capture["truncated"] is True
    assert set(capture["cut"]) == {"body", "answer"}


@given(st.integers(0, 40), st.sampled_from(["13800138000 ", "li.si@example.com "]))
def test_nothing_personal_lies_across_a_cut(tmp_path_factory, shift, personal):
    """What is masked before the cut moves the rest; none of it comes back half."""
    store = Store(tmp_path_factory.mktemp("q"), Redactor(), max_text=2000)
    store.take(row(answer="x" * shift + " " + personal * 2000))
    answer = store.log.rows[0]["answer"]
    assert len(answer.encode()) <= 2000
    assert "138" not in answer
    assert "li.si" not in answer


def test_labels_become_text_after_they_were_masked(store):
    """So that fields inside are still found by name."""
    store.take(row(shop=7, note={"password": "x", "n": 13800138000}, flag=True))
    assert store.log.rows[0]["labels"] == {
        "shop": "7",
        "note": '{"password": "‹secret›", "n": "‹phone›"}',
        "flag": "true",
    }


def test_users_become_pseudonyms(tmp_path):
    """In what is stored."""
    redactor = Redactor(Options(pseudonym_key="env:K"), {"K": "k"})
    store = Store(tmp_path, redactor)
    store.take(row(user_id="u1"))
    assert store.log.rows[0]["user_id"] == redactor.user("u1") != "u1"


@pytest.mark.parametrize(
    ("bad", "reason"),
    [
        (row(query="half \ud800"), "holds half a character"),
        (row(capture={"a": float("nan")}), "cannot be written as JSON"),
        (row(capture={"a": {("b",): 1}}), "cannot be written as JSON"),
        (row(labels={f"l{i}": "x" * 60_000 for i in range(150)}), "bytes, more than 8,388,608"),
    ],
)
def test_what_cannot_be_written_is_set_aside(store, bad, reason):
    """Python callers can hand in anything."""
    assert store.take(bad, row()).quarantined == 1
    assert reason in store.set_aside()[0]["reason"]


def test_a_row_that_holds_itself_is_set_aside(store):
    """It cannot even be shown."""
    loop: dict = row()
    loop["labels"] = loop
    assert store.take(loop).quarantined == 1
    assert "cannot be written" in store.set_aside()[0]["raw"]


def test_a_full_disk_drops_what_the_quarantine_cannot_hold(tmp_path):
    """Counted; the good rows are not concerned."""
    (tmp_path / "file").write_text("in the way")
    store = Store(tmp_path / "file")
    assert store.take({}, row()) == Balance(2, stored=1, dropped=1)


def test_a_log_that_cannot_store_says_so(store):
    """The caller must know; given again, nothing is twice."""
    store.log.failures = 1
    with pytest.raises(OSError, match="no space"):
        store.take(row())
    assert store.take(row()) == Balance(1, stored=1)


def test_a_batch_read_again_is_not_set_aside_twice(store):
    """Its name is its file; without a name the file grows."""
    for _ in range(2):
        store.take({}, batch="log-0")
    assert len(store.set_aside()) == 1
    store.take({})
    store.take({})
    assert len(store.set_aside()) == 3


def test_long_batches_are_stored_in_pieces(store):
    """Each with its own quarantine file."""
    rows = [row(trace_id="t", span_id=str(i)) if i % 100 else {} for i in range(2500)]
    assert store.take(*rows, batch="b") == Balance(2500, stored=2475, quarantined=25)
    assert len(list(store.folder.glob("day=*/b*.jsonl"))) == 3


values = st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8)
rows = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"query": values, "ts": st.just(TS) | values, "trace_id": st.sampled_from("ab")},
            optional={"span_id": st.sampled_from("xy"), "retrieve": st.just({"ids": [None]})},
        ),
        st.builds(Unreadable, st.text(max_size=8), st.binary(max_size=8)),
        values,
    ),
    max_size=12,
)


@given(rows, rows)
def test_the_balance_always_holds(tmp_path_factory, first, second):
    """Received = stored + duplicate + quarantined + dropped, and the stores agree with it."""
    store = Store(tmp_path_factory.mktemp("q"), Redactor())
    total = store.take(*first) + store.take(*second)
    assert total.received == len(first) + len(second)
    assert total.stored == len(store.log.events)
    assert total.quarantined == len(store.set_aside())
    assert {name: store.state.counts.get(name, 0) for name in total.as_json()} == total.as_json()


@given(st.text(max_size=30), st.text(max_size=30))
def test_what_is_stored_would_be_taken_again(tmp_path_factory, query, answer):
    """A stored row is a sound row with the same id."""
    store = Store(tmp_path_factory.mktemp("q"), Redactor())
    store.take(row(query=f"q{query}", answer=answer, retrieve={"ids": ["a", None]}))
    (kept,) = store.log.rows
    again = check_row(kept).row
    assert again["record_id"] == kept["record_id"]
    assert again["ts"] == kept["ts"]
