"""The forms of ShinkaEvolve and CodeEvolve: a function that writes what a program is worth.

written  Shinka's `main(program_path, results_dir)`, which leaves `metrics.json` and `correct.json` in that folder;
         CodeEvolve's `evaluate(program_path, results_path)`, which returns nothing and writes that file
"""

from __future__ import annotations

import ast

from problems.evaluator_template import Template

_FUNCTIONS = {"main": ["program_path", "results_dir"], "evaluate": ["program_path", "results_path"]}


def written_template(module: ast.Module) -> Template | None:
    """None for an evaluator of another form. The first program lies in a file of its own."""
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and [one.arg for one in node.args.args] == _FUNCTIONS.get(node.name):
            returns = any(isinstance(one, ast.Return) and one.value is not None for one in ast.walk(node))
            if node.name == "main" or not returns:
                return Template("written", "", {"function": node.name})
    return None
