"""Leases, counters, positions, spans: shared by processes, and safe."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ragnostic.errors import LeaseLostError
from ragnostic.store.state import Lease, State


def test_partitions_are_shared_out_and_taken_over(state):
    """Expired ones go to who asks; what is too many is given back."""
    assert state.lease("a", 10, 30.0, now=0.0) == [0, 1, 2, 3]
    assert state.lease("b", 2, 30.0, now=1.0) == []
    assert state.lease("a", 2, 30.0, now=2.0) == [0, 1]
    assert state.lease("b", 2, 30.0, now=3.0) == [2, 3]
    assert state.renew("a", 30.0, now=20.0) == [0, 1]
    assert state.lease("c", 4, 30.0, now=40.0) == [2, 3]
    assert state.renew("b", 30.0, now=40.0) == []
    assert {lease.worker for lease in state.leases(now=45.0)} == {"a", "c"}


def test_released_partitions_are_free(state):
    """Some, or all; nobody releases those of another."""
    state.lease("a", 4, 30.0, now=0.0)
    state.release("b")
    state.release("a", [1])
    assert state.lease("b", 4, 30.0, now=0.0) == [1]
    state.release("a")
    assert state.lease("b", 4, 30.0, now=0.0) == [0, 1, 2, 3]


def test_partitions_come_round(state):
    """A worker that takes and releases few gets to all of them."""
    found = []
    for turn in range(4):
        found += state.lease("a", 1, 30.0, now=100.0 + turn)
        state.release("a")
    assert sorted(found) == [0, 1, 2, 3]


def test_a_token_rises_when_a_partition_changes_hands(state):
    """Also over releases; a renewal keeps it."""
    tokens = []
    for worker in ("a", "b", "a"):
        state.lease(worker, 4, 30.0, now=100.0)
        state.renew(worker, 40.0, now=100.0)
        tokens.append(state.leases(now=100.0)[0].token)
        state.release(worker)
    assert tokens == sorted(set(tokens))


def test_only_who_holds_a_partition_commits(state):
    """The lease ran out, is another's, or never was."""
    state.lease("a", 1, 30.0, now=0.0)
    with state.holding("a", 0, now=29.0) as lease:
        assert lease == Lease(0, "a", lease.token, 30.0)
    for worker, partition, now in (("a", 0, 31.0), ("b", 0, 1.0), ("a", 1, 1.0)):
        with (
            pytest.raises(LeaseLostError, match="no longer holds"),
            state.holding(worker, partition, now=now),
        ):
            pytest.fail("it must not run")


def test_nobody_takes_a_partition_over_while_it_is_held(state, tmp_path):
    """Its lease runs out meanwhile; an error inside is the caller's."""
    state.lease("a", 4, 30.0, now=0.0)
    with (
        closing(sqlite3.connect(tmp_path / "state.sqlite", isolation_level=None)) as other,
        state.holding("a", 0, now=29.0),
    ):
        other.execute("PRAGMA busy_timeout=10")
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
    with pytest.raises(KeyError), state.holding("a", 0, now=29.0):
        raise KeyError
    assert state.lease("b", 4, 30.0, now=31.0) == [0, 1, 2, 3]


CALLS = st.lists(
    st.tuples(
        st.sampled_from(["lease", "renew", "release"]),
        st.sampled_from(["a", "b", "c"]),
        st.integers(0, 5),
        st.floats(0, 20),
    ),
    max_size=25,
)


@settings(max_examples=25)
@given(calls=CALLS)
def test_no_partition_is_ever_held_twice(tmp_path_factory, calls):
    """Whatever workers do, in two objects on one file."""
    path = tmp_path_factory.mktemp("leases") / "state.sqlite"
    now, held = 0.0, {}
    with State(path, partitions=4) as first, State(path, partitions=4) as second:
        for number, (call, worker, want, passed) in enumerate(calls):
            now += passed
            target = (first, second)[number % 2]
            if call == "release":
                target.release(worker)
                found = []
            elif call == "lease":
                found = target.lease(worker, want, 10.0, now=now)
                assert len(found) <= want
            else:
                found = target.renew(worker, 10.0, now=now)
            held = {p: (w, end) for p, (w, end) in held.items() if w != worker and end > now}
            assert not set(found) & set(held)
            held |= dict.fromkeys(found, (worker, now + 10.0))


def test_counters_add_up(state):
    """By name; several at once; the prefix chooses."""
    state.add({"intake.received": 3, "intake.stored": 2})
    state.add({"intake.received": 1, "gateway.lost": 5})
    state.add({})
    assert state.counters("intake.") == {"intake.received": 4, "intake.stored": 2}
    assert list(state.counters()) == ["gateway.lost", "intake.received", "intake.stored"]


def test_positions_are_kept_as_they_were_given(state):
    """Over a restart; names may be any text."""
    assert state.position("日志.jsonl") is None
    state.set_position("日志.jsonl", {"offset": 1, "head": "é"})
    state.set_position("日志.jsonl", {"offset": 2})
    state.close()
    assert state.position("日志.jsonl") == {"offset": 2}


def test_spans_wait_for_their_trace(state):
    """A span that comes again replaces itself and does not make its trace younger."""
    assert state.keep_spans([("t", "a", b"1"), ("t", "b", b"2"), ("u", "a", b"3")], now=5.0) == 3
    assert state.keep_spans([("t", "a", b"4"), ("v", "a", b"5")], now=9.0) == 1
    assert state.spans_of("t") == [b"4", b"2"]
    assert state.waiting_traces(9.0) == ["t", "u"]
    assert state.waiting_traces(10.0) == ["t", "u", "v"]
    assert state.waiting_traces(10.0, 1) == ["t"]
    assert state.drop_traces(["t", "v", "none"]) == 3
    assert state.waiting_traces(99.0) == ["u"]


def filled(path: Path) -> None:
    """A closed state with rows of every kind."""
    with State(path) as state:
        state.lease("a", 4, 30.0)
        state.add({f"name{number}": number for number in range(300)})
        for number in range(100):
            state.set_position(f"file{number}", {"offset": number * 1_000_003})
        state.keep_spans(("t", f"s{number}", b"x" * 50) for number in range(300))


def test_a_garbled_header_keeps_what_is_readable(tmp_path):
    """Or says that it is gone; the damaged file stays."""
    path = tmp_path / "state.sqlite"
    filled(path)
    data = path.read_bytes()
    path.write_bytes(b"X" + data[1:])
    with State(path) as state:
        assert "read again" in str(state.damages[0])
        assert state.lease("b", 2, 30.0) == [0, 1]
    assert len(list(tmp_path.glob("state.sqlite.damaged-*"))) == 1


def test_a_wrong_position_is_no_position(tmp_path):
    """It would skip lines; the others stay, and tokens go on."""
    path = tmp_path / "state.sqlite"
    filled(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b": 7000021}", b": 9000021}"))  # old images of its page too
    with State(path) as state:
        (damage,) = state.damages
        assert damage.lost == 1
        assert state.position("file7") is None
        assert state.position("file8") == {"offset": 8_000_024}
        assert len(state.counters()) == 300
        assert len(state.spans_of("t")) == 300


def test_a_text_that_is_no_text_any_more_is_damage(tmp_path):
    """Half of a table is read from its other end."""
    path = tmp_path / "state.sqlite"
    filled(path)
    data = path.read_bytes()
    path.write_bytes(data.replace(b"name150", b"\xffame150"))
    with State(path) as state:
        assert not state.damages[0].exact
        assert len(state.counters()) >= 298


def test_a_log_without_its_file_is_kept(tmp_path):
    """Nothing is readable of it here."""
    path = tmp_path / "state.sqlite"
    path.with_name("state.sqlite-wal").write_bytes(os.urandom(5_000))
    with State(path) as state:
        assert state.damages[0].rescued == 0
