"""`provider: rules` for any Python program: small changes of numbers and operators inside the evolving blocks."""

from __future__ import annotations

import ast
import random
import textwrap
from collections.abc import Mapping
from typing import Any

from core.evaluation.tune import Number, literals, with_values
from problems.script.blocks import line_ranges
from utils.syntax import parse, source_lines

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
    """(new program, what was done). The marks of the blocks are kept: they are comments, so only lines are replaced."""
    lines = rng.choice(line_ranges(code))
    block, indent = _block(code, lines)
    try:
        numbers = literals(block)
        donors = [literals(_block(other, line_ranges(other)[0])[0]) for other in others]
        mates = [donor for donor in donors if len(donor) == len(numbers)]
        if numbers and mates:
            mixed = [rng.choice(pair) for pair in zip(numbers, mates[0], strict=True)]
            new, plan = with_values(block, mixed), "Crossover of the constants of two programs."
        elif numbers and rng.random() < 0.8:
            new, plan = with_values(block, _moved(numbers, rng)), "Changed constants."
        else:
            new, plan = _swapped(block, rng), "Changed an operator."
    except SyntaxError:
        return code, "The block is not Python by itself; nothing was changed."
    kept = source_lines(code)
    kept[lines.start - 1 : lines.stop - 1] = source_lines(textwrap.indent(new, indent))
    return "\n".join(kept) + "\n", plan


def _block(code: str, lines: range) -> tuple[str, str]:
    """(the lines as Python by themselves, their indentation): a block may lie inside of a function."""
    text = "\n".join(source_lines(code)[lines.start - 1 : lines.stop - 1])
    block = textwrap.dedent(text)
    first = next((line for line in source_lines(text) if line.strip()), "")
    inner = next((line for line in source_lines(block) if line.strip()), "")
    return block, first.removesuffix(inner)


def _moved(numbers: list[Number], rng: random.Random) -> list[Number]:
    moved = list(numbers)
    for place in rng.sample(range(len(moved)), min(len(moved), rng.choice((1, 1, 2, 3)))):
        value = moved[place]
        if isinstance(value, int):
            moved[place] = value + rng.choice((-2, -1, 1, 2)) * max(1, abs(value) // 10)
        else:
            moved[place] = float(f"{value * 2 ** rng.gauss(0, 0.6):.5g}")
    return moved


def _swapped(block: str, rng: random.Random) -> str:
    tree = parse(block)
    sums = [n for n in ast.walk(tree) if isinstance(n, ast.BinOp) and type(n.op) in _ARITHMETIC]
    tests = [n for n in ast.walk(tree) if isinstance(n, ast.Compare) and type(n.ops[0]) in _ORDER]
    if sums or tests:
        place = rng.randrange(len(sums) + len(tests))
        if place < len(sums):
            sums[place].op = rng.choice(_ARITHMETIC[type(sums[place].op)])()
        else:
            test = tests[place - len(sums)]
            test.ops[0] = rng.choice(_ORDER[type(test.ops[0])])()
    return ast.unparse(tree)
