"""Answers of a run: every query asked with the retrieved chunks and without, resumable."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ragnostic.adapters.calls import as_done
from ragnostic.config import Configuration
from ragnostic.config.models import PromptsSettings
from ragnostic.errors import (
    GenerationError,
    RagnosticError,
    RetrievalError,
    UsageError,
    counted,
)
from ragnostic.offline.answer_files import (
    AnswerRow,
    answer_rows,
    append_answer,
    read_answers,
    read_partial,
    write_answers,
)
from ragnostic.offline.calls import CallPolicy, retried
from ragnostic.offline.prompts import Arm, Prompt, make_prompt
from ragnostic.ports import Generation, Generator, Progress, Resources, no_progress
from ragnostic.report.answer_tables import OK, Key
from ragnostic.report.run import RunData, mapping, text
from ragnostic.text import language

DEFAULT_TOP_N = 5
_SHOWN_REASONS = 3


@dataclass(frozen=True, slots=True)
class AnswerJob:
    """What is asked: the first ``limit`` queries (None: all), with the first ``top_n`` chunks of
    ``stage`` as context. One failure more than the share ``max_failed`` ends the job.
    """

    stage: str
    top_n: int
    limit: int | None = None
    prompts: PromptsSettings = field(default_factory=PromptsSettings)
    max_failed: float = 0.05
    progress: Progress = no_progress


@dataclass(frozen=True, slots=True)
class Answers:
    """The rows of answers.parquet, how many were asked now, and how many were there already."""

    rows: tuple[AnswerRow, ...]
    asked: int
    kept: int

    @property
    def failures(self) -> dict[str, int]:
        """Status → how many rows have no answer for that reason."""
        found = Counter(row.status for row in self.rows if row.status != OK)
        return dict(sorted(found.items()))


@dataclass(frozen=True, slots=True)
class _Question:
    query_id: str
    arm: Arm
    prompt: Prompt
    context_ids: tuple[str, ...] | None
    obstacle: str | None = None
    """Why it cannot be asked."""


def build_generator(configuration: Configuration, environment: Mapping[str, str]) -> Generator:
    """The generator that a configuration names; raises UsageError where it names none, or the
    key is not in the environment.
    """
    choice = configuration.choices.get("generate")
    if choice is None:
        raise UsageError(
            "the configuration names no generator",
            hint='add [generate] use = "chat" and [generate.chat] with url and model',
        )
    resources = Resources(base_dir=configuration.base_dir, environment=environment)
    built: Generator = choice.plugin.build(choice.options, resources)
    return built


def final_context(run: RunData, stage: str | None, top_n: int | None) -> tuple[str, int]:
    """Stage and depth of what the generator is given: by default the final stage, and what the
    run says that the generator got (rerank.top_n), else 5. Raises UsageError.
    """
    if not run.stages:
        raise UsageError("the run has no stage, so there is no context to answer from")
    if stage is not None and stage not in run.stages:
        raise UsageError(f"no stage {stage!r} in the run", hint=f"it has {', '.join(run.stages)}")
    chosen = stage or run.stages[-1]
    if top_n is not None:
        return chosen, top_n
    marks = (mapping(row[chosen]).get("top_n") for row in run.rows([chosen]))
    return chosen, max((mark for mark in marks if mark), default=DEFAULT_TOP_N)


def generate_answers(
    folder: Path, run: RunData, generator: Generator, job: AnswerJob, policy: CallPolicy
) -> Answers:
    """Ask what has no answer yet and write answers.parquet.

    Answers are kept one by one, so that an interrupted job goes on where it was; failures are
    never kept as done: they are asked again. Raises UsageError where the run holds no texts, or
    answers that were made with other settings; RetrievalError when too many calls fail.
    """
    questions = list(_questions(run, job))
    keys: dict[Key, str] = {(q.query_id, q.arm): q.prompt.key(generator.name) for q in questions}
    found = _known(folder, keys)
    kept = {key for key, row in found.items() if row.status == OK}
    first = questions if job.limit is None else questions[: 2 * job.limit]
    todo = [q for q in first if (q.query_id, q.arm) not in kept]
    failed: list[str] = []
    allowed = job.max_failed * len(first)

    def ask(question: _Question) -> AnswerRow:
        key = keys[question.query_id, question.arm]
        return _asked(question, generator, key, policy)

    job.progress("answer", 0, len(todo))
    for number, (_, row) in enumerate(as_done(todo, ask, generator.workers), 1):
        found[row.key] = row
        if row.status == OK:
            append_answer(folder, row)
        else:
            failed.append(row.error or row.status)
        if len(failed) > allowed:
            raise _too_many(failed, number, len(todo))
        job.progress("answer", number, len(todo))
    rows = tuple(found[key] for key in keys if key in found)
    facts = {"stage": job.stage, "top_n": job.top_n, "generator": type(generator).__name__}
    write_answers(folder, rows, facts)
    return Answers(rows, len(todo), len(kept))


def _known(folder: Path, keys: Mapping[Key, str]) -> dict[Key, AnswerRow]:
    """What is there of the same questions, by query and arm; raises UsageError for answers to
    others, which would be lost.
    """
    there = [*answer_rows(read_answers(folder)), *read_partial(folder)]
    known = {row.key: row for row in there if keys.get(row.key) == row.prompt_sha256}
    done = [row for row in there if row.status == OK]
    others = {row.key for row in done} - known.keys()
    if others:
        models = sorted({str(row.model) for row in done if row.key in others})
        raise UsageError(
            f"{folder} holds {counted(len(others), 'answer')} made with other settings "
            f"(model {', '.join(models)})",
            hint="--fresh drops all answers of this run and asks again",
        )
    return known


def _questions(run: RunData, job: AnswerJob) -> Iterator[_Question]:
    """Both questions of every query, in the order of the run; raises UsageError where no text
    that is needed is in the run.
    """
    rows = list(run.rows(["query_id", "query", "language", job.stage]))
    contexts = [_context_ids(row, job) for row in rows]
    wanted = {id_ for ids in contexts for id_ in ids if id_}
    texts = {id_: row["text"] for id_, row in run.chunk_rows(wanted).items() if row.get("text")}
    if wanted and not texts:
        raise UsageError(
            "the run folder holds no text of a retrieved chunk, so there is no context to give",
            hint="run ragnostic eval again with run.store_text = true, and a corpus or a service "
            "that shows texts",
        )
    seen: set[str] = set()
    for row, ids in zip(rows, contexts, strict=True):
        if row["query_id"] not in seen:
            seen.add(row["query_id"])
            yield from _both(row, ids, texts, job)


def _both(
    row: Mapping[str, Any], ids: Sequence[str | None], texts: Mapping[str, str], job: AnswerJob
) -> Iterator[_Question]:
    query = text(row.get("query")) or ""
    named = row.get("language")
    spoken = named if named in {"zh", "en"} else language(query)
    known = tuple(id_ for id_ in ids if id_)
    context = [texts.get(id_, "") for id_ in known]
    with_, without = (make_prompt(job.prompts, spoken, query, given) for given in (context, None))
    obstacle = None if query else "the run holds no text of the query"
    blocked = obstacle or _obstacle(row, ids, texts, job.stage)
    yield _Question(row["query_id"], "with", with_, known, blocked)
    yield _Question(row["query_id"], "without", without, None, obstacle)


def _context_ids(row: Mapping[str, Any], job: AnswerJob) -> list[str | None]:
    return list((mapping(row.get(job.stage)).get("ids") or ())[: job.top_n])


def _obstacle(
    row: Mapping[str, Any], ids: Sequence[str | None], texts: Mapping[str, str], stage: str
) -> str | None:
    """Why there is no context to give; an empty ranking is one, and is given as such."""
    hits = mapping(row.get(stage))
    if not hits or hits.get("status") == "failed":
        return f"{stage} failed: {hits.get('error') or 'no result was logged'}"
    lacking = [id_ or "(no id)" for id_ in ids if (id_ or "") not in texts]
    if lacking:
        return f"the run folder holds no text of {', '.join(lacking[:_SHOWN_REASONS])}"
    return None


def _asked(question: _Question, generator: Generator, key: str, policy: CallPolicy) -> AnswerRow:
    """The answer to one question, or why there is none."""
    blank = AnswerRow(
        question.query_id, question.arm, key, "failed", context_ids=question.context_ids
    )
    if question.obstacle is not None:
        return replace(blank, error=question.obstacle)
    took_ms = 0.0

    def timed() -> Generation:
        nonlocal took_ms
        started = time.perf_counter()
        given = generator.generate(question.prompt.system, question.prompt.user)
        took_ms = (time.perf_counter() - started) * 1000
        return given

    try:
        given = retried(timed, policy)
    except GenerationError as error:
        return replace(blank, status=error.status, error=str(error).replace("\n   ", ";"))
    except RetrievalError as error:
        return replace(blank, error=error.message)
    except RagnosticError:
        raise
    except Exception as error:  # noqa: BLE001 - a bug of an implementation fails one answer
        return replace(blank, error=f"{type(error).__name__}: {error}")
    return replace(
        blank, status=OK, answer=_whole_characters(given.text), model=given.model, took_ms=took_ms
    )


def _whole_characters(answer: str) -> str:
    """The text with half characters (lone surrogates), which no file can hold, replaced."""
    return answer.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _too_many(reasons: Iterable[str], tried: int, total: int) -> RetrievalError:
    found = Counter(reasons)
    lines = [f"{found.total()} of the first {tried} questions have no answer ({total} in all)"]
    lines += [f"    {count} × {reason}" for reason, count in found.most_common(_SHOWN_REASONS)]
    return RetrievalError(
        "\n".join(lines),
        hint="mend the cause, or raise run.max_failed; the answers so far are kept",
    )
