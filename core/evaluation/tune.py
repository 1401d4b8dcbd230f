"""`operator: tune`: numeric literals of a program, lifted by its syntax tree, searched by optuna without a model."""

from __future__ import annotations

import ast
from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from utils.direction import Direction
from utils.syntax import is_movable, parse, with_texts

if TYPE_CHECKING:
    from optuna import Trial

MOST_LITERALS = 24
STARTUP_TRIALS = 8
"""Random trials before the sampler models what it saw."""
NAME = "K__"
"""In a lifted program the literals are `K__[0]`, `K__[1]`, …"""

Number = int | float


@dataclass(frozen=True, slots=True)
class Tuned:
    """The best constants found."""

    code: str
    values: tuple[Number, ...]
    score: float
    start: float
    """Score of the program as it came; equal to `score` where nothing better was found."""
    trials: int


def literals(code: str, lines: Container[int] | None = None) -> list[Number]:
    """The numbers that may be tuned: inside functions, in source order; not indices, not 0, not docstrings,
    none that is too large to be moved.

    Args:
        lines: only literals that start on these 1-based lines, which may change; those outside of functions too.
    """
    return [_value(node) for node in _found(parse(code), lines)]


def with_values(code: str, values: Sequence[Number], lines: Container[int] | None = None) -> str:
    """The program with other numbers in place of its literals; every other character stays, comments too."""
    return _replaced(code, lines, [f"({value!r})" if value < 0 else repr(value) for value in values])


def lifted(code: str) -> str:
    """The program with `K__[i]` in place of its i-th literal."""
    return _replaced(code, None, [f"{NAME}[{place}]" for place in range(MOST_LITERALS)])


def tune(
    start: Sequence[Number],
    objective: Callable[[Sequence[Number]], float | None],
    *,
    trials: int,
    seed: int,
    lower_is_better: bool,
) -> tuple[tuple[Number, ...], float | None, float | None]:
    """(best values, their score, score of the start). One trial after the other, the same for the same seed.

    Args:
        start: the first trial.
        objective: a score, or None for values that fail.
    """
    import optuna

    optuna.logging.set_verbosity(optuna.logging.WARNING)
    sampler = optuna.samplers.TPESampler(seed=seed % 2**32, n_startup_trials=STARTUP_TRIALS)
    study = optuna.create_study(sampler=sampler, direction="minimize" if lower_is_better else "maximize")
    study.enqueue_trial({f"k{i}": value for i, value in enumerate(start)})
    first: float | None = None
    direction = Direction(lower_is_better)
    best: tuple[tuple[Number, ...], float] | None = None
    for number in range(trials):
        trial = study.ask()
        values = tuple(_suggest(trial, f"k{i}", value) for i, value in enumerate(start))
        score = objective(values)
        if score is None:
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
            continue
        study.tell(trial, score)
        first = score if number == 0 else first
        if best is None or direction.better(score, best[1]):
            best = values, score
    return (best[0], best[1], first) if best else (tuple(start), None, first)


def tune_program(
    code: str,
    objective: Callable[[str], float | None],
    *,
    trials: int,
    seed: int,
    lower_is_better: bool,
    lines: Container[int] | None = None,
) -> Tuned | None:
    """Tune a whole program by scoring each variant's text; None without literals or without any score."""
    start = literals(code, lines)
    if not start:
        return None
    values, score, first = tune(
        start,
        lambda numbers: objective(with_values(code, numbers, lines)),
        trials=trials,
        seed=seed,
        lower_is_better=lower_is_better,
    )
    if score is None or first is None:
        return None
    return Tuned(with_values(code, values, lines), values, score, first, trials)


def _suggest(trial: Trial, name: str, start: Number) -> Number:
    """A range round the start: whole numbers stay whole, signs stay. The start itself is drawn to its last digit."""
    if isinstance(start, int):
        reach = max(3, abs(start) // 2)
        low, high = start - reach, start + reach
        return int(trial.suggest_int(name, low if start < 0 else max(0, low), min(0, high) if start < 0 else high))
    drawn = float(trial.suggest_float(name, *sorted((start / 4, start * 4)))) if start else 0.0
    return start if drawn == start else float(f"{drawn:.6g}")


def _replaced(code: str, lines: Container[int] | None, texts: Sequence[str]) -> str:
    """The i-th literal's text replaced by `texts[i]`."""
    return with_texts(code, zip(_found(parse(code), lines), texts, strict=False))


def _found(tree: ast.Module, lines: Container[int] | None) -> list[ast.expr]:
    """Literal nodes, a minus sign included, in source order.

    None of a formatted string, where 3.11 misplaces them, nor of a pattern of `match`, where only a literal may stand.
    """
    found: list[ast.expr] = []
    stack: list[tuple[ast.AST, bool]] = [(tree, lines is not None)]
    while stack:
        node, inside = stack.pop()
        if inside and isinstance(node, ast.expr) and _is_number(node):
            if _value(node) != 0 and (lines is None or node.lineno in lines):
                found.append(node)
            continue
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            defaults = node.args.defaults if inside else []
            stack += [(child, True) for child in reversed([*defaults, *node.body])]
            continue
        if isinstance(node, ast.If) and _asks_for_main(node.test):
            continue
        children = [] if isinstance(node, ast.JoinedStr | ast.pattern) else list(ast.iter_child_nodes(node))
        if isinstance(node, ast.Subscript):
            children.remove(node.slice)
        stack += [(child, inside) for child in reversed(children)]
    return found[:MOST_LITERALS]


def _asks_for_main(test: ast.expr) -> bool:
    """`__name__ == "__main__"`: what then runs is no part of what is scored."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


def _is_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        return isinstance(node.operand, ast.Constant) and _is_number(node.operand)
    return isinstance(node, ast.Constant) and is_movable(node.value)


def _value(node: ast.expr) -> Number:
    if isinstance(node, ast.UnaryOp):
        return -_value(node.operand)
    assert isinstance(node, ast.Constant) and isinstance(node.value, int | float)
    return node.value
