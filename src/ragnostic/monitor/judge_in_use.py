"""The judge and the scorer that go with the snapshot in use; made anew when it changes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from typing import Any

from ragnostic.errors import UsageError
from ragnostic.metrics import Metric
from ragnostic.monitor.live_metrics import Selection
from ragnostic.monitor.processing import Processor
from ragnostic.monitor.signals import SignalScorer
from ragnostic.monitor.store_settings import StoreConfiguration
from ragnostic.ports import RecordJudge, Resources
from ragnostic.store.snapshots import Snapshot, current_snapshot


def build_judge(
    configuration: StoreConfiguration, snapshot: Snapshot | None, environment: Mapping[str, str]
) -> RecordJudge | None:
    """The judge of the settings over a snapshot; None where nobody judges.

    A judge class has ``build(chunks, options, snapshot)`` and may take ``resources`` (paths are
    relative to the store); one that can do without a corpus says ``needs_corpus = False``. Raises
    UsageError where the corpus is missing.
    """
    choice = configuration.judge
    if choice is None:
        return None
    if snapshot is None and getattr(choice.plugin, "needs_corpus", True):
        raise UsageError(
            f"the judge {choice.name} looks into the corpus, and {configuration.root} has none",
            hint="ragnostic snapshot CORPUS --store DIR",
        )
    given: dict[str, Any] = {"snapshot": "" if snapshot is None else snapshot.fingerprint}
    if "resources" in inspect.signature(choice.plugin.build).parameters:
        given["resources"] = Resources(configuration.root, environment=environment)
    chunks = None if snapshot is None else snapshot.chunks
    judge: RecordJudge = choice.plugin.build(chunks, choice.options, **given)
    return judge


class JudgeInUse:
    """Gives the :class:`Processor` of the moment. Looking whether the snapshot is still the one
    in use reads one small file.
    """

    def __init__(self, configuration: StoreConfiguration, environment: Mapping[str, str]) -> None:
        self._configuration = configuration
        self._environment = environment
        self._made: tuple[str | None, Processor] | None = None

    def processor(self) -> Processor:
        """The processor for the current snapshot."""
        snapshot = current_snapshot(self._configuration.root)
        fingerprint = None if snapshot is None else snapshot.fingerprint
        if self._made is None or self._made[0] != fingerprint:
            self._made = (fingerprint, self._make(snapshot))
        return self._made[1]

    def _make(self, snapshot: Snapshot | None) -> Processor:
        configuration = self._configuration
        judge = build_judge(configuration, snapshot, self._environment)
        metrics: tuple[Metric, ...] = Selection.of(configuration.settings.score.metrics).metrics
        scorer = SignalScorer(metrics, snapshot, configuration.zone)
        return Processor(judge, scorer, configuration.zone)
