"""The page of the judges says what the settings of each are."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic_core import PydanticUndefined

from ragnostic import plugins
from ragnostic.monitor.store_settings import JUDGES

PAGE = Path(__file__).resolve().parents[3] / "docs" / "judges.md"


def shown(default):
    """A default as the tables write it."""
    if default is PydanticUndefined:
        return "required"
    if default in ("", ()):
        return "none"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


@pytest.mark.parametrize("name", plugins.names(JUDGES))
def test_the_settings_of_a_judge_stand_in_its_table(name):
    """Each with its default and what it says of itself, and no other."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    table = section.partition("| setting | default | meaning |\n")[2].partition("\n\n")[0]
    fields = plugins.load(JUDGES, name).Options.model_fields
    wanted = [
        f"| `{key}` | {shown(field.default)} | {field.description} |"
        for key, field in fields.items()
    ]
    assert table.splitlines()[1:] == wanted
