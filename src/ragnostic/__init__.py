"""Ragnostic: the check-up for the retrieval half of a RAG system.

>>> from ragnostic import evaluate
>>> evaluate({"q1": {"d1": 1}}, {"q1": ["d2", "d1"]}, ["RR@5"])["RR@5"].mean
0.5
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragnostic.errors import DataError
    from ragnostic.evalset.qrels import load_qrels
    from ragnostic.evalset.runs import load_run
    from ragnostic.metrics import Metric
    from ragnostic.monitor.service_log import log
    from ragnostic.offline.compare import compare
    from ragnostic.offline.evaluation import evaluate

__all__ = ["DataError", "Metric", "compare", "evaluate", "load_qrels", "load_run", "log"]

_HOMES = {
    "DataError": "ragnostic.errors",
    "Metric": "ragnostic.metrics",
    "compare": "ragnostic.offline.compare",
    "evaluate": "ragnostic.offline.evaluation",
    "load_qrels": "ragnostic.evalset.qrels",
    "load_run": "ragnostic.evalset.runs",
    "log": "ragnostic.monitor.service_log",
}


def __getattr__(name: str) -> Any:
    """Public names are imported when they are asked for, so that ``import ragnostic`` is quick."""
    if name not in _HOMES:
        raise AttributeError(f"module 'ragnostic' has no attribute {name!r}")
    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
