"""``gateway.toml``: read, checked, all faults at once with their lines."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from pydantic import ValidationError

from ragnostic.config.faults import translate, unknown_key
from ragnostic.config.models import Table
from ragnostic.config.source import Source, read_source
from ragnostic.errors import ConfigError, ConfigFault
from ragnostic.gateway.addresses import is_loopback, split_address
from ragnostic.gateway.mapping import RecordMap, build_map
from ragnostic.gateway.settings import TABLES, GatewaySettings

MAP = "map"
_EXAMPLE = 'for example query = "request.query"'


class GatewayConfiguration(NamedTuple):
    """Settings without faults, and the folder that relative paths refer to.

    ``record_map`` is None where nothing is captured and no map is written.
    """

    settings: GatewaySettings
    record_map: RecordMap | None
    base_dir: Path

    def path(self, written: str) -> Path:
        """A path of the configuration, resolved against its folder."""
        return self.base_dir / Path(written).expanduser()


def load_gateway(path: Path, environment: Mapping[str, str]) -> GatewayConfiguration:
    """The configuration in a file; raises ConfigError with all faults."""
    source = read_source(path, ())
    known = {*TABLES, MAP}
    faults = [
        unknown_key(source.where((name,)), (name,), known) for name in source.tree.keys() - known
    ]
    tables = {name: _table(name, model, source, faults) for name, model in TABLES.items()}
    record_map = _map(source, faults)
    if not faults:
        settings = GatewaySettings.model_validate(tables)
        faults += _rules(settings, record_map, source, environment)
    if faults:
        raise ConfigError(sorted(dict.fromkeys(faults), key=_place(source)))
    return GatewayConfiguration(settings, record_map, path.resolve().parent)


def _table(
    name: str, model: type[Table], source: Source, faults: list[ConfigFault]
) -> Table | None:
    written = source.tree.get(name, {})
    if not isinstance(written, dict):
        faults.append(ConfigFault(source.where((name,)), f"{name} must be a table: [{name}]"))
        return None
    try:
        return model.model_validate(written)
    except ValidationError as error:
        faults += translate(error, model, (name,), source.where)
        return None


def _map(source: Source, faults: list[ConfigFault]) -> RecordMap | None:
    written = source.tree.get(MAP)
    if written is None:
        return None
    if not isinstance(written, dict):
        faults.append(ConfigFault(source.where((MAP,)), f"{MAP} must be a table: [{MAP}]"))
        return None
    try:
        return build_map(written, source.where, (MAP,))
    except ConfigError as error:
        faults += error.faults
        return None


_Finding = tuple[tuple[str, ...], str, str]
"""Key path, message, hint."""


def _rules(
    settings: GatewaySettings,
    record_map: RecordMap | None,
    source: Source,
    environment: Mapping[str, str],
) -> list[ConfigFault]:
    """What concerns several keys."""
    has_query = record_map is not None and "query" in record_map.fields
    found = (
        *_address_rules(settings),
        *_token_rules(settings, environment),
        *_service_rules(settings),
        *_query_rules(settings, has_query=has_query),
    )
    return [ConfigFault(source.where(path), message, hint) for path, message, hint in found]


def _address_rules(settings: GatewaySettings) -> Iterator[_Finding]:
    listen, control, traces = settings.listen, settings.control, settings.otlp
    if traces.address and not (traces.allow_remote or is_loopback(traces.address)):
        yield (
            ("otlp", "address"),
            f"otlp.address {traces.address} can be reached by other machines",
            "set otlp.allow_remote = true if that is meant; whoever reaches it can write records",
        )
    if not (listen.allow_remote or is_loopback(listen.address)):
        yield (
            ("listen", "address"),
            f"listen.address {listen.address} can be reached by other machines",
            "set listen.allow_remote = true if that is meant; the gateway asks for no password",
        )
    serving = settings.serve
    if not (serving.allow_remote or is_loopback(serving.address)):
        yield (
            ("serve", "address"),
            f"serve.address {serving.address} can be reached by other machines",
            "set serve.allow_remote = true if that is meant; whoever reaches it sees figures",
        )
    if control.address and not (control.token_env or is_loopback(control.address)):
        yield (
            ("control", "address"),
            f"control.address {control.address} can be reached by other machines",
            "set control.token_env to the name of a variable that holds a token",
        )
    if control.address == listen.address and split_address(listen.address)[1]:
        yield ("control", "address"), "control.address is listen.address", ""


def _token_rules(settings: GatewaySettings, environment: Mapping[str, str]) -> Iterator[_Finding]:
    name = settings.control.token_env
    if name and not environment.get(name, "").strip():
        message = f"control.token_env: the environment variable {name} is not set or empty"
        yield ("control", "token_env"), message, ""


def _service_rules(settings: GatewaySettings) -> Iterator[_Finding]:
    for table, url in (("upstream", settings.upstream.url), ("degrade", settings.degrade.url)):
        if url and urlsplit(url).netloc == settings.listen.address:
            message = f"{table}.url is listen.address: requests would go in circles"
            yield (table, "url"), message, ""
    if settings.degrade.flag_file and not settings.degrade.url:
        message = "degrade.flag_file switches to degrade.url, which is not set"
        yield ("degrade", "flag_file"), message, ""


def _query_rules(settings: GatewaySettings, *, has_query: bool) -> Iterator[_Finding]:
    chosen = settings.filter
    if settings.capture.on and not has_query:
        yield (MAP,), "map.query is missing: where the query stands in an exchange", _EXAMPLE
    if chosen.strip_punctuation and not chosen.field:
        yield (
            ("filter", "strip_punctuation"),
            "filter.strip_punctuation needs filter.field",
            'where the query stands in the JSON request, such as field = "query"',
        )
    if chosen.on and not (chosen.field or has_query):
        message = "filter.on needs map.query or filter.field to find the query"
        yield ("filter", "on"), message, ""


def _place(source: Source) -> Callable[[ConfigFault], tuple[int, str]]:
    def place(fault: ConfigFault) -> tuple[int, str]:
        line = fault.where.removeprefix(f"{source.name}:")
        return (int(line) if line.isdecimal() else 1 << 30, fault.where)

    return place
