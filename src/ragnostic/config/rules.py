"""Rules between keys: what each alone cannot see."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import cast

from ragnostic.config.dataset_rules import dataset_faults
from ragnostic.config.faults import dotted, nearest_name
from ragnostic.config.models import (
    ChunkSettings,
    DatasetSettings,
    RerankSettings,
    RetrieveSettings,
    ScoreSettings,
    Table,
)
from ragnostic.config.options import NONE, Choice, needs
from ragnostic.config.source import Source
from ragnostic.config.toml_lines import KeyPath
from ragnostic.errors import ConfigFault, RagnosticError

Tables = Mapping[str, Table | None]


def settle(tables: Tables) -> dict[str, Table | None]:
    """Defaults that depend on what was given, so that a default never contradicts a value."""
    settled = dict(tables)
    chunk = cast("ChunkSettings | None", tables["chunk"])
    retrieve = cast("RetrieveSettings | None", tables["retrieve"])
    rerank = cast("RerankSettings | None", tables["rerank"])
    if chunk and "overlap" not in chunk.model_fields_set and chunk.overlap >= chunk.max_tokens:
        settled["chunk"] = chunk.model_copy(update={"overlap": chunk.max_tokens // 10})
    if rerank and retrieve and "top_n" not in rerank.model_fields_set:
        top_n = min(rerank.top_n, retrieve.top_k)
        settled["rerank"] = rerank.model_copy(update={"top_n": top_n})
    return settled


def sound_sizes(tables: Tables) -> Tables:
    """The tables without an impossible overlap, which a chunker would refuse a second time."""
    chunk = cast("ChunkSettings | None", tables["chunk"])
    if chunk is None or chunk.overlap < chunk.max_tokens:
        return tables
    return {**tables, "chunk": chunk.model_copy(update={"overlap": 0})}


def cross_faults(
    source: Source,
    tables: Tables,
    choices: Mapping[str, Choice],
    base_dir: Path,
    check_metric: Callable[[str], object],
) -> list[ConfigFault]:
    """The faults that only show when several keys, or the files, are looked at."""
    faults = [*_sizes(source, tables)]
    faults += _metrics(source, cast("ScoreSettings | None", tables["score"]), check_metric)
    dataset = cast("DatasetSettings | None", tables["dataset"])
    if dataset is not None:
        faults += dataset_faults(source, dataset)
        faults += _files(source, dataset, base_dir)
        faults += _corpus(source, dataset, choices, base_dir)
    return faults


def _sizes(source: Source, tables: Tables) -> Iterator[ConfigFault]:
    chunk = cast("ChunkSettings | None", tables["chunk"])
    retrieve = cast("RetrieveSettings | None", tables["retrieve"])
    rerank = cast("RerankSettings | None", tables["rerank"])
    if rerank and retrieve and rerank.use != NONE and rerank.top_n > retrieve.top_k:
        yield ConfigFault(
            source.where(("rerank", "top_n")),
            f"rerank.top_n ({rerank.top_n}) is larger than retrieve.top_k ({retrieve.top_k})",
            "raise retrieve.top_k, or leave rerank.top_n out",
        )
    if chunk and chunk.by != NONE and chunk.overlap >= chunk.max_tokens:
        yield ConfigFault(
            source.where(("chunk", "overlap")),
            f"chunk.overlap ({chunk.overlap}) is not smaller than chunk.max_tokens "
            f"({chunk.max_tokens})",
            "a tenth of chunk.max_tokens is usual",
        )


def _metrics(
    source: Source, score: ScoreSettings | None, check_metric: Callable[[str], object]
) -> Iterator[ConfigFault]:
    for index, name in enumerate(score.metrics if score else ()):
        try:
            check_metric(name)
        except RagnosticError as error:
            where = source.where(("score", "metrics", index))
            yield ConfigFault(where, f"score.metrics: {error.message}", error.hint)


def _files(source: Source, dataset: DatasetSettings, base_dir: Path) -> Iterator[ConfigFault]:
    named = _at(("path",), dataset.path)
    for index, one in enumerate(dataset.set):
        named += _at(("set", index, "path"), one.path)
    if dataset.corpus is not None:
        named += _at(("corpus",), (dataset.corpus,))
    for keys, key, written in named:
        path = base_dir / Path(written).expanduser()
        if not path.exists():
            message = f"{dotted(('dataset', *key))}: no such file or folder: {written}"
            yield ConfigFault(source.where(("dataset", *keys)), message, _file_hint(path, base_dir))


def _at(key: KeyPath, paths: Sequence[str]) -> list[tuple[KeyPath, KeyPath, str]]:
    """(place, key, path) of each path of one key; of several each has its own place."""
    if len(paths) == 1:
        return [(key, key, paths[0])]
    return [((*key, index), key, path) for index, path in enumerate(paths)]


def _file_hint(path: Path, base_dir: Path) -> str:
    if path.parent.is_dir():
        close = nearest_name(path.name, (file.name for file in path.parent.iterdir()))
        if close:
            return f"did you mean {close}?"
    return f"paths are relative to {base_dir}"


def _corpus(
    source: Source, dataset: DatasetSettings, choices: Mapping[str, Choice], base_dir: Path
) -> Iterator[ConfigFault]:
    retriever = choices.get("retrieve")
    named = "corpus" in source.tree.get("dataset", {})  # a faulty one is told once
    if named or retriever is None or not dataset.paths or not needs(retriever, "corpus"):
        return
    folders = [base_dir / Path(path).expanduser() for path in dataset.paths]
    if any(next(folder.glob("corpus.*"), None) for folder in folders if folder.is_dir()):
        return
    yield ConfigFault(
        source.where(("dataset",)),
        f"dataset.corpus is missing: retriever {retriever.name} searches the corpus",
        "name the folder or file of the texts, or use retriever http or python",
    )
