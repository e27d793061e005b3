"""Rerank services: Cohere, Jina and whatever follows them, Text Embeddings Inference."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, JsonValue, model_validator

from ragnostic.adapters.hits import number, shown
from ragnostic.adapters.http_client import JsonClient, QueryServiceOptions
from ragnostic.adapters.long_text import LongPolicy, pieces
from ragnostic.errors import RetrievalError
from ragnostic.ports import Candidate, Progress, Reranking, Resources, no_progress
from ragnostic.text import count_tokens

_TEI_BATCH = 32
"""What a TEI server accepts in one call unless told otherwise (--max-client-batch-size)."""


class HttpReranker:
    """Candidates scored by a service, best first; equal scores keep the order of the answer.

    The service is asked for all candidates. One that it leaves out is not in the order: neither
    an error nor a zero. An index out of range or repeated, and a score that is no finite number,
    raise RetrievalError.
    """

    class Options(QueryServiceOptions):
        """``shape`` of request and answer; ``body`` is added to the request; ``batch_size`` limits
        the documents of one call (default: all, for TEI 32).
        """

        shape: Literal["cohere", "jina", "tei"] = Field(
            default="cohere", description="Whose request and answer the service speaks."
        )
        model: str | None = Field(
            default=None, description="Name of the model; needed for cohere and jina."
        )
        body: dict[str, JsonValue] = Field(
            default_factory=dict, description="Added to the request."
        )
        batch_size: int | None = Field(
            default=None,
            ge=1,
            le=100_000,
            description="Texts in one call; else all of them, for tei 32.",
        )
        max_tokens: int = Field(
            default=512,
            ge=16,
            le=100_000,
            description="Longest text in one piece, counted without a model.",
        )
        long: LongPolicy = Field(
            default="max_over_segments",
            description="Longer candidates: scored by their best segment, or cut.",
        )

        @model_validator(mode="after")
        def _model_is_named(self) -> Self:
            if self.shape != "tei" and not self.model:
                raise ValueError(f"model is missing: the {self.shape} shape names it in each call")
            return self

    needs_embedder: ClassVar[bool] = False

    def __init__(self, options: Options, client: JsonClient) -> None:
        self.workers = options.workers
        self._options = options
        self._client = client

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Raises UsageError when a variable that a header names is missing."""
        return cls(options, JsonClient(options, resources.environment))

    def prepare(self, texts: Iterable[str], progress: Progress = no_progress) -> None:
        """Nothing to prepare: the service reads query and candidate together."""

    def rerank(self, query: str, candidates: Sequence[Candidate], top_n: int) -> Reranking:  # noqa: ARG002 (all are kept)
        """One call, or several where the service takes no more at a time."""
        started = time.perf_counter()
        options = self._options
        cut = [
            pieces(candidate.text, options.max_tokens, options.long, count_tokens)
            for candidate in candidates
        ]
        owners = [owner for owner, found in enumerate(cut) for _ in found.texts]
        documents = [segment for found in cut for segment in found.texts]
        best: dict[int, float] = {}
        for index, score in self._scored(query, documents):
            owner = owners[index]
            best[owner] = max(score, best.get(owner, score))
        order = sorted(best, key=lambda owner: -best[owner])
        return Reranking(
            order=tuple(order),
            scores=tuple(best[owner] for owner in order),
            truncated=tuple(found.truncated for found in cut),
            took_ms=(time.perf_counter() - started) * 1000,
        )

    def _scored(self, query: str, documents: list[str]) -> list[tuple[int, float]]:
        """(index into ``documents``, score) in the order of the answers."""
        default = _TEI_BATCH if self._options.shape == "tei" else len(documents)
        size = self._options.batch_size or default
        found: list[tuple[int, float]] = []
        for start in range(0, len(documents), size or 1):
            batch = documents[start : start + size]
            answer = self._client.call("POST", body=self._body(query, batch)).json
            checked = self._checked(answer, len(batch))
            found.extend((start + index, score) for index, score in checked)
        return found

    def _body(self, query: str, documents: list[str]) -> dict[str, Any]:
        options = self._options
        if options.shape == "tei":
            return {"query": query, "texts": documents, "truncate": True, **options.body}
        body = {
            "model": options.model,
            "query": query,
            "documents": documents,
            "top_n": len(documents),
        }
        if options.shape == "jina":
            body["return_documents"] = False
        return {**body, **options.body}

    def _checked(self, answer: Any, sent: int) -> list[tuple[int, float]]:
        where = self._client.where
        rows = answer
        score_name = "score"
        if self._options.shape != "tei":
            rows = answer.get("results") if isinstance(answer, Mapping) else None
            score_name = "relevance_score"
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise RetrievalError(
                f"{where}: no list of results in {shown(answer)}",
                hint=f"shape is {self._options.shape!r}; known: cohere, jina, tei",
            )
        found: dict[int, float] = {}
        for row in rows:
            index = row.get("index")
            if isinstance(index, bool) or not isinstance(index, int) or not 0 <= index < sent:
                raise RetrievalError(
                    f"{where}: index {shown(index)} in the answer, but {sent} documents were sent"
                )
            if index in found:
                raise RetrievalError(f"{where}: index {index} comes twice in the answer")
            found[index] = number(where, row.get(score_name))
        return list(found.items())
