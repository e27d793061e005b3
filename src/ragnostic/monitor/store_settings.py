"""``store.toml``: the settings of a store folder, all faults at once, each with its line."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from pydantic import AfterValidator, BaseModel, Field, ValidationError

from ragnostic import plugins
from ragnostic.config.faults import translate, unknown_key
from ragnostic.config.models import LARGEST, MetricNames, Table
from ragnostic.config.options import NONE, Choice
from ragnostic.config.secrets import hide_secrets
from ragnostic.config.source import Source, read_source
from ragnostic.errors import ConfigError, ConfigFault, PathError, RagnosticError, UsageError
from ragnostic.gateway.redaction import Options as RedactSettings
from ragnostic.monitor.live_metrics import DEFAULT_METRICS, check_live_metric
from ragnostic.monitor.windows import DEFAULT_ZONE

FILE = "store.toml"
JUDGES = "judges"
"""The kind of plugin that ``[judge] use`` names."""


_MARKS = (
    *(FILE, "alerts.toml", "queue.sqlite", "state.sqlite", "watch.sqlite"),
    *("snapshots", "records", "judgments", "scores", "probes", "rollups"),
)


def check_store(root: Path) -> None:
    """Raise PathError for a folder that holds nothing of a store."""
    if not any((root / name).exists() for name in _MARKS):
        raise PathError(
            f"{root} is no store folder",
            hint="a snapshot, an ingest or the gateway makes one: ragnostic ingest FILE --store",
        )


def _known_zone(name: str) -> str:
    try:
        ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise ValueError("must be a time zone such as Asia/Shanghai or UTC") from None
    return name


class KeepSettings(Table):
    """What a day is, and how long it is kept."""

    zone: Annotated[str, AfterValidator(_known_zone)] = Field(
        default=DEFAULT_ZONE, description="Time zone in which days begin and end."
    )
    keep_days: int = Field(
        default=90,
        ge=1,
        le=LARGEST,
        description="Days after which records, judgments, scores, probes and quarantine go.",
    )


class JudgeSettings(Table):
    """Who says which chunks are relevant; its options stand in [judge.NAME]."""

    use: str = Field(
        default="answer_span", description="Judge: answer_span, gold, grader, …; none: no one."
    )


class LiveScoreSettings(Table):
    """What is measured of live traffic."""

    metrics: MetricNames = Field(
        default=tuple(map(str, DEFAULT_METRICS)),
        description="Metrics of rankings. QER, RDS, RCS, RBO and the recall curve are always "
        "measured, whatever stands here.",
    )


class WorkSettings(Table):
    """How the worker works."""

    batch: int = Field(
        default=4096, ge=1, le=LARGEST, description="Records read, judged and written at once."
    )
    sleep_s: float = Field(
        default=5.0,
        gt=0.0,
        le=LARGEST,
        description="Pause after a round of less than a batch, in seconds.",
    )
    lease_s: float = Field(
        default=60.0,
        ge=1.0,
        le=LARGEST,
        description="Seconds after which another worker takes over from one that is silent.",
    )
    retry_s: float = Field(
        default=300.0,
        gt=0.0,
        le=LARGEST,
        description="Seconds after which records whose judge failed are judged again.",
    )


class StoreSettings(Table):
    """Everything in ``store.toml``, but the options of judges."""

    store: KeepSettings = Field(default=KeepSettings(), description="Days and retention.")
    judge: JudgeSettings = Field(default=JudgeSettings(), description="The judge.")
    score: LiveScoreSettings = Field(default=LiveScoreSettings(), description="The metrics.")
    redact: RedactSettings = Field(
        default=RedactSettings(), description="What is masked before anything is stored."
    )
    work: WorkSettings = Field(default=WorkSettings(), description="The worker.")


STORE_TABLES: dict[str, type[Table]] = {
    "store": KeepSettings,
    "judge": JudgeSettings,
    "score": LiveScoreSettings,
    "redact": RedactSettings,
    "work": WorkSettings,
}


@dataclass(frozen=True, slots=True)
class StoreConfiguration:
    """The settings of a store without faults. ``judge`` is None where nobody judges."""

    root: Path
    settings: StoreSettings
    judge: Choice | None

    @property
    def zone(self) -> str:
        """The time zone of the store's days."""
        return self.settings.store.zone

    def judge_parameters(self) -> Mapping[str, Any]:
        """The judge's options as resolved, literal secrets hidden."""
        options = {} if self.judge is None else self.judge.options.model_dump(mode="json")
        return dict(hide_secrets(options))


def load_store_settings(root: Path) -> StoreConfiguration:
    """The settings of a store folder; the defaults where it has no ``store.toml``.

    Raises ConfigError with all faults.

    >>> load_store_settings(Path("no-such-store")).zone
    'Asia/Shanghai'
    """
    path = root / FILE
    source = read_source(path, ()) if path.exists() else Source(FILE, {}, {}, {})
    faults = [
        unknown_key(source.where((name,)), (name,), STORE_TABLES)
        for name in source.tree.keys() - STORE_TABLES.keys()
    ]
    options = _judge_options(source)
    tables = {
        name: _table(name, model, source, options, faults) for name, model in STORE_TABLES.items()
    }
    judge = _chosen_judge(source, tables["judge"], options, faults)
    faults += _metric_faults(source, tables["score"])
    if faults:
        raise ConfigError(sorted(dict.fromkeys(faults), key=_place))
    return StoreConfiguration(root, StoreSettings.model_validate(tables), judge)


def _judge_options(source: Source) -> Mapping[str, dict[str, Any]]:
    """The sub-tables of ``[judge]``, each the options of one judge."""
    table = source.tree.get("judge")
    written = table if isinstance(table, dict) else {}
    return {
        name: value
        for name, value in written.items()
        if isinstance(value, dict) and name not in JudgeSettings.model_fields
    }


def _table(
    name: str,
    model: type[Table],
    source: Source,
    options: Mapping[str, Any],
    faults: list[ConfigFault],
) -> Table:
    """The table's model, or its defaults where there is a fault, which ends the load."""
    written = source.tree.get(name, {})
    if not isinstance(written, dict):
        faults.append(ConfigFault(source.where((name,)), f"{name} must be a table: [{name}]"))
        return model()
    hidden = options if name == "judge" else {}
    try:
        return model.model_validate({k: v for k, v in written.items() if k not in hidden})
    except ValidationError as error:
        faults += translate(error, model, (name,), source.where)
        return model()


def _chosen_judge(
    source: Source,
    table: Table,
    options: Mapping[str, dict[str, Any]],
    faults: list[ConfigFault],
) -> Choice | None:
    """The judge in use; the options of the others are checked too."""
    used = str(getattr(table, "use", NONE))
    chosen = None
    for name in dict.fromkeys((*options, used)):
        if name == NONE:
            continue
        path = ("judge", name) if name in options else ("judge", "use")
        try:
            plugin = plugins.load(JUDGES, name)
        except UsageError as error:
            where = source.where(path)
            faults.append(ConfigFault(where, f"{'.'.join(path)}: {error.message}", error.hint))
            continue
        choice = Choice(name, plugin, _options(source, name, plugin, options, faults))
        chosen = choice if name == used else chosen
    return chosen


def _options(
    source: Source,
    name: str,
    plugin: Any,
    options: Mapping[str, dict[str, Any]],
    faults: list[ConfigFault],
) -> BaseModel:
    model: type[BaseModel] = plugin.Options
    try:
        return model.model_validate(options.get(name, {}))
    except ValidationError as error:
        faults.extend(translate(error, model, ("judge", name), source.where))
        return model.model_construct()


def _metric_faults(source: Source, table: Table) -> list[ConfigFault]:
    faults = []
    for index, name in enumerate(getattr(table, "metrics", ())):
        try:
            check_live_metric(name)
        except RagnosticError as error:
            where = source.where(("score", "metrics", index))
            faults.append(ConfigFault(where, f"score.metrics: {error.message}", error.hint))
    return faults


def _place(fault: ConfigFault) -> tuple[int, str]:
    line = fault.where.removeprefix(f"{FILE}:")
    return (int(line) if line.isdecimal() else 0, fault.where)
