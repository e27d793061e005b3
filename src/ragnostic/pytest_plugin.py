"""A gate as a test: a fixture that evaluates, and assertions about runs.

Loaded by pytest itself, in every project of the environment: nothing of ragnostic is imported
before it is used.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import pytest

if TYPE_CHECKING:
    from ragnostic.stats.comparison import Comparison
    from ragnostic.stats.gates import GateResult
    from ragnostic.stats.sides import Side

ALLOWED_LOSS = "-0.02"


class InconclusiveGateWarning(UserWarning):
    """A gate that too few queries were there to judge."""


class UnpairedQueriesWarning(UserWarning):
    """A gate that passed over the queries that both runs have, while one has others too."""


class Evaluate(Protocol):
    """What the fixture ``ragnostic_eval`` is."""

    def __call__(
        self,
        config: str | Path,
        *,
        sets: Sequence[str] | str = (),
        out: str | Path | None = None,
        fresh: bool = False,
    ) -> Path:
        """The folder of a run of this configuration."""
        ...


@pytest.fixture(scope="session")
def ragnostic_eval(tmp_path_factory: pytest.TempPathFactory) -> Evaluate:
    """``ragnostic_eval("eval.toml")`` evaluates as ``ragnostic eval`` does; the run folder.

    ``sets``: an override such as ``"retrieve.top_k=50"``, or several. The run is put below
    ``out``, else below the configuration's ``run.out``, else into a temporary folder. The same
    arguments are evaluated once a session. A gate of the configuration is not judged here.
    """
    done: dict[tuple[object, ...], Path] = {}

    def evaluate(
        config: str | Path,
        *,
        sets: Sequence[str] | str = (),
        out: str | Path | None = None,
        fresh: bool = False,
    ) -> Path:
        overrides = [sets] if isinstance(sets, str) else list(sets)
        key = (Path(config).resolve(), tuple(overrides), out and Path(out).resolve(), fresh)
        if key not in done:
            from ragnostic.cli import eval as program  # noqa: PLC0415 - heavy, loaded on use

            loaded = program.load_configuration(Path(config), overrides)
            if out is None and loaded.settings.run.out is None:
                target = tmp_path_factory.mktemp("ragnostic")
            else:
                target = program.out_of(loaded) if out is None else Path(out)
            done[key] = program.run_and_write(loaded, target, fresh=fresh)
        return done[key]

    return evaluate


def assert_no_regression(
    run: str | Path,
    baseline: str | Path,
    gates: Sequence[str] | str = (),
    *,
    strict: bool = False,
) -> None:
    """Fail unless a run folder keeps to the rules against a baseline.

    ``baseline`` is a run folder, or the id or tag of a run beside ``run``. Without ``gates`` the
    first metric of the run may fall by 0.02 at most. An inconclusive gate is a warning, with
    ``strict`` a failure. Queries that only one of the runs has are not judged: they are named in
    the message, and by a warning where the gate passes.
    """
    __tracebackhide__ = True
    from ragnostic.offline.compare import compare  # noqa: PLC0415 - heavy, loaded on use
    from ragnostic.offline.run_folder import find_run  # noqa: PLC0415 - the same
    from ragnostic.offline.run_source import folder_source  # noqa: PLC0415 - the same
    from ragnostic.stats.gate_rules import rule_texts  # noqa: PLC0415 - the same

    folder = Path(run)
    rules = rule_texts(gates) or [f"{folder_source(folder).metrics[0]} >= {ALLOWED_LOSS}"]
    found = compare(find_run(folder.parent, str(baseline)), folder, gates=rules)
    metrics = [known.metric for known in found.comparison.metrics]
    _report(
        found.gate,
        found.base,
        found.candidate,
        metrics,
        folder,
        strict=strict,
        comparison=found.comparison,
    )


def assert_gate(run: str | Path, gates: Sequence[str] | str, *, strict: bool = False) -> None:
    """Fail unless a run folder keeps to rules about its own values, such as ``abs:R@20 >= 0.85``.

    An inconclusive gate is a warning, with ``strict`` a failure.
    """
    __tracebackhide__ = True
    from ragnostic.offline.run_folder import read_run  # noqa: PLC0415 - heavy, loaded on use
    from ragnostic.offline.sides import side_of_run  # noqa: PLC0415 - the same
    from ragnostic.stats.gate_rules import Rule, rule_texts  # noqa: PLC0415 - the same
    from ragnostic.stats.gates import judge_gate  # noqa: PLC0415 - the same

    folder = Path(run)
    side = side_of_run(read_run(folder))
    gate = judge_gate([Rule.parse(rule) for rule in rule_texts(gates)], None, side, ())
    _report(gate, None, side, (), folder, strict=strict)


def _report(
    gate: GateResult | None,
    base: Side | None,
    candidate: Side,
    metrics: Sequence[str],
    folder: Path,
    *,
    strict: bool,
    comparison: Comparison | None = None,
) -> None:
    __tracebackhide__ = True
    lacking = comparison is not None and (comparison.only_base or comparison.only_candidate)
    if gate is None or (gate.verdict == "PASS" and not lacking):
        return
    from ragnostic.cli.gate_message import gate_message  # noqa: PLC0415 - heavy, loaded on use
    from ragnostic.offline.run_folder import REPORT  # noqa: PLC0415 - the same
    from ragnostic.offline.run_source import folder_source  # noqa: PLC0415 - the same

    asked = folder_source(folder).asked().select(["query_id", "query"]).to_pylist()
    texts = {row["query_id"]: row["query"] or "" for row in asked}
    message = gate_message(gate, base, candidate, metrics, texts, comparison=comparison)
    message = f"{message}\nreport: {folder / REPORT}"
    if gate.verdict == "FAIL" or (strict and gate.verdict == "INCONCLUSIVE"):
        raise AssertionError(message)
    kind = UnpairedQueriesWarning if gate.verdict == "PASS" else InconclusiveGateWarning
    warnings.warn(kind(message), stacklevel=3)
