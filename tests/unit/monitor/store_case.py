"""A store folder with a small corpus and queued events, for tests of what works on it."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from ragnostic.judges.answer_span import AnswerSpanJudge
from ragnostic.monitor.live_store import LiveStore, open_store
from ragnostic.monitor.processing import Processor
from ragnostic.monitor.signals import SignalScorer
from ragnostic.ports import Event
from ragnostic.store.snapshots import current_snapshot, write_snapshot

TEXTS = {
    "leave": "员工每年享有二十天年假，需提前一周向主管申请。",
    "vpn": "Reset the vpn token in the portal and sign in again.",
    "pay": "The salary is paid on the last working day of the month.",
}
ANSWERS = {
    "leave": "员工每年享有二十天年假，需提前一周向主管申请。",
    "vpn": "Reset the vpn token in the portal and sign in again.",
    "pay": "The salary is paid on the last working day of the month.",
}
SETTINGS = '[store]\nzone = "UTC"\n[judge]\nuse = "none"\n'


def row(number: int, **fields: Any) -> dict[str, Any]:
    """A record row; its first result is the right one for every second number."""
    topic = tuple(TEXTS)[number % 3]
    others = [name for name in TEXTS if name != topic]
    ids = [topic, *others] if number % 2 else [*others, topic]
    return {
        "record_id": f"r{number}",
        "query_id": f"q{number}",
        "ts": f"2026-03-0{1 + number % 3}T10:00:00+00:00",
        "user_id": f"u{number % 5}",
        "session_id": f"s{number % 4}",
        "query": f"question {number} about {topic}",
        "answer": ANSWERS[topic],
        "stages": {"retrieve": {"ids": ids, "top_k": 10, "took_ms": 10.0, "status": "ok"}},
        **fields,
    }


def events(rows: Sequence[dict[str, Any]]) -> list[Event]:
    """Rows as events, by their record ids."""
    return [
        Event(
            one["record_id"], json.dumps(one, ensure_ascii=False).encode(), one.get("revision", 0)
        )
        for one in rows
    ]


@contextmanager
def case(root: Path, settings: str = SETTINGS) -> Iterator[LiveStore]:
    """An open store with a snapshot."""
    root.mkdir(parents=True, exist_ok=True)
    (root / "store.toml").write_text(settings, encoding="utf-8")
    chunks = pa.table({"id": list(TEXTS), "text": list(TEXTS.values())})
    write_snapshot(root, chunks)
    with open_store(root, {}) as store:
        yield store


class Given:
    """Gives one processor: the real judge unless another is handed in."""

    def __init__(self, store: LiveStore, judge: Any = "answer_span") -> None:
        snapshot = current_snapshot(store.root)
        assert snapshot is not None
        if judge == "answer_span":
            judge = AnswerSpanJudge.build(snapshot.chunks, snapshot=snapshot.fingerprint)
        self.judge = judge
        self.made = Processor(judge, SignalScorer(None, snapshot, store.zone), store.zone)

    def processor(self) -> Processor:
        """As :class:`ragnostic.monitor.judge_in_use.JudgeInUse`."""
        return self.made
