"""What the text of a user's evaluator says before it is run: of itself, which functions it has, what these take."""

from __future__ import annotations

import ast
from collections.abc import Collection, Iterator
from pathlib import Path

from problems.evaluator_forms import Template, template_of
from utils.clean_text import clean
from utils.errors import ConfigError
from utils.user_text import user_bytes

MOST_SAID = 3_000
"""Characters of an evaluator's docstrings that a prompt holds."""
STAGES = ("evaluate_stage1", "evaluate_stage2", "evaluate_stage3")


def docstring_of(evaluator: Path) -> str:
    """What the evaluator's file says of itself at its top and in `evaluate`; '' for one that is no Python."""
    module = _parsed(evaluator)
    if module is None:
        return ""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    said = [ast.get_docstring(module)]
    said += [ast.get_docstring(node) for node in module.body if isinstance(node, kinds) and node.name == "evaluate"]
    return clean("\n\n".join(text for text in said if text))[:MOST_SAID]


def uncalled_evaluate(evaluator: Path) -> str:
    """What is told of an evaluator whose `evaluate` its single stage keeps from being called; '' for others.

    OpenEvolve calls it no more than we do: a cascade goes from stage to stage, and ends behind the last.
    """
    module = _parsed(evaluator)
    names = bound_names(module) if module is not None else set()
    if module is None or not {"evaluate", STAGES[0]} <= names or STAGES[1] in names or "*" in names:
        return ""
    if any(isinstance(node, ast.Name) and node.id == "evaluate" for node in _inside_functions(module)):
        return ""  # its stage calls it
    return (
        f"{evaluator.name} has {STAGES[0]} and no {STAGES[1]}: that stage alone gives the score, and evaluate() is not "
        "called (--problem.options.cascade=false calls it, and no stage)"
    )


def has_stages(evaluator: Path) -> bool:
    """Whether it may have some: one that cannot be read may, and one that takes names from elsewhere."""
    module = _parsed(evaluator)
    return module is None or bool({STAGES[0], "*"} & bound_names(module))


def _inside_functions(module: ast.Module) -> Iterator[ast.AST]:
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield from ast.walk(node)


def _parsed(evaluator: Path) -> ast.Module | None:
    """None for what is no Python."""
    try:
        return ast.parse(evaluator.read_bytes(), evaluator.name)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError):
        return None


def check_evaluator(path: Path, arguments: Collection[str], *, cascade: bool) -> None:
    """ConfigError for an evaluator that cannot judge any program: found before the first step is paid for.

    Args:
        arguments: names that its functions are to be called with.
        cascade: its stages are called where it has some, and not `evaluate`.
    """
    if template := template_of(path):
        _check_template(path, template, arguments)
        return
    try:
        module = ast.parse(user_bytes(path, "problem.evaluator="), path.name)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        why = "it is nested too deeply" if isinstance(error, (RecursionError, MemoryError)) else str(error)
        raise ConfigError(f"problem.evaluator={path}: does not parse as Python: {why}") from error
    if not bound_names(module) & {"evaluate", "evaluate_stage1", "*"}:
        raise ConfigError(f"problem.evaluator={path}: has no function evaluate(program_path)")
    taken = _taken_arguments(module, cascade)
    if taken is not None and (foreign := sorted({*arguments} - taken)):
        allowed = ", ".join(sorted(taken)) or "none"
        raise ConfigError(
            f"problem.options.evaluator_args.{foreign[0]}: no function of {path} takes it; allowed: {allowed}"
        )


def _check_template(path: Path, template: Template, arguments: Collection[str]) -> None:
    """ConfigError: arguments that the evaluator has no use for, or none where it needs some."""
    if template.kind in ("class", "marked"):
        return  # they are its constructor's, which may pass them on, or the inputs that it looks up
    takes = {"inputs"} if template.wants else {*template.arguments}
    if foreign := sorted({*arguments} - takes):
        allowed = ", ".join(sorted(takes)) or "none"
        raise ConfigError(f"problem.options.evaluator_args.{foreign[0]}: {path} takes none such; allowed: {allowed}")
    if template.wants and takes - {*arguments}:
        raise ConfigError(
            f"problem.evaluator={path}: {template.wants} is given inputs by who searches: "
            "--problem.options.evaluator_args.inputs='[INPUT, INPUT]'; the last one's score steers"
        )


def _taken_arguments(module: ast.Module, cascade: bool) -> set[str] | None:
    """What the functions that are called take beside the program's path; None where their text does not say."""
    functions = {node.name: node for node in module.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)}
    names = STAGES if cascade and STAGES[0] in functions else ("evaluate",)
    called = [functions[name] for name in names if name in functions]
    if not called or any(node.args.kwarg is not None or node.decorator_list for node in called):
        return None
    return {one.arg for node in called for one in (*node.args.args[1:], *node.args.kwonlyargs)}


def bound_names(module: ast.Module) -> set[str]:
    """Every name that the module may bind, wherever: a doubt is decided for the evaluator."""
    names: set[str] = set()
    for node in ast.walk(module):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            names.add(node.name)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            names.add(node.id)
        elif isinstance(node, ast.alias):
            names.add(node.asname or node.name)
    return names
