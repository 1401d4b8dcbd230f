"""The form of GEPA's `optimize_anything`, of LLaMEA and of BLADE: a script that calls a search of theirs at its end.

search  a script that imports one of PACKAGES and calls what begins its search. It is run up to there
        (`problems/script/up_to_search.py`): the evaluator is what it hands over, and so are first program and task
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from problems.evaluator_template import Template

PACKAGES = frozenset({"gepa", "llamea", "iohblade"})
_BEGIN = frozenset({"optimize_anything", "LLaMEA", "Experiment"})


def search_template(module: ast.Module) -> Template | None:
    """Without the first program, which no text says: it is computed by the script."""
    if not PACKAGES & {name.partition(".")[0] for name in _imported(module)} or not _BEGIN & set(_called(module)):
        return None
    return Template("search", "")


def _imported(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            yield from (name.name for name in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module


def _called(module: ast.Module) -> Iterator[str]:
    for node in ast.walk(module):
        if isinstance(node, ast.Call):
            yield ast.unparse(node.func).rpartition(".")[2]
