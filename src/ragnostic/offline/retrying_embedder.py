"""An embedder that tries again, so that one busy moment of a service does not end a run."""

from __future__ import annotations

from collections.abc import Sequence

from ragnostic.errors import RetrievalError
from ragnostic.offline.calls import CallPolicy, retried
from ragnostic.ports import Embedder, Progress, Role, Vectors, no_progress


class RetryingEmbedder:
    """The wrapped embedder; what still fails after the retries is not retryable any more, so that
    retries of the stage around it do not multiply with these.
    """

    def __init__(self, embedder: Embedder, policy: CallPolicy) -> None:
        self.name = embedder.name
        self._embedder = embedder
        self._policy = policy

    def embed(self, texts: Sequence[str], role: Role, progress: Progress = no_progress) -> Vectors:
        """As the wrapped embedder, with retries."""
        try:
            return retried(lambda: self._embedder.embed(texts, role, progress), self._policy)
        except RetrievalError as error:
            raise RetrievalError(error.message, hint=error.hint) from error

    def count_tokens(self, text: str) -> int:
        """As the wrapped embedder."""
        return self._embedder.count_tokens(text)

    def role_key(self, role: Role) -> str:
        """What makes the vectors of a role differ: the wrapped embedder's word, else the role."""
        role_key = getattr(self._embedder, "role_key", None)
        return role if role_key is None else str(role_key(role))
