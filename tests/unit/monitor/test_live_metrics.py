"""Which metrics live traffic has, and how they are named."""

from __future__ import annotations

import pytest

from ragnostic.errors import UsageError
from ragnostic.monitor.live_metrics import Selection, check_live_metric


def test_signals_are_named_like_metrics():
    """In any case; a metric once, however it is spelled."""
    found = Selection.parse("mrr@5, RR@5, qer, rds(NORM=random), rcs, RBO@10, nDCG(gain=exp)@10")
    assert [str(metric) for metric in found.metrics] == ["RR@5", "nDCG(gain=exp)@10"]
    assert found.signals == ("QER@5", "RDS(norm=random)", "RCS@10", "RBO(p=0.9)@10")


@pytest.mark.parametrize("name", ["RecallCurve@100", "AUROC", "nonsense", "RR@0"])
def test_what_live_traffic_has_not_is_refused(name):
    """Curves, metrics of unanswerable queries, unknown names."""
    with pytest.raises(UsageError):
        check_live_metric(name)


def test_all_bad_names_are_told_at_once():
    """And none at all is refused."""
    with pytest.raises(UsageError, match=r"(?s)nonsens.*AUROC"):
        Selection.parse("nonsens,AUROC,RR@5")
    with pytest.raises(UsageError, match="nonsens"):
        Selection.parse("nonsens")
    with pytest.raises(UsageError, match="no metric"):
        Selection.parse(" , ")
