"""The grammar that rules are drawn from: typed expressions over the item, the room, the gap and the histogram.

Types: number, test (of an `if`), and index (an int that may index the histogram).
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from problems.bin_packing.program import FUNCTION


@dataclass(frozen=True, slots=True)
class Grammar:
    """Draws expressions; see `core.evaluation.variation.Grammar`.

    Args:
        capacity: of a bin; constants are drawn on its scale.
        histogram: whether the rule sees the histogram of open bins.
        rng: where every draw comes from.
    """

    function: ClassVar[str] = FUNCTION
    fixed: ClassVar[frozenset[str]] = frozenset({"gap"})

    capacity: int
    histogram: bool
    rng: random.Random

    # ------------------------------------------------------------ constants

    def room(self) -> int:
        """An amount of room, small ones likelier."""
        return min(self.capacity, int(self.rng.expovariate(8 / self.capacity)) + self.rng.choice((0, 1)))

    def weight(self) -> float:
        """A coefficient, over five orders of magnitude."""
        return _short(self.rng.choice((1, 1, -1)) * 10 ** self.rng.uniform(-2, 2.5))

    def fraction(self) -> float:
        return _short(self.rng.uniform(0, 1))

    # ------------------------------------------------------------ types

    def index(self) -> str:
        """An int in 0..capacity."""
        k = self.rng.randint(1, 12)
        choices = ["gap", "gap", "remaining_capacity", "item", f"max(gap - {k}, 0)", "abs(gap - item)"]
        choices.append(f"min(gap + {k}, {self.capacity})")
        return self.rng.choice(choices)

    def atom(self) -> str:
        if self.histogram and self.rng.random() < 0.3:
            return f"histogram[{self.index()}]"
        names = ("gap", "gap", "item", "remaining_capacity")
        return self.rng.choice(names) if self.rng.random() < 0.75 else str(self.weight())

    def test(self) -> str:
        kind = self.rng.randrange(8)
        if kind < 4:
            return f"gap {self.rng.choice(('<=', '<=', '>'))} {self.room()}"
        if kind == 4:
            return f"item {self.rng.choice(('<', '>='))} {self.rng.randint(1, self.capacity)}"
        if kind == 5:
            return f"remaining_capacity {self.rng.choice(('==', '<'))} {self.capacity}"
        if kind == 6 and self.histogram:
            return f"histogram[{self.index()}] > {self.rng.randint(0, 5)}"
        return f"{self.atom()} {self.rng.choice(('<', '>'))} {self.atom()}"

    def number(self, depth: int = 2) -> str:
        """A number, at most `depth` operators deep below the terms."""
        if depth <= 0:
            return self.atom()
        kind = self.rng.randrange(9)
        if kind < 3:
            return self.term()
        a, b = self.number(depth - 1), self.number(depth - 1)
        if kind < 6:
            return f"({a} {self.rng.choice('+-*')} {b})"
        if kind == 6:
            return f"({a} / (abs({b}) + {self.rng.choice((1, 1, 0.1))}))"
        if kind == 7:
            return f"({a} if {self.test()} else {b})"
        return f"{self.rng.choice(('max', 'min'))}({a}, {b})"

    # ------------------------------------------------------------ terms of a score

    def term(self) -> str:
        """One meaningful part of a score."""
        makers: list[Callable[[], str]] = [self.ladder, self.bonus, self.power, self.decay, self.ratio, self.unopened]
        if self.histogram:
            makers += [self.balance, self.balance, self.crowd]
        return self.rng.choice(makers)()

    def ladder(self) -> str:
        """Steps over the gap: what a good fit is worth, and how bad a nearly good one."""
        steps = sorted({self.room() for _ in range(self.rng.randint(1, 4))})
        text = str(_short(self.rng.uniform(-1, 1)))
        for step in reversed(steps):
            text = f"({_short(self.rng.uniform(-2, 4))} if gap <= {step} else {text})"
        return text

    def bonus(self) -> str:
        return f"({self.weight()} if {self.test()} else 0)"

    def power(self) -> str:
        base = self.rng.choice(("gap", "remaining_capacity", "gap / item", "remaining_capacity / item"))
        return f"{self.weight()} * ({base}) ** {self.rng.choice((0.25, 0.5, 2, 3, 4))}"

    def decay(self) -> str:
        return f"{self.weight()} * math.exp(-gap / {self.rng.randint(1, self.capacity // 3)})"

    def ratio(self) -> str:
        top = self.rng.choice(("gap", "item", "remaining_capacity", "gap ** 2", "1"))
        low = self.rng.choice(("item", "remaining_capacity", f"(gap + {self.rng.choice((0.1, 1, 3))})"))
        return f"{self.weight()} * {top} / {low}"

    def unopened(self) -> str:
        """What it costs to open a bin."""
        return f"({self.weight()} if remaining_capacity == {self.capacity} else 0)"

    def balance(self) -> str:
        """Take from levels with many bins, add to levels with few: the drift of a sum over the histogram."""
        made = self.rng.choice(("histogram[gap]", "histogram[gap]", "(histogram[gap] if gap > 0 else 0)"))
        text = self.rng.choice((f"histogram[remaining_capacity] - {made}", f"-{made}", "histogram[remaining_capacity]"))
        return f"{self.rng.choice((1, 1, self.weight()))} * ({text})"

    def crowd(self) -> str:
        """Open bins in a range of room."""
        low = self.room()
        parts = (f"sum(histogram[:{low}])", f"sum(histogram[gap:gap + {self.rng.randint(2, 20)}])", "sum(histogram)")
        return f"{self.weight()} * {self.rng.choice(parts)}"

    def score(self) -> str:
        """A whole score: a sum of one to three terms."""
        return " + ".join(self.term() for _ in range(self.rng.choice((1, 2, 2, 3))))


def _short(value: float) -> float:
    """Three significant digits, as a person would write it."""
    return float(f"{value:.3g}")
