"""`evolve()`: a function in, a better one out."""

from __future__ import annotations

import functools
import importlib.util
import sys
from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar, cast, overload

from swarm_evo.arguments import checked_path
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.result import Result
from swarm_evo.search import start
from swarm_evo.source import program_of

Function = Callable[..., Any]
Arguments = ParamSpec("Arguments")
Returned = TypeVar("Returned", covariant=True)


class Evolved(Protocol[Arguments, Returned]):
    """What the decorator makes of a function: the better one, called as that was."""

    result: Result
    """The run that found it."""

    def __call__(self, *args: Arguments.args, **kwargs: Arguments.kwargs) -> Returned: ...


class Decorator(Protocol):
    """What `@evolve(score=…)` makes of each function."""

    def __call__(self, function: Callable[Arguments, Returned], /) -> Evolved[Arguments, Returned]: ...


@overload
def evolve(program: Function | str, score: Callable[[Function], Any], **arguments: Any) -> Result: ...


@overload
def evolve(*, score: Callable[[Function], Any], **arguments: Any) -> Decorator: ...


def evolve(
    program: Function | str | None = None, score: Callable[[Function], Any] | None = None, **arguments: Any
) -> Result | Decorator:
    """Search for a better version of a function.

    ```python
    result = swarm_evo.evolve(f, score=lambda f: -abs(f(3) - 7), budget={"steps": 30})
    result.function(3), result.verdict

    @swarm_evo.evolve(score=my_score, budget={"steps": 30})     # f is the better function then,
    def f(x): ...                                               # and f.result tells of the run
    ```

    Args:
        program: a function, with the modules, plain values and functions that it uses, or a source text whose last
            function is meant. Left out: a decorator.
        score: is given the candidate's function and returns a number (higher is better; `direction="min"`: lower), or a
            mapping with `combined_score` and whatever else is to be shown. It runs in a process of its own, apart from
            the candidates, and what it prints appears here.
        arguments: as for `start`: `budget`, `llm`, `direction`, `seed`, `on_step`, `project_dir`, …

    Returns:
        The result; `result.function` loads the winner.

    Raises:
        SearchError: there is no source, it cannot be sent, or the search failed.
    """
    if not callable(score):
        told = "" if score is None else f", not {score!r:.80}"
        raise SearchError(f"evolve(…) needs score=: a function that is given the candidate's function{told}")
    if program is None:
        return cast(Decorator, functools.partial(_decorated, score=score, arguments=arguments))
    text, entry = program_of(program)
    if "project__name" not in arguments:
        arguments = {**arguments, "project__name": entry}
    kept = KeptFiles(checked_path("project_dir", arguments.get("project_dir", ".")))
    try:
        file = kept.keep(text.encode(), f"{entry}.py")
        return start(program=file, evaluate=_Scored(score, entry), **arguments).wait()
    finally:
        kept.drop()


def _decorated(function: Function, *, score: Callable[[Function], Any], arguments: dict[str, Any]) -> Evolved[..., Any]:
    result = evolve(function, score, **arguments)
    better: Any = functools.update_wrapper(result.function, function)
    del better.__wrapped__  # its text is its own, for `inspect` and the next search
    better.result = result
    return cast(Evolved[..., Any], better)


class _Scored:
    """The evaluator that loads a candidate's file and scores its function. `origin`: whose module must travel too."""

    def __init__(self, score: Callable[[Function], Any], entry: str) -> None:
        self.origin, self.entry = score, entry

    def __call__(self, path: str) -> Any:
        spec = importlib.util.spec_from_file_location("program", path)
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module  # dataclasses, pickle and others look a class's module up there
        spec.loader.exec_module(module)
        found = self.origin(getattr(module, self.entry))
        if hasattr(found, "items"):
            return found
        if not hasattr(found, "__float__"):
            raise TypeError(f"score returned {type(found).__name__}, not a number or a mapping with combined_score")
        return {"combined_score": found}
