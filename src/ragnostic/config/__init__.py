"""Settings as data: TOML → frozen models, all faults at once, each with its place."""

from ragnostic.config.loading import Configuration, load
from ragnostic.config.models import DEFAULT_METRICS, TABLES, SetSettings, Settings
from ragnostic.config.options import PLUG_TABLES, Choice, PlugTable, needs

__all__ = [
    "DEFAULT_METRICS",
    "PLUG_TABLES",
    "TABLES",
    "Choice",
    "Configuration",
    "PlugTable",
    "SetSettings",
    "Settings",
    "load",
    "needs",
]
