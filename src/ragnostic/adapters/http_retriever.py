"""A retrieval service that exists, asked as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar, Literal, Self

from pydantic import Field, JsonValue, field_validator, model_validator

from ragnostic.adapters import template
from ragnostic.adapters.expressions import Expression, StageExpressions, search
from ragnostic.adapters.hits import make_hits, number
from ragnostic.adapters.http_client import Answer, JsonClient, QueryServiceOptions
from ragnostic.ports import Resources
from ragnostic.records import BASE_FIELDS, Hits

_ONE_STAGE = ("ids", "texts", "scores", "doc_ids", "took_ms")


class HttpRetriever:
    """Sends each query to a service and reads one or several rankings from its JSON answer.

    The order of the lists is the ranking. Time is measured around the call, unless an expression
    gives it: the last stage without an expression of its own gets what the others leave.
    """

    class Options(QueryServiceOptions):
        """The call (``url``, ``method``, ``headers``, ``body`` or ``params``) and the expressions:
        flat for one stage (``retrieve``), under ``stages`` for several, in pipeline order.
        """

        method: Literal["POST", "GET"] = Field(default="POST", description="HTTP method.")
        body: JsonValue = Field(
            default=None, description="Sent as JSON; {query} and {top_k} are filled in."
        )
        params: dict[str, str] = Field(
            default_factory=dict, description="Query string of the address, filled in likewise."
        )
        ids: Expression | None = Field(
            default=None, description="JMESPath of the chunk ids in the answer, best first."
        )
        texts: Expression | None = Field(default=None, description="JMESPath of the texts.")
        scores: Expression | None = Field(default=None, description="JMESPath of the scores.")
        doc_ids: Expression | None = Field(
            default=None, description="JMESPath of the document ids."
        )
        took_ms: Expression | None = Field(
            default=None, description="JMESPath of the milliseconds; else the call is timed."
        )
        stages: dict[str, StageExpressions] = Field(
            default_factory=dict,
            description="The same expressions for several stages in one answer, in their order.",
        )
        score_order: Literal["similarity", "distance", "rank"] = Field(
            default="similarity",
            description="distance: lower scores are better; rank: scores only encode a rank (RRF).",
        )

        @field_validator("body")
        @classmethod
        def _body_is_json(cls, value: JsonValue) -> Any:
            return template.parse(value)

        @field_validator("stages")
        @classmethod
        def _stages_have_free_names(
            cls, value: dict[str, StageExpressions]
        ) -> dict[str, StageExpressions]:
            taken = sorted(set(value) & set(BASE_FIELDS))
            if taken:
                raise ValueError(f"stage name {taken[0]!r} is a fixed column name of a record")
            return value

        @model_validator(mode="after")
        def _parts_fit(self) -> Self:
            flat = [name for name in _ONE_STAGE if getattr(self, name) is not None]
            faults = []
            if self.stages and flat:
                faults.append(f"{', '.join(flat)} and stages are both given: keep one form")
            elif not self.stages and self.ids is None:
                faults.append('ids is missing: where are the ids in an answer? e.g. "hits[].id"')
            if self.method == "GET" and self.body is not None:
                faults.append("a GET call has no body: use params")
            if faults:
                raise ValueError("; ".join(faults))
            return self

    needs_corpus: ClassVar[bool] = False
    needs_embedder: ClassVar[bool] = False

    def __init__(self, options: Options, client: JsonClient) -> None:
        self.workers = options.workers
        self._options = options
        self._client = client
        self._stages = options.stages or {"retrieve": _flat_stage(options)}
        default = None if options.method == "GET" else {"query": "{query}", "top_k": "{top_k}"}
        self._body = default if options.body is None else options.body
        self._params = options.params
        if options.method == "GET" and not options.params:
            self._params = {"query": "{query}", "top_k": "{top_k}"}

    @classmethod
    def build(cls, options: Options, resources: Resources) -> Self:
        """Raises UsageError when a variable that a header names is missing."""
        return cls(options, JsonClient(options, resources.environment))

    def retrieve(self, query: str, top_k: int) -> Mapping[str, Hits]:
        """One call; raises RetrievalError when it fails or its answer does not fit."""
        answer = self._client.call(
            self._options.method,
            body=template.fill(self._body, query, top_k),
            params=template.fill_parameters(self._params, query, top_k),
        )
        times = self._times(answer)
        order = self._options.score_order
        hits = {
            stage: make_hits(
                self._source(stage),
                {
                    name: search(self._source(stage), expression, answer.json)
                    for name in ("ids", "texts", "scores", "doc_ids")
                    if (expression := getattr(expressions, name)) is not None
                },
                top_k=expressions.top_k or top_k,
                took_ms=times[stage],
                distance=order == "distance",
            )
            for stage, expressions in self._stages.items()
        }
        if order != "rank":
            return hits
        return {stage: replace(found, scores_are_ranks=True) for stage, found in hits.items()}

    def _times(self, answer: Answer) -> dict[str, float | None]:
        times: dict[str, float | None] = {}
        for stage, expressions in self._stages.items():
            source = f"{self._source(stage)}, took_ms"
            times[stage] = (
                None
                if expressions.took_ms is None
                else number(source, search(source, expressions.took_ms, answer.json))
            )
        unknown = [stage for stage, took_ms in times.items() if took_ms is None]
        if unknown:
            known = sum(took_ms for took_ms in times.values() if took_ms is not None)
            times[unknown[-1]] = max(0.0, answer.took_ms - known)
        return times

    def _source(self, stage: str) -> str:
        return f"{self._client.where} ({stage})"


def _flat_stage(options: HttpRetriever.Options) -> StageExpressions:
    given = {name: getattr(options, name) for name in _ONE_STAGE}
    return StageExpressions.model_validate(given)
