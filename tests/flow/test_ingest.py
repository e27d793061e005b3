"""``ragnostic ingest`` as a person runs it: real processes, real files."""

from __future__ import annotations

import gzip
import json
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ragnostic.store.queue import SqliteQueue

MAP = """
query = "request.query"
ts = "at"
answer = "response.answer"
trace_id = "id"

[retrieve]
ids = "response.hits[].id"
took_ms = "response.took"
"""
TS = 1767225600
MEASURED = """
import sys
from pathlib import Path
from ragnostic.cli import main
try:
    main()
finally:
    status = Path("/proc/self/status").read_text()
    print(status.partition("VmHWM:")[2].split()[0], file=sys.stderr)
"""
# Not resource.getrusage: its figure is that of the process that started this one, if larger.


def run(*words, cwd, program=("-m", "ragnostic")):
    """Exit code, standard output, standard error."""
    done = subprocess.run(
        [sys.executable, *program, "ingest", *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        cwd=cwd,
        check=False,
    )
    return done.returncode, done.stdout, done.stderr


def events(store):
    """All events of a store."""
    with SqliteQueue(store / "queue.sqlite") as queue:
        return [e for part in range(queue.partitions) for e in queue.read(part, 0, 100_000)]


def quarantined(store):
    """All rows that were set aside."""
    files = sorted(Path(store).glob("quarantine/day=*/*.jsonl"))
    return [json.loads(line) for file in files for line in file.read_text().split("\n")[:-1]]


def document(number):
    """What some service logs."""
    hits = [{"id": f"c{number}"}, {"id": "x"}]
    return {
        "id": f"t{number}",
        "at": TS + number,
        "request": {"query": f"question {number}"},
        "response": {"answer": "call 13800138000", "hits": hits, "took": 12.5},
    }


def write(path, rows):
    """Rows as JSON Lines."""
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))


def test_a_log_of_ones_own_goes_in(tmp_path):
    """Mapped, masked, once; the balance on standard output, what is odd on standard error."""
    (tmp_path / "map.toml").write_text(MAP)
    content = "".join(f"{json.dumps(document(n))}\n" for n in range(150)) + "{\n"
    (tmp_path / "log.jsonl.gz").write_bytes(gzip.compress(content.encode()))
    command = ("log.jsonl.gz", "--store", "store", "--map", "map.toml")
    code, out, err = run(*command, cwd=tmp_path)
    assert code == 0
    assert out.splitlines() == [
        "file          received  stored  duplicate  quarantined  dropped",
        "log.jsonl.gz       151     150          0            1        0",
    ]
    assert "not valid JSON" in err
    assert len(events(tmp_path / "store")) == 150
    assert "13800138000" not in "".join(e.payload.decode() for e in events(tmp_path / "store"))
    code, out, _ = run(*command, "--json", cwd=tmp_path)
    assert code == 0
    again = json.loads(out)
    assert (again["received"], again["files"][0]["skipped_lines"]) == (0, 151)


def test_too_many_bad_rows_are_exit_3(tmp_path):
    """Those that are good are stored all the same; the share is a setting."""
    (tmp_path / "log.jsonl").write_text(json.dumps({"query": "q", "ts": TS}) + "\n{\n")
    code, out, err = run("log.jsonl", "--store", "a", "--json", cwd=tmp_path)
    assert code == 3
    balance = json.loads(out)
    assert (balance["stored"], balance["quarantined"]) == (1, 1)
    assert "1 of 2 rows cannot be used (50.0%); the others are stored" in err
    assert run("log.jsonl", "--store", "b", "--bad-rows", "0.5", cwd=tmp_path)[0] == 0
    (tmp_path / "bad.jsonl").write_text("{\n")
    assert "nothing is stored" in run("bad.jsonl", "--store", "c", cwd=tmp_path)[2]


def test_mistakes_are_told_before_anything_is_stored(tmp_path):
    """A map with faults, a map for spans, a file that is not there, settings that are wrong."""
    write(tmp_path / "log.jsonl", [document(1)])
    (tmp_path / "bad.toml").write_text('qery = "q"\n')
    code, _, err = run("log.jsonl", "--store", "s", "--map", "bad.toml", cwd=tmp_path)
    assert (code, "did you mean query?" in err) == (2, True)
    (tmp_path / "map.toml").write_text(MAP)
    words = ("log.jsonl", "--store", "s", "--map", "map.toml", "--format", "ubi")
    code, _, err = run(*words, cwd=tmp_path)
    assert (code, "--map goes with JSON Lines" in err) == (2, True)
    code, _, err = run("log.jsonl", "nothing.jsonl", "--store", "s", cwd=tmp_path)
    assert (code, "no such file: nothing.jsonl" in err) == (2, True)
    assert not (tmp_path / "s").exists()
    (tmp_path / "s").mkdir()
    (tmp_path / "s" / "store.toml").write_text("[redact]\nkinds = 1\n")
    code, _, err = run("log.jsonl", "--store", "s", cwd=tmp_path)
    assert (code, "store.toml:2: redact.kinds" in err) == (2, True)


def test_a_map_that_finds_nothing_says_which_line(tmp_path):
    """And so does a row that is odd."""
    (tmp_path / "map.toml").write_text(MAP.replace("response.answer", "response.anser"))
    write(tmp_path / "log.jsonl", [document(n) for n in range(3)])
    _, _, err = run("log.jsonl", "--store", "s", "--map", "map.toml", cwd=tmp_path)
    assert "warning: map.toml:4: answer finds nothing in any of 3 documents" in err


def test_several_formats_in_one_call(tmp_path):
    """Each is told by its first lines; the last line of the table is their sum."""
    write(tmp_path / "own.jsonl", [{"query": "q", "ts": TS, "latency_ms": -1}])
    write(tmp_path / "ubi.jsonl", [{"query_id": "q", "user_query": "shoes", "timestamp": TS}])
    context = {"trace_id": f"{1:032x}", "span_id": f"{2:016x}"}
    attributes = {"openinference.span.kind": "RETRIEVER", "input.value": "q"}
    attributes["retrieval.documents.0.document.id"] = "d1"
    span = {"context": context, "start_time": "2026-01-01T00:00:00Z", "attributes": attributes}
    write(tmp_path / "spans.jsonl", [span])
    code, out, err = run("own.jsonl", "ubi.jsonl", "spans.jsonl", "--store", "s", cwd=tmp_path)
    assert code == 0
    assert out.splitlines()[-1].split() == ["all", "3", "3", "0", "0", "0"]
    assert "1 record: ends before it starts" in err


def bad_lines(count):
    """One malformed line after the other, every kind."""
    query = b'{"query": "q", "ts": 1767225600, "latency_ms": 1, '
    kinds = [
        b'{"query": "\xff\xfe", "ts": 1767225600}',
        b'\xef\xbb\xbf{"query": "q", "ts": 1767225600}',
        query + b'"retrieve": {"ids": ["a"], "scores": [NaN]}}',
        query + b'"answer": "\\ud800"}',
        query + b'"answer": 1, "answer": 2}',
        query + b'"retrieve": {"ids": null}}',
        b"[" * 10_000 + b"]" * 10_000,
        b"\0\0\0",
        b"[1]",
        b'{"query": "q", "ts": 12}',
        query + b'"latency_ms": 1e999}',
        b'{"query": "q", "ts": 1767225600, "retrieve": {"ids": {"a": 1}}}',
    ]
    for number in range(count):
        yield kinds[number % len(kinds)]


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="tells its memory on Linux")
@pytest.mark.parametrize("count", [50_000])
def test_malformed_lines_are_set_aside_in_little_memory(tmp_path, count):
    """Each with its line; the good ones between them are stored. A line of 10 MB, and two that
    would fill the memory, do no harm.
    """
    good = 0
    with (tmp_path / "log.jsonl").open("wb") as file:
        for number, line in enumerate(bad_lines(count)):
            file.write(line + b"\n")
            if number % 100 == 0:
                file.write(json.dumps({"query": f"q{number}", "ts": TS}).encode() + b"\n")
                good += 1
        file.write(b'{"query": "' + b"x" * 10_000_000 + b'"}\n')
        file.write(b"[" + b"[]," * 1_000_000 + b"1]\n")
        file.write(b'{"query": "q", "ts": 1767225600, "a": [' + b"{}," * 1_000_000 + b"1]}\n")
        file.write(b'{"query": "null ids", "ts": 1767225600, "retrieve": {"ids": [null, "a"]}}\n')
    code, out, err = run(
        "log.jsonl", "--store", "s", "--json", cwd=tmp_path, program=("-c", MEASURED)
    )
    assert code == 3
    balance = json.loads(out)
    assert balance["received"] == count + good + 4
    assert balance["quarantined"] == count + 3
    assert balance["stored"] == good + 1
    assert balance["faults"]["null_id"] == 1
    rows = quarantined(tmp_path / "s")
    assert len(rows) == count + 3
    assert len({(row["line"], row["offset"]) for row in rows}) == count + 3
    assert int(err.split()[-1]) < 200 * 1024


def test_a_killed_ingest_goes_on(tmp_path):
    """Seeded kills at any moment: in the end every row is there once, as if nothing had been."""
    rows = [document(n) if n % 50 else {"id": n} for n in range(6000)]
    write(tmp_path / "log.jsonl", rows)
    (tmp_path / "map.toml").write_text(MAP)
    words = ["ingest", "log.jsonl", "--store", "s", "--map", "map.toml", "--bad-rows", "1"]
    draw = random.Random(4)
    for _ in range(4):
        process = subprocess.Popen(
            [sys.executable, "-m", "ragnostic", *words],
            cwd=tmp_path,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        queue = tmp_path / "s" / "queue.sqlite"
        while not queue.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(draw.random())
        process.send_signal(signal.SIGKILL)
        process.wait()
    assert run(*words[1:], cwd=tmp_path)[0] == 0
    found = events(tmp_path / "s")
    assert len(found) == len({event.id for event in found}) == 5880
    assert len(quarantined(tmp_path / "s")) == 120


def test_an_interrupted_ingest_says_that_nothing_is_lost(tmp_path):
    """Ctrl-C while it waits for more of a pipe."""
    os.mkfifo(tmp_path / "pipe")
    process = subprocess.Popen(
        [sys.executable, "-m", "ragnostic", "ingest", "pipe", "--store", "s"],
        cwd=tmp_path,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
    )
    with (tmp_path / "pipe").open("wb"):
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "interrupted; what was stored stays" in err
