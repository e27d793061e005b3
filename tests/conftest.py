"""Fixtures for all tests."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import settings

SHARED = Path(__file__).resolve().parents[2] / "shared"


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of shared test data beside the repository; skips where it is absent."""
    if not SHARED.is_dir():
        pytest.skip("the shared test data is not beside this clone")
    return SHARED


# A busy machine must not fail a property that holds.
settings.register_profile("steady", deadline=None, print_blob=True)
settings.load_profile("steady")
