"""The alert machine once more, as simply as it can be said, to hold the real one against.

It knows no states of its own: it keeps the story (what each window was) and works everything out
from the beginning each time somebody asks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from statistics import fmean


@dataclass
class Story:
    """What happened to one alert: windows ``(hour, verdict, value, n)`` in order."""

    times: int
    min_samples: int
    alpha: float
    min_windows: int
    rebaseline_hours: int | None
    repeat_hours: int | None
    windows: list[tuple[int, str, float | None, int]] = field(default_factory=list)
    messages: list[tuple[int, str]] = field(default_factory=list)
    seen_by_somebody: bool = False

    def add(self, hour: int, verdict: str, value: float | None, n: int) -> None:
        """A window; one that is not newer than the last is none."""
        if not self.windows or hour > self.windows[-1][0]:
            self.windows.append((hour, verdict, value, n))

    def told(self) -> dict[str, tuple[str, float | None]]:
        """``status`` with the baseline, and ``ending``: from the first window on."""
        status, ending, run, fired = "inactive", "", 0, 0
        usual: list[float] = []
        meanwhile: list[float] = []
        level: float | None = None
        for hour, verdict, value, n in self.windows:
            firing = status == "firing"
            run = run + 1 if verdict == "breach" else run if verdict == "no data" else 0
            if firing and verdict == "clear":
                status, ending = "resolved", "cleared"
            elif not firing and verdict in {"clear", "hold"}:
                status = "inactive"
            elif not firing and verdict == "breach":
                status = "firing" if run >= self.times else "pending"
                fired, meanwhile = hour + 1, []
            if value is not None and n >= self.min_samples:
                if status == "firing":
                    meanwhile.append(value)
                elif verdict != "breach":
                    usual.append(value)
                    level = self.after(level, usual)
            learned = self.from_scratch(meanwhile)
            if status == "firing" and self.is_long(hour + 1 - fired) and learned is not None:
                status, ending, run = "resolved", "rebaselined", 0
                usual, level = meanwhile, learned
        return {"status": (status, level), "ending": (ending, None)}

    def is_long(self, hours: int) -> bool:
        """Whether an episode of so many hours has become what is usual."""
        return self.rebaseline_hours is not None and hours >= self.rebaseline_hours

    def after(self, level: float | None, usual: list[float]) -> float | None:
        """The baseline one value on."""
        if level is None:
            return fmean(usual) if len(usual) >= self.min_windows else None
        return self.alpha * usual[-1] + (1 - self.alpha) * level

    def from_scratch(self, values: list[float]) -> float | None:
        """A baseline that learned nothing but these."""
        level = None
        for count in range(1, len(values) + 1):
            level = self.after(level, values[:count])
        return level

    def speak(self, now: int, *, silenced: bool, inhibited: bool) -> list[str]:
        """What a person hears at an hour, and remembers."""
        state = self.told()
        firing = state["status"][0] == "firing"
        knows = bool(self.messages) and self.messages[-1][1] in {"firing", "repeat"}
        heard: list[str] = []
        if silenced:
            return heard
        if knows and not firing:
            heard = ["rebaselined" if state["ending"][0] == "rebaselined" else "resolved"]
        elif firing and not inhibited and not knows:
            heard = ["firing"]
        elif firing and not inhibited and self.repeat_hours is not None:
            waited = now - self.messages[-1][0]
            if waited >= self.repeat_hours and not self.seen_by_somebody:
                heard = ["repeat"]
        self.messages += [(now, kind) for kind in heard]
        return heard
