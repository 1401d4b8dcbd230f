"""The form of GigaEvo: a program answers once, and the answer is validated.

answer  `validate.py` with `validate(answer)`, or `validate(context, answer)` where `context.py` with `build_context()`
        lies beside it; `metrics.yaml`, whose primary metric steers; `task_description.txt`; `initial_programs/*.py`,
        each with `entrypoint()` or `entrypoint(context)`. A `helper.py` is theirs to import
"""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

from problems.evaluator_template import Template
from utils.clean_text import clean
from utils.errors import ConfigError
from utils.user_yaml import user_yaml

VALIDATOR, METRICS, CONTEXT = "validate.py", "metrics.yaml", "context.py"
ENTRY = "entrypoint"
_HELPER = "helper"


def answer_template(module: ast.Module, path: Path) -> Template | None:
    """None for another file, or one without first programs and metrics beside it."""
    found = programs_of(path.parent)
    if path.name != VALIDATOR or not found or not (path.parent / METRICS).is_file():
        return None
    if not any(isinstance(node, ast.FunctionDef) and node.name == "validate" for node in module.body):
        return None
    try:
        program = found[0].read_text(encoding="utf-8")
        about = path.with_name("task_description.txt").read_text(encoding="utf-8", errors="replace")
    except (OSError, ValueError):
        return None
    context = path.with_name(CONTEXT)
    return Template(
        "answer",
        program,
        {"function": ENTRY},
        about=clean(about).strip(),
        lower_is_better=primary_metric(path.parent)[1],
        data=tuple(filter(Path.is_file, [context])),
        offers=(_HELPER,) if path.with_name(f"{_HELPER}.py").is_file() else (),
    )


def programs_of(folder: Path) -> list[Path]:
    """The first programs, in the order of their names."""
    return sorted(path for path in (folder / "initial_programs").glob("*.py") if path.is_file())


def primary_metric(folder: Path) -> tuple[str, bool | None]:
    """The metric that steers ('' where none is said to), and whether less of it is better."""
    try:
        plain = user_yaml(folder / METRICS)
    except ConfigError:
        return "", None
    specs: Any = plain.get("specs", plain) if isinstance(plain, dict) else {}
    for name, spec in specs.items() if isinstance(specs, dict) else ():
        if isinstance(spec, dict) and spec.get("is_primary") is True:
            higher = spec.get("higher_is_better")
            return str(name), not higher if isinstance(higher, bool) else None
    return "", None
