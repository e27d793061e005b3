"""``[[channel]]``: who is told of which alerts, and by what; all faults at once with their lines.

A table holds the settings of this module and, beside them, the options of the implementation that
``use`` names. Secrets never stand in the file: options that end in ``_env`` name variables of the
environment.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from ragnostic import plugins
from ragnostic.config.faults import translate, unknown_key
from ragnostic.config.models import Name, Table, Texts
from ragnostic.config.options import FindPlugin
from ragnostic.config.source import Source, read_source
from ragnostic.config.toml_lines import KeyPath
from ragnostic.errors import ConfigError, ConfigFault, UsageError
from ragnostic.notify.address_guard import check_url
from ragnostic.ports import Clock, Notice, Notifier, Severity

TABLE = "channel"
KIND = "notifiers"
"""The kind of plugin that ``use`` names."""

_ENV = "_env"
_URL = f"url{_ENV}"

Charts = Callable[[Notice], Mapping[str, bytes]]
"""A notice → PNG images by a name for each, for channels that can show them; may be none."""


def no_charts(notice: Notice) -> Mapping[str, bytes]:  # noqa: ARG001 - the port's signature
    """The :data:`Charts` without any."""
    return {}


def _as_tuple(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


class ChannelSettings(Table):
    """Who is told of what."""

    name: Name = Field(description="Its name in messages, in the outbox and in dead letters.")
    use: Name = Field(description="The implementation: wecom, slack, email, webhook, …")
    severities: Annotated[tuple[Severity, ...], BeforeValidator(_as_tuple), Field(min_length=1)] = (
        Field(default=("P0", "P1", "P2"), description="The severities that go here.")
    )
    rules: Texts = Field(
        default=("*",), description="Ids of the rules that go here; * stands for anything."
    )
    owners: Texts = Field(default=("*",), description="Owners of rules; * stands for anything.")
    where: dict[str, Texts] = Field(
        default_factory=dict,
        description='Only these slices: column → value or values, such as {category = "refunds"}.',
    )


@dataclass(frozen=True, slots=True)
class Channel:
    """A channel that can be used."""

    settings: ChannelSettings
    notifier: Notifier

    @property
    def name(self) -> str:
        """Its name; no other channel has it."""
        return self.settings.name

    @property
    def keeps_state(self) -> bool:
        """Whether the other side keeps every alert by itself, and is told of it again and again."""
        return hasattr(self.notifier, "refresh")

    def takes(self, notice: Notice) -> bool:
        """Whether a notice goes here: all of severity, rule, owner and slice have to fit."""
        chosen = self.settings
        return (
            notice.severity in chosen.severities
            and any(fnmatchcase(notice.rule, pattern) for pattern in chosen.rules)
            and any(fnmatchcase(notice.owner, pattern) for pattern in chosen.owners)
            and all(notice.slice.get(column) in values for column, values in chosen.where.items())
        )


@dataclass(frozen=True, slots=True)
class Plan:
    """A table without faults, before secrets are asked for; ``index`` is its place."""

    index: int
    settings: ChannelSettings
    plugin: Any
    options: BaseModel


def load_channels(
    path: Path, environment: Mapping[str, str], clock: Clock, charts: Charts = no_charts
) -> list[Channel]:
    """The channels of a file, in order; none where there is no such file.

    Raises ConfigError with all faults; a variable that is not set is one. Other tables of the
    file are not looked at.
    """
    source = read_source(path, ()) if path.exists() else Source(path.name, {}, {}, {})
    plans, faults = plan_channels(source)
    channels, more = open_channels(plans, source, environment, clock, charts)
    if faults or more:
        raise ConfigError([*faults, *more])
    return channels


def plan_channels(
    source: Source, find_plugin: FindPlugin = plugins.load
) -> tuple[list[Plan], list[ConfigFault]]:
    """The ``[[channel]]`` tables of a file, checked as far as that goes without the environment."""
    written = source.tree.get(TABLE, [])
    if not isinstance(written, list) or not all(isinstance(one, dict) for one in written):
        where = source.where((TABLE,))
        return [], [ConfigFault(where, f"{TABLE} must be tables: [[{TABLE}]]")]
    plans: list[Plan] = []
    faults: list[ConfigFault] = []
    for index, table in enumerate(written):
        plan = _plan(index, table, source, find_plugin, faults)
        if plan is not None:
            plans.append(plan)
    faults += _same_names(plans, source)
    return plans, faults


def open_channels(
    plans: list[Plan],
    source: Source,
    environment: Mapping[str, str],
    clock: Clock,
    charts: Charts = no_charts,
) -> tuple[list[Channel], list[ConfigFault]]:
    """Channels that can be used; a fault for each variable that is missing or holds no address
    that may be written to.
    """
    channels: list[Channel] = []
    faults: list[ConfigFault] = []
    for plan in plans:
        found = list(_environment_faults(plan, source, environment))
        faults += found
        if found:
            continue
        extra = (charts,) if getattr(plan.plugin, "takes_charts", False) else ()
        try:
            notifier = plan.plugin(plan.settings.name, plan.options, environment, clock, *extra)
        except UsageError as error:
            where = source.where((TABLE, plan.index))
            faults.append(ConfigFault(where, error.message, error.hint))
            continue
        channels.append(Channel(plan.settings, notifier))
    return channels, faults


def _plan(
    index: int,
    table: Mapping[str, Any],
    source: Source,
    find_plugin: FindPlugin,
    faults: list[ConfigFault],
) -> Plan | None:
    """One table; None where there is a fault, which is added."""
    prefix: KeyPath = (TABLE, index)
    own = {key: value for key, value in table.items() if key in ChannelSettings.model_fields}
    rest = {key: value for key, value in table.items() if key not in own}
    before = len(faults)
    settings = _validated(ChannelSettings, own, prefix, source, faults)
    plugin = None
    if isinstance(own.get("use"), str) and own["use"]:
        try:
            plugin = find_plugin(KIND, own["use"])
        except UsageError as error:
            where = source.where((*prefix, "use"))
            faults.append(ConfigFault(where, f"{TABLE}[{index}].use: {error.message}", error.hint))
    if plugin is None:
        return None
    known = {*ChannelSettings.model_fields, *plugin.Options.model_fields}
    for key in rest.keys() - known:
        faults.append(unknown_key(source.where((*prefix, key)), (*prefix, key), known))
        del rest[key]
    options = _validated(plugin.Options, rest, prefix, source, faults)
    if len(faults) > before:
        return None
    return Plan(index, settings, plugin, options)


def _validated(
    model: type[Any],
    values: Mapping[str, Any],
    prefix: KeyPath,
    source: Source,
    faults: list[ConfigFault],
) -> Any:
    try:
        return model.model_validate(values)
    except ValidationError as error:
        faults += translate(error, model, prefix, source.where)
        return None


def _same_names(plans: list[Plan], source: Source) -> Iterator[ConfigFault]:
    first: dict[str, int] = {}
    for plan in plans:
        known = first.setdefault(plan.settings.name, plan.index)
        if known != plan.index:
            yield ConfigFault(
                source.where((TABLE, plan.index, "name")),
                f"{TABLE}[{plan.index}].name: {plan.settings.name!r} is the name of "
                f"{TABLE}[{known}] too",
                "the outbox tells channels apart by their names",
            )


def _environment_faults(
    plan: Plan, source: Source, environment: Mapping[str, str]
) -> Iterator[ConfigFault]:
    """Variables that the options name and that hold nothing, or an address that may not be used."""
    for key, variable in plan.options:
        if not key.endswith(_ENV) or not variable:
            continue
        value = environment.get(variable, "").strip()
        message, hint = "", ""
        if not value:
            message = f"the environment variable {variable} is not set or empty"
            hint = f"export {variable}=… where ragnostic runs; secrets are not read from the file"
        elif key == _URL:
            message = _url_fault(value, plan.options, variable)
        if message:
            where = source.where((TABLE, plan.index, key))
            yield ConfigFault(where, f"{TABLE}[{plan.index}].{key}: {message}", hint)


def _url_fault(url: str, options: BaseModel, variable: str) -> str:
    try:
        check_url(url, allow_private=getattr(options, "allow_private", False))
    except ValueError as error:
        return f"the address in {variable} {error}"
    return ""
