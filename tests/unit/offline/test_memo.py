"""Parts made once, and the seconds they stand for."""

from __future__ import annotations

import pytest

from ragnostic.offline.memo import Memo
from ragnostic.offline.pipeline import Durations, timed


def _counted(calls: list[str], name: str):
    def make() -> str:
        calls.append(name)
        return name

    return make


def test_a_kept_part_is_made_once_and_a_plain_one_every_time():
    """By kind: what is not named is forgotten at once."""
    memo, calls = Memo(kept=["kept"]), []
    for kind in ("kept", "plain"):
        for _ in range(3):
            assert memo.once(kind, ("k",), _counted(calls, kind)) == kind
    assert calls == ["kept", "plain", "plain", "plain"]


def test_of_the_newest_only_the_last_part_stays():
    """Coming back to an earlier key makes it again; so at most one is in memory."""
    memo, calls = Memo(newest=["chunks"]), []
    for name in ("a", "a", "b", "a"):
        memo.once("chunks", (name,), _counted(calls, name))
    assert calls == ["a", "b", "a"]


def test_a_part_that_fails_is_not_kept():
    """The next one tries again."""
    memo = Memo(kept=["x"])

    def fail() -> str:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        memo.once("x", (), fail)
    assert memo.once("x", (), lambda: "good") == "good"


def test_a_reused_part_counts_what_it_took_when_made():
    """Inner parts within outer ones too, and each once."""
    memo = Memo(kept=["outer", "inner"])
    memo.once("inner", (), lambda: "i")
    memo._parts["inner"][()] = ("i", 5.0)
    durations: Durations = {}
    with timed(durations, "load", memo):
        memo.once("outer", (), lambda: memo.once("inner", (), lambda: "again"))
    assert durations["load"] == pytest.approx(5, abs=0.5)
    with timed(durations, "later", memo):
        memo.once("outer", (), lambda: "again")
    assert durations["later"] == pytest.approx(5, abs=0.5)
    with timed(durations, "later", memo):
        pass
    assert durations["later"] == pytest.approx(5, abs=0.5)
