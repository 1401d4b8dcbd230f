"""ShinkaEvolve: `initial.*` and `evaluate.py`, which is called with `--program_path` and `--results_dir`.

`evaluate.py` writes `metrics.json` (`combined_score`) and `correct.json` (`correct`); it imports the package `shinka`
unless it does without, so that must be installed where candidates run (`execution.python`). What is wanted, and the
limits, stand in `run_evo.py` as it calls Shinka, or in `shinka*.yaml`: both are read, neither is run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any

from pydantic import BeforeValidator

from problems.neighbours.by_function import is_asked, keys_of
from problems.neighbours.reading import (
    FromZero,
    Islands,
    Seconds,
    Told,
    Translation,
    Word,
    leaves,
    said_here,
    text_of,
    yaml_of,
)

NAME = "Shinka's task folder"
NEEDS = "Shinka's has initial.* and evaluate.py"
RESULTS = "results"


def _clock(value: Any) -> Any:
    """`00:05:00` as Slurm and Shinka write a time limit, in seconds."""
    parts = str(value).split(":")
    fault = ValueError("Input should be a time such as 00:05:00")
    if isinstance(value, bool) or not all(part.strip().isdecimal() for part in parts[:-1]):
        raise fault
    seconds = 0.0
    try:
        for part in parts:
            seconds = 60 * seconds + float(part)
    except ValueError:
        raise fault from None
    return seconds


TABLE: Mapping[str, Word] = {
    "task_sys_msg": Word("problem.options.statement", str, str.strip),
    "num_generations": Word("search.max_steps", FromZero),
    "time": Word("execution.timeout", Annotated[Seconds, BeforeValidator(_clock)]),
    "num_islands": Word("search.islands.num_islands", Islands),
    "migration_interval": Word("search.islands.migration_interval", FromZero),
}
"""The last part of their key → ours."""
OUTPUT = ("db_path", "results_dir", "init_program_path", "eval_program_path", "job_type", "language", "verbose")
"""Say nothing about the search, or are known without."""
_CALLS = ("JobConfig", "DatabaseConfig", "EvolutionConfig")
"""Endings of the classes that `run_evo.py` gives its settings to."""
_SECTIONS = ("config", "job", "db", "evo")
"""Endings of the sections of a YAML file that hold these settings: a key of another one is no such setting."""


def recognises(folder: Path) -> bool:
    return (folder / "evaluate.py").is_file() and _program(folder) is not None


def read(folder: Path, told: Told) -> Translation:
    program, evaluator = _program(folder), folder / "evaluate.py"
    assert program is not None
    metric = told.metric or "combined_score"
    keys: dict[str, Any] = {}
    taken: dict[str, str] = {}
    left: list[str] = []
    script = folder / "run_evo.py"
    config, settings, hints = _config(folder, text_of(script))
    said = {key: (script, key, value) for key, value in _said(text_of(script))}
    for theirs, value in settings.items():
        section, _, last = theirs.rpartition(".")
        known = last if not section or section.endswith(_SECTIONS) else theirs
        said[known] = (config, theirs, value)
    for last, (file, theirs, value) in said.items():
        word = TABLE.get(last)
        if word and value is not None:
            keys[word.ours], taken[last] = said_here(file, theirs, value, word), word.ours
        elif last.rpartition(".")[2] not in OUTPUT:
            left.append(last)
    if is_asked(program, evaluator, told):
        keys = keys_of(program, evaluator, metric, keys)
    else:
        keys = _command(program, metric, told) | keys
    return Translation(keys, taken, tuple(left), hints)


def _command(program: Path, metric: str, told: Told) -> dict[str, Any]:
    words = f"{told.python} evaluate.py --program_path {program.name} --results_dir {RESULTS}"
    return {
        "problem.kind": "command",
        "problem.source": str(program.parent),
        "problem.editable": program.name,
        "problem.eval": words,
        "problem.metric": metric,
        "problem.metric_from": f"json:{RESULTS}/metrics.json,json:{RESULTS}/correct.json",
        "problem.require": "correct==True",
        "problem.direction": "max",
        "problem.options": {},
    }


def _program(folder: Path) -> Path | None:
    found = sorted(path for path in folder.glob("initial.*") if path.is_file())
    return next((path for path in found if path.suffix == ".py"), found[0] if found else None)


def _config(folder: Path, script: str) -> tuple[Path, dict[str, Any], tuple[str, ...]]:
    """A `shinka*.yaml`, one that `run_evo.py` names, its settings by dotted keys, and a word on which one it was."""
    found = sorted(folder.glob("shinka*.y*ml"), key=lambda path: (path.name not in script, path.name))
    if not found:
        return folder, {}, ()
    others = ", ".join(path.name for path in found[1:])
    told = f"{found[0].name} is read" + (f", and not {others}" if others else "")
    return found[0], dict(leaves(yaml_of(found[0]))), (told,)


def _said(script: str) -> Iterator[tuple[str, Any]]:
    """What `run_evo.py` says in plain words: the constants that it gives to Shinka's classes."""
    try:
        nodes = list(ast.walk(ast.parse(script)))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return
    named = dict(_constants(nodes))
    yield from (("task_sys_msg", value) for name, value in named.items() if name.lower().endswith("task_sys_msg"))
    for call in nodes:
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id.endswith(_CALLS):
            for word in call.keywords:
                if isinstance(word.value, ast.Constant):
                    yield str(word.arg), word.value.value
                elif isinstance(word.value, ast.Name) and word.value.id in named:
                    yield str(word.arg), named[word.value.id]


def _constants(nodes: list[ast.AST]) -> Iterator[tuple[str, Any]]:
    for node in nodes:
        if isinstance(node, ast.Assign) and isinstance(node.value, ast.Constant):
            yield from ((target.id, node.value.value) for target in node.targets if isinstance(target, ast.Name))
