"""Documents into chunks with stable ids."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence

from ragnostic.corpus.breaks import Span
from ragnostic.ports import Chunker
from ragnostic.records import Chunk, Document, chunk_id
from ragnostic.text import count_tokens


def chunk_documents(documents: Iterable[Document], chunker: Chunker) -> list[Chunk]:
    """All chunks of all documents, in order.

    >>> from ragnostic.corpus.chunkers import WholeDocument
    >>> chunk_documents([Document("a", "one"), Document("b", "two")], WholeDocument())[1].id
    'b'
    """
    return [chunk for document in documents for chunk in chunker.chunk(document)]


def make_chunks(document: Document, spans: Sequence[Span], contexts: Sequence[str]) -> list[Chunk]:
    """Chunks at these places of a document; ``contexts`` is parallel to ``spans``.

    The id hashes document id, text and how often the same text came before in the document, so
    an insertion elsewhere changes no other id.

    >>> first, second = make_chunks(Document("a", "hi hi"), [(0, 2), (3, 5)], ["", ""])
    >>> first.text == second.text, first.id == second.id
    (True, False)
    """
    seen: Counter[str] = Counter()
    chunks: list[Chunk] = []
    for (start, end), context in zip(spans, contexts, strict=True):
        text = document.text[start:end]
        identity = chunk_id(document.doc_id, text, seen[text])
        seen[text] += 1
        tokens = count_tokens(text)
        chunks.append(Chunk(identity, document.doc_id, start, end, tokens, text, context))
    return chunks
