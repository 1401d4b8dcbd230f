"""`provider: rules` for any Python program: small changes of numbers and operators inside the evolving blocks."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator, Mapping
from typing import Any

from core.evaluation.tune import Number, literals, with_values
from problems.blocks import line_ranges
from utils.syntax import parse, with_texts

_ARITHMETIC: dict[type[ast.operator], tuple[type[ast.operator], ...]] = {
    ast.Add: (ast.Sub, ast.Mult), ast.Sub: (ast.Add,), ast.Mult: (ast.Add, ast.Div), ast.Div: (ast.Mult,),
}  # fmt: skip
_ORDER: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt,), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt,),
}  # fmt: skip


class ScriptWriter:
    """Needs `extras.program`, the initial program, where there is no parent."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        parents = [parent["code"] for parent in context.get("parents") or () if parent.get("code")]
        base = parents[0] if parents else str((context.get("extras") or {}).get("program", ""))
        code, plan = vary(base, parents[1:], rng)
        return f"{plan}\n\n```python\n{code}\n```\n"


def vary(code: str, others: list[str], rng: random.Random) -> tuple[str, str]:
    """(new program, what was done): one block is changed, and in it single numbers or one operator."""
    place = rng.randrange(len(line_ranges(code)))
    lines = line_ranges(code)[place]
    try:
        numbers = literals(code, lines)
        donors = [literals(other, ranges[place]) for other in others if len(ranges := line_ranges(other)) > place]
        mates = [donor for donor in donors if len(donor) == len(numbers)]
        if numbers and mates:
            mixed = [rng.choice(pair) for pair in zip(numbers, mates[0], strict=True)]
            return with_values(code, mixed, lines), "Crossover of the constants of two programs."
        if numbers and rng.random() < 0.8:
            return with_values(code, _moved(numbers, rng), lines), "Changed constants."
        return _swapped(code, lines, rng), "Changed an operator."
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return code, "The program does not parse; nothing was changed."


def _moved(numbers: list[Number], rng: random.Random) -> list[Number]:
    moved = list(numbers)
    for place in rng.sample(range(len(moved)), min(len(moved), rng.choice((1, 1, 2, 3)))):
        value = moved[place]
        if isinstance(value, int):
            moved[place] = value + rng.choice((-2, -1, 1, 2)) * max(1, abs(value) // 10)
        else:
            moved[place] = float(f"{value * 2 ** rng.gauss(0, 0.6):.5g}")
    return moved


def _swapped(code: str, lines: range, rng: random.Random) -> str:
    """With another operator in one sum, product or comparison of those lines."""
    tree = parse(code)
    found = [node for node in _operations(tree) if node.lineno in lines and node.end_lineno in lines]
    if not found:
        return code
    node = rng.choice(found)
    if isinstance(node, ast.BinOp):
        node.op = rng.choice(_ARITHMETIC[type(node.op)])()
    else:
        node.ops[0] = rng.choice(_ORDER[type(node.ops[0])])()
    return with_texts(code, [(node, f"({ast.unparse(node)})")])


def _operations(node: ast.AST) -> Iterator[ast.BinOp | ast.Compare]:
    """None of a formatted string, where Python 3.11 misplaces them."""
    if isinstance(node, ast.BinOp):
        yield from [node] if type(node.op) in _ARITHMETIC else ()
    elif isinstance(node, ast.Compare):
        yield from [node] if type(node.ops[0]) in _ORDER else ()
    for child in ast.iter_child_nodes(node) if not isinstance(node, ast.JoinedStr) else ():
        yield from _operations(child)
