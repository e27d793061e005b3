"""Files of what was set aside."""

from __future__ import annotations

import json

import pytest

from ragnostic.gateway.balance import Balance, Where
from ragnostic.gateway.quarantine import Quarantine

MOMENT = 1772380799.0
"""One second before midnight of 2 March 2026 in Shanghai."""


def test_the_day_is_that_of_arrival_in_the_zone(tmp_path):
    """A second later it is another day, also for a name that is known."""
    now = [MOMENT]
    quarantine = Quarantine(tmp_path, now=lambda: now[0])
    for _ in range(2):
        quarantine.add(Where("a.jsonl", 7, 70), "why", b"raw 13800138000")
        assert quarantine.flush() == 1
        quarantine.add(Where("a.jsonl"), "why", "raw")
        assert quarantine.flush("named") == 1
        now[0] += 1
    found = sorted(str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*.jsonl"))
    assert [name.partition("/")[0] for name in found] == ["day=2026-03-01"] * 2 + ["day=2026-03-02"]
    assert found[1] == "day=2026-03-01/named.jsonl"
    entry = json.loads((tmp_path / found[0]).read_text())
    assert entry == {
        "source": "a.jsonl", "line": 7, "offset": 70, "reason": "why", "raw": "raw ‹phone›",
    }  # fmt: skip


def test_nothing_is_written_where_nothing_was_added(tmp_path):
    """No empty files."""
    assert Quarantine(tmp_path / "q").flush("x") == 0
    assert not (tmp_path / "q").exists()


def test_texts_are_bounded(tmp_path):
    """Raw and reason."""
    quarantine = Quarantine(tmp_path, max_raw=10)
    quarantine.add(Where("s"), "r" * 1000, "汉" * 100)
    quarantine.flush("x")
    entry = json.loads(next(tmp_path.rglob("x.jsonl")).read_text())
    assert entry["raw"] == "汉汉汉"
    assert len(entry["reason"]) == 500


def test_reasons_are_counted_by_kind(tmp_path):
    """What differs from row to row does not make a new one, and there are not endlessly many."""
    quarantine = Quarantine(tmp_path)
    for number in range(3):
        quarantine.add(Where("s"), f"ts '{number}' is no time (column {number})")
    assert quarantine.reasons == {"ts … is no time (column …)": 3}
    for number in range(1200):
        quarantine.add(Where("s"), f"reason {chr(0x4E00 + number)}")
    assert len(quarantine.reasons) <= 1001
    assert quarantine.reasons["others"] > 100


def test_a_balance_that_does_not_add_up_cannot_be_made():
    """Not even by adding."""
    with pytest.raises(ValueError, match="3 received, but 2 accounted for"):
        Balance(3, stored=1, dropped=1)
