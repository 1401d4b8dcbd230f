"""Changes to the constants of an engine's source: the alphabet that `rules` writes with."""

from __future__ import annotations

import ast
import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from utils.syntax import is_movable, parse_shared, with_texts

_SHARE_OF_ENTRIES = 0.3
"""Of a table that changes at once."""


@dataclass(frozen=True, slots=True)
class Gene:
    """A module-level constant that may be changed.

    Args:
        name: as it is assigned at the top of the file.
        category: search, evaluation, book or time: what a strategist's question may ask for.
        change: (present value, rng) → another value, a Python literal.
        about: what it does, in a few words for the plan.
    """

    name: str
    category: str
    change: Callable[[Any, random.Random], Any]
    about: str


def constants(code: str) -> dict[str, Any]:
    """Module-level `NAME = literal` (or `NAME: type = literal`) of the source, upper-case names only; {} if it does
    not parse."""
    return {name: value for name, (value, _) in _assignments(code).items()}


def with_constants(code: str, changes: Mapping[str, Any]) -> str:
    """The source with the literals of those constants replaced; comments and layout around them stay."""
    found = _assignments(code)
    return with_texts(code, [(found[name][1], repr(value)) for name, value in changes.items()])


def mutate(
    code: str, genes: Sequence[Gene], rng: random.Random, *, category: str = "", count: int = 1
) -> tuple[str, list[str]]:
    """Change up to `count` constants, those of `category` first.

    Returns:
        (new source, one line a change). Constants that the file does not have are passed over; where it has none of the
        genes, any numbers it names in capitals are jittered, so that engines of other writers evolve too.
    """
    present = constants(code)
    known = [gene for gene in genes if gene.name in present] or _numbers(present)
    preferred = [gene for gene in known if gene.category == category]
    pool = preferred or known
    changes: dict[str, Any] = {}
    notes = []
    for gene in rng.sample(pool, min(count, len(pool))):
        value = _changed(gene, present[gene.name], rng)
        if value != present[gene.name]:
            changes[gene.name] = value
            notes.append(f"{gene.name}: {_short(present[gene.name])} -> {_short(value)} ({gene.about})")
    return (with_constants(code, changes), notes) if changes else (code, [])


def _changed(gene: Gene, present: Any, rng: random.Random) -> Any:
    """The gene's draw; the present value where another writer uses the name for something else."""
    try:
        value = gene.change(present, rng)
    except (TypeError, ValueError, AttributeError, IndexError, OverflowError):
        return present
    return value if type(value) is type(present) else present


def cross(code: str, donor: str, genes: Sequence[Gene], rng: random.Random) -> tuple[str, list[str]]:
    """Take about half of the genes in which `donor` differs."""
    mine, theirs = constants(code), constants(donor)
    differing = [g.name for g in genes if g.name in mine and g.name in theirs and mine[g.name] != theirs[g.name]]
    taken = [name for name in differing if rng.random() < 0.5]
    notes = [f"{name}: {_short(mine[name])} -> {_short(theirs[name])} (from the runner-up)" for name in taken]
    return (with_constants(code, {name: theirs[name] for name in taken}), notes) if taken else (code, [])


# ---------------------------------------------------------------- how a value changes


def step(low: int, high: int, sizes: Sequence[int] = (1, 1, 2, -1)) -> Callable[[Any, random.Random], Any]:
    """A whole number moved by one of `sizes`, within low..high."""

    def change(value: Any, rng: random.Random) -> int:
        return max(low, min(high, int(value) + rng.choice(sizes)))

    return change


def jitter(low: float, high: float, spread: float) -> Callable[[Any, random.Random], Any]:
    """A number moved by a normal draw of `spread`, or by a tenth of itself where that is more; ints stay ints."""

    def change(value: Any, rng: random.Random) -> Any:
        moved = max(low, min(high, value + rng.gauss(0, max(spread, abs(value) / 10))))
        return round(moved) if isinstance(value, int) else round(moved, 4)

    return change


def down(low: int) -> Callable[[Any, random.Random], Any]:
    """A whole number lowered by one or two, not below `low`."""

    def change(value: Any, rng: random.Random) -> int:
        return max(low, int(value) - rng.choice((1, 2)))

    return change


def flip(value: Any, rng: random.Random) -> bool:
    """The other truth value."""
    return not value


def jitter_each(low: float, high: float, spread: float) -> Callable[[Any, random.Random], Any]:
    """A tuple or list of numbers with about three in ten of its entries jittered."""
    one = jitter(low, high, spread)

    def change(values: Any, rng: random.Random) -> Any:
        return type(values)(one(value, rng) if rng.random() < _SHARE_OF_ENTRIES else value for value in values)

    return change


def reorder(values: Any, rng: random.Random) -> Any:
    """A sequence with two entries exchanged."""
    changed = list(values)
    i, j = rng.sample(range(len(changed)), 2)
    changed[i], changed[j] = changed[j], changed[i]
    return type(values)(changed)


def choose(*values: Any) -> Callable[[Any, random.Random], Any]:
    """One of the given values, other than the present one."""

    def change(value: Any, rng: random.Random) -> Any:
        return rng.choice([other for other in values if other != value])

    return change


# ---------------------------------------------------------------- reading the source


def _assignments(code: str) -> dict[str, tuple[Any, ast.expr]]:
    try:
        tree = parse_shared(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return {}
    found: dict[str, tuple[Any, ast.expr]] = {}
    for statement in tree.body:
        target, value = _assigned(statement)
        if isinstance(target, ast.Name) and target.id.isupper() and value is not None:
            try:
                found[target.id] = (ast.literal_eval(value), value)
            except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
                continue
    return found


def _assigned(statement: ast.stmt) -> tuple[ast.expr | None, ast.expr | None]:
    """(target, value) of `X = …` and `X: int = …`; None for what a statement has not."""
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return statement.targets[0], statement.value
    return (statement.target, statement.value) if isinstance(statement, ast.AnnAssign) else (None, None)


def _numbers(present: Mapping[str, Any]) -> list[Gene]:
    """Genes for any number, or tuple or list of numbers, of a file that was not written for our repertoire."""
    genes = []
    for name, value in present.items():
        if is_movable(value):
            genes.append(Gene(name, "evaluation", jitter(-1e9, 1e9, 1.0), "a constant of the file"))
        elif isinstance(value, tuple | list) and value and all(map(is_movable, value)):
            genes.append(Gene(name, "evaluation", jitter_each(-1e9, 1e9, 1.0), "a table of the file"))
    return genes


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."
