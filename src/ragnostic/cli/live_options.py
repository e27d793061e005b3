"""What the commands about a store folder share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from ragnostic.errors import PathError

if TYPE_CHECKING:
    from ragnostic.store.lake import ParquetLake

Store = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store folder.")]


def open_lake(root: Path) -> tuple[ParquetLake, str]:
    """The lake of a store folder and the zone of its days; raises PathError where there is no
    folder, ConfigError for faults in its ``store.toml``.
    """
    from ragnostic.monitor.store_settings import load_store_settings  # noqa: PLC0415 - heavy
    from ragnostic.store.lake import ParquetLake  # noqa: PLC0415 - heavy, loaded on use

    if not root.is_dir():
        raise PathError(f"{root} is no store folder", hint="is the path right?")
    zone = load_store_settings(root).zone
    return ParquetLake(root, zone), zone
