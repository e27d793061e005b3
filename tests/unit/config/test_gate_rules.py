"""``[gate]``: its rules are checked with everything else."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragnostic import config, plugins
from ragnostic.errors import ConfigError
from ragnostic.metrics import Metric
from ragnostic.stats.gate_rules import check_rule

_HEAD = '[dataset]\npath = "eval.jsonl"\ncorpus = "eval.jsonl"\n[score]\nmetrics = ["RR@5"]\n'


def _load(folder: Path, text: str, *sets: str, check=check_rule) -> config.Configuration:
    (folder / "eval.jsonl").touch()
    file = folder / "eval.toml"
    file.write_text(_HEAD + text, encoding="utf-8")
    return config.load(
        file,
        find_plugin=plugins.load,
        check_metric=Metric.parse,
        check_rule=check,
        sets=sets,
    )


def _faults(folder: Path, text: str, *sets: str) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        _load(folder, text, *sets)
    return [str(fault) for fault in caught.value.faults]


def test_no_gate_is_the_default(tmp_path):
    """No rules, no baseline, an inconclusive verdict is no failure."""
    gate = _load(tmp_path, "").settings.gate
    assert (gate.rules, gate.baseline, gate.strict) == ((), None, False)


def test_rules_are_kept_as_they_are_written(tmp_path):
    """One rule may be a plain string; commas in it are its own."""
    text = (
        '[gate]\nrules = "RR@5{category=人事, 假期} >= -0.05"\nbaseline = "runs/a"\nstrict = true'
    )
    gate = _load(tmp_path, text).settings.gate
    assert gate.rules == ("RR@5{category=人事, 假期} >= -0.05",)
    assert (gate.baseline, gate.strict) == ("runs/a", True)


def test_a_run_does_not_record_the_gate(tmp_path):
    """It changes no number, so the settings, and their hash in the run's name, stay the same."""
    with_gate = _load(tmp_path, '[gate]\nrules = ["lost <= 0.02"]\nbaseline = "b"')
    assert with_gate.as_json() == _load(tmp_path, "").as_json()


def test_every_faulty_rule_is_told_at_its_line(tmp_path):
    """Together with the faults of other tables."""
    rules = '[gate]\nrules = [\n  "RR@5 >= -0.02",\n  "nDCG@9 >= 0",\n  "RR@5 >= -2%",\n]\n'
    unmeasured = "is not measured; measured: RR@5, Judged@5\n    hint: add nDCG@9 to score.metrics"
    percentage = "and bounds are no percentages\n    hint: write it like RR@5 >= -0.02"
    assert _faults(tmp_path, f"{rules}stric = true\n[retrieve]\ntop_k = 0") == [
        f"eval.toml:9: gate.rules: gate 'nDCG@9 >= 0': nDCG@9 {unmeasured}",
        f"eval.toml:10: gate.rules: gate 'RR@5 >= -2%' is bounded by -2%, {percentage}",
        "eval.toml:12: unknown key gate.stric\n    hint: did you mean gate.strict?",
        "eval.toml:14: retrieve.top_k must be at least 1, not 0",
    ]


def test_a_rule_from_the_command_line_is_told_by_its_option(tmp_path):
    """As every overridden setting is."""
    (fault,) = _faults(tmp_path, "", 'gate.rules=["RR@5"]')
    assert fault.startswith("--set gate.rules: gate.rules: gate 'RR@5' has no bound")


def test_values_of_other_kinds_are_refused(tmp_path):
    """Rules are text, strict is true or false, an empty baseline is none."""
    text = '[gate]\nrules = [1]\nbaseline = ""\nstrict = "yes"'
    faults = "\n".join(_faults(tmp_path, text))
    assert "gate.rules must be a string or a list of strings" in faults
    assert "gate.baseline must not be empty" in faults
    assert "gate.strict must be true or false" in faults


def test_where_metrics_are_faulty_rules_wait(tmp_path):
    """Nothing can be said of a rule before it is known what is measured."""
    faults = _faults(tmp_path, '[gate]\nrules = ["AP >= 0"]', "score.metrics=7")
    assert len(faults) == 2
    assert faults[0].startswith("eval.toml:7: gate.rules: gate 'AP >= 0': AP is not measured")


def test_without_a_checker_rules_are_not_looked_into(tmp_path):
    """For programs that judge no gate."""
    assert _load(tmp_path, '[gate]\nrules = ["?"]', check=None).settings.gate.rules == ("?",)
