"""The form of AlphaEvolve's paper: one file holds the program between marks, and outside of them what scores it.

marked  a function `evaluate(eval_inputs)` outside of the marks, which returns metrics, and calls what is between them
"""

from __future__ import annotations

import ast

from problems.blocks import block_lines
from problems.evaluator_template import Template, bound_in, names_read

SCORER = "evaluate"
_PATHS = frozenset({"program_path", "program", "program_file", "path", "file", "candidate", "code"})
"""Names of the argument of evaluators that are given a program."""


def marked_template(module: ast.Module, text: str) -> Template | None:
    """None for a file without marks, or whose `evaluate` is given a program, or uses nothing from between them."""
    lines = block_lines(text)
    inside = [node for node in module.body if lines and node.lineno in lines]
    outside = [node for node in module.body if node not in inside]
    scorer = next((node for node in outside if isinstance(node, ast.FunctionDef) and node.name == SCORER), None)
    if not inside or scorer is None or len(scorer.args.args) > 1:
        return None
    if {one.arg for one in scorer.args.args} & _PATHS:
        return None
    bound, used = bound_in(ast.Module(inside, [])), names_read(ast.Module(outside, []))
    imported = {name for node in inside if isinstance(node, ast.Import | ast.ImportFrom) for name in _names(node)}
    wanted = sorted((bound & used) - imported)
    if not wanted:
        return None
    return Template("marked", text, {"scorer": SCORER, "names": wanted}, lower_is_better=False)


def _names(node: ast.Import | ast.ImportFrom) -> set[str]:
    return bound_in(ast.Module([node], []))
