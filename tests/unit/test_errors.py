"""The tree of errors."""

from __future__ import annotations

import pytest

from ragnostic.errors import (
    ConfigError,
    ConfigFault,
    DataError,
    Fault,
    GenerationError,
    PathError,
    RagnosticError,
    RetrievalError,
    UsageError,
)


@pytest.mark.parametrize(
    ("kind", "code"),
    [(RagnosticError, 2), (UsageError, 2), (DataError, 3), (PathError, 2), (RetrievalError, 4)],
)
def test_every_error_has_its_exit_code(kind, code):
    """And message and hint for a person."""
    error = kind("what", hint="do that")
    assert error.exit_code == code
    assert str(error) == "what\n    hint: do that"
    assert str(kind("what")) == "what"
    assert isinstance(error, RagnosticError)


def test_a_data_error_is_a_value_error():
    """So that callers need not know ours."""
    assert issubclass(DataError, ValueError)


def test_a_retrieval_error_says_whether_to_try_again():
    """Not by default."""
    assert not RetrievalError("x").retryable
    assert RetrievalError("x", retryable=True).retryable


def test_a_configuration_error_lists_all_faults_at_once():
    """Each with its place and hint."""
    faults = [ConfigFault("a.toml:3", "unknown key", "did you mean top_k?"), ConfigFault("b", "x")]
    error = ConfigError(faults)
    assert error.exit_code == 2
    assert list(error.faults) == faults
    for text in ("a.toml:3: unknown key", "hint: did you mean top_k?", "b: x"):
        assert text in str(error)


def test_a_fault_shows_its_place_where_it_has_one():
    """Otherwise its message alone."""
    assert str(Fault("kind", "what", where="f:1")) == "f:1: what"
    assert str(Fault("kind", "what")) == "what"


def test_a_generation_error_says_why_there_is_no_answer():
    """It is a retrieval error that is never tried again; others may name a time to wait."""
    error = GenerationError("cut", status="truncated", hint="raise max_tokens")
    assert isinstance(error, RetrievalError)
    assert (error.status, error.retryable, error.wait_s) == ("truncated", False, None)
    assert RetrievalError("busy", retryable=True, wait_s=2.0).wait_s == 2.0
