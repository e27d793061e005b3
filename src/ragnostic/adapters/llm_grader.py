"""The judge ``grader`` with its model: a generator asked through a cache, several at a time."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, NamedTuple, Self

import pyarrow as pa
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, JsonValue, ValidationError

from ragnostic import plugins
from ragnostic.adapters.calls import as_done, retried
from ragnostic.adapters.verdict_cache import (
    FILE,
    VerdictCache,
    default_verdicts_path,
    verdict_key,
)
from ragnostic.errors import GenerationError, RagnosticError, RetrievalError, UsageError
from ragnostic.judges.grader import GraderJudge
from ragnostic.judges.grader_prompt import Facet, Pair, Prompt, grader_prompt
from ragnostic.judges.grader_reply import Verdict, read_reply
from ragnostic.ports import Generator, Resources

_USE = "use"
_GIVE_UP = 20
"""So many calls without any answer in a row, and the service is taken to be down."""


def _known_generator(table: dict[str, JsonValue]) -> dict[str, JsonValue]:
    """The table if it names a generator and holds its options; raises ValueError otherwise."""
    _generator_options(table)
    return table


def _generator_options(table: Mapping[str, JsonValue]) -> tuple[Any, BaseModel]:
    """The class of a generator and its validated options."""
    name = str(table.get(_USE, "chat"))
    try:
        plugin = plugins.load("generators", name)
    except UsageError as error:
        raise ValueError(str(error)) from error
    given = {key: value for key, value in table.items() if key != _USE}
    try:
        return plugin, plugin.Options.model_validate(given)
    except ValidationError as error:
        told = (f"{'.'.join(map(str, e['loc']))}: {e['msg']}" for e in error.errors())
        raise ValueError("; ".join(told)) from None


class GraderOptions(BaseModel):
    """Who grades, and how much of what was retrieved."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    generator: Annotated[dict[str, JsonValue], AfterValidator(_known_generator)] = Field(
        description="The model, as in [generate]: use (chat or python) and its options."
    )
    top_k: int = Field(
        default=10, ge=1, le=1000, description="How many chunks of each stage are graded."
    )
    facets: tuple[Facet, ...] = Field(
        default=(), description="Also graded by itself: conclusion, basis, procedure."
    )
    max_failed: float = Field(
        default=0.0,
        ge=0.0,
        le=1.0,
        description="Share of a record's chunks that may have no grade; with more it is failed.",
    )
    retries: int = Field(
        default=2, ge=0, le=100, description="How often a call that may succeed later is repeated."
    )
    cache: bool | str = Field(
        default=True,
        description="Keep grades, so that the same passage is not asked about twice: true, false, "
        "or the folder for them.",
    )


class LlmGrader(GraderJudge):
    """:class:`GraderJudge` as a plugin: built from settings, with a generator and a cache."""

    Options = GraderOptions
    needs_corpus: ClassVar[bool] = False

    asked: CachedGrades
    """Who asks; tells how many calls were made, and what is odd about the cache."""

    @classmethod
    def build(
        cls,
        chunks: pa.Table | None,
        options: GraderOptions,
        snapshot: str = "",
        *,
        resources: Resources | None = None,
    ) -> Self:
        """A judge whose passages are the columns ``id`` and ``text`` of a snapshot.

        Raises UsageError when the variable that holds the model's key is missing.
        """
        resources = resources or Resources(environment=os.environ)
        plugin, settings = _generator_options(options.generator)
        generator: Generator = plugin.build(settings, resources)
        grades = CachedGrades(
            generator,
            _cache(options.cache, resources),
            facets=options.facets,
            retries=options.retries,
        )
        columns = [] if chunks is None else [chunks[name].to_pylist() for name in ("id", "text")]
        judge = cls(
            grades,
            dict(zip(*columns, strict=True)),
            top_k=options.top_k,
            facets=options.facets,
            max_failed=options.max_failed,
            snapshot=snapshot,
            parameters={
                "model": generator.name,
                "rubric": verdict_key("", grader_prompt(Pair("", ""), options.facets)).hex()[:8],
                "top_k": options.top_k,
                "facets": list(options.facets),
                "max_failed": options.max_failed,
            },
        )
        judge.asked = grades
        return judge


def _cache(cache: bool | str, resources: Resources) -> VerdictCache | None:  # noqa: FBT001 - a setting
    if cache is False:
        return None
    if cache is True:
        return VerdictCache(default_verdicts_path(resources.environment))
    return VerdictCache(resources.base_dir / Path(cache) / FILE)


class CachedGrades:
    """Verdicts of pairs: kept ones first, the others asked for and kept as they come.

    ``calls`` counts what was asked, repetitions left out, ``hits`` what was kept already. Failures
    are not kept. When the service does not answer many times in a row the rest is not asked.
    """

    def __init__(
        self,
        generator: Generator,
        cache: VerdictCache | None,
        *,
        facets: Sequence[Facet] = (),
        retries: int = 2,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.calls = 0
        self.hits = 0
        self.cache = cache
        self._generator = generator
        self._facets = tuple(facets)
        self._retries = retries
        self._sleep = sleep

    def __call__(self, pairs: Sequence[Pair]) -> list[Verdict]:
        """One verdict a pair, in their order; see :class:`ragnostic.judges.grader.Grade`."""
        prompts = [grader_prompt(pair, self._facets) for pair in pairs]
        keys = [verdict_key(self._generator.name, prompt) for prompt in prompts]
        found = {} if self.cache is None else self.cache.read(list(dict.fromkeys(keys)))
        missing = {key: p for key, p in zip(keys, prompts, strict=True) if key not in found}
        self.hits += len(pairs) - len(missing)
        found |= self._asked(missing)
        return [found[key] for key in keys]

    def _asked(self, missing: Mapping[bytes, Prompt]) -> dict[bytes, Verdict]:
        keys = list(missing)
        found: dict[bytes, Verdict] = {}
        in_a_row = 0

        def ask(key: bytes) -> _Reply | None:
            return None if in_a_row >= _GIVE_UP else self._reply(missing[key])

        for index, reply in as_done(keys, ask, self._generator.workers):
            if reply is None:
                found[keys[index]] = _NOT_ASKED
                continue
            self.calls += 1
            in_a_row = 0 if reply.came else in_a_row + 1
            found[keys[index]] = reply.verdict
            if reply.verdict.grade is not None and self.cache is not None:
                self.cache.write(keys[index], reply.verdict)
        return found

    def _reply(self, prompt: Prompt) -> _Reply:
        try:
            said = retried(lambda: self._generator.generate(*prompt), self._retries, self._sleep)
        except GenerationError as error:
            return _Reply(Verdict(None, failure=error.message), came=True)
        except RetrievalError as error:
            return _Reply(Verdict(None, failure=error.message), came=False)
        except RagnosticError:
            raise
        except Exception as error:  # noqa: BLE001 - a bug of an implementation fails one passage
            failure = f"{type(error).__name__}: {error}"
            return _Reply(Verdict(None, failure=failure), came=True)
        return _Reply(read_reply(said.text, self._facets, said.model), came=True)


class _Reply(NamedTuple):
    """A verdict, and whether the service answered at all."""

    verdict: Verdict
    came: bool


_NOT_ASKED = Verdict(None, failure=f"not asked: the {_GIVE_UP} calls before it failed")
