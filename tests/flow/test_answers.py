"""The answer link from the command line: a chat service on loopback, sheets, grades, report."""

from __future__ import annotations

import csv
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ragnostic import cli

KEY = "sk-loopback-0123456789abcdef"
DOCUMENTS = {
    "leave": "Annual leave is twenty days a year.",
    "vpn": "Reset the vpn token in the portal.",
    "travel": "Travel costs are paid back within a month.",
    "假": "年假每年二十天，需提前申请。",
    "decoy": "The canteen opens at noon on every working day, holidays too.",
}
QUERIES = [
    {"query_id": "q1", "query": "annual leave days", "gold": ["leave"], "answer": "twenty"},
    {"query_id": "q2", "query": "vpn token", "gold": ["vpn"], "answer": "=portal"},
    {"query_id": "q3", "query": "travel costs", "gold": ["travel"], "answer": "a month"},
    {"query_id": "q4", "query": "年假几天", "gold": ["假"], "answer": "二十天"},
    {"query_id": "q5", "query": "canteen hours", "gold": ["leave"], "answer": "noon"},
    {"query_id": "q6", "query": "favourite colour", "answerable": False},
]
CONFIG = """
[dataset]
path = "eval.jsonl"
corpus = "corpus.jsonl"
[retrieve]
top_k = 3
[rerank]
use = "none"
[score]
metrics = ["RR@3", "Success@3", "nDCG@3"]
[report]
language = "en"
[run]
retries = 2
max_failed = 0.2
[generate]
use = "chat"
[generate.chat]
url = "URL"
model = "small"
api_key_env = "CHAT_KEY"
workers = 2
seed = 7
"""


@dataclass
class Chat:
    """A chat service on a free loopback port. ``replies``, by a word of the question, decide what
    goes wrong; each is used once unless it says so itself.
    """

    url: str = ""
    requests: list[dict[str, Any]] = field(default_factory=list)
    replies: dict[str, list[Callable[[], tuple[int, dict[str, str], bytes]]]] = field(
        default_factory=dict
    )
    lock: threading.Lock = field(default_factory=threading.Lock)

    def answer(self, headers: Any, body: dict[str, Any]) -> tuple[int, dict[str, str], bytes]:
        """What the protocol says: 401 without the key, else a completion."""
        if headers["Authorization"] != f"Bearer {KEY}":
            return 401, {}, b'{"error": {"message": "wrong key"}}'
        question = body["messages"][-1]["content"]
        with self.lock:
            self.requests.append(body)
            for word, waiting in self.replies.items():
                if word in question and waiting:
                    return waiting.pop(0)()
        return 200, {}, completion(said(question))


def said(question: str) -> str:
    """The answer of the stand-in model: the first passage, or that it does not know; it knows of
    travel by itself, and passages about it lead it astray.
    """
    if "travel" in question.lower():
        return "Within a year." if "[1]" in question else "Within a month."
    found = re.search(r"\[1\] (.+)", question)
    return found[1] if found else "=I do not know."


def completion(text: str | None, reason: str = "stop", **message: Any) -> bytes:
    """A whole answer in the protocol's form."""
    choice = {
        "index": 0,
        "message": {"role": "assistant", "content": text, **message},
        "finish_reason": reason,
    }
    usage = {"prompt_tokens": 9, "completion_tokens": 3, "total_tokens": 12}
    answer = {"id": "c1", "object": "chat.completion", "model": "small-1", "choices": [choice]}
    return json.dumps({**answer, "usage": usage}).encode()


@pytest.fixture
def chat() -> Iterator[Chat]:
    """A running service, ended with the test."""
    found = Chat()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            """One completion, only at the protocol's path."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            status, headers, raw = 404, {}, b"not found"
            if self.path == "/v1/chat/completions":
                status, headers, raw = found.answer(self.headers, body)
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(raw)))
            with suppress(ConnectionError):
                self.end_headers()
                self.wfile.write(raw)

        def log_message(self, *_: Any):
            """Keep the test output quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        found.url = f"http://127.0.0.1:{server.server_port}"
        yield found
        server.shutdown()
        thread.join()


@pytest.fixture(scope="module")
def evaluated(tmp_path_factory) -> Path:
    """An evaluated run; the configuration names no service yet."""
    folder = tmp_path_factory.mktemp("evaluated")
    rows = [{"_id": name, "text": text} for name, text in DOCUMENTS.items()]
    for name, lines in (("corpus.jsonl", rows), ("eval.jsonl", QUERIES)):
        text = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines)
        (folder / name).write_text(f"{text}\n", encoding="utf-8")
    config = CONFIG.replace("URL", "http://127.0.0.1:9")
    (folder / "eval.toml").write_text(config, encoding="utf-8")
    done = program("eval", str(folder / "eval.toml"), "--out", str(folder / "runs"))
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def folder(tmp_path, chat, evaluated, monkeypatch) -> Path:
    """A copy of the run with a configuration that names the service; commands are typed here."""
    shutil.copytree(evaluated, tmp_path, dirs_exist_ok=True)
    (tmp_path / "eval.toml").write_text(CONFIG.replace("URL", chat.url), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@dataclass(frozen=True)
class Done:
    """What a command said."""

    returncode: int
    stdout: str
    stderr: str


def program(*arguments: str, key: str = KEY) -> Done:
    """One command, in this process."""
    done = CliRunner().invoke(cli.app, arguments, env={"CHAT_KEY": key})
    return Done(done.exit_code, done.stdout, done.stderr)


def real_program(folder: Path, *arguments: str) -> Done:
    """The real program in its own process."""
    done = subprocess.run(
        [sys.executable, "-m", "ragnostic", *arguments],
        cwd=folder,
        env={**os.environ, "CHAT_KEY": KEY, "PYTHONUTF8": "1"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
        check=False,
    )
    return Done(done.returncode, done.stdout, done.stderr)


def run_of(folder: Path) -> Path:
    """The only run folder."""
    (path,) = (path for path in (folder / "runs").iterdir() if path.is_dir())
    return path


def answers(folder: Path, part: str, *arguments: str) -> Done:
    """``ragnostic answers PART RUN …``."""
    return program("answers", part, run_of(folder).name, *arguments)


def generate(folder: Path, *arguments: str) -> Done:
    """``ragnostic answers generate`` with the configuration of the run."""
    return answers(folder, "generate", "--config", "eval.toml", *arguments)


def rows_of(folder: Path) -> list[dict[str, Any]]:
    """answers.parquet."""
    return pq.read_table(run_of(folder) / "answers.parquet").to_pylist()


def test_from_a_run_to_the_exchange_rate(folder, chat):
    """Every query is asked twice; a blind sheet is graded by two people; the numbers and the
    telling queries come out, in the terminal, as JSON and in the report. The key is nowhere.
    """
    command = ("answers", "generate", run_of(folder).name, "--config", "eval.toml")
    done = real_program(folder, *command)
    assert done.returncode == 0, done.stderr
    assert "asking for 12 answers" in done.stderr
    assert "12 answers: 0 kept, 12 asked now" in done.stdout
    assert len(chat.requests) == 12
    first = chat.requests[0]
    assert {name: first[name] for name in ("model", "temperature", "max_tokens", "seed")} == {
        "model": "small",
        "temperature": 0.0,
        "max_tokens": 1024,
        "seed": 7,
    }
    assert [message["role"] for message in first["messages"]] == ["system", "user"]
    rows = rows_of(folder)
    assert Counter(row["arm"] for row in rows) == {"with": 6, "without": 6}
    assert {row["status"] for row in rows} == {"ok"}
    assert {row["model"] for row in rows} == {"small-1"}
    chinese = [m["messages"][0]["content"] for m in chat.requests if "年假" in str(m)]
    assert all("请" in text for text in chinese)
    without = next(row for row in rows if row["query_id"] == "q6" and row["arm"] == "without")
    assert without["context_ids"] is None

    made = answers(folder, "sheet", "--out", "sheet.csv")
    assert made.returncode == 0, made.stderr
    graded(folder, "sheet.csv", "anna.csv")
    graded(folder, "sheet.csv", "bob.csv", encoding="gb18030", delimiter=";", shift=1)
    read = answers(folder, "grade", "anna.csv", "bob.csv")
    assert read.returncode == 0, read.stderr
    assert "24 grades read; 0 empty, 0 bad, 0 unknown" in read.stdout
    assert "bob.csv: read as GB18030" in read.stderr
    again = answers(folder, "grade", "bob.csv")
    assert "12 earlier grades of the same graders replaced" in again.stdout

    shown = json.loads(answers(folder, "show", "--json").stdout)
    assert shown["stage"] == "retrieve"
    assert shown["graders"] == ["anna", "bob"]
    assert [case["query_id"] for case in shown["right_but_wrong"]] == ["q3"]
    assert [case["query_id"] for case in shown["made_worse"]] == ["q3"]
    assert [case["query_id"] for case in shown["known_without"]] == ["q3"]
    assert shown["difference"]["all"]["n"] == 6
    assert set(shown["exchange"]) == {"RR@3", "Success@3", "nDCG@3"}
    assert "retrieval was right, the answer wrong: 1 query" in answers(folder, "show").stdout

    page = program("report", run_of(folder).name)
    assert page.returncode == 0, page.stderr
    html = (run_of(folder) / "report.html").read_text(encoding="utf-8")
    assert "Exchange rate" in html
    assert "Within a year." in html
    for path in folder.rglob("*"):
        assert not path.is_file() or KEY.encode() not in path.read_bytes(), path.name


def graded(
    folder: Path,
    source: str,
    target: str,
    *,
    encoding: str = "utf-8-sig",
    delimiter: str = ",",
    shift: int = 0,
) -> None:
    """A grader fills the sheet in by the expected answer alone and saves it their way; ``shift``
    takes that much off the best grade.
    """
    with (folder / source).open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        expected = row["expected_answer"].removeprefix("'").removeprefix("=")
        right = bool(expected) and expected in row["answer"]
        row["grade"] = str(3 - shift if right else 0)
    with (folder / target).open("w", encoding=encoding, newline="") as file:
        writer = csv.DictWriter(file, rows[0], delimiter=delimiter)
        writer.writeheader()
        writer.writerows(rows)


def test_the_sheet_is_blind_and_safe(folder):
    """No column, order or item name tells the arm; what looks like a formula is made harmless;
    the same seed gives the same sheet, and a sheet that exists is never written over.
    """
    assert generate(folder).returncode == 0
    assert answers(folder, "sheet", "--out", "a.csv", "--seed", "3").returncode == 0
    assert answers(folder, "sheet", "--out", "b.csv", "--seed", "3").returncode == 0
    assert answers(folder, "sheet", "--out", "c.jsonl").returncode == 0
    assert (folder / "a.csv").read_bytes() == (folder / "b.csv").read_bytes()
    with (folder / "a.csv").open(encoding="utf-8-sig", newline="") as file:
        rows = list(csv.DictReader(file))
    assert list(rows[0]) == ["item", "query", "expected_answer", "answer", "grade", "comment"]
    assert all(re.fullmatch("i[0-9a-f]{15}", row["item"]) for row in rows)
    assert "'=I do not know." in {row["answer"] for row in rows}
    again = answers(folder, "sheet", "--out", "a.csv")
    assert again.returncode == 2
    assert "a.csv exists, and may hold grades by now" in again.stderr
    other = [json.loads(line)["item"] for line in (folder / "c.jsonl").read_text().splitlines()]
    assert sorted(other) == sorted(row["item"] for row in rows)
    assert other != [row["item"] for row in rows]


def test_what_goes_wrong_is_tried_again_or_told(folder, chat):
    """429 with Retry-After and 500 are tried again; a cut, a held back, an empty and a broken
    answer, and a call that never works, are counted by reason, and asked again next time.
    """
    busy = (429, {"Retry-After": "0"}, b'{"error": "slow down"}')
    chat.replies = {
        "Question: annual leave": [lambda: busy, lambda: (500, {}, b"oops")],
        "Question: vpn": [lambda: (200, {}, completion("Reset the", "length"))],
        "Question: canteen": [lambda: (200, {}, completion("", "content_filter"))],
        "问题：年假": [lambda: (200, {}, completion(" "))],
        "Question: favourite": [lambda: (200, {}, b'{"choices": []}')],
        "Question: travel": [lambda: (503, {}, b"down")] * 3,
    }
    done = generate(folder, "--set", "generate.chat.workers=1", "--set", "run.max_failed=0.5")
    assert done.returncode == 0, done.stderr
    assert "7 answers: 0 kept, 12 asked now" in done.stdout
    assert "no answer to 5 questions: 1 failed, 1 filtered, 2 malformed, 1 truncated" in done.stdout
    for line in (
        "q2, with context: truncated: ",
        "hint: raise max_tokens",
        "q3, with context: failed: ",
        "answered 503",
        "q4, with context: malformed: ",
        "the answer is empty",
        "q5, with context: filtered: ",
        "q6, with context: malformed: ",
    ):
        assert line in done.stderr, line
    failed = [row for row in rows_of(folder) if row["status"] != "ok"]
    assert all(row["answer"] is None and row["error"] for row in failed)
    made = answers(folder, "sheet", "--out", "sheet.csv")
    assert "7 answers to grade" in made.stdout
    assert "5 questions have no answer to grade" in made.stderr
    shown = answers(folder, "show").stdout
    assert "with context: 1 failed, 1 filtered, 2 malformed, 1 ok, 1 truncated" in shown
    assert "no grades yet" in shown
    before = len(chat.requests)
    again = generate(folder)
    assert "12 answers: 7 kept, 5 asked now" in again.stdout
    assert len(chat.requests) == before + 5


def test_a_job_that_is_given_up_goes_on_where_it_was(folder, chat):
    """Too many failures end it with exit 4; the answers so far are not asked for again."""
    chat.replies = {"travel": [lambda: (400, {}, b"no")] * 4, "vpn": [lambda: (400, {}, b"no")] * 4}
    given_up = generate(folder, "--set", "run.max_failed=0.1", "--set", "generate.chat.workers=1")
    assert given_up.returncode == 4
    assert "have no answer" in given_up.stderr
    assert "the answers so far are kept" in given_up.stderr
    partial = run_of(folder) / "answers.partial.jsonl"
    kept = len(partial.read_text(encoding="utf-8").splitlines())
    assert kept > 0
    with partial.open("a", encoding="utf-8") as file:
        file.write('{"query_id": "q6", "arm')  # killed while it wrote
    chat.replies = {}
    done = generate(folder)
    assert f"12 answers: {kept} kept, {12 - kept} asked now" in done.stdout
    assert not partial.exists()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGKILL])
def test_an_interrupted_job_goes_on_from_its_answers(folder, chat, ending):
    """Ctrl-C says so; a kill cannot, and loses nothing either."""
    arrived, free = threading.Event(), threading.Event()

    def slow() -> tuple[int, dict[str, str], bytes]:
        arrived.set()
        free.wait(60)
        return 200, {}, completion("late")

    chat.replies = {"Question: travel": [slow]}
    command = ["answers", "generate", run_of(folder).name, "--config", "eval.toml"]
    with subprocess.Popen(
        [sys.executable, "-m", "ragnostic", *command, "--set", "generate.chat.workers=1"],
        cwd=folder,
        env={**os.environ, "CHAT_KEY": KEY},
        stderr=subprocess.PIPE,
        encoding="utf-8",
    ) as process:
        assert arrived.wait(60)
        process.send_signal(ending)
        _, said_last = process.communicate(timeout=60)
    free.set()
    if ending == signal.SIGINT:
        assert process.returncode == 130
        assert "interrupted; the same command goes on from the answers so far" in said_last
    assert not (run_of(folder) / "answers.parquet").exists()
    done = generate(folder)
    assert "12 answers: 4 kept, 8 asked now" in done.stdout


def test_a_part_now_and_the_rest_later(folder, chat):
    """``--limit`` bounds what is asked, never what is kept; other settings need ``--fresh``."""
    assert "4 answers: 0 kept, 4 asked now" in generate(folder, "--limit", "2").stdout
    assert "4 answers: 4 kept, 0 asked now" in generate(folder, "--limit", "1").stdout
    assert "12 answers: 4 kept, 8 asked now" in generate(folder).stdout
    other = generate(folder, "--top-n", "1", "--set", "generate.chat.model=large")
    assert other.returncode == 2
    assert "holds 12 answers made with other settings (model small-1)" in other.stderr
    assert "12 answers: 12 kept" in generate(folder).stdout
    fresh = generate(folder, "--top-n", "1", "--fresh")
    assert "12 answers: 0 kept, 12 asked now" in fresh.stdout
    assert all(len(row["context_ids"] or ()) <= 1 for row in rows_of(folder))
    assert len(chat.requests) == 24


def test_wrong_use_is_told(folder):
    """No key, no generator, no such stage, no texts, nothing to show or to grade yet."""
    command = ["answers", "generate", run_of(folder).name, "--config", "eval.toml"]
    for arguments, key, expected in (
        ([], "", "needs the environment variable CHAT_KEY"),
        (["--set", "generate.use=none"], KEY, "the configuration names no generator"),
        (["--stage", "rerank"], KEY, "no stage 'rerank' in the run"),
    ):
        done = program(*command, *arguments, key=key)
        assert done.returncode == 2
        assert expected in done.stderr
    for part, more in (("show", []), ("sheet", ["--out", "s.csv"]), ("grade", ["s.csv"])):
        done = answers(folder, part, *more)
        assert done.returncode == 2
        assert "holds no answers" in done.stderr
    bare = program("eval", "eval.toml", "--out", "bare", "--set", "run.store_text=false")
    assert bare.returncode == 0, bare.stderr
    (run,) = (folder / "bare").iterdir()
    done = program("answers", "generate", str(run), "--config", "eval.toml")
    assert done.returncode == 2
    assert "holds no text of a retrieved chunk" in done.stderr
    assert "run.store_text = true" in done.stderr


def test_a_wrong_key_is_never_shown(folder):
    """The service refuses it; no message holds it, and nothing is written."""
    wrong = f"sk-wrong-{KEY}"
    command = ["answers", "generate", run_of(folder).name, "--config", "eval.toml"]
    done = program(*command, key=wrong)
    assert done.returncode == 4
    assert "answered 401" in done.stderr
    assert wrong not in done.stdout + done.stderr
    assert not (run_of(folder) / "answers.parquet").exists()
