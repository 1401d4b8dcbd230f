"""Tasks whose evaluator is run as a command there, and has a function that does the same (`problems.written_form`).

Asked by that, it is kept apart from programs, and what it imports is loaded once.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from core.evaluation.isolation.modules import modules_beside
from problems.evaluator_forms import template_of
from problems.evaluator_template import parsed
from problems.neighbours.reading import Told, text_of

TAKES = {
    *(f"problem.{name}" for name in ("path", "kind", "metric", "direction")),
    *(f"problem.options.{name}" for name in ("statement", "reply", "isolation", "shows", "evaluation_timeout")),
}
"""What may be said of a problem that is asked so; whoever says more means the command."""
_NAME = re.compile(r"[\w.-]{3,80}")
_LEVELS = 4
"""Folders above that are looked into."""


def is_asked(program: Path, evaluator: Path, told: Told) -> bool:
    """Whether it is: programs of other languages are run by the evaluator, and those of several files stay together."""
    template = template_of(evaluator)
    if template is None or template.kind != "written" or program.suffix != ".py":
        return False
    if any(key.startswith("problem.") and key not in TAKES for key in told.given):
        return False
    if _reaches_above(program):  # as a command it can be shown all, and is told how
        return False
    return program.parent == evaluator.parent or not modules_beside(program.parent, text_of(program), "")


def _reaches_above(program: Path) -> bool:
    """Whether its text names something that lies above its folder, and not in it."""
    module, _ = parsed(program)
    found = (node.value for node in ast.walk(module) if isinstance(node, ast.Constant)) if module is not None else ()
    words = {word for word in found if isinstance(word, str) and _NAME.fullmatch(word)}
    folders = [path for path in program.parents[1 : 1 + _LEVELS] if path not in (Path.home(), Path(path.anchor))]
    return any((above / word).exists() and not (program.parent / word).exists() for above in folders for word in words)


def keys_of(program: Path, evaluator: Path, metric: str, more: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of ours; the time limit is that of a program's one call, and of all that is done with it.

    Args:
        more: what is read of a configuration.
    """
    keys = {
        "problem.program": str(program),
        "problem.evaluator": str(evaluator),
        "problem.metric": metric,
        "problem.direction": "max",
        **more,
    }
    limit = keys.get("execution.timeout")
    return {**keys, **({} if limit is None else {"problem.options.evaluation_timeout": limit})}
