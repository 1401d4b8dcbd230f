"""The form of AlgoTune: a class with a reference `solve`, and the time that another program takes for the same answers.

reference  a class `@register_task(NAME)` with `generate_problem(n, random_seed)`, `solve` and `is_solution`; beside it
           `description.txt`. How large `n` is stands in the checkout's `reports/generation.json`
"""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

from problems.evaluator_template import Template, bound_in, names_read
from utils.clean_text import clean

_METHODS = {"generate_problem", "solve", "is_solution"}
_KEPT_BACK = {"generate_problem", "is_solution"}
"""Methods that the first program has not: they make and check what it is asked."""
_TOLD = (
    "Write the class `Solver` with `solve(self, problem)`: the same answers as the reference, in less time. The score "
    "is the mean over problems of the reference's time divided by the program's; with one answer that is not right "
    "there is none. What `__init__` does is not timed."
)


def reference_template(module: ast.Module, text: str, path: Path) -> Template | None:
    """Of AlgoTune's task; None for another file."""
    task = next((node for node in module.body if isinstance(node, ast.ClassDef) and _is_task(node)), None)
    if task is None:
        return None
    described = path.with_name("description.txt")
    about = described.read_text(encoding="utf-8", errors="replace") if described.is_file() else ""
    return Template(
        "reference",
        _program(module, text, task),
        {"task": task.name, "size": _size(path)},
        about=f"{clean(about)}\n\n{_TOLD}".strip(),
        lower_is_better=False,
        arguments=("n", "problems", "runs"),
        has_others=True,
    )


def _is_task(node: ast.ClassDef) -> bool:
    marks = (ast.unparse(one).partition("(")[0] for one in node.decorator_list)
    methods = {one.name for one in node.body if isinstance(one, ast.FunctionDef)}
    return "register_task" in marks and methods >= _METHODS


def _program(module: ast.Module, text: str, task: ast.ClassDef) -> str:
    """The reference as `Solver`, with what of the module it names."""
    body = [one for one in task.body if not (isinstance(one, ast.FunctionDef) and one.name in _KEPT_BACK)]
    solver = ast.ClassDef("Solver", [], [], body, [])
    vars(solver).setdefault("type_params", [])  # Python 3.12
    needed, todo = set[ast.stmt](), [names_read(solver)]
    known = {name: node for node in module.body if node is not task for name in bound_in(ast.Module([node], []))}
    while todo:
        for node in {known[name] for name in todo.pop() if name in known} - needed:
            needed.add(node)
            todo.append(names_read(node))
    lines = list(_texts(module, text, needed))
    return "\n".join([*lines, "\n", ast.unparse(ast.fix_missing_locations(solver)), ""]).lstrip()


def _texts(module: ast.Module, text: str, needed: set[ast.stmt]) -> Iterator[str]:
    for node in module.body:
        if node in needed or (isinstance(node, ast.ImportFrom) and node.module == "__future__"):
            yield ast.get_source_segment(text, node) or ast.unparse(node)


def _size(path: Path) -> int:
    """`n` as the checkout has it; 0 where that is not known."""
    report = path.parent.parent.parent / "reports" / "generation.json"
    try:
        return int(json.loads(report.read_text(encoding="utf-8"))[path.parent.name]["n"])
    except (OSError, ValueError, KeyError, TypeError):
        return 0
