"""What became of a retrieval: the answer that was given on it, and what the model was shown."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from ragnostic.gateway.span_reading import Reading, Role, SpanHit, plain
from ragnostic.gateway.span_tree import SpanTree

_LEAST_SHARE = 0.5


class Outcome(NamedTuple):
    """The answer, the model's span, and the ids of the hits that it was shown (None: unknown)."""

    answer: str | None = None
    model: Reading | None = None
    context_ids: list[str] | None = None


def outcome_of(tree: SpanTree, span: Reading, hits: Sequence[SpanHit]) -> Outcome:
    """The answer to a retrieval.

    It is that of the model nearest in the tree which began after the retrieval: the one whose
    prompt holds most of the hits, of equal ones the last. Where a step above puts out a good part
    of the same words, they are the answer: the model's without its wrapping. Without a model the
    nearest step above that puts out words has the answer.
    """
    texts = {hit.id: plain(hit.text) for hit in hits if hit.id and hit.text}
    model, shown = _model(tree, span, texts)
    above = [step for step in tree.ancestors(span) if step.answer]
    if model is not None and model.answer:
        cleaner = (step.answer for step in above if _is_cleaner(step.answer, model.answer))
        answer: str | None = next(cleaner, None) or model.answer
    else:
        answer = span.answer or next((step.answer for step in above), None)
    return Outcome(answer, model, shown or None)


def around(tree: SpanTree, span: Reading, role: Role) -> Iterator[Sequence[Reading]]:
    """The spans of a role: those below a span, then those below each step above it, then all."""
    yield tree.of_role(role, span.span_id)
    for above in tree.ancestors(span):
        yield tree.of_role(role, above.span_id)
    yield tree.of_role(role)


def _model(
    tree: SpanTree, span: Reading, texts: dict[str, str]
) -> tuple[Reading | None, list[str]]:
    scopes = around(tree, span, "llm")
    inner = {model.span_id for model in next(scopes)}
    for models in scopes:
        later = [
            model
            for model in models
            if model.span_id not in inner
            and model.start_ns >= span.start_ns
            and (model.answer or model.prompt)
        ]
        if later:
            shown = [_shown(tree.prompt_of(model), texts) for model in later]
            best = max(range(len(later)), key=lambda place: (len(shown[place]), place))
            return later[best], shown[best]
    return None, []


def _shown(prompt: str, texts: dict[str, str]) -> list[str]:
    """The hits of which the prompt holds at least the first half."""
    return [key for key, text in texts.items() if text and text[: (len(text) + 1) // 2] in prompt]


def _is_cleaner(answer: str | None, of_model: str) -> bool:
    words, wrapped = plain(answer), plain(of_model)
    return words in wrapped and len(words) >= _LEAST_SHARE * len(wrapped)


def first_known(values: Iterable[str | None]) -> str | None:
    """The first that is there."""
    return next((value for value in values if value), None)
