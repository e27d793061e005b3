"""The page of ``ragnostic ingest`` names all that can be mapped and redacted."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ragnostic.cli.ingest import LogFormat
from ragnostic.gateway.mapping import FIELDS
from ragnostic.gateway.personal_data import KINDS
from ragnostic.gateway.redaction import Options
from ragnostic.gateway.stage_rows import MEMBERS

PAGE = (Path(__file__).resolve().parents[3] / "docs/ingest.md").read_text(encoding="utf-8")
FORMATS = [name for name in LogFormat if name != "auto"]


def row(start: str) -> set[str]:
    """What stands in code marks in a row of a table."""
    (line,) = [line for line in PAGE.splitlines() if line.startswith(f"| {start}")]
    return set(re.findall(r"`(\w[\w-]*)`", line.partition("|")[2].partition("|")[2]))


def test_every_field_that_a_map_can_fill_is_named():
    """Of the record and of a stage, and no other."""
    assert row("the file itself") == set(FIELDS)
    assert row("a stage") == set(MEMBERS)


@pytest.mark.parametrize("name", [*Options.model_fields, *FORMATS])
def test_every_setting_and_format_has_its_row(name):
    """With its meaning."""
    assert f"\n| `{name}` |" in PAGE


def test_every_kind_of_personal_data_is_named():
    """As a value of the setting."""
    assert row("`kinds`") >= set(KINDS)
