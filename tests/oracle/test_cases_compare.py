"""The shared cases of comparisons, by the public interface."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

from ragnostic import compare
from ragnostic.errors import UsageError
from ragnostic.offline.compare import ComparisonResult

FOLDER = Path(__file__).resolve().parents[3] / "shared/cases"

pytestmark = pytest.mark.shared


def cases() -> list[dict[str, Any]]:
    """All comparisons among the shared cases; none where the folder is absent."""
    found = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("*.json"))]
    return [case for case in found if case["kind"] == "compare"]


def result_of(given: dict[str, Any]) -> ComparisonResult:
    """The comparison that a case describes, whichever way it is given."""
    metric = given.get("metric", "")
    gates = [f"{metric} >= -{given['allowed_loss']}"] if "allowed_loss" in given else []
    if "gold" in given:
        sides = given["run_a"], given["run_b"]
        return compare(*sides, qrels=given["gold"], metrics=[metric], gates=gates)
    if "report_a" in given:
        return compare(given["report_a"], given["report_b"])
    if "repeats" in given:
        values = {metric: given["repeats"]}
        return compare(values, values)
    return compare({metric: given["a"]}, {metric: given["b"]}, gates=gates)


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_a_shared_case_holds(case, shared):
    """Every key of ``expect`` is read; an unknown one fails."""
    assert shared
    expected = dict(case["expect"])
    if "error" in expected:
        with pytest.raises(UsageError) as caught:
            result_of(case["given"])
        assert all(word in str(caught.value) for word in expected["error"]["must_name"])
        return
    expected.pop("wrong", None)
    found = result_of(case["given"])
    assert expected.keys() <= READ.keys()
    for key, wanted in expected.items():
        assert READ[key](found) == _near(wanted), key


def _near(wanted: Any) -> Any:
    """Numbers to 1e-4."""
    if isinstance(wanted, dict) and wanted and all(isinstance(v, list) for v in wanted.values()):
        return wanted
    if isinstance(wanted, bool | str):
        return wanted
    return pytest.approx(wanted, abs=1e-4)


def _difference(found: ComparisonResult) -> Any:
    return found.comparison.metrics[0].difference


def _key(found: ComparisonResult) -> tuple[str, str]:
    return found.comparison.stages[0], found.comparison.metrics[0].metric


def _by_query(found: ComparisonResult, values: Any) -> dict[str, float]:
    return dict(zip(found.base.query_ids.to_pylist(), values.tolist(), strict=True))


def _finite(found: ComparisonResult) -> bool:
    numbers = [v for v in _difference(found).as_json().values() if isinstance(v, float)]
    json.dumps(found.as_json(), allow_nan=False)
    return all(map(math.isfinite, numbers))


def _missing(found: ComparisonResult) -> dict[str, list[str]]:
    named = {"a": found.missing["base"], "b": found.missing["candidate"]}
    return {side: sorted(ids) for side, ids in named.items() if ids}


READ = {
    "mean_a": lambda found: _difference(found).base,
    "mean_b": lambda found: _difference(found).candidate,
    "diff": lambda found: _difference(found).value,
    "n": lambda found: _difference(found).n,
    "missing": _missing,
    "per_query_mean": lambda found: _by_query(found, found.base.values[_key(found)]),
    "per_query_spread": lambda found: _by_query(found, found.base.spreads[_key(found)]),
    "mean": lambda found: _difference(found).base,
    "rows": lambda found: found.base.rows,
    "interval": lambda found: [_difference(found).low, _difference(found).high],
    "p": lambda found: _difference(found).p,
    "wins": lambda found: _difference(found).wins,
    "ties": lambda found: _difference(found).ties,
    "losses": lambda found: _difference(found).losses,
    "verdict": lambda found: found.verdict,
    "finite": _finite,
}
"""Key of ``expect`` → where the product has it."""
