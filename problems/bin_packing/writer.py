"""The repertoire behind `provider: rules`: typed genetic programming on `score_bin`."""

from __future__ import annotations

import ast
import random
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from core.evaluation.sites import function_of, scores
from core.evaluation.variation import crossover, finish, mutate
from core.state.operators import Doing, doing
from problems.bin_packing.grammar import Grammar
from problems.bin_packing.program import FUNCTION, arity
from utils.syntax import parse, parse_shared

TRIES = 5


class PackingWriter:
    """Writes rules without a model. Of the problem's `extras`: `capacity`, `histogram` (true: rules may see it)."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        extras = context.get("extras") or {}
        sees_histogram = bool(extras.get("histogram"))
        grammar = Grammar(int(extras.get("capacity", 100)), sees_histogram and rng.random() < 0.9, rng)
        parents = [p["code"] for p in context.get("parents") or () if _usable(p.get("code", ""))]
        known = {prepared(code, grammar.histogram) for code in parents}
        for _ in range(TRIES):
            code, plan = _vary(doing(context), parents, grammar, rng)
            if code not in known:
                break
        return f"{plan}\n\n```python\n{code}\n```\n"


def random_rule(grammar: Grammar) -> str:
    """A program drawn from the grammar, the control for every search."""
    parameters = "item, remaining_capacity" + (", histogram" if grammar.histogram else "")
    body = f"def {FUNCTION}({parameters}):\n    gap = remaining_capacity - item\n    return {grammar.score()}\n"
    return finish(parse(body))


def _vary(what: Doing, parents: list[str], grammar: Grammar, rng: random.Random) -> tuple[str, str]:
    if not parents or what == "new":
        return random_rule(grammar), "A fresh rule drawn from the grammar."
    first = prepared(parents[0], grammar.histogram)
    if what == "cross" and len(parents) > 1:
        second = prepared(parents[1], grammar.histogram)
        first = prepared(first, arity(second) == 3)
        code, done = crossover(first, second, rng, grammar)
        return code, f"Crossover: {done}."
    reach = Grammar(grammar.capacity, arity(first) == 3, rng)
    code, done = mutate(first, reach, rng)
    return code, f"Mutation: {done}."


@lru_cache(maxsize=1024)  # parents are asked for again and again
def prepared(code: str, histogram: bool) -> str:
    """The same rule ready to be varied: no docstring, `gap` defined, the histogram among its parameters if wanted."""
    tree = parse(code)
    function = function_of(tree, FUNCTION)
    if histogram and len(function.args.args) == 2:
        function.args.args.append(ast.arg("histogram"))
    if ast.get_docstring(function) is not None:
        del function.body[0]
    if "gap" not in {n.id for n in ast.walk(function) if isinstance(n, ast.Name)}:
        function.body.insert(0, parse("gap = remaining_capacity - item").body[0])
    return finish(tree)


@lru_cache(maxsize=1024)
def _usable(code: str) -> bool:
    """True for a rule that can be varied: it parses, has the statement's parameters, and returns scores that we see."""
    try:
        function = function_of(parse_shared(code), FUNCTION)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    names = [argument.arg for argument in function.args.args]
    forms = (["item", "remaining_capacity"], ["item", "remaining_capacity", "histogram"])
    return names in forms and bool(scores(function))
