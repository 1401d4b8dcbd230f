"""Family: a kind of model, how it is written, what its columns look like, what it costs and how it is tuned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import log2
from typing import Any

from problems.competition.rules.facts import FEWEST, PARTS, Facts
from problems.competition.rules.recipe import Member

LARGE = 4_000
"""Rows from which trees may be larger and more."""
ROUNDS = ("max_iter", "n_estimators", "iterations")
LEAVES = ("max_leaf_nodes", "num_leaves")
BOLDER_TIME = 1.5
"""How many times the pace of a program larger trees may take that are tried in place of many rounds."""
ROWS_OF_A_LEAF = 30
"""Rows that a leaf has at least, about: a small table grows no more leaves than that, whatever is asked for."""
ABSOLUTE = ("mae", "medae", "mape", "smape", "rmspe")
"""Metrics of absolute errors."""


@dataclass(frozen=True, slots=True)
class Family:
    """A kind of model.

    Args:
        wants: `trees` (coded columns), `dense` (one-hot, scaled), `text` (TF-IDF beside one-hot) or `words` (TF-IDF
            alone).
        regressor, classifier: class names, '' if there is none.
        modules: the module of each class.
        grid: values of each parameter, in an order in which neighbours are alike; the middle is the default.
        large: what a default is instead on at least `LARGE` rows.
        starts: for boosters, in place of the middle of the grid, from shy to bold; two of them are tried first.
        fixed: parameters that are always written.
        names: parameters that are written as names of the script, not as values.
        absolute, quantile: parameters of a regressor where the metric is of absolute errors, or a quantile's; `{q}`
            stands for the quantile.
        cost: seconds on one thread for 1,000 rows of 80 columns, about.
        power: how the cost grows with rows.
        tree: for boosting on histograms, in place of both: what a tree takes, as a multiple of scikit-learn's.
        per_class: of more than two classes, what each but the first costs, as a share of `cost`.
        package: the library that it comes with, where that is not scikit-learn.
        wrap: what stands round the classifier, for those without probabilities.
        folds: that learns from folds, each with every class.
        counts: a classifier that wants classes 0, 1, 2, … without a gap, which a fold without a rare class has.
        instead_of: the family that it is a quicker form of: it suits only where that one does not.
    """

    name: str
    about: str
    wants: str
    regressor: str
    classifier: str
    modules: tuple[str, str]
    grid: Mapping[str, tuple[Any, ...]]
    fixed: Mapping[str, Any] = field(default_factory=dict)
    fixed_classifier: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 0.1
    power: float = 1.0
    tree: float = 0.0
    seeded: bool = False
    wrap: str = "{}"
    large: Mapping[str, Any] = field(default_factory=dict)
    starts: tuple[Mapping[str, Any], ...] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    absolute: Mapping[str, Any] = field(default_factory=dict)
    quantile: Mapping[str, Any] = field(default_factory=dict)
    per_class: float = 0.0
    package: str = ""
    folds: bool = False
    counts: bool = False
    instead_of: str = ""

    def suits(self, facts: Facts) -> bool:
        """True if programs can import it, it has a model for the task and columns, and it can afford the rows."""
        written = (self.regressor if goal.task == "regression" else self.classifier for goal in facts.goals)
        if not all(written) or (self.package and self.package not in facts.packages):
            return False
        if self.wants in ("text", "words") and not facts.texts:
            return False
        if self.folds and facts.classifies and facts.rarest < FEWEST:
            return False
        return self.cheapest(facts) <= facts.pace

    def seconds(self, facts: Facts, member: Member | None = None) -> float:
        """What a fit takes, about; without a member, one of the middle of the grid."""
        if self.tree:
            return self._histogram_seconds(facts, member or self._middle(facts))
        thousands: float = (max(facts.rows, 100) / 1000) ** self.power
        outputs = 1 + self.per_class * (facts.outputs - 1)
        effort = 1.0
        for name, value in member.params if member else ():
            if not isinstance(value, int):
                continue
            if name in ROUNDS and name in self.grid:
                effort *= value / self._middle_of(name)
            elif name in LEAVES and name in self.grid:
                effort *= (value / self._middle_of(name)) ** 0.5
        return self.cost * thousands * outputs * effort * (0.3 + facts.width / 80)

    def _histogram_seconds(self, facts: Facts, member: Member) -> float:
        """Small tables pay for leaves, large ones for the cells that each level of a tree adds up (fitted to 2,000 …
        100,000 rows of 8 … 1,000 columns: 0.6 to 1.3 of what was measured)."""
        known = {**dict(self._middle(facts).params), **dict(member.params)}
        rounds = next(known[name] for name in ROUNDS if name in known)
        leaves = next((known[name] for name in LEAVES if name in known), 2 ** known.get("max_depth", 5))
        grown = min(leaves, max(4, facts.rows / ROWS_OF_A_LEAF))
        width = facts.width + PARTS * len(facts.dates)
        cells = facts.rows * width
        each = 4.5e-4 + grown * (4.3e-5 + 1.9e-6 * width) + cells * (5e-10 + 9.7e-10 * log2(grown))
        told = 1.2e-7 * facts.asked
        return float(self.tree * (rounds * (each + told) * facts.outputs + 1.8e-7 * cells))

    def default(self, facts: Facts, place: int = 0) -> Member:
        """What is tried first, with fewer rounds and larger steps where these take longer than a program may.

        Args:
            place: 1 for what is tried beside it.
        """
        member = self._middle(facts, place)
        if self.seconds(facts, member) <= facts.pace:
            return member
        bolder = self._bolder(facts) if place else None
        return bolder or self._hurried(member, facts)

    def _bolder(self, facts: Facts) -> Member | None:
        """In place of what is tried beside the first start and has no time for its rounds: the next larger trees, since
        few small ones say little; None where that one is not the larger of both, or these have no time either.
        """
        first, beside = _order(facts)
        if not self.starts or not first < beside < len(self.starts) - 1:
            return None
        member = self._hurried(self.start(beside + 1), facts)
        return member if self.seconds(facts, member) <= BOLDER_TIME * facts.pace else None

    def start(self, place: int) -> Member:
        return Member(self.name, tuple(sorted(self.starts[place].items())))

    def cheapest(self, facts: Facts) -> float:
        """Seconds of a fit with the fewest rounds of the grid."""
        return self.seconds(facts, self._cheapest(self._middle(facts)))

    def write(self, member: Member, facts: Facts, seed: str) -> str:
        """The constructor call."""
        classifies = facts.classifies
        known = {**self.fixed, **(self.fixed_classifier if classifies else self._loss(facts))}
        known |= {name: value for name, value in member.params if name in self.grid}
        if classifies:
            known.pop("epsilon", None)  # of a regressor's margin
        arguments = [f"{name}={value!r}" for name, value in known.items()]
        arguments += [f"{name}={value}" for name, value in self.names.items()]
        if self.seeded:
            arguments.append(f"random_state={seed}")
        call = f"{self.classifier if classifies else self.regressor}({', '.join(arguments)})"
        return self.wrap.format(call) if classifies else call

    def imports(self, facts: Facts) -> list[tuple[str, str]]:
        """Pairs of module and name."""
        if not facts.classifies:
            return [(self.modules[0], self.regressor)]
        more = [("sklearn.calibration", "CalibratedClassifierCV")] if "Calibrated" in self.wrap else []
        return [(self.modules[1], self.classifier), *more]

    def _loss(self, facts: Facts) -> dict[str, Any]:
        if facts.metric in ABSOLUTE:
            return dict(self.absolute)
        if not facts.metric.startswith("quantile@"):
            return {}
        share = float(facts.metric.partition("@")[2])
        filled = {name: value.replace("{q}", str(share)) for name, value in self.quantile.items()}
        return {name: share if value == str(share) else value for name, value in filled.items()}

    def takes(self, member: Member) -> bool:
        """True for a member whose parameters are of the grid's kinds: a recipe may come from anywhere."""
        known = ((value, self.grid[name]) for name, value in member.params if name in self.grid)
        return all(_kind(value) in map(_kind, values) for value, values in known)

    def _middle_of(self, name: str) -> Any:
        return self.grid[name][len(self.grid[name]) // 2]

    def _middle(self, facts: Facts, place: int = 0) -> Member:
        if self.starts:
            return self.start(_order(facts)[place])
        large = self.large if facts.rows >= LARGE else {}
        return Member(self.name, tuple(sorted((name, large.get(name, self._middle_of(name))) for name in self.grid)))

    def _cheapest(self, member: Member) -> Member:
        """The member with the fewest rounds of the grid."""
        for name in ROUNDS:
            if name in self.grid:
                member = member.with_param(name, min(self.grid[name]))
        return member

    def _hurried(self, member: Member, facts: Facts) -> Member:
        """As many rounds of the grid as there is time for; a booster that has fewer takes larger steps."""
        whole, member = member, self._cheapest(member)
        for name in ROUNDS:
            for rounds in sorted(self.grid.get(name, ())):
                longer = member.with_param(name, rounds)
                member = longer if self.seconds(facts, longer) <= facts.pace else member
            if name in self.grid and "learning_rate" in self.grid:
                rate = whole.param("learning_rate") * whole.param(name) / member.param(name)
                member = member.with_param("learning_rate", round(min(rate, max(self.grid["learning_rate"])), 3))
        return member


def _order(facts: Facts) -> tuple[int, int]:
    """Which two of a booster's starts come first: classes tell less than numbers, and few rows less than many."""
    if facts.classifies:
        return (0, 1) if facts.rows < 5 * LARGE else (1, 2)
    return (1, 0) if facts.rows < LARGE else (2, 3)


def _kind(value: Any) -> type:
    """One for whole numbers and others."""
    return float if type(value) is int else type(value)
