"""What the comparison page is made from: two systems on the same queries, as data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from ragnostic.report.run import RunData

if TYPE_CHECKING:
    from ragnostic.stats.comparison import Comparison, QueryChange
    from ragnostic.stats.gates import GateResult


class SettingLike(Protocol):
    """A setting that differs; a value may be None where a side lacks the setting."""

    @property
    def key(self) -> str:
        """Dotted path: ``retrieve.bm25.k1``."""
        ...

    @property
    def base(self) -> object:
        """Value of the base."""
        ...

    @property
    def candidate(self) -> object:
        """Value of the candidate."""
        ...


@dataclass(frozen=True, slots=True)
class ComparisonView:
    """A comparison with all that its page shows beside the numbers.

    ``changes`` are the queries that differ by the first metric of ``comparison``, ``missing`` the
    judged queries without a ranking (``{"base": ids, "candidate": ids}``). ``announced`` and
    ``warnings`` are lines in the program's own words. The runs give rankings and texts; without
    them, where only values are known, the page has the numbers alone.
    """

    comparison: Comparison
    gate: GateResult | None = None
    settings: Sequence[SettingLike] = ()
    announced: Sequence[str] = ()
    warnings: Sequence[str] = ()
    missing: Mapping[str, Sequence[str]] = field(default_factory=dict)
    changes: Sequence[QueryChange] = ()
    base_run: RunData | None = None
    candidate_run: RunData | None = None
