"""The way to the process that stores: started when it is needed, and again when it has died."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Sequence

from ragnostic.gateway.balance import Balance
from ragnostic.gateway.capture import Exchange
from ragnostic.gateway.passed import number, to_frame

_PATIENCE_S = 10.0


class SinkError(Exception):
    """Nothing was stored this time; ``died`` says whether the process is gone."""

    def __init__(self, message: str, *, died: bool) -> None:
        super().__init__(message)
        self.died = died


class ProcessSink:
    """Stores exchanges by a process that reads frames and answers each batch with a line, after a
    first line that says that it is ready.

    It is no part of the group that a terminal interrupts: it ends when its input ends.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start the process, unless it runs, and wait until it is ready, so that nothing has to
        wait for it here in memory; what it writes on stderr is ours.
        """
        if self._process is None:
            self._process = subprocess.Popen(  # noqa: S603 - our own program
                self._command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                start_new_session=True,
            )
            if self._process.stdout is not None:
                self._process.stdout.readline()

    def store(self, batch: Sequence[Exchange]) -> Balance:
        """What became of a batch, once it is durable; raises SinkError."""
        self.start()
        process = self._process
        if process is None or process.stdin is None or process.stdout is None:
            raise SinkError("there is no process", died=True)
        try:
            process.stdin.write(number(len(batch)))
            for exchange in batch:
                process.stdin.write(to_frame(exchange))
            process.stdin.flush()
            line = process.stdout.readline()
        except (OSError, ValueError):  # a ValueError where it was closed meanwhile
            line = b""
        if not line.endswith(b"\n"):
            self.close()
            raise SinkError("the process that stores has died", died=True)
        reply = json.loads(line)
        if "error" in reply:
            raise SinkError(reply["error"], died=False)
        return Balance(**reply)

    def kill(self) -> None:
        """End a process that does not answer; whoever waits for it is told that it died."""
        if self._process is not None:
            self._process.kill()

    def close(self) -> None:
        """Let the process end, and wait for it."""
        process, self._process = self._process, None
        if process is None:
            return
        for pipe in (process.stdin, process.stdout):
            try:
                if pipe is not None:
                    pipe.close()
            except OSError:  # what it could not take any more
                continue
        try:
            process.wait(_PATIENCE_S)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
