"""The forms of EoH, LLM4AD and FunSearch: a function that an evaluator's own file holds.

class          EoH's and LLM4AD's: a class with `evaluate_program(program_str, callable_func)`, beside it (or in
               `template.py`) the texts `template_program` and `task_description`
specification  FunSearch's: a function `@funsearch.evolve` that is searched, another `@funsearch.run` that scores it;
               as in its notebooks the two may stand in comments
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
from pathlib import Path

from problems.evaluator_template import Template, annotated, bound_in, names_read, parsed, text_in
from utils.clean_text import clean

_METHOD = "evaluate_program"
_LOWER = {"BaseProblem": True, "Evaluation": False}
"""Base class of EoH's and of LLM4AD's → whether less is better."""
_NUMPY = "import numpy as np\n\n\n"
"""EoH gives every program this name."""
_LAZY = "from __future__ import annotations\n\n"
"""LLM4AD's programs are run under it, so that some name a `List` in annotations that they do not import."""


# ---------------------------------------------------------------- EoH, LLM4AD


def class_template(module: ast.Module, evaluator: Path) -> Template | None:
    judges = [node for node in module.body if isinstance(node, ast.ClassDef) and _method(node) is not None]
    if not judges or any(map(takes_path, module.body)):
        return None
    beside, _ = parsed(evaluator.with_name("template.py"))
    scopes: list[ast.Module | ast.ClassDef] = [judges[-1], module, *([beside] if beside is not None else [])]
    program, about = (text_in(scopes, name) for name in ("template_program", "task_description"))
    tree = _tree(program)
    entry = _entry(tree) if tree is not None else None
    if tree is None or entry is None:
        return None
    unbound = names_read(tree) - bound_in(tree)
    is_lazy = bool({one for node in annotated(tree) for one in names_read(node)} & unbound - {*dir(builtins)})
    bases = [ast.unparse(base).rpartition(".")[2] for base in judges[-1].bases]
    return Template(
        "class",
        _LAZY * is_lazy + _NUMPY * ("np" in unbound) + program.strip() + "\n",
        {"entry": entry, "reads_text": _reads_text(_method(judges[-1]))},
        about=clean(about).strip(),
        lower_is_better=next((_LOWER[base] for base in bases if base in _LOWER), None),
    )


def takes_path(node: ast.stmt) -> bool:
    """It is what any evaluator has: `evaluate(program_path)`."""
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.name != "evaluate":
        return False
    return [one.arg for one in node.args.args[:1]] == ["program_path"]


def _method(judge: ast.ClassDef) -> ast.FunctionDef | None:
    """Its `evaluate_program`, where that takes a text and what is called."""
    methods = (node for node in judge.body if isinstance(node, ast.FunctionDef) and node.name == _METHOD)
    return next((node for node in methods if len(node.args.args) == 3), None)


def _reads_text(method: ast.FunctionDef | None) -> bool:
    return method is not None and method.args.args[1].arg in names_read(method)


def _entry(tree: ast.Module) -> str | None:
    """Its first class, else its last function, as EoH chooses; None without either."""
    classes = [node.name for node in tree.body if isinstance(node, ast.ClassDef)]
    functions = [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
    return classes[0] if classes else functions[-1] if functions else None


def _tree(source: str) -> ast.Module | None:
    try:
        return ast.parse(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


# ---------------------------------------------------------------- FunSearch


def specification(module: ast.Module, text: str) -> Template | None:
    """None unless one function is searched and one scores."""
    marked = {word: list(_decorated(module, word)) for word in ("evolve", "run")}
    if any(len(found) != 1 for found in marked.values()):
        return None
    (searched,), (scorer,) = marked["evolve"], marked["run"]
    takes = next((one.arg for one in scorer.args.args), "")
    return Template(
        "specification",
        _program(module, text, searched),
        {"searched": searched.name, "scorer": scorer.name},
        about=clean(ast.get_docstring(module) or "").strip(),
        lower_is_better=False,
        source=clean(text),
        wants=takes and f"{scorer.name}({takes})",
    )


def _decorated(module: ast.Module, word: str) -> Iterator[ast.FunctionDef]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and f"funsearch.{word}" in map(_decorator, node.decorator_list):
            yield node


def _decorator(node: ast.expr) -> str:
    return ast.unparse(node).partition("(")[0]


def _program(module: ast.Module, text: str, searched: ast.FunctionDef) -> str:
    """The searched function between marks, below it what else of the specification it names."""
    known = {name: node for node in module.body for name in bound_in(ast.Module([node], []))}
    wanted: set[ast.stmt] = {searched}
    todo: list[ast.stmt] = [searched]
    while todo:
        for name in names_read(todo.pop()):
            node = known.get(name)
            if node is not None and node not in wanted:
                wanted.add(node)
                todo.append(node)
    imports = [node for node in module.body if isinstance(node, ast.Import | ast.ImportFrom)]
    above = [node for node in module.body if node in wanted and node is not searched and node not in imports]
    parts = ["\n".join(map(ast.unparse, (one for one in imports if not _is_funsearch(one))))]
    parts += [_source(text, node) for node in above]
    parts += [f"# EVOLVE-BLOCK-START\n{_source(text, searched)}\n# EVOLVE-BLOCK-END"]
    return "\n\n\n".join(filter(None, parts)) + "\n"


def _is_funsearch(node: ast.Import | ast.ImportFrom) -> bool:
    return any("funsearch" in name.name for name in node.names) or "funsearch" in (getattr(node, "module", "") or "")


def _source(text: str, node: ast.stmt) -> str:
    """As it stands there, without decorators of FunSearch's."""
    lines = ast.get_source_segment(text, node) or ast.unparse(node)
    return lines.rstrip()
