"""One notice, for the tests of channels and of words."""

from __future__ import annotations

from datetime import UTC, datetime

from ragnostic.ports import Notice

HOUR = (datetime(2026, 1, 5, 5, tzinfo=UTC), datetime(2026, 1, 5, 6, tzinfo=UTC))
NOTICE = Notice(
    key="mrr-drop category=退款 #3",
    kind="firing",
    severity="P1",
    rule="mrr-drop",
    metric="RR@5",
    value=0.691,
    reference=0.812,
    against="baseline",
    n=1234,
    since=HOUR[0],
    window=HOUR,
    zone="Asia/Shanghai",
    stage="rerank",
    slice={"category": "退款"},
    low=0.65,
    high=0.73,
    worst_query="退款要几天到账？",
    owner="search-team",
    runbook="https://wiki.example/mrr",
    link="https://rag.example/q?a=1&b=2",
)
