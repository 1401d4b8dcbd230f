"""The form of AlphaEvolve on Google Cloud: an evaluator that is handed a program's text, and says scores and insights.

candidate  `evaluate.py` with a function of one candidate, `{"content": {"files": [{"path": …, "content": …}]}}`, beside
           it `program.py`; or `evaluator.py` with a command line (`--output-file`, and `--program-dir` or
           `--input-program-file`), as the skills of its `ae` write it, beside it `initial_program.py`
"""

from __future__ import annotations

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

from problems.evaluator_template import Template, parsed
from utils.clean_text import clean

PROGRAM, CLI_PROGRAM = "program.py", "initial_program.py"
RUNS = ("run_evolution.py", "run_experiment.py")
"""What starts a search there, beside the evaluator."""
_DESCRIBED = ("instructions.md", "problem_description.md")
_OPTIONS = ("--program-dir", "--input-program-file")
_FILES = {"content", "files"}
_METRIC = re.compile(r"(?:\w+_)?METRIC(?:_NAME)?")
_SAID = "problem_description"


def candidate_template(module: ast.Module, evaluator: Path) -> Template | None:
    """None for an evaluator of another form, or that has no program beside it."""
    function = _function(module)
    option = _option(module)
    run, program = (option, CLI_PROGRAM) if option else (function, PROGRAM)
    first = evaluator.with_name(program)
    if not run or not first.is_file():
        return None
    try:
        text = first.read_text(encoding="utf-8")
    except (OSError, ValueError):
        return None
    return Template(
        "candidate",
        text,
        {"run": run, "file": program},
        about=_about(evaluator),
        lower_is_better=False,
    )


def metric_of(evaluator: Path) -> str:
    """The metric that its constants, or those of what starts a search, name; '' where none does."""
    for path in (evaluator, *map(evaluator.with_name, RUNS)):
        module, _ = parsed(path)
        for name, value in constants(module):
            if _METRIC.fullmatch(name) and isinstance(value, ast.Constant) and isinstance(value.value, str):
                return value.value
    return ""


def constants(module: ast.Module | None) -> Iterator[tuple[str, ast.expr]]:
    """What the module's own lines give a single name to."""
    for node in module.body if module is not None else ():
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value


def _function(module: ast.Module) -> str:
    """The last that is called with one candidate and looks for its files; ''."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    taking = [node for node in module.body if isinstance(node, kinds) and _needed(node) == 1]
    return next((node.name for node in reversed(taking) if _texts(node) >= _FILES), "")


def _needed(node: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    return len(node.args.posonlyargs) + len(node.args.args) - len(node.args.defaults)


def _option(module: ast.Module) -> str:
    """How its command line is told the program; '' where it has no such line."""
    said = _texts(module)
    return next((one for one in _OPTIONS if one in said), "") if "--output-file" in said else ""


def _texts(tree: ast.AST) -> set[str]:
    return {node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)}


def _about(evaluator: Path) -> str:
    """What is wanted, in the words that their models are given."""
    folders = [evaluator.parent, *([evaluator.parent.parent] if evaluator.parent.name == "src" else [])]
    for path in (folder / name for folder in folders for name in _DESCRIBED):
        if path.is_file():
            return clean(path.read_text(encoding="utf-8", errors="replace")).strip()
    specified = _specified(evaluator.parent / ".evolve" / "experiment_description.json")
    return clean(specified or _started(evaluator)).strip()


def _specified(path: Path) -> str:
    try:
        said = json.loads(path.read_text(encoding="utf-8")).get(_SAID)
    except (OSError, ValueError, AttributeError, RecursionError):
        return ""
    return said if isinstance(said, str) else ""


def _started(evaluator: Path) -> str:
    """Of the experiment's configuration in what starts a search."""
    for path in map(evaluator.with_name, RUNS):
        module, _ = parsed(path)
        for node in ast.walk(module) if module is not None else ():
            for key, value in zip(node.keys, node.values, strict=True) if isinstance(node, ast.Dict) else ():
                is_it = isinstance(key, ast.Constant) and key.value == _SAID
                if is_it and isinstance(value, ast.Constant) and isinstance(value.value, str):
                    return value.value
    return ""
