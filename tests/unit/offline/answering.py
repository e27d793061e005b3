"""A run folder on disk and a generator without a service, for the tests of the answer link."""

from __future__ import annotations

import runpy
from dataclasses import dataclass, field
from pathlib import Path

from ragnostic.offline.answers import AnswerJob, Answers, generate_answers
from ragnostic.offline.calls import CallPolicy
from ragnostic.ports import Generation
from ragnostic.report.run import RunData

SMALL = runpy.run_path(str(Path(__file__).parents[1] / "report" / "small_run.py"))["small_run"]
JOB = AnswerJob("retrieve", 2, max_failed=1.0)


@dataclass
class Echo:
    """Answers with the question's last line; fails with the error that is set for a word."""

    errors: dict[str, Exception] = field(default_factory=dict)
    asked: list[tuple[str, str]] = field(default_factory=list)
    name: str = "echo"
    workers: int = 1
    answer: str = ""

    def generate(self, system: str, user: str) -> Generation:
        """See the class."""
        self.asked.append((system, user))
        for word, error in self.errors.items():
            if word in user:
                raise error
        return Generation(self.answer or f"={user.splitlines()[-1]}", "echo-1")


def small_run(**changes) -> RunData:
    """Two queries: one in English with two hits, one in Chinese without any."""
    queries = [
        {"id": "q1", "query": "leave?", "gold": {"a": 1}, "retrieve": ["a", "b", "c"]},
        {"id": "q2", "query": "年假？", "gold": {"a": 1}, "retrieve": []},
    ]
    texts = {"a": "twenty days", "b": "use {query}", "c": "far down"}
    found: RunData = SMALL(**{"queries": queries, "texts": texts, **changes})
    return found


def answer(folder: Path, generator: Echo, job: AnswerJob = JOB, **changes) -> Answers:
    """Ask about the small run."""
    run = small_run(**changes)
    return generate_answers(folder, run, generator, job, CallPolicy(retries=0))
