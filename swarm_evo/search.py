"""`search()`: a search in a child process, from a script or a notebook."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from swarm_evo.app import app_dir
from swarm_evo.result import Result, read_result

NOTHING_VALID = 3
"""Exit code of a search that ended without a valid program: a result without a best one."""


class SearchError(RuntimeError):
    """The search could not be started or failed; the text is its own line."""


def search(
    problem: str | None = None,
    *,
    program: str | Path | None = None,
    evaluate: Callable[[str], Any] | str | Path | None = None,
    direction: str | None = None,
    llm: str | None = None,
    budget: Mapping[str, Any] | None = None,
    project_dir: str | Path = ".",
    seed: int | None = None,
    quiet: bool = True,
    **settings: Any,
) -> Result:
    """Search, wait for the end, and return the result.

    Args:
        problem: preset, as `--problem`: `competition`, `bin_packing`, … Not needed with `program`.
        program: a program of yours with an EVOLVE-BLOCK; needs `evaluate`.
        evaluate: your evaluator: a function of the program's path, or a file with `evaluate(program_path)`. A function
            travels by cloudpickle into a process of its own.
        direction: `max` or `min`; needed with `program`.
        llm: preset, as `--llm`; `rules` (no key) if None.
        budget: `seconds`, `tokens`, `usd`, `target`, `stagnation`, and `steps` for `search.max_steps`.
        settings: any other key, dots as double underscores: `search__workers=2`, or a section: `search={"workers": 2}`.

    Raises:
        SearchError: with the one line that the command line would print.
    """
    with tempfile.TemporaryDirectory(prefix="swarm-evo-") as scratch:
        words = ["run", "--json"]
        if program is not None:
            if evaluate is None:
                raise SearchError("search(program=…) needs evaluate=: a function of the program's path, or a file")
            words += ["--problem=script", f"problem.program={Path(program).resolve()}"]
            words.append(f"problem.evaluator={_evaluator(evaluate, Path(scratch))}")
        elif problem is not None:
            words.append(f"--problem={problem}")
        words += [f"--llm={llm}"] if llm else []
        words += _keys(budget or {}, direction, project_dir, seed, settings)
        facts = _run(words, quiet)
    return read_result(Path(project_dir).resolve() / "logs" / facts["run"], facts)


def _keys(
    budget: Mapping[str, Any],
    direction: str | None,
    project_dir: str | Path,
    seed: int | None,
    settings: Mapping[str, Any],
) -> list[str]:
    keys: dict[str, Any] = {"project.dir": Path(project_dir).resolve()}
    for name, value in budget.items():
        keys["search.max_steps" if name == "steps" else f"budget.{name}"] = value
    if direction is not None:
        keys["problem.direction"] = direction
    if seed is not None:
        keys["project.seed"] = seed
    for name, value in settings.items():
        section = value if isinstance(value, Mapping) else {"": value}
        keys.update({f"{name.replace('__', '.')}.{key}".rstrip("."): given for key, given in section.items()})
    return [f"{name}={'null' if value is None else value}" for name, value in keys.items()]


def _evaluator(evaluate: Callable[[str], Any] | str | Path, scratch: Path) -> Path:
    """The evaluator as a file: a path as it is, a function pickled by value."""
    if isinstance(evaluate, str | Path):
        return Path(evaluate).resolve()
    import cloudpickle

    path = scratch / "evaluate.pkl"
    try:
        path.write_bytes(cloudpickle.dumps(evaluate))
    except Exception as error:  # whatever the user's objects raise
        raise SearchError(f"evaluate={evaluate!r} cannot be sent to another process: {error}") from error
    return path


def _run(words: list[str], quiet: bool) -> dict[str, Any]:
    """The child's facts. Its environment is ours, without what would put foreign modules before its own."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    child = subprocess.run(
        [sys.executable, str(app_dir() / "main.py"), *words],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE if quiet else None,
        text=True,
        env=environment,
        check=False,
    )
    if child.returncode not in (0, NOTHING_VALID):
        lines = (child.stderr or "").strip().splitlines()
        raise SearchError(lines[-1] if lines else f"the search ended with exit code {child.returncode}")
    facts: dict[str, Any] = json.loads(child.stdout)
    return facts
