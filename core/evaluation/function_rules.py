"""`provider: rules` for any searched function of numbers: terms over its parameters, and typed changes of its tree."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from core.evaluation.signature import Signature
from core.evaluation.sites import function_of, scores
from core.evaluation.tune import literals, with_values
from core.evaluation.variation import crossover, finish, moved, mutate
from core.state.operators import Doing, doing
from utils.syntax import parse

TRIES = 5
"""Draws before a program that repeats a parent is handed in after all."""


@dataclass(frozen=True, slots=True)
class TermGrammar:
    """Expressions over parameters that are numbers; see `core.evaluation.variation.Grammar`.

    Args:
        function: its name.
        values: parameter → numbers that it takes in the cases, for constants to compare it with; may be empty.
        rng: where every draw comes from.
    """

    function: str
    values: Mapping[str, Sequence[float]]
    rng: random.Random
    fixed: frozenset[str] = field(default_factory=frozenset)

    def name(self) -> str:
        return self.rng.choice(list(self.values))

    def weight(self) -> float:
        """A coefficient, over three orders of magnitude."""
        return _short(self.rng.choice((1, 1, -1)) * 10 ** self.rng.uniform(-2, 1))

    def fraction(self) -> float:
        return _short(self.rng.uniform(0, 1))

    def index(self) -> str:
        return str(self.rng.randint(0, 2))

    def atom(self) -> str:
        return self.name() if self.rng.random() < 0.75 else str(self.weight())

    def test(self) -> str:
        name = self.name()
        other = self._seen(name) if self.rng.random() < 0.6 else self.atom()
        return f"{name} {self.rng.choice(('<', '>='))} {other}"

    def number(self, depth: int = 2) -> str:
        if depth <= 0:
            return self.atom()
        kind = self.rng.randrange(8)
        if kind < 2:
            return self.term()
        a, b = self.number(depth - 1), self.number(depth - 1)
        if kind < 5:
            return f"({a} {self.rng.choice('+-*')} {b})"
        if kind == 5:
            return f"({a} / (abs({b}) + {self.rng.choice((1, 0.1))}))"
        return f"({a} if {self.test()} else {b})" if kind == 6 else f"{self.rng.choice(('max', 'min'))}({a}, {b})"

    def term(self) -> str:
        makers: list[Callable[[], str]] = [self._linear, self._power, self._product, self._ratio, self._bonus]
        return self.rng.choice(makers)()

    def result(self) -> str:
        """A whole result: a sum of one to three terms."""
        return " + ".join(self.term() for _ in range(self.rng.choice((1, 2, 2, 3))))

    def _linear(self) -> str:
        return f"{self.weight()} * {self.name()}"

    def _power(self) -> str:
        return f"{self.weight()} * abs({self.name()}) ** {self.rng.choice((0.25, 0.5, 2, 3))}"

    def _product(self) -> str:
        return f"{self.weight()} * {self.name()} * {self.name()}"

    def _ratio(self) -> str:
        return f"{self.weight()} * {self.name()} / (abs({self.name()}) + {self.rng.choice((1, 0.1, 0.01))})"

    def _bonus(self) -> str:
        return f"({self.weight()} if {self.test()} else 0)"

    def _seen(self, name: str) -> str:
        """A number that the parameter takes, or one of its likely order."""
        return str(_short(self.rng.choice(self.values[name]))) if self.values[name] else str(self.fraction())


class FunctionWriter:
    """Writes variants of one function.

    Args:
        start: the first program, varied where no parent can be.
        values: parameters that are numbers, as in TermGrammar; empty: only the constants are moved.
    """

    def __init__(self, signature: Signature, start: str, values: Mapping[str, Sequence[float]]) -> None:
        self._signature, self._start, self._values = signature, start, values

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        what = doing(context)
        written = [str(parent["code"]) for parent in context.get("parents") or () if parent.get("code")]
        parents = [code for code in written if self._varies(code)]
        known = {finish(parse(code)) for code in parents}
        for _ in range(TRIES):
            code, plan = self._vary("new" if not parents else what, parents or [self._start], rng)
            if finish(parse(code)) not in known:
                break
        return f"{plan}\n\n```python\n{code.rstrip()}\n```\n"

    def _vary(self, what: Doing, parents: list[str], rng: random.Random) -> tuple[str, str]:
        grammar = TermGrammar(self._signature.name, self._values, rng)
        if not self._values or not self._varies(parents[0]):
            return _with_moved_constants(parents[0], rng), "Moved constants."
        if what == "new" and self._varies(self._start):
            return self._fresh(grammar), "Fresh terms."
        if what == "cross" and len(parents) > 1:
            code, done = crossover(parents[0], parents[1], rng, grammar)
            return code, f"Crossover: {done}."
        code, done = mutate(parents[0], grammar, rng)
        return code, f"Mutation: {done}."

    def _fresh(self, grammar: TermGrammar) -> str:
        """The start's function with another body: half the time its first result and terms, half the time terms."""
        tree = parse(self._start)
        function = function_of(tree, self._signature.name)
        if grammar.rng.random() < 0.5:
            site = scores(function)[-1]
            site.put(ast.BinOp(site.node, ast.Add(), ast.parse(grammar.result(), mode="eval").body))
        else:
            function.body = parse(f"def f():\n    return {grammar.result()}").body[0].body  # type: ignore[attr-defined]
        return finish(tree)

    def _varies(self, code: str) -> bool:
        """True for a program that parses, with the function, its parameters' names and a result that can be seen."""
        try:
            function = function_of(parse(code), self._signature.name)
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            return False
        arguments = [*function.args.posonlyargs, *function.args.args]
        return tuple(a.arg for a in arguments) == self._signature.parameters and bool(scores(function))


def _with_moved_constants(code: str, rng: random.Random) -> str:
    """The program with about half of its numbers moved, one of them at least."""
    numbers = literals(code)
    if not numbers:
        return code
    chosen = {rng.randrange(len(numbers)), *(i for i in range(len(numbers)) if rng.random() < 0.5)}
    return with_values(code, [moved(n, rng) if i in chosen else n for i, n in enumerate(numbers)])


def _short(value: float) -> float:
    """Three significant digits, as a person would write it."""
    return float(f"{value:.3g}")
