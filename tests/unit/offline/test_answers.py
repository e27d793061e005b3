"""Asking a generator about a run; the loopback service is in the flow tests."""

from __future__ import annotations

import runpy
import threading
from dataclasses import replace
from pathlib import Path

import pytest

from ragnostic.config.models import PromptsSettings
from ragnostic.errors import GenerationError, RetrievalError, UsageError
from ragnostic.offline.answer_files import PARTIAL_ANSWERS, read_answers, read_partial
from ragnostic.offline.answers import AnswerJob, final_context, generate_answers
from ragnostic.offline.calls import CallPolicy

TOOLS = runpy.run_path(str(Path(__file__).parent / "answering.py"))
Echo, JOB, answer, small_run = (TOOLS[name] for name in ("Echo", "JOB", "answer", "small_run"))


def statuses(found) -> list[tuple[str, str, str]]:
    """(query, arm, status) of the rows."""
    return [(row.query_id, row.arm, row.status) for row in found.rows]


def test_every_query_is_asked_with_its_context_and_without(tmp_path):
    """The context is the top of the stage; braces in it are text; an empty ranking is given."""
    echo = Echo()
    found = answer(tmp_path, echo)
    assert [status for *_, status in statuses(found)] == ["ok"] * 4
    with_, without, empty, _ = (user for _, user in echo.asked)
    assert "[1] twenty days\n\n[2] use {query}\n\n" in with_
    assert "far down" not in with_
    assert without == "Question: leave?"
    assert "没有检索到资料" in empty
    assert [row.context_ids for row in found.rows] == [("a", "b"), None, (), None]
    assert read_answers(tmp_path).schema.metadata[b"ragnostic.answers"].startswith(b'{"generator"')
    assert not (tmp_path / PARTIAL_ANSWERS).exists()


def test_what_fails_is_no_answer_and_is_asked_again(tmp_path):
    """With its reason; bugs of a generator fail one question, no more."""
    errors = {
        "[1]": GenerationError("cut", status="truncated", hint="raise max_tokens"),
        "问题": ValueError("odd"),
    }
    found = answer(tmp_path, Echo(errors))
    assert [status for *_, status in statuses(found)] == ["truncated", "ok", "failed", "failed"]
    assert found.failures == {"failed": 2, "truncated": 1}
    assert [row.error for row in found.rows] == [
        "cut; hint: raise max_tokens",
        None,
        "ValueError: odd",
        "ValueError: odd",
    ]
    again = Echo()
    assert answer(tmp_path, again).kept == 1
    assert len(again.asked) == 3


def test_failures_of_questions_that_are_not_asked_now_stay(tmp_path):
    """A smaller limit hides nothing."""
    answer(tmp_path, Echo({"年假": RetrievalError("down")}))
    found = answer(tmp_path, Echo(), replace(JOB, limit=1))
    assert [status for *_, status in statuses(found)] == ["ok", "ok", "failed", "failed"]
    assert (found.asked, found.kept) == (0, 2)


def test_a_fault_of_settings_ends_the_job(tmp_path):
    """It would be the same for every question."""
    with pytest.raises(UsageError, match="no key"):
        answer(tmp_path, Echo({"Question": UsageError("no key")}))


def test_more_failures_than_allowed_end_the_job_and_keep_the_answers(tmp_path):
    """With the commonest reasons."""
    job = replace(JOB, max_failed=0.25)
    with pytest.raises(RetrievalError, match="2 of the first 4 questions") as caught:
        answer(tmp_path, Echo({"年假": RetrievalError("down")}), job)
    assert "    2 × down" in caught.value.message
    assert [row.key for row in read_partial(tmp_path)] == [("q1", "with"), ("q1", "without")]
    assert answer(tmp_path, Echo()).kept == 2


def test_other_settings_are_refused_not_mixed(tmp_path):
    """Answers of another generator, depth or prompt."""
    answer(tmp_path, Echo())
    with pytest.raises(UsageError, match="holds 4 answers made with other settings"):
        answer(tmp_path, Echo(name="other"))
    with pytest.raises(UsageError, match="holds 1 answer made with other settings"):
        answer(tmp_path, Echo(), replace(JOB, top_n=3))
    prompts = PromptsSettings.model_validate({"zh": {"system": "短"}})
    with pytest.raises(UsageError, match="holds 2 answers made with other settings"):
        answer(tmp_path, Echo(), replace(JOB, prompts=prompts))


def test_a_context_that_cannot_be_given_is_not_asked(tmp_path):
    """Failed retrieval, a result without id, a chunk without text: told, the other arm is asked."""
    queries = [
        {"id": "q1", "query": "a?", "retrieve": {"ids": [], "status": "failed", "error": "down"}},
        {"id": "q2", "query": "b?", "retrieve": ["a", None]},
        {"id": "q3", "query": "c?", "retrieve": ["a", "gone"]},
        {"id": "q4", "query": "d?"},
        {"id": "q5", "query": None, "retrieve": ["a"]},
        {"id": "q5", "query": "again", "retrieve": ["a"]},
    ]
    echo = Echo()
    found = answer(tmp_path, echo, queries=queries)
    errors = {row.key: row.error for row in found.rows if row.error}
    assert errors == {
        ("q1", "with"): "retrieve failed: down",
        ("q2", "with"): "the run folder holds no text of (no id)",
        ("q3", "with"): "the run folder holds no text of gone",
        ("q4", "with"): "retrieve failed: no result was logged",
        ("q5", "with"): "the run holds no text of the query",
        ("q5", "without"): "the run holds no text of the query",
    }
    assert len(echo.asked) == 4


def test_a_run_without_texts_is_refused(tmp_path):
    """With the setting that keeps them."""
    with pytest.raises(UsageError, match=r"run\.store_text = true"):
        answer(tmp_path, Echo(), texts={})


def test_half_characters_of_an_answer_are_replaced(tmp_path):
    """No file could hold them."""
    found = answer(tmp_path, Echo(answer="a\ud83d b \U0001f600"))
    assert found.rows[0].answer == "a\ufffd b \U0001f600"


def test_several_workers_ask_at_the_same_time(tmp_path):
    """And the rows come in the order of the run."""
    together = threading.Barrier(2, timeout=10)

    class Waiting(Echo):
        def generate(self, system, user):
            """Two must be here at once."""
            together.wait()
            return super().generate(system, user)

    found = answer(tmp_path, Waiting(workers=2))
    assert [key[:2] for key in statuses(found)] == [
        *[("q1", "with"), ("q1", "without")],
        *[("q2", "with"), ("q2", "without")],
    ]


def test_the_context_is_what_the_run_says_the_generator_got():
    """The final stage and its top_n, unless another is asked for."""
    ranked = {"ids": ["a"], "top_n": 3}
    queries = [{"id": "q1", "query": "q", "retrieve": ["a"], "rerank": ranked}]
    run = small_run(queries=queries, stages=("retrieve", "rerank"))
    assert final_context(run, None, None) == ("rerank", 3)
    assert final_context(run, "retrieve", None) == ("retrieve", 5)
    assert final_context(run, None, 8) == ("rerank", 8)
    with pytest.raises(UsageError, match="it has retrieve, rerank"):
        final_context(run, "fuse", None)
    with pytest.raises(UsageError, match="the run has no stage"):
        final_context(small_run(queries=[], stages=()), None, None)


def test_progress_counts_questions(tmp_path):
    """From none to all."""
    told = []
    job = AnswerJob("retrieve", 2, progress=lambda *step: told.append(step))
    generate_answers(tmp_path, small_run(), Echo(), job, CallPolicy())
    assert told == [("answer", done, 4) for done in range(5)]
