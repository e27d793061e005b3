"""The user's own function that answers."""

from __future__ import annotations

from pathlib import Path

from ragnostic.adapters.hits import shown
from ragnostic.adapters.user_code import FunctionOptions, UserFunction, call
from ragnostic.errors import GenerationError
from ragnostic.ports import Generation


class PythonGenerator(UserFunction):
    """Calls ``function(system, user)``, which may be async; it returns the answer as text."""

    def __init__(self, options: FunctionOptions, base_dir: Path) -> None:
        super().__init__(options, base_dir)
        self.name = f"python {options.target}"

    def generate(self, system: str, user: str) -> Generation:
        """One call; raises GenerationError where the function returns no text."""
        text = call(self._target, self._function, system, user)
        if not isinstance(text, str) or not text.strip():
            raise GenerationError(
                f"{self._target} returned {shown(text)}, which is no answer", status="malformed"
            )
        return Generation(text, self._target)
