"""The process that stores: frames in, balances out, also when the sender ends in the middle."""

from __future__ import annotations

import io
import json
import sys

import pytest

from ragnostic.gateway.balance import Balance, Unreadable
from ragnostic.gateway.capture import Budget, Copy, Exchange
from ragnostic.gateway.passed import number, read_frame, read_number, to_frame
from ragnostic.gateway.sink import ProcessSink, SinkError
from ragnostic.gateway.storing import store_frames


def exchange(body: bytes = b"abc") -> Exchange:
    """One that has passed."""
    budget = Budget(1 << 20)
    made = Exchange(
        method="POST",
        target=b"/a?b=\xe5",
        request_headers=[(b"A", b"1"), (b"a", "年".encode())],
        request=Copy(5, budget),
        response=Copy(100, budget),
        labels={"x": "y"},
    )
    made.request.add(body)
    made.response.add(b"\x00\xff")
    made.end("failed", "late")
    made.end("ok")
    return made


class Kept:
    """An intake in memory."""

    def __init__(self, fail: int = 0) -> None:
        self.rows: list = []
        self._fail = fail

    def accept(self, rows):
        """Take rows."""
        if self._fail:
            self._fail -= 1
            raise OSError("disk full")
        given = [row for row, _ in rows]
        self.rows += given
        bad = sum(isinstance(row, Unreadable) for row in given)
        return Balance(len(given), stored=len(given) - bad, quarantined=bad)


def replies(raw: bytes, kept: Kept, build=lambda passed: {"body": passed.request.body}) -> list:
    """What is answered to some bytes."""
    answers = io.BytesIO()
    store_frames(io.BytesIO(raw), answers, build, lambda: kept)
    return [json.loads(line) for line in answers.getvalue().splitlines()]


def test_a_frame_holds_all_of_an_exchange():
    """Bytes of any kind, repeated fields, true lengths; the first word on its outcome holds."""
    made = exchange(b"abcdefgh")
    passed = read_frame(io.BytesIO(to_frame(made)))
    assert passed is not None
    assert (passed.id, passed.method, passed.target) == (made.id, "POST", "/a?b=å")
    assert passed.request_headers == {"a": "1, 年"}
    assert (passed.outcome, passed.error, passed.labels) == ("failed", "late", {"x": "y"})
    assert passed.request.body == b"abcde"
    assert (passed.request.facts["bytes"], passed.request.truncated) == (8, True)
    assert (passed.response.body, passed.response.truncated) == (b"\x00\xff", False)
    first = passed.response.arrival_ms(1)
    assert first is not None
    assert passed.latency_ms is not None
    assert 0 <= first <= passed.latency_ms
    assert passed.response.arrival_ms(3) is None


def test_each_batch_gets_its_balance():
    """And one that cannot be stored an error, after which it goes on."""
    kept = Kept(fail=1)
    batch = number(2) + to_frame(exchange(b"a")) + to_frame(exchange(b"b"))
    answers = replies(batch * 2 + number(0), kept)
    assert answers[0] == {"error": "OSError: disk full"}
    assert [answer["stored"] for answer in answers[1:]] == [2, 0]
    assert [row["body"] for row in kept.rows] == [b"a", b"b"]


def test_a_row_that_cannot_be_made_is_set_aside():
    """A fault of the settings or of ours: told, never lost."""

    def broken(_):
        raise KeyError("oops")

    kept = Kept()
    (answer,) = replies(number(1) + to_frame(exchange()), kept, broken)
    assert answer["quarantined"] == 1
    assert "KeyError" in kept.rows[0].reason


@pytest.mark.parametrize("cut", [1, 5, 13, 200])
def test_what_came_whole_is_stored_when_the_sender_dies(cut):
    """The rest was never whole."""
    kept = Kept()
    replies((number(2) + to_frame(exchange(b"a")) + to_frame(exchange(b"b")))[:-cut], kept)
    assert [row["body"] for row in kept.rows] == [b"a"]


def test_the_end_of_numbers():
    """Half a number is none."""
    assert read_number(io.BytesIO(b"\x00\x00")) is None


def test_a_process_that_dies_is_started_again():
    """Each time it is told."""
    once = "import sys; print(flush=True); sys.stdin.buffer.read(4); sys.exit(3)"
    sink = ProcessSink([sys.executable, "-c", once])
    for _ in range(2):
        with pytest.raises(SinkError) as caught:
            sink.store([exchange()])
        assert caught.value.died
    sink.close()
    sink.close()


def test_a_process_that_answers_is_kept():
    """Its balance or its error comes back."""
    code = (
        "import sys, json\n"
        "from ragnostic.gateway.passed import read_number, read_frame\n"
        "source = sys.stdin.buffer\n"
        "print('ready', flush=True)\n"
        "for answer in ({'received': 1, 'stored': 1}, {'error': 'busy'}):\n"
        "    [read_frame(source) for _ in range(read_number(source))]\n"
        "    print(json.dumps(answer), flush=True)\n"
    )
    sink = ProcessSink([sys.executable, "-c", code])
    assert sink.store([exchange()]) == Balance(1, stored=1)
    with pytest.raises(SinkError) as caught:
        sink.store([exchange()])
    assert (str(caught.value), caught.value.died) == ("busy", False)
    sink.close()


def test_a_process_that_hangs_can_be_killed_and_does_not_stop_the_end():
    """Whoever waits for it is told that it died."""
    code = "import time; print(flush=True); time.sleep(60)"
    sink = ProcessSink([sys.executable, "-c", code])
    sink.kill()
    sink.start()
    sink.kill()
    with pytest.raises(SinkError):
        sink.store([exchange()])
