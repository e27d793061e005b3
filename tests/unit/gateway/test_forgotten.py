"""Those whom a store has forgotten: their earlier rows are turned away, others' are not."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import pytest

from ragnostic.gateway.balance import Balance, Where
from ragnostic.gateway.forgotten import Forgotten, trace_of
from ragnostic.gateway.intake import Intake
from ragnostic.gateway.quarantine import Quarantine
from ragnostic.gateway.redaction import Options, Redactor

MEMORY_LOG = runpy.run_path(str(Path(__file__).parent / "memory_log.py"))["MemoryLog"]
AT = "2026-03-02T00:00:00.500000+00:00"
BEFORE, AFTER = "2026-03-02T08:00:00.4+08:00", "2026-03-02T08:00:00.6+08:00"


def note(path, by, id_, at=AT):
    """A forgetting as the audit keeps it."""
    line = json.dumps({"at": at, "by": by, "sha256": trace_of(id_), "removed": {}})
    with path.open("a", encoding="utf-8") as file:
        file.write(f"{line}\n")


@pytest.mark.parametrize(
    ("by", "row", "covered"),
    [
        ("user", {"user_id": "u3"}, True),
        ("user", {"user_id": "u33"}, False),
        ("user", {"session_id": "u3"}, False),
        ("session", {"user_id": "u1", "session_id": "u3"}, True),
        ("record", {"user_id": "u1"}, True),
        ("user", {}, False),
    ],
)
def test_who_is_forgotten_is_known_by_the_hash(tmp_path, by, row, covered):
    """A user, a session or a record, each by its own id."""
    path = tmp_path / "forgotten.jsonl"
    note(path, by, "u3")
    forgotten = Forgotten(path)
    forgotten.look()
    moment = {"ts": "2026-03-01T00:00:00+00:00"}
    assert forgotten.covers({**moment, **row}, "u3" if by == "record" else "r1") is covered


def test_a_torn_line_and_a_later_forgetting(tmp_path):
    """What a killed writer left says nothing; the later end of two counts."""
    path = tmp_path / "forgotten.jsonl"
    note(path, "user", "u3", "2026-01-01T00:00:00+00:00")
    note(path, "user", "u3")
    with path.open("a", encoding="utf-8") as file:
        file.write('{"at": "2026-0')
    forgotten = Forgotten(path)
    forgotten.look()
    assert forgotten.covers({"ts": "2026-03-01T00:00:00+00:00", "user_id": "u3"}, "r")
    assert not forgotten.covers({"ts": "2026-03-03T00:00:00+00:00", "user_id": "u3"}, "r")


def test_an_open_intake_learns_of_a_forgetting(tmp_path):
    """Rows up to the moment are dropped and counted, later ones stored; a pseudonym hides none."""
    path = tmp_path / "forgotten.jsonl"
    redactor = Redactor(Options(pseudonym_key="a-long-enough-key"))
    intake = Intake(
        MEMORY_LOG(),
        Quarantine(tmp_path / "quarantine", redactor),
        redactor,
        forgotten=Forgotten(path),
        zone="Asia/Shanghai",
    )

    def take(ts, **fields):
        return intake.accept([({"query": "q", "ts": ts, **fields}, Where("test"))])

    assert take(BEFORE, user_id="u3", record_id="r1") == Balance(1, stored=1)
    note(path, "user", "u3")
    assert take(BEFORE, user_id="u3", record_id="r2") == Balance(1, dropped=1)
    assert take(AFTER, user_id="u3", record_id="r3") == Balance(1, stored=1)
    assert take(BEFORE, user_id="u4", record_id="r4") == Balance(1, stored=1)
    assert intake.turned_away == 1
