"""``ragnostic snapshot``: the corpus as a store keeps it, for judging over all of it."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from ragnostic import plugins
from ragnostic.cli.console import print_json, print_table, print_warnings, progress_on
from ragnostic.cli.live_options import Store
from ragnostic.config.faults import translate
from ragnostic.errors import ConfigError, Fault, PathError, counted
from ragnostic.monitor.snapshot_loading import load_corpus
from ragnostic.offline.bad_rows import check_share
from ragnostic.ports import Chunker, Embedder, Progress, Resources
from ragnostic.store.snapshots import write_snapshot


def snapshot(
    *,
    corpus: Annotated[Path, typer.Argument(help="Chunks or documents: JSONL, Parquet, folder.")],
    store: Store,
    chunk: Annotated[
        str | None,
        typer.Option(
            help="Cut documents: fixed, recursive, markdown, sentence; else rows are chunks."
        ),
    ] = None,
    max_tokens: Annotated[int, typer.Option(min=1, help="With --chunk: largest chunk.")] = 400,
    overlap: Annotated[int, typer.Option(min=0, help="With --chunk: tokens repeated.")] = 40,
    embed: Annotated[
        str | None, typer.Option(help="Embedder for the vectors that RDS needs, e.g. e5-small.")
    ] = None,
    bad_rows: Annotated[
        float, typer.Option(min=0, max=1, help="Share of unreadable rows above which it ends.")
    ] = 0.01,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON only.")] = False,
) -> None:
    """Keep a corpus in a store and use it from now on.

    The ids must be those that the service's results name: give the chunks as the service has
    them (chunk_id, text, perhaps doc_id and vector), or documents and the chunker that the
    service uses.
    """
    if not corpus.exists():
        raise PathError(f"no such file or folder: {corpus}", hint="is the path right?")
    faults: list[Fault] = []
    with progress_on(sys.stderr) as progress:
        found = load_corpus(
            corpus,
            chunker=None if chunk is None else _chunker(chunk, max_tokens, overlap),
            embedder=None if embed is None else _embedder(embed, progress),
            faults=faults,
            progress=progress,
        )
    check_share(corpus, faults, good=found.chunks.num_rows, limit=bad_rows)
    store.mkdir(parents=True, exist_ok=True)
    fingerprint = write_snapshot(store, found.chunks, found.vectors)
    size = None if found.vectors is None else found.vectors.shape[1]
    shown: dict[str, Any] = {
        "snapshot": fingerprint,
        "chunks": found.chunks.num_rows,
        "vectors": size,
        "left_out": sum(fault.count for fault in faults if fault.kind == "quarantined"),
    }
    if as_json:
        print_json(shown)
        return
    print_warnings(map(str, faults))
    shown["vectors"] = "none" if size is None else counted(size, "dimension")
    print_table(["snapshot", "value"], [(name, str(value)) for name, value in shown.items()])


def _chunker(name: str, max_tokens: int, overlap: int) -> Chunker:
    plugin = plugins.load("chunkers", name)
    given = {"max_tokens": max_tokens, "overlap": overlap}
    known = {key: value for key, value in given.items() if key in plugin.Options.model_fields}
    built: Chunker = plugin.build(_options(plugin, known, "--chunk"), Resources())
    return built


def _embedder(name: str, progress: Progress) -> Embedder:
    plugin = plugins.load("embedders", name)
    resources = Resources(Path.cwd(), environment=os.environ, progress=progress)
    built: Embedder = plugin.build(_options(plugin, {}, "--embed"), resources)
    return built


def _options(plugin: Any, given: dict[str, Any], option: str) -> Any:
    try:
        return plugin.Options.model_validate(given)
    except ValidationError as error:
        faults = translate(error, plugin.Options, (option,), lambda _: option)
        raise ConfigError(faults) from error
