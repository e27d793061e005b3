"""The settings of two runs, key by key."""

from __future__ import annotations

import string

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.offline.settings_diff import SettingChange, flattened, settings_diff

KEYS = st.text(string.ascii_lowercase, min_size=1, max_size=3)
VALUES = st.none() | st.booleans() | st.integers() | st.text(max_size=4) | st.lists(st.integers())
TABLES = st.dictionaries(KEYS, st.dictionaries(KEYS, VALUES, max_size=4), max_size=4)


def test_values_are_written_as_a_person_reads_them():
    """Lists with commas, an empty text in quotes, truth as TOML has it, unset ones not at all."""
    tables = {"a": {"names": ["x", "y"], "empty": "", "on": True, "k": 1.5, "none": None}}
    assert flattened(tables) == {"a.names": "x, y", "a.empty": '""', "a.on": "true", "a.k": "1.5"}


def test_a_setting_of_one_side_only_is_none_on_the_other():
    """And equal ones are not listed."""
    found = settings_diff({"a": {"x": 1, "y": 2}}, {"a": {"x": 1, "z": "new"}})
    assert found == [SettingChange("a.y", "2", None), SettingChange("a.z", None, "new")]
    assert str(found[0]) == "a.y: 2 → –"
    assert found[1].as_json() == {"key": "a.z", "base": None, "candidate": "new"}


@given(TABLES, TABLES)
def test_a_diff_turns_one_side_into_the_other(before, after):
    """Applied to the base's settings it gives the candidate's; of equal sides it is empty."""
    changed = flattened(before)
    for change in settings_diff(before, after):
        assert changed.get(change.key) == change.base
        changed[change.key] = change.candidate
    assert {key: value for key, value in changed.items() if value is not None} == flattened(after)
    assert settings_diff(before, before) == []
