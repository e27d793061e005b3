"""The shared cases of the grader and of agreement: a chat service on loopback, then the numbers."""

from __future__ import annotations

import json
import threading
from collections import Counter
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ragnostic.adapters.llm_grader import LlmGrader
from ragnostic.ports import Resources
from ragnostic.stats.agreement import cohen_kappa

FOLDER = Path(__file__).resolve().parents[3] / "shared/cases"

pytestmark = pytest.mark.shared


def cases() -> list[dict[str, Any]]:
    """The cases of these judges among the shared ones; none where the folder is absent."""
    found = [json.loads(path.read_text()) for path in sorted(FOLDER.glob("judge-*.json"))]
    return [
        case for case in found if case["given"].get("judge") == "grader" or "pairs" in case["given"]
    ]


@pytest.fixture
def service():
    """A chat service that answers with the reply of the chunk that it is shown; counts calls."""
    replies: dict[str, str] = {}
    calls: Counter[str] = Counter()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            """One completion."""
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            asked = body["messages"][-1]["content"]
            chunk = next(name for name in replies if f"passage of {name}." in asked)
            calls[chunk] += 1
            message = {"role": "assistant", "content": replies[chunk]}
            answer = {"model": "m", "choices": [{"message": message, "finish_reason": "stop"}]}
            raw = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Length", str(len(raw)))
            self.end_headers()
            self.wfile.write(raw)

        def log_message(self, *_: Any):
            """Keep the test output quiet."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}", replies, calls
        server.shutdown()
        thread.join()


def graded(url: str, folder: Path, chunks: list[str], *, cache: bool) -> dict[str, Any]:
    """Grades by chunk, and the chunks that failed, of one record a chunk."""
    texts = [f"The passage of {chunk}." for chunk in chunks]
    options = LlmGrader.Options(
        generator={"url": url, "model": "m"}, cache=str(folder) if cache else False
    )
    judge = LlmGrader.build(pa.table({"id": chunks, "text": texts}), options, resources=Resources())
    hits = pa.array(
        [{"ids": [chunk]} for chunk in chunks], pa.struct([("ids", pa.list_(pa.string()))])
    )
    columns = {"record_id": chunks, "query": ["How long?"] * len(chunks), "retrieve": hits}
    rows = judge.judge_records(pa.table(columns)).to_pylist()
    return {
        "grade": {row["ids"][0]: row["grades"][0] for row in rows if row["status"] == "judged"},
        "failed": [row["ids"][0] for row in rows if row["status"] == "failed"],
        "evidence": [row["evidence"][0] for row in rows],
    }


@pytest.mark.parametrize("case", cases(), ids=lambda case: case["id"])
def test_a_shared_case_holds(case, service, tmp_path):
    """Every key of ``expect`` is read; an unknown one fails."""
    given, expected = case["given"], dict(case["expect"])
    if "pairs" in given:
        check_agreement(given["pairs"], expected)
    else:
        check_grades(given, expected, service, tmp_path)
    assert expected == {}


def check_agreement(pairs: dict[str, Any], expected: dict[str, Any]) -> None:
    """κ and raw agreement of each pair of graders."""
    found = {name: cohen_kappa(pair["human"], pair["judge"]) for name, pair in pairs.items()}
    for name, kappa in expected.pop("kappa").items():
        assert found[name].kappa == (kappa if kappa is None else pytest.approx(kappa, abs=1e-4))
    for name, observed in expected.pop("observed_agreement").items():
        assert found[name].observed == pytest.approx(observed, abs=1e-4)
    if expected.pop("json_strict", False):
        for kappa in found.values():
            json.dumps(kappa.as_json(), allow_nan=False)


def check_grades(
    given: dict[str, Any], expected: dict[str, Any], service: Any, folder: Path
) -> None:
    """What one run, or several with the cache, make of the replies."""
    url, replies, calls = service
    replies |= given["replies"]
    runs = []
    for _ in range(given.get("runs", 1)):
        calls.clear()
        found = graded(url, folder, list(replies), cache=given.get("cache", False))
        runs.append(found | {"calls": calls.total()})
    first = runs[0]
    if "run1" in expected:
        for number, found in enumerate(runs, 1):
            check_run(found, expected.pop(f"run{number}"))
        for chunk in expected.pop("run2_equals_run1_for"):
            assert runs[1]["grade"][chunk] == first["grade"][chunk]
        return
    forbidden = expected.pop("must_not_be")
    for word in expected.pop("report_names"):
        assert any(word in evidence for evidence in first["evidence"])
    for chunk, grade in forbidden.items():
        assert first["grade"].get(chunk) != grade
    failed = expected.pop("failed")
    assert set(failed) <= set(first["failed"])
    for chunk, grade in expected.pop("grade").items():
        assert first["grade"][chunk] == grade


def check_run(found: dict[str, Any], expected: dict[str, Any]) -> None:
    """One of several runs."""
    expected = dict(expected)
    assert found["grade"] == expected.pop("grade")
    for key in ("failed", "failed_or_retried"):
        assert set(expected.pop(key, ())) <= set(found["failed"])
    assert found["calls"] == expected.pop("calls", found["calls"])
    assert found["calls"] <= expected.pop("calls_at_most", found["calls"])
    assert expected == {}
