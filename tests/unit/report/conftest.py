"""The sample run for all tests of the report."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest

from ragnostic.report.model import Page, RunData, build_page

SAMPLE = runpy.run_path(str(Path(__file__).parent / "sample_run.py"))


@pytest.fixture(scope="session")
def sample() -> RunData:
    """Sixty bilingual queries, two stages."""
    run: RunData = SAMPLE["sample_run"]()
    return run


@pytest.fixture(scope="session")
def page(sample: RunData) -> Page:
    """The page of the sample run."""
    return build_page(sample)


@pytest.fixture(scope="session")
def make_run():
    """The maker of small runs: see :mod:`small_run`."""
    return runpy.run_path(str(Path(__file__).parent / "small_run.py"))["small_run"]
