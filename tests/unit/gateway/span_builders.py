"""Short ways to spans and readings, for tests."""

from __future__ import annotations

from ragnostic.gateway.span_reading import Reading, SpanHit
from ragnostic.gateway.spans import make_span

TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
SECOND = 10**9
START = 1_767_225_600 * SECOND


def span_id(name):
    """A span id of 16 hexadecimal digits for a short name."""
    return name.encode().hex().rjust(16, "0")


def span(name, parent="", attributes=None, *, at=0, took=100, trace=TRACE, **more):
    """A span that begins ``at`` ms after the start and takes ``took`` ms."""
    start = START + at * 10**6
    return make_span(
        trace,
        span_id(name),
        parent and span_id(parent),
        name=name,
        start_ns=start,
        end_ns=start + took * 10**6,
        attributes=(attributes or {}).items(),
        **more,
    )


def documents(prefix, *hits):
    """Flattened documents: (id, text, score) each, None where there is none."""
    found = {}
    for place, hit in enumerate(hits):
        for name, value in zip(("id", "content", "score"), hit, strict=False):
            if value is not None:
                found[f"{prefix}.{place}.document.{name}"] = value
    return found


def retriever(name, parent="", *hits, query="how long?", **more):
    """A RETRIEVER span in OpenInference form."""
    attributes = {
        "openinference.span.kind": "RETRIEVER",
        "input.value": query,
        **documents("retrieval.documents", *hits),
    }
    return span(name, parent, attributes, **more)


def reranker(name, parent, given, made, **more):
    """A RERANKER span in OpenInference form."""
    attributes = {
        "openinference.span.kind": "RERANKER",
        **documents("reranker.input_documents", *given),
        **documents("reranker.output_documents", *made),
    }
    return span(name, parent, attributes, **more)


def model(name, parent, answer, prompt="", **more):
    """An LLM span in OpenInference form."""
    attributes = {
        "openinference.span.kind": "LLM",
        "llm.model_name": "m-1",
        "llm.input_messages.0.message.content": prompt,
        "llm.output_messages.0.message.content": answer,
    }
    return span(name, parent, attributes, **more)


def step(name, parent="", asked="", said="", kind="CHAIN", **more):
    """A CHAIN or AGENT span in OpenInference form."""
    attributes = {"openinference.span.kind": kind, "input.value": asked, "output.value": said}
    return span(name, parent, attributes, **more)


def reading(name, parent=None, **fields):
    """A reading with a plain name for its id."""
    return Reading("t", name, parent, **fields)


def hits(*ids):
    """Hits with these ids."""
    return tuple(SpanHit(key) for key in ids)
