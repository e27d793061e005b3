"""A rule as data: which figure is watched, when it is in breach, and who is told (METRICS 13)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field

from ragnostic.config.models import LARGEST, Name, Table
from ragnostic.ports import Notice, Severity

Against = Literal["baseline", "yesterday", "last week"]
Comparison = Literal["below", "above", "drop", "rise"]

COMPARISONS: tuple[Comparison, ...] = ("below", "above", "drop", "rise")
BASELINE_KEYS = ("alpha", "min_windows", "seasonal", "rebaseline_after")
LONGEST_ID = 64

_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_DURATION = re.compile(r"(\d{1,6})\s*([smhdw])")
_NEVER = "never"
_ID = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


def _duration(value: Any) -> Any:
    """``"24h"`` as a timedelta, ``"never"`` as None."""
    if value is None or isinstance(value, timedelta) or value == _NEVER:
        return None if value == _NEVER else value
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None or int(found[1]) == 0:
        raise ValueError('must be a time such as "30m", "24h" or "7d", or "never"')
    return timedelta(**{_UNITS[found[2]]: int(found[1])})


def _rule_id(value: str) -> str:
    if not _ID.fullmatch(value) or len(value) > LONGEST_ID:
        raise ValueError("must be small letters and digits with hyphens between, such as mrr-drop")
    return value


def as_tuple(value: Any) -> Any:
    """A list of TOML as the tuple that models hold."""
    return tuple(value) if isinstance(value, list) else value


def _by_language(value: dict[str, str]) -> dict[str, str]:
    if not value.keys() <= {"zh", "en"}:
        raise ValueError('must be texts for "zh" and "en"')
    return value


Duration = Annotated[timedelta | None, BeforeValidator(_duration)]
Texts = Annotated[dict[str, str], AfterValidator(_by_language)]
Finite = Annotated[float, Field(allow_inf_nan=False)]


class Condition(Table):
    """Something else that must hold in the same window."""

    metric: Name = Field(description="Figure, as in a rule.")
    below: Finite | None = Field(default=None, description="Holds below this value.")
    above: Finite | None = Field(default=None, description="Holds above this value.")

    @property
    def comparison(self) -> Comparison:
        """Which of the two it is."""
        return "above" if self.below is None else "below"


class BaselineSettings(Table):
    """How the usual value of a figure is learned."""

    alpha: float = Field(
        default=0.2, gt=0.0, le=1.0, description="Weight of a new window in the baseline."
    )
    min_windows: int = Field(
        default=7,
        ge=1,
        le=LARGEST,
        description="The baseline starts at the mean of so many windows; before, there is none.",
    )
    seasonal: bool = Field(
        default=False,
        description="A baseline for each hour of the week (windows of an hour) or each day of "
        "the week (windows of a day).",
    )
    rebaseline_after: Duration = Field(
        default=timedelta(days=7),
        description='After firing for so long the new level becomes the baseline; or "never".',
    )


class Rule(BaselineSettings):
    """A rule without contradictions, as :func:`~ragnostic.monitor.alerts.rule_files.load_rules`
    gives it. ``metric`` is a full name; exactly one of below, above, drop and rise is set.
    """

    id: Annotated[str, AfterValidator(_rule_id)] = Field(
        description="Its name: small letters, digits and hyphens."
    )
    metric: Name = Field(
        description="Figure: a metric, QER@5, RDS, RDS(norm=random), RCS@10, RBO(p=0.9)@10, "
        "latency:p95, coverage, empty or failed."
    )
    stage: str = Field(default="", description="Stage of the pipeline; the last one where empty.")
    slice: str = Field(
        default="", description="Column whose values each are watched alone, with their own alert."
    )
    where: dict[str, Name] = Field(
        default={}, description='One column and the value that is watched: { category = "x" }.'
    )
    window: Literal["hour", "day"] = Field(default="day", description="Span of one evaluation.")
    below: Finite | None = Field(default=None, description="Breach below this value.")
    above: Finite | None = Field(default=None, description="Breach above this value.")
    drop: Finite | None = Field(default=None, description="Breach after a fall by more than this.")
    rise: Finite | None = Field(default=None, description="Breach after a rise by more than this.")
    against: Against | None = Field(
        default=None,
        description="What drop and rise are measured from: baseline (where it is left out), "
        "yesterday or last week.",
    )
    relative: bool = Field(
        default=False, description="drop and rise are shares of what is compared with."
    )
    beyond_interval: bool = Field(
        default=False, description="The change must also be more than chance explains."
    )
    conditions: Annotated[tuple[Condition, ...], BeforeValidator(as_tuple)] = Field(
        default=(),
        alias="with",
        description="Further conditions on the same window, all of which must hold.",
    )
    times: int = Field(
        default=1,
        alias="for",
        ge=1,
        le=LARGEST,
        description="Windows with data in a row that must be in breach before it fires.",
    )
    clear: Finite | None = Field(
        default=None,
        description="It ends only when the value (or the change) is back at this; at the limit "
        "itself where left out.",
    )
    min_samples: int = Field(
        default=200, ge=1, le=LARGEST, description="A window with fewer rows has no data."
    )
    severity: Severity = Field(
        default="P2", description="P0 at once, P1 today, P2 when there is time."
    )
    owner: str = Field(default="", description="Who looks after it; stands in messages.")
    runbook: str = Field(default="", description="Page that says what to do; stands in messages.")
    actions: Annotated[tuple[Name, ...], BeforeValidator(as_tuple)] = Field(
        default=(), description="Names of [[action]] tables to run when it fires and ends."
    )
    repeat: Duration = Field(
        default=None, description="Pause between reminders; none are sent where it is left out."
    )
    enabled: bool = Field(default=True, description="false switches the rule off.")
    summary: Texts = Field(
        default={}, description="A sentence of your own for messages: { zh = …, en = … }."
    )
    likely_cause: Texts = Field(
        default={}, description="What is most often behind it: { zh = …, en = … }."
    )

    @property
    def comparison(self) -> Comparison:
        """The one of the four that is set."""
        return next(name for name in COMPARISONS if getattr(self, name) is not None)

    @property
    def limit(self) -> float:
        """The value that must not be passed: of the figure, or of its change."""
        return float(getattr(self, self.comparison))

    @property
    def compared_with(self) -> Literal["limit"] | Against:
        """What the value is held against, in the words of a notice.

        >>> Rule(id="a", metric="RR@5", drop=0.1).compared_with
        'baseline'
        """
        if self.comparison in {"below", "above"}:
            return "limit"
        return self.against or "baseline"

    @property
    def figures(self) -> tuple[str, ...]:
        """Every figure that an evaluation needs, its own first."""
        return tuple(dict.fromkeys((self.metric, *(one.metric for one in self.conditions))))


class Links(Table):
    """``[links]``: where messages lead to."""

    pages: str = Field(
        default="",
        description="Address of Ragnostic's pages; messages lead to the alert there.",
    )
    runbooks: str = Field(
        default="",
        description="Stands before the `runbook` of a rule, where that is no address itself.",
    )

    def linked(self, notice: Notice) -> Notice:
        """A notice with its links.

        >>> Links(pages="https://rag.example/").alert("mrr-drop:a9823407:3")
        'https://rag.example/alerts/a9823407'
        """
        runbook = notice.runbook
        if runbook and "://" not in runbook:
            runbook = self.runbooks + runbook
        return replace(notice, link=self.alert(notice.key), runbook=runbook)

    def alert(self, key: str) -> str:
        """The page of the alert of an episode; empty without pages."""
        return f"{self.pages.rstrip('/')}/alerts/{key.split(':')[1]}" if self.pages else ""


def key_names(model: type[Table]) -> Mapping[str, str]:
    """Keys as a person writes them in TOML → fields of the model.

    >>> key_names(Rule)["for"]
    'times'
    """
    return {field.alias or name: name for name, field in model.model_fields.items()}
