"""Typed genetic programming on the syntax tree of one function: constants, operators, sub-trees, terms, crossover."""

from __future__ import annotations

import ast
import copy
import random
from collections.abc import Callable
from typing import Protocol

from core.evaluation.sites import Site, expression, function_of, scores, sites
from utils.syntax import is_movable, parse, without_future

MOST_NODES = 260
"""Syntax nodes of a function; larger ones are made smaller. For packing rules 140 found worse ones, no limit no better
ones (docs/bin_packing.md)."""
_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult)
_ORDER = (ast.Lt, ast.LtE, ast.Gt, ast.GtE)


class Grammar(Protocol):
    """Draws expressions, as source texts, for one searched function."""

    @property
    def function(self) -> str:
        """Name of the searched function."""

    @property
    def fixed(self) -> frozenset[str]:
        """Local names that expressions may refer to: statements that assign them stay as they are."""

    def atom(self) -> str:
        """A parameter or a constant."""

    def index(self) -> str:
        """An int that may index what the function indexes."""

    def test(self) -> str:
        """A condition."""

    def number(self, depth: int = 2) -> str:
        """A number, at most `depth` operators deep below its terms."""

    def term(self) -> str:
        """One meaningful part of a returned number."""

    def weight(self) -> float:
        """A coefficient."""

    def fraction(self) -> float:
        """A share, 0..1."""


# ---------------------------------------------------------------- mutation


def mutate(code: str, grammar: Grammar, rng: random.Random) -> tuple[str, str]:
    """(new program, what was done): one to three changes of the function."""
    tree = parse(code)
    function = function_of(tree, grammar.function)
    most = max(MOST_NODES, size(function))
    done = []
    for _ in range(rng.choice((1, 1, 1, 2, 2, 3))):
        names, weights = zip(*(CHANGES if size(function) <= MOST_NODES else SHRINKING).items(), strict=True)
        for _ in range(4):
            change = rng.choices(names, weights)[0]
            if change(function, grammar, rng):
                done.append(change.__name__.replace("_", " "))
                break
    trim(function, most, grammar, rng)
    return finish(tree), ", ".join(done) or "nothing"


def size(function: ast.FunctionDef) -> int:
    """Nodes of the syntax tree."""
    return sum(1 for _ in ast.walk(function))


def trim(function: ast.FunctionDef, most: int, grammar: Grammar, rng: random.Random) -> None:
    """Drop parts until the program has at most `most` nodes.

    Without it programs grow for as long as the search runs, mostly by parts that decide nothing, and a candidate costs
    ever more (code growth: Banzhaf et al. 1998, chapter 7).
    """
    while size(function) > most and drop_part(function, grammar, rng):
        pass


def jitter_constants(function: ast.FunctionDef, grammar: Grammar, rng: random.Random) -> bool:
    """Move one or two constants: a little, or to another order of magnitude."""
    constants = [s for s in sites(function, grammar.fixed) if is_movable(_number(s.node)) and s.kind != "index"]
    if not constants:
        return False
    for site in rng.sample(constants, min(len(constants), rng.choice((1, 1, 2)))):
        site.put(_constant(moved(_number(site.node) or 0.0, rng)))
    return True


def moved(value: float, rng: random.Random) -> float:
    """A constant near `value`; an int stays one."""
    if isinstance(value, int):
        return value + rng.choice((-1, 1)) * rng.choice((1, 1, 1, 2, 3, max(1, abs(value) // 4)))
    if value == 0:
        return float(f"{rng.gauss(0, 0.5):.3g}")
    factor = 2 ** rng.gauss(0, rng.choice((0.15, 0.5, 2)))
    return float(f"{value * factor * (-1 if rng.random() < 0.05 else 1):.4g}")


def new_subtree(function: ast.FunctionDef, grammar: Grammar, rng: random.Random) -> bool:
    """Replace an expression by a fresh one of its type."""
    site = rng.choice(sites(function, grammar.fixed))
    drawn = grammar.test() if site.kind == "test" else grammar.index() if site.kind == "index" else grammar.number(2)
    site.put(expression(drawn))
    return True


def new_terminal(function: ast.FunctionDef, grammar: Grammar, rng: random.Random) -> bool:
    """Replace a leaf by another."""
    leaves = [s for s in _numbers(function, grammar) if isinstance(s.node, ast.Name | ast.Constant)]
    if leaves:
        rng.choice(leaves).put(expression(grammar.atom()))
    return bool(leaves)


def add_term(function: ast.FunctionDef, grammar: Grammar, rng: random.Random) -> bool:
    """Add a meaningful term to a returned number."""
    site = rng.choice(scores(function))
    site.put(ast.BinOp(site.node, ast.Add(), expression(grammar.term())))
    return True


def drop_part(function: ast.FunctionDef, grammar: Grammar, rng: random.Random) -> bool:
    """Replace an operation by one of its operands."""
    whole = [(site, parts) for site in _numbers(function, grammar) if (parts := _operands(site.node))]
    if not whole:
        return False
    site, parts = rng.choice(whole)
    site.put(rng.choice(parts))
    return True


def _operands(node: ast.expr) -> tuple[ast.expr, ...]:
    """What may stand in the place of an operation or a case; () for all else."""
    if isinstance(node, ast.BinOp):
        return node.left, node.right
    return (node.body, node.orelse) if isinstance(node, ast.IfExp) else ()


def change_operator(function: ast.FunctionDef, grammar: Grammar, rng: random.Random) -> bool:
    """Swap + − ×, or the direction of a comparison."""
    inside = [s.node for s in sites(function, grammar.fixed) if s.kind != "index"]
    found = [
        n for n in inside if isinstance(n, ast.Compare) or (isinstance(n, ast.BinOp) and isinstance(n.op, _ARITHMETIC))
    ]
    if not found:
        return False
    node = rng.choice(found)
    if isinstance(node, ast.Compare):
        node.ops[0] = rng.choice(_ORDER)()
    elif isinstance(node, ast.BinOp):
        node.op = rng.choice([kind for kind in _ARITHMETIC if not isinstance(node.op, kind)])()
    return True


def split_cases(function: ast.FunctionDef, grammar: Grammar, rng: random.Random) -> bool:
    """Let an expression hold in one case only."""
    site = rng.choice(_numbers(function, grammar))
    other = expression(grammar.number(1))
    if rng.random() < 0.5:
        other = ast.BinOp(copy.deepcopy(site.node), ast.Add(), expression(str(grammar.weight())))
    parts = [site.node, other]
    rng.shuffle(parts)
    site.put(ast.IfExp(expression(grammar.test()), *parts))
    return True


def scale(function: ast.FunctionDef, grammar: Grammar, rng: random.Random) -> bool:
    """Multiply an expression by a constant."""
    site = rng.choice(_numbers(function, grammar))
    site.put(ast.BinOp(expression(str(abs(grammar.weight()))), ast.Mult(), site.node))
    return True


def _numbers(function: ast.FunctionDef, grammar: Grammar) -> list[Site]:
    """The sites that hold a number."""
    return [site for site in sites(function, grammar.fixed) if site.kind == "number"]


CHANGES: dict[Callable[[ast.FunctionDef, Grammar, random.Random], bool], float] = {
    jitter_constants: 6,
    new_subtree: 3,
    new_terminal: 2,
    add_term: 4,
    drop_part: 3,
    change_operator: 1,
    split_cases: 1.5,
    scale: 1,
}
SHRINKING: dict[Callable[[ast.FunctionDef, Grammar, random.Random], bool], float] = {jitter_constants: 1, drop_part: 3}


# ---------------------------------------------------------------- crossover


def crossover(code: str, other: str, rng: random.Random, grammar: Grammar) -> tuple[str, str]:
    """(new program, what was done): a part or the whole result of `other` put into `code`."""
    tree = parse(code)
    function, donor = function_of(tree, grammar.function), function_of(parse(other), grammar.function)
    most = max(MOST_NODES, size(function))
    here, there = sites(function, grammar.fixed), sites(donor, grammar.fixed)
    home = rng.choice(scores(function))
    given = scores(donor)
    way = rng.randrange(4)
    if way == 0 and len(given) == 1:
        share = grammar.fraction()
        home.put(_sum(_times(share, home.node), _times(round(1 - share, 3), given[0].node)))
        done = "mixed the two scores"
    elif way == 1 and len(given) == 1:
        test = grammar.test()
        home.put(ast.IfExp(expression(test), home.node, given[0].node))
        done = f"its own score where {test}, else the second rule's"
    else:
        site = rng.choice(here)
        givers = [s for s in there if s.kind == site.kind]
        if not givers:
            givers, site = [s for s in there if s.kind == "number"], home
        gift = copy.deepcopy(rng.choice(givers).node)
        site.put(gift if way == 2 else gift if site.kind != "number" else _sum(site.node, gift))
        done = "took a part of the second rule"
    trim(function, most, grammar, rng)
    return finish(tree), done


def _times(factor: float, node: ast.expr) -> ast.expr:
    return ast.BinOp(expression(str(factor)), ast.Mult(), node)


def _sum(a: ast.expr, b: ast.expr) -> ast.expr:
    return ast.BinOp(a, ast.Add(), b)


# ---------------------------------------------------------------- text


def finish(tree: ast.Module) -> str:
    """The program's text, with `import math` where it is used and nothing imports it."""
    text = ast.unparse(tree)
    if not _lacks_math(tree):
        return text
    future, rest = without_future(text)  # which has to stay first
    return f"{future}\nimport math\n\n\n{rest.lstrip()}" if future else f"import math\n\n\n{text}"


def _lacks_math(tree: ast.Module) -> bool:
    """True if a statement names `math`, and neither an import of its own nor one for the whole program binds it."""
    lacks = False
    for statement in tree.body:
        inside = list(ast.walk(statement))
        if any(isinstance(n, ast.Import | ast.ImportFrom) and "math" in map(_bound, n.names) for n in inside):
            if not isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                return False
        else:
            lacks |= any(isinstance(n, ast.Name) and n.id == "math" for n in inside)
    return lacks


def _bound(alias: ast.alias) -> str:
    return alias.asname or alias.name.partition(".")[0]


def _number(node: ast.expr) -> float | int | None:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        inner = _number(node.operand)
        return None if inner is None else -inner
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float) and not isinstance(node.value, bool):
        return node.value
    return None


def _constant(value: float) -> ast.expr:
    return expression(repr(value))
