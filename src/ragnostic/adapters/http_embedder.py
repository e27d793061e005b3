"""Any OpenAI-compatible ``/v1/embeddings`` service."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
from pydantic import Field, JsonValue

from ragnostic.adapters.hits import shown
from ragnostic.adapters.http_client import JsonClient, ServiceOptions
from ragnostic.errors import RetrievalError, counted
from ragnostic.ports import Progress, Resources, Role, Vectors, no_progress
from ragnostic.text import count_tokens


class HttpEmbedder:
    """Vectors from a service, made unit length; a vector that cannot be is an error."""

    class Options(ServiceOptions):
        """``model`` for both roles unless ``query_model`` or ``passage_model`` says otherwise;
        ``query_body`` and ``passage_body`` are added to the request (``input_type`` and such).
        """

        model: str = Field(description="Name of the model, as the service knows it.")
        query_model: str | None = Field(
            default=None, description="Another model for queries, where they need their own."
        )
        passage_model: str | None = Field(default=None, description="Another model for passages.")
        query_body: dict[str, JsonValue] = Field(
            default_factory=dict, description="Added to the request for queries."
        )
        passage_body: dict[str, JsonValue] = Field(
            default_factory=dict, description="Added to the request for passages."
        )
        query_prefix: str = Field(default="", description="Put before each query.")
        passage_prefix: str = Field(default="", description="Put before each passage.")
        batch_size: int = Field(default=64, ge=1, le=100_000, description="Texts in one call.")
        timeout_s: float = Field(
            default=60.0, gt=0, le=100_000, description="Seconds that one call may take in all."
        )
        dimensions: int | None = Field(
            default=None,
            ge=1,
            le=100_000,
            description="Size that vectors must have; else that of the first.",
        )
        encoding_format: Literal["float", "base64"] = Field(
            default="float", description="How vectors are sent; base64 is smaller."
        )

    needs_embedder: ClassVar[bool] = False

    def __init__(self, options: Options, client: JsonClient) -> None:
        self.name = f"{options.model} at {client.where}"
        self._options = options
        self._client = client
        self._dimensions = options.dimensions

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Raises UsageError when the variable that holds the key is missing."""
        return cls(options, JsonClient(options, resources.environment))

    def role_key(self, role: Role) -> str:
        """Everything that makes vectors of this role differ: model, extra body, prefix."""
        body = sorted(self._body(role).items())
        return f"{body!r} {self._prefix(role)!r}"

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """(n, d) float32 unit vectors; raises RetrievalError."""
        size = self._options.batch_size
        blocks: list[Vectors] = []
        for start in range(0, len(texts), size):
            batch = [self._prefix(role) + text for text in texts[start : start + size]]
            answer = self._client.call("POST", body={**self._body(role), "input": batch})
            blocks.append(self._unit(self._vectors(answer.json, len(batch))))
            progress(f"embed {role}", start + len(batch), len(texts))
        if not blocks:
            return np.empty((0, self._dimensions or 0), dtype=np.float32)
        return np.concatenate(blocks)

    def count_tokens(self, text: str) -> int:
        """By the model-free counter: the service does not tell."""
        return count_tokens(text)

    def _prefix(self, role: Role) -> str:
        options = self._options
        return options.query_prefix if role == "query" else options.passage_prefix

    def _body(self, role: Role) -> dict[str, Any]:
        options = self._options
        query = role == "query"
        model = (options.query_model if query else options.passage_model) or options.model
        extra = options.query_body if query else options.passage_body
        return {"model": model, "encoding_format": options.encoding_format, **extra}

    def _vectors(self, answer: Any, expected: int) -> Vectors:
        """The vectors of one answer in the order of the request."""
        rows = answer.get("data") if isinstance(answer, Mapping) else None
        if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
            raise RetrievalError(f"{self._client.where}: no list 'data' in {shown(answer)}")
        indices = [row.get("index", position) for position, row in enumerate(rows)]
        if sorted(indices, key=str) != sorted(range(expected), key=str):
            raise RetrievalError(
                f"{self._client.where}: {counted(expected, 'text')} sent, "
                f"indices {shown(indices)} returned"
            )
        vectors = [_decode(self._client.where, row.get("embedding")) for row in rows]
        sizes = {len(vector) for vector in vectors} | {self._dimensions or len(vectors[0])}
        if len(sizes) > 1:
            raise RetrievalError(
                f"{self._client.where}: vectors of {_listed(sizes)} dimensions",
                hint="did the model change, or do the roles use models of different sizes?",
            )
        self._dimensions = sizes.pop()
        ordered = [vectors[position] for position in np.argsort(indices)]
        return np.stack(ordered)

    def _unit(self, vectors: Vectors) -> Vectors:
        lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
        if not np.isfinite(lengths).all() or not (lengths > 0).all():
            raise RetrievalError(f"{self._client.where}: a vector is all zero or not finite")
        return np.asarray(vectors / lengths, dtype=np.float32)


def _decode(where: str, value: Any) -> Vectors:
    """A list of numbers, or base64 of little-endian float32."""
    try:
        if isinstance(value, str):
            return np.frombuffer(base64.b64decode(value, validate=True), dtype="<f4")
        if isinstance(value, list) and value:
            vector = np.array(value, dtype=np.float32)
            if vector.ndim == 1:
                return vector
    except (ValueError, TypeError):
        pass
    raise RetrievalError(f"{where}: an embedding is neither numbers nor base64: {shown(value)}")


def _listed(sizes: set[int]) -> str:
    return " and ".join(str(size) for size in sorted(sizes))
