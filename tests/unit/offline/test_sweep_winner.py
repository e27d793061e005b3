"""Tables written as TOML, and paths that move."""

from __future__ import annotations

import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from ragnostic.offline.sweep_winner import _moved, _toml

_KEYS = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), min_size=1, max_size=6)
_SCALARS = (
    st.booleans()
    | st.integers(-(2**53), 2**53)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
)
_VALUES = st.recursive(
    _SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_KEYS, inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(_KEYS, st.dictionaries(_KEYS, _VALUES, max_size=4), max_size=4))
def test_what_is_written_is_read_as_it_was(tree):
    """Any keys, texts, numbers, lists, tables in tables and in lists."""
    assert tomllib.loads("\n".join(_toml(tree))) == tree


def test_paths_follow_the_file(tmp_path):
    """Those of the data, the cache and the runs; absolute ones and other texts stay."""
    absolute = str(tmp_path / "elsewhere.jsonl")
    tree = {
        "dataset": {
            "path": ["a.jsonl", absolute],
            "corpus": "docs",
            "split": "test",
            "set": [{"name": "frozen", "path": "b.jsonl"}, {"name": "new", "path": ["c.jsonl"]}],
        },
        "embed": {"cache": "vectors"},
        "run": {"out": "runs", "name": "x"},
    }
    moved = _moved(tree, tmp_path, tmp_path / "runs" / "sweep-1")
    up = "../.."
    assert moved == {
        "dataset": {
            "path": [f"{up}/a.jsonl", absolute],
            "corpus": f"{up}/docs",
            "split": "test",
            "set": [
                {"name": "frozen", "path": f"{up}/b.jsonl"},
                {"name": "new", "path": [f"{up}/c.jsonl"]},
            ],
        },
        "embed": {"cache": f"{up}/vectors"},
        "run": {"out": "..", "name": "x"},
    }
    assert tree["dataset"]["corpus"] == "docs"
    home = {"dataset": {"path": "~/eval.jsonl"}, "embed": {"cache": True}}
    assert _moved(home, Path("/a"), Path("/b")) == home
