"""Times a program against a reference, as AlgoTune does.

A second half of `harness.py`, which stands above it in the file that the isolated evaluator loads: standard library
only.
"""

from __future__ import annotations

import contextlib
import io
import logging
import sys
import time
import types
from collections.abc import Callable, Mapping
from typing import Any

PROBLEMS = 5
"""That are made, for the search and as many others for the end, unless `evaluator_args.problems` says otherwise."""
RUNS = 3
"""Of each program on each problem; the quickest counts."""

Load = Callable[[str, str], types.ModuleType]


def of_reference(path: str, options: Mapping[str, Any], load: Load) -> Callable[..., Any]:
    """A task's: the mean over problems of the reference's time by the program's. ValueError: an answer is not right."""
    install_base()
    template, arguments = options["template"], options.get("arguments") or {}
    count, runs = int(arguments.get("problems", PROBLEMS)), int(arguments.get("runs", RUNS))
    size, first = int(arguments.get("n", template["size"])), 1 if options.get("part", "dev") == "dev" else 1 + count
    if not size:
        raise ValueError("how large are its problems? --problem.options.evaluator_args.n=NUMBER")
    task = getattr(load("task", path), template["task"])()
    asked = [task.generate_problem(n=size, random_seed=seed) for seed in range(first, first + count)]

    def evaluate(program_path: str, **_: Any) -> Any:
        solve = load("program", program_path).Solver().solve
        ratios, seconds = [], [0.0, 0.0]
        for number, problem in enumerate(asked, 1):
            answer = solve(problem)
            said = io.StringIO()
            with told_into(said):
                is_right = task.is_solution(problem, answer)
            if not is_right:
                raise ValueError(f"problem {number} of {count} is not solved rightly: {said.getvalue().strip()}"[:1000])
            times = [[timed(one, problem) for _ in range(runs)] for one in (task.solve, solve)]
            best = [min(found) for found in times]
            ratios.append(best[0] / best[1])
            seconds = [total + one for total, one in zip(seconds, best)]  # noqa: B905 - for Python 3.9
        told = {"reference_ms": 1000 * seconds[0] / count, "program_ms": 1000 * seconds[1] / count}
        return {"metrics": {"combined_score": sum(ratios) / count, **told}}

    return evaluate


def timed(solve: Callable[..., Any], problem: Any) -> float:
    began = time.perf_counter()
    solve(problem)
    return max(time.perf_counter() - began, 1e-9)


@contextlib.contextmanager
def told_into(said: io.StringIO) -> Any:
    """What is logged meanwhile: why an answer is not right."""
    handler, root = logging.StreamHandler(said), logging.getLogger()
    root.addHandler(handler)
    try:
        yield
    finally:
        root.removeHandler(handler)


def install_base() -> None:
    """`from AlgoTuneTasks.base import register_task, Task` works without AlgoTune."""
    package, base = types.ModuleType("AlgoTuneTasks"), types.ModuleType("AlgoTuneTasks.base")
    vars(base).update(Task=Task, register_task=lambda name: lambda kind: kind)
    vars(package).update(__path__=[], base=base)
    sys.modules.update({"AlgoTuneTasks": package, "AlgoTuneTasks.base": base})


class Task:
    """What AlgoTune's class of this name offers to a task."""

    def __init__(self, **settings: Any) -> None:
        self.task_name, self.n, self.k = type(self).__name__, settings.get("n"), None
        self.oracle = self.solve

    def solve(self, problem: Any) -> Any:
        raise NotImplementedError
