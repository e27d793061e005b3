"""The grader with its model: a chat service on loopback, retries, the cache."""

from __future__ import annotations

import json
import sqlite3
import threading

import pyarrow as pa
import pytest
from pydantic import ValidationError

from ragnostic.adapters.calls import as_done, retried
from ragnostic.adapters.llm_grader import CachedGrades, LlmGrader
from ragnostic.adapters.verdict_cache import VerdictCache, default_verdicts_path, verdict_key
from ragnostic.errors import GenerationError, RetrievalError, UsageError
from ragnostic.judges.grader_prompt import Pair, Prompt
from ragnostic.judges.grader_reply import Verdict
from ragnostic.ports import Generation, Resources

KEY = "sk-loopback-0123456789abcdef"


def completion(text, status=200):
    """What a chat service answers."""
    message = {"role": "assistant", "content": text}
    answer = {"model": "small-1", "choices": [{"message": message, "finish_reason": "stop"}]}
    return status, {}, json.dumps(answer).encode()


def options(url, **given):
    """Options of a grader whose model is the loopback service."""
    model = {"url": url, "model": "small", "api_key_env": "KEY", "workers": 3}
    return LlmGrader.Options(generator=model, **given)


@pytest.fixture
def resources(tmp_path):
    """Where the cache goes, and the key."""
    return Resources(base_dir=tmp_path, environment={"KEY": KEY, "XDG_CACHE_HOME": str(tmp_path)})


@pytest.fixture
def chunks():
    """A corpus of three."""
    return pa.table({"id": ["c1", "c2", "c3"], "text": ["Five days.", "Ten days.", "A canteen."]})


def records(*ids):
    """One record that retrieved these."""
    hits = pa.array([{"ids": list(ids)}], pa.struct([("ids", pa.list_(pa.string()))]))
    return pa.table({"record_id": ["r1"], "query": ["How many days of leave?"], "retrieve": hits})


def judged(judge, *ids):
    """The row of that record."""
    return judge.judge_records(records(*ids)).to_pylist()[0]


def answering(service, **replies):
    """Let the service answer by a word of the passage."""

    def reply(call):
        asked = call.json["messages"][-1]["content"]
        return next((made for word, made in replies.items() if word in asked), completion("0"))

    service.reply = reply


def test_a_second_judge_asks_nothing_that_was_answered(service, resources, chunks):
    """Grades come back as they were; what failed is asked again; the key is in no file."""
    answering(service, Five=completion("2"), Ten=completion("I am unable to answer."))
    first = LlmGrader.build(chunks, options(service.url), "s1", resources=resources)
    row = judged(first, "c1", "c2", "c3")
    assert row["status"] == "failed"
    assert row["grades"] == [2.0, None, 0.0]
    assert row["evidence"][0] == "small-1: 2"
    assert row["evidence"][1] == "failed: no grade in the reply 'I am unable to answer.'"
    assert (first.asked.calls, first.asked.hits) == (3, 0)
    assert {call.headers["authorization"] for call in service.calls} == {f"Bearer {KEY}"}
    answering(service, Ten=completion('{"grade": 1}'))
    second = LlmGrader.build(chunks, options(service.url), "s1", resources=resources)
    row = judged(second, "c1", "c2", "c3")
    assert (row["status"], row["grades"]) == ("judged", [2.0, 1.0, 0.0])
    assert (second.asked.calls, second.asked.hits) == (1, 2)
    assert second.version == first.version
    assert second.asked.cache.faults == []
    for judge in (first, second):
        judge.asked.cache.close()
    kept = b"".join(file.read_bytes() for file in resources.base_dir.rglob("*") if file.is_file())
    assert KEY.encode() not in kept
    assert b"days" not in kept


def test_a_service_that_fails_for_a_moment_is_asked_again(service, resources, chunks):
    """And one that refuses fails the chunk, with what it said."""
    waiting = [(503, {}, b"busy"), completion("3")]
    service.reply = lambda _: waiting.pop(0)
    judge = LlmGrader.build(chunks, options(service.url, cache=False), resources=resources)
    assert judged(judge, "c1")["grades"] == [3.0]
    assert judge.asked.cache is None
    service.answers({"error": "no such model"}, status=404)
    row = judged(judge, "c2")
    assert row["status"] == "failed"
    assert "answered 404" in row["evidence"][0]


def test_settings_that_make_no_judge_are_refused(service, resources, chunks):
    """The generator's own faults are told by name; a missing key before anything is asked."""
    for table, message in (
        ({"use": "chta"}, "unknown generator 'chta'"),
        ({"url": "ftp://x", "model": "m"}, "url: Value error, must be an http or https address"),
        ({"url": "http://x"}, "model: Field required"),
        ({"url": "http://x", "model": "m", "modl": 1}, "modl: Extra inputs"),
    ):
        with pytest.raises(ValidationError, match=message):
            LlmGrader.Options(generator=table)
    with pytest.raises(ValidationError, match="facets"):
        options(service.url, facets=["tone"])
    with pytest.raises(UsageError, match="KEY"):
        LlmGrader.build(chunks, options(service.url), resources=Resources())


def test_the_version_and_the_parameters_tell_the_model_apart(service, resources):
    """Without a corpus too; the folder of the cache may be named."""
    built = [
        LlmGrader.build(None, options(service.url, cache="kept", top_k=k), resources=resources)
        for k in (5, 5, 6)
    ]
    assert [judge.version == built[0].version for judge in built] == [True, True, False]
    assert "small" in built[0].parameters["model"]
    assert KEY not in str(built[0].parameters)
    assert (resources.base_dir / "kept" / "verdicts.sqlite").exists()


class Scripted:
    """A generator whose replies are functions, by passage."""

    name = "scripted"

    def __init__(self, reply, workers=1):
        self.workers = workers
        self.reply = reply

    def generate(self, system, user):
        """The next reply."""
        return Generation(self.reply(user), "m")


def test_a_service_that_is_down_is_not_asked_for_ever():
    """After twenty calls without an answer the rest fails unasked; the next table asks again."""
    down = [True]

    def reply(_):
        if down[0]:
            raise RetrievalError("connection refused", retryable=True)
        return "1"

    waits = []
    grades = CachedGrades(Scripted(reply), None, retries=1, sleep=waits.append)
    pairs = [Pair("q", f"text {n}") for n in range(50)]
    found = grades(pairs)
    assert grades.calls == len(waits) == 20
    assert found[0].failure == "connection refused"
    assert found[-1].failure == "not asked: the 20 calls before it failed"
    down[0] = False
    assert {verdict.grade for verdict in grades(pairs)} == {1}


def test_an_answer_that_cannot_be_graded_does_not_mean_that_the_service_is_down():
    """Nor does a bug in the user's function."""

    def reply(user):
        if "text 7" in user:
            raise GenerationError("held back", status="filtered")
        return str(1 // ("text 8" not in user))

    grades = CachedGrades(Scripted(reply), None)
    found = grades([Pair("q", f"text {n % 10}") for n in range(60)])
    assert found[7].failure == "held back"
    assert found[8].failure.startswith("ZeroDivisionError: ")
    assert grades.calls == 10
    assert sum(verdict.grade == 1 for verdict in found) == 48


def test_a_wrong_setting_ends_the_job():
    """It would fail every passage in the same way."""

    def reply(_):
        raise UsageError("no such function")

    with pytest.raises(UsageError, match="no such function"):
        CachedGrades(Scripted(reply), None)([Pair("q", "t")])


def test_several_threads_share_one_cache(tmp_path):
    """Each pair is asked once, and all is kept."""
    cache = VerdictCache(tmp_path / "v.sqlite")
    together = threading.Barrier(4, timeout=20)

    def reply(_):
        together.wait()
        return '{"grade": 3, "basis": 2}'

    grades = CachedGrades(Scripted(reply, workers=4), cache, facets=["basis"])
    pairs = [Pair("q", f"text {n}") for n in range(8)]
    assert {verdict.facets["basis"] for verdict in grades(pairs)} == {2}
    again = CachedGrades(
        Scripted(lambda _: "x"), VerdictCache(tmp_path / "v.sqlite"), facets=["basis"]
    )
    assert {verdict.grade for verdict in again(pairs)} == {3}
    assert (again.calls, again.hits) == (0, 8)


def key(text="t"):
    """A key of the cache."""
    return verdict_key("m", Prompt("s", text))


def test_the_cache_keeps_no_failure(tmp_path):
    """It is to be asked again."""
    cache = VerdictCache(tmp_path / "v.sqlite")
    with pytest.raises(ValueError, match="no verdict"):
        cache.write(key(), Verdict(None, failure="?"))
    assert cache.read([key()]) == {}


def test_a_key_is_model_prompt_and_text():
    """Each of them makes another one; half characters do not break it."""
    keys = {
        verdict_key(model, Prompt(system, user))
        for model in "ab"
        for system in ("", "s")
        for user in ("", "u", "\ud800")
    }
    assert len(keys) == 12


@pytest.mark.parametrize(
    "written", ["{", "[]", '{"grade": 9, "facets": {}, "model": "m"}', '{"grade": 1}']
)
def test_a_damaged_row_is_a_miss(tmp_path, written):
    """It is asked again and written over."""
    path = tmp_path / "v.sqlite"
    cache = VerdictCache(path)
    cache.write(key(), Verdict(2, model="m"))
    with sqlite3.connect(path) as other:
        other.execute("UPDATE verdicts SET verdict = ?", [written])
    other.close()
    assert cache.read([key()]) == {}
    cache.write(key(), Verdict(1, {"basis": 0}, "m"))
    assert cache.read([key()])[key()] == Verdict(1, {"basis": 0}, "m")


def test_a_damaged_file_is_renamed_and_begun_anew(tmp_path):
    """When it is opened, and while it is used; each is told."""
    path = tmp_path / "v.sqlite"
    path.write_bytes(b"no database at all" * 100)
    cache = VerdictCache(path)
    cache.write(key(), Verdict(2, model="m"))
    assert cache.read([key()]) == {key(): Verdict(2, {}, "m")}
    assert "renamed to v.sqlite.damaged-1" in cache.faults[0].message
    assert cache.faults[0].kind == "verdict_cache"
    cache.close()
    cache.close()
    assert cache.read([key()]) == {}
    broken = path.read_bytes()
    path.write_bytes(broken[:100] + b"\xff" * (len(broken) - 100))
    again = VerdictCache(path)
    assert again.read([key()]) == {}
    assert "damaged-2" in again.faults[0].message
    again.write(key("u"), Verdict(3, model="m"))
    assert again.read([key("u")])[key("u")].grade == 3


def test_a_page_that_is_damaged_is_noticed_when_it_is_read(tmp_path):
    """The schema is whole, the rows are not: the file is renamed, and the next write is kept."""
    path = tmp_path / "v.sqlite"
    cache = VerdictCache(path)
    keys = [key(str(number)) for number in range(200)]
    for one in keys:
        cache.write(one, Verdict(1, model="m"))
    cache.close()
    raw = path.read_bytes()
    path.write_bytes(raw[:4096] + b"\xff" * (len(raw) - 4096))
    again = VerdictCache(path)
    assert again.faults == []
    assert again.read(keys) == {}
    assert "renamed to v.sqlite.damaged-1" in again.faults[0].message
    again.write(keys[0], Verdict(3, model="m"))
    assert again.read(keys)[keys[0]].grade == 3


def test_a_place_that_cannot_be_used_is_told_once(tmp_path):
    """The judge works without a cache then."""
    (tmp_path / "file").write_text("")
    cache = VerdictCache(tmp_path / "file" / "v.sqlite")
    cache.write(key(), Verdict(1, model="m"))
    assert cache.read([key()]) == {}
    assert [fault.kind for fault in cache.faults] == ["verdict_cache"]
    (tmp_path / "v.sqlite").mkdir()
    folder = VerdictCache(tmp_path / "v.sqlite")
    assert "not used" in folder.faults[0].message


def test_a_table_that_is_gone_is_a_miss(tmp_path):
    """Another program may have written there."""
    path = tmp_path / "v.sqlite"
    cache = VerdictCache(path)
    with sqlite3.connect(path) as other:
        other.execute("DROP TABLE verdicts")
    other.close()
    assert cache.read([key()]) == {}
    assert "not used for a moment" in cache.faults[0].message


def test_the_cache_is_in_the_users_cache_folder():
    """Beside the vectors."""
    assert (
        default_verdicts_path({"HOME": "/home/me"})
        .as_posix()
        .endswith("/ragnostic/verdicts.sqlite")
    )


def test_retries_wait_as_long_as_the_service_asks():
    """But not for what can never succeed, and not longer than two minutes."""
    waits, errors = [], [RetrievalError("429", retryable=True, wait_s=30), RetrievalError("400")]

    def call():
        raise errors[len(waits)]

    with pytest.raises(RetrievalError, match="400"):
        retried(call, 5, waits.append)
    assert len(waits) == 1
    assert waits[0] >= 30
    errors[0] = RetrievalError("429", retryable=True, wait_s=500)
    waits.clear()
    with pytest.raises(RetrievalError, match="429"):
        retried(call, 5, waits.append)
    assert waits == []


@pytest.mark.parametrize("workers", [1, 3])
def test_an_error_of_a_call_is_raised_where_it_is_waited_for(workers):
    """Whichever thread met it."""
    with pytest.raises(ZeroDivisionError):
        list(as_done([1, 0, 2], lambda n: 1 // n, workers))
