"""Functions of the user: found, called, and their errors told as errors of the user's code."""

from __future__ import annotations

import asyncio
import atexit
import importlib
import re
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from functools import cache
from inspect import isawaitable
from pathlib import Path
from typing import Annotated, Any, ClassVar, Self

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from ragnostic.adapters.environment import excerpt
from ragnostic.errors import RetrievalError, UsageError
from ragnostic.ports import Resources

_TARGET = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*(\.[^\W\d]\w*)*")


def check_target(target: str) -> str:
    """``target`` if it is of the form ``module:function``; raises ValueError otherwise.

    >>> check_target("my_search:search")
    'my_search:search'
    """
    if not _TARGET.fullmatch(target):
        raise ValueError("must be module:function, such as my_search:search")
    return target


Target = Annotated[str, AfterValidator(check_target)]
"""``package.module:function`` (or ``module:object.method``)."""


def load_target(target: str, base_dir: Path) -> Callable[..., Any]:
    """The function that ``target`` names; its module is looked for in ``base_dir`` first.

    Raises UsageError when the import fails or there is no such function.

    >>> load_target("math:sqrt", Path())(9.0)
    3.0
    """
    module_name, _, path = target.partition(":")
    with _first_on_path(base_dir):
        _forget_namesake(module_name.partition(".")[0], base_dir)
        importlib.invalidate_caches()
        try:
            found: Any = importlib.import_module(module_name)
        except (Exception, SystemExit) as error:
            raise UsageError(
                f"target {target}: cannot import {module_name}: {_told(error)}",
                hint=f"modules are looked for in {base_dir} and among the installed packages",
            ) from error
    for name in path.split("."):
        found = getattr(found, name, None)
    if not callable(found):
        raise UsageError(f"target {target}: {module_name} has no function {path}")
    return found  # type: ignore[no-any-return] # callable() narrows Any no further


def call(target: str, function: Callable[..., Any], *arguments: Any) -> Any:
    """The result of the function, awaited if need be.

    An exception, ``SystemExit`` too, becomes a RetrievalError that names its type and message,
    not retryable.
    """
    try:
        result = function(*arguments)
        return _await(result) if isawaitable(result) else result
    except (Exception, SystemExit) as error:
        raise RetrievalError(f"{target} raised {_told(error)}") from error


def _told(error: BaseException) -> str:
    message = excerpt(str(error))
    return f"{type(error).__name__}: {message}" if message else type(error).__name__


@contextmanager
def _first_on_path(folder: Path) -> Iterator[None]:
    entry = str(folder.resolve())
    sys.path.insert(0, entry)
    try:
        yield
    finally:
        sys.path.remove(entry)


def _forget_namesake(name: str, base_dir: Path) -> None:
    """Drop a module of this name that came from another run's folder.

    A module of that name from the ordinary path stays; then ``base_dir`` may not hide it.
    """
    folder = base_dir.resolve()
    loaded = sys.modules.get(name)
    origin = getattr(loaded, "__file__", None)
    if loaded is None or not ((folder / f"{name}.py").exists() or (folder / name).is_dir()):
        return
    home = Path(origin).resolve().parent if origin else None
    if home in {folder, folder / name}:
        return
    if home is None or {str(home), str(home.parent)} & set(sys.path):
        raise UsageError(
            f"the module {name} in {base_dir} has the name of a module that is already loaded",
            hint="give it another name",
        )
    for loaded_name in [key for key in sys.modules if key.partition(".")[0] == name]:
        del sys.modules[loaded_name]


def _await(result: Awaitable[Any]) -> Any:
    """Await on one loop for the whole process: clients that a function keeps are tied to it."""

    async def waited() -> tuple[Any, SystemExit | None]:
        try:
            return await result, None
        except SystemExit as error:  # in a task it would end the loop, not reach the caller
            return None, error

    future = asyncio.run_coroutine_threadsafe(waited(), _loop())
    try:
        value, ended = future.result()
    except BaseException:
        future.cancel()
        raise
    if ended is not None:
        raise ended
    return value


@cache
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="ragnostic-async", daemon=True)
    thread.start()

    def stop() -> None:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(timeout=5)
        loop.close()

    atexit.register(stop)
    return loop


class FunctionOptions(BaseModel):
    """``workers`` above 1 calls the function from several threads at a time."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    target: Target = Field(
        description="Your function as module:name; modules beside the configuration are found."
    )
    workers: int = Field(
        default=1, ge=1, le=1000, description="From how many threads it is called at the same time."
    )


class UserFunction:
    """Base of the adapters that call a function of the user's."""

    Options: ClassVar[type[BaseModel]] = FunctionOptions
    needs_corpus: ClassVar[bool] = False
    needs_embedder: ClassVar[bool] = False

    def __init__(self, options: FunctionOptions, base_dir: Path) -> None:
        self.workers = options.workers
        self._target = options.target
        self._function: Callable[..., Any] = load_target(options.target, base_dir)

    @classmethod
    def build(cls, options: FunctionOptions, resources: Resources) -> Self:
        """Import the function; raises UsageError when that fails."""
        return cls(options, resources.base_dir)
