"""What the commands about a store folder share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ragnostic.store.lake import ParquetLake

Store = Annotated[Path, typer.Option("--store", metavar="DIR", help="The store folder.")]


def open_lake(root: Path) -> tuple[ParquetLake, str]:
    """The lake of a store folder and the zone of its days; raises PathError where it is
    none, ConfigError for faults in its ``store.toml``.
    """
    from ragnostic.monitor.store_settings import (  # noqa: PLC0415 - heavy, loaded on use
        check_store,
        load_store_settings,
    )
    from ragnostic.store.lake import ParquetLake  # noqa: PLC0415 - heavy, loaded on use

    check_store(root)
    zone = load_store_settings(root).zone
    return ParquetLake(root, zone), zone
