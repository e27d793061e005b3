"""Programs that run beside this one: started, watched, started again, and ended in order."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import IO, Literal

State = Literal["starting", "running", "waiting", "stopped"]
Say = Callable[[str], None]

FIRST_PAUSE_S, LONGEST_PAUSE_S = 1.0, 60.0
STEADY_S = 60.0
"""Who ran for so long is started again at once when it dies, as if for the first time."""


@dataclass
class Process:
    """A program that is to run for good. ``ready_line``: a text of its output that says that it
    is ready; without one it is when it has started.

    Its lines go to ``say`` with its name before them. ``look`` is called often, with the time.
    """

    name: str
    command: Sequence[str]
    environment: Mapping[str, str]
    say: Say
    ready_line: str = ""
    restarts: int = 0
    last_exit: int | None = None
    _child: subprocess.Popen[str] | None = None
    _pump: threading.Thread | None = None
    _ready: threading.Event = field(default_factory=threading.Event)
    _started: float = 0.0
    _due: float = 0.0
    _pause: float = FIRST_PAUSE_S
    _stopped: bool = False

    @property
    def state(self) -> State:
        """How it is."""
        if self._stopped:
            return "stopped"
        if self._child is None:
            return "waiting"
        return "running" if self._ready.is_set() else "starting"

    def start(self, now: float) -> None:
        """Start it."""
        self._ready.clear()
        self._started = now
        self._child = subprocess.Popen(  # noqa: S603 - our own program
            self.command,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        if not self.ready_line:
            self._ready.set()
        said = self._child.stdout
        self._pump = threading.Thread(target=self._relay, args=(said,), daemon=True)
        self._pump.start()

    def look(self, now: float) -> None:
        """Start it again where it has died and its pause is over."""
        if self._stopped:
            return
        if self._child is not None and self._child.poll() is not None:
            self._died(self._child.returncode, now)
        if self._child is None and now >= self._due:
            self.restarts += 1
            self.start(now)

    def stop(self) -> None:
        """Ask it to end, and start it no more."""
        self._stopped = True
        self._signal(signal.SIGTERM)

    def wait(self, timeout_s: float) -> bool:
        """Whether it has ended within the time."""
        if self._child is None:
            return True
        try:
            self.last_exit = self._child.wait(max(0.0, timeout_s))
        except subprocess.TimeoutExpired:
            return False
        if self._pump is not None:
            self._pump.join(1.0)
        return True

    def kill(self) -> None:
        """End it and whatever it started, now."""
        self._signal(signal.SIGKILL)
        self.wait(5.0)

    def _signal(self, number: signal.Signals) -> None:
        if self._child is not None and self._child.poll() is None:
            with suppress(ProcessLookupError):
                if number is signal.SIGKILL:
                    os.killpg(self._child.pid, number)
                else:
                    self._child.send_signal(number)

    def _died(self, code: int, now: float) -> None:
        if now - self._started >= STEADY_S:
            self._pause = FIRST_PAUSE_S
        self.last_exit, self._child = code, None
        self._ready.clear()
        self._due = now + self._pause
        self.say(f"{self.name}: ended with {code}; started again in {self._pause:g} s")
        self._pause = min(LONGEST_PAUSE_S, 2 * self._pause)

    def _relay(self, said: IO[str] | None) -> None:
        if said is None:
            return
        with said:
            for line in said:
                if self.ready_line and self.ready_line in line:
                    self._ready.set()
                self.say(f"{self.name}: {line.rstrip()}")
