"""The mark that tells a crash from a shutdown."""

from __future__ import annotations

import json

from ragnostic.gateway.heartbeat import AUDIT, FILE, AuditLog, Heartbeat


class Clock:
    """Time that a test sets."""

    now = 1_800_000_000.0

    def __call__(self) -> float:
        """Seconds since the epoch."""
        return self.now


def test_a_shutdown_leaves_no_gap(tmp_path):
    """Nor does a first start."""
    clock = Clock()
    first = Heartbeat(tmp_path, clock)
    assert first.begin() is None
    first.end()
    assert Heartbeat(tmp_path, clock).begin() is None


def test_a_crash_leaves_a_gap_with_its_length(tmp_path):
    """Since when, how long, and how many captures were waiting."""
    clock = Clock()
    first = Heartbeat(tmp_path, clock)
    first.begin()
    clock.now += 10
    first.beat(3)
    clock.now += 60
    gap = Heartbeat(tmp_path, clock).begin()
    assert gap is not None
    assert (gap.alive, gap.down_s, gap.waiting) == (1_800_000_010.0, 60.0, 3)
    assert "2027-01-15T08:00:10.000+00:00, then down for 60.0 s" in str(gap)
    assert "200 ms" in str(gap)


def test_it_beats_when_something_changed_and_once_a_second(tmp_path):
    """Not more often: an idle gateway writes little."""
    clock = Clock()
    mark = Heartbeat(tmp_path, clock)
    mark.begin()
    written = []
    for step in (0.1, 0.1, 0.1, 1.0):
        clock.now += step
        mark.beat(0 if step != 0.1 or not written else 5)
        written.append(json.loads((tmp_path / FILE).read_text(encoding="utf-8"))["alive"])
    assert [round(moment - 1_800_000_000, 1) for moment in written] == [0.0, 0.2, 0.2, 1.3]


def test_a_mark_that_cannot_be_read_or_written_stops_nothing(tmp_path):
    """The disk is full, or somebody wrote into it."""
    (tmp_path / FILE).write_text("[1", encoding="utf-8")
    assert Heartbeat(tmp_path).begin() is None
    (tmp_path / "gone").mkdir()
    nowhere = Heartbeat(tmp_path / "no such folder")
    assert nowhere.begin() is None
    nowhere.end()


def test_the_audit_log_grows_by_lines(tmp_path):
    """Chinese as it is; False where it cannot be written."""
    audit = AuditLog(tmp_path, Clock())
    assert audit.write("degrade", on=True, reason="重建")
    assert audit.write("degrade", on=False, reason="")
    lines = (tmp_path / AUDIT).read_text(encoding="utf-8").splitlines()
    assert json.loads(lines[0]) == {
        "ts": "2027-01-15T08:00:00.000+00:00",
        "event": "degrade",
        "on": True,
        "reason": "重建",
    }
    assert len(lines) == 2
    assert not AuditLog(tmp_path / "no such folder").write("gap")
