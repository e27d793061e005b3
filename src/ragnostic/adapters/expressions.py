"""JMESPath expressions from a service's answer to ids, scores and texts."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ragnostic.adapters.environment import excerpt
from ragnostic.adapters.projection import Found, evaluate
from ragnostic.errors import RetrievalError, counted

_LIBRARY_ERRORS = (ValueError, ArithmeticError, TypeError, RecursionError)
"""The library's own errors are ValueErrors; a slice of step 0 or floor(inf) raises Python's own."""


def check(expression: str) -> str:
    """``expression`` if it compiles; raises ValueError with what is wrong where.

    >>> check("hits[].id")
    'hits[].id'
    """
    import jmespath  # noqa: PLC0415 (loaded on use)
    from jmespath.exceptions import UnknownFunctionError  # noqa: PLC0415 (loaded on use)

    try:
        compiled = jmespath.compile(expression)
    except _LIBRARY_ERRORS as error:
        reason = excerpt(str(error).removeprefix("Invalid jmespath expression: "))
        raise ValueError(f"{expression!r} is not a JMESPath expression: {reason}") from None
    try:
        compiled.search(None)
    except UnknownFunctionError as error:
        raise ValueError(f"{expression!r}: {excerpt(str(error))}") from None
    except _LIBRARY_ERRORS:
        pass  # other functions only refuse null, which no answer is
    return expression


Expression = Annotated[str, AfterValidator(check)]


class StageExpressions(BaseModel):
    """Where one stage's ranking stands in an answer.

    ``ids`` is needed, the others are optional. ``top_k`` says how many results the service was
    asked for in this stage, where that is not the run's top_k.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    ids: Expression = Field(description="JMESPath of the chunk ids, best first.")
    texts: Expression | None = Field(default=None, description="JMESPath of the texts.")
    scores: Expression | None = Field(default=None, description="JMESPath of the scores.")
    doc_ids: Expression | None = Field(default=None, description="JMESPath of the document ids.")
    took_ms: Expression | None = Field(default=None, description="JMESPath of the milliseconds.")
    top_k: int | None = Field(
        default=None,
        ge=1,
        le=100_000,
        description="Results asked for in this stage, where not the run's.",
    )


def search(source: str, expression: str, answer: Any) -> Any:
    """The value of ``expression`` in ``answer``; raises RetrievalError when it finds nothing.

    Null is an error and not an empty list: a misspelt path must not look like "no results". For
    the same reason so is a list of nothing but nulls, where no element has the field. Other nulls
    keep their place.

    >>> search("s", "hits[].id", {"hits": [{"id": 1}]})
    [1]
    >>> search("s", "hits[].id", {"hits": [{"id": None}, {"id": 1}]})
    [None, 1]
    """
    import jmespath  # noqa: PLC0415 (loaded on use)

    try:
        found = evaluate(jmespath.compile(expression).parsed, answer)
    except _LIBRARY_ERRORS as error:
        raise RetrievalError(f"{source}: {expression!r}: {excerpt(str(error))}") from None
    if found.value is None:
        raise RetrievalError(
            f"{source}: {expression!r} finds nothing in the answer, {_outline(answer)}",
            hint="an empty list is an empty ranking; null means that the expression does not fit",
        )
    if _misses_its_field(found):
        count = len(found.elements or ())
        first = next(iter(found.elements or ()), None)
        raise RetrievalError(
            f"{source}: {expression!r} finds nothing in {counted(count, 'result')}; the first is "
            f"{_kind(first)}",
            hint="is the name right?",
        )
    return found.value


def _misses_its_field(found: Found) -> bool:
    """Whether a list is of nulls only because no element has what the expression names."""
    if not found.elements or found.field is None or any(one is not None for one in found.value):
        return False
    return not any(isinstance(one, dict) and found.field in one for one in found.elements)


def _kind(value: Any) -> str:
    if isinstance(value, dict):
        return f"an object with the keys: {excerpt(', '.join(value)) or '(none)'}"
    return f"a {type(value).__name__}, not an object"


def _outline(answer: Any) -> str:
    if isinstance(answer, dict):
        return f"whose keys are: {excerpt(', '.join(answer)) or '(none)'}"
    return f"which is a {type(answer).__name__}, not an object"
