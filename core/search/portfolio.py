"""Several ways to search at once; the one that has gained the most a dollar lately gets the next step."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import Field

from core.contracts import Proposal, SearchPolicy
from core.search.parents import best_allowed, crossed, marked
from core.search.population import Population
from core.search.selectors.tournament import TournamentOptions, TournamentSelector
from core.search.three_phase import POLICY as PHASES
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from utils.bandit import Bandit
from utils.strategies import PolicyOptions, PolicySpec
from utils.syntax import form_hash

WAYS = {
    "phases": PHASES.operators,
    "islands": ("mutate", "crossover"),
    "tune": ("tune",),
    "restart": ("restart",),
}
"""Way of searching → its operators: by them a stored node is known to be its."""
OF_OPERATOR = {operator: way for way, operators in WAYS.items() for operator in operators}
WINDOW = 40
"""Newest steps that count: what gained at the start need not gain now."""
EXPLORATION = 0.35
TUNABLE = 40
"""Of the best programs, so many may have their constants tuned: one of good form with poor constants stands low."""


class PortfolioOptions(PolicyOptions):
    """Several ways to search (greedy phases, islands, tuning of constants, bold restarts): each step goes to the one
    that has gained the most a dollar lately, or a step where calls cost nothing."""

    num_drafts: int = Field(4, ge=1)
    """Programs written from nothing before any is changed."""
    debug_prob: float = Field(0.3, ge=0, le=1)
    """Chance that a step of the greedy phases repairs a failed program."""
    merge_prob: float = Field(0.1, ge=0, le=1)
    """Chance that a step of the greedy phases merges the best program with another."""
    num_islands: int = Field(2, ge=1, le=10_000)
    """Populations that are changed and crossed apart from each other."""
    population_size: int = Field(20, ge=2)
    """Programs kept on an island."""
    crossover_prob: float = Field(0.3, ge=0, le=1)
    """Chance that a step of an island crosses two of its programs."""
    crossover_kin: bool = True
    """Also cross programs of which one descends from the other, or that are nearly the same text."""
    tune: bool = True
    """Search the best programs' constants; false where the evaluator cannot."""


class PortfolioPolicy(SearchPolicy):
    """Drafts first; then each step is given to a way of searching by `utils.bandit.Bandit`.

    * phases: debug a failed program, improve or merge the best (`three_phase`).
    * islands: change or cross programs drawn by tournament, island by island; what the others find joins every island.
    * tune: search the constants of the best program of a form that was not tuned yet.
    * restart: from the best program in another direction, boldly.

    All share one journal, so that each builds on what the others found. A way without a proposal is passed over.
    """

    def __init__(self, options: PortfolioOptions | None = None) -> None:
        self.options = options = options or PortfolioOptions()
        phases = ThreePhaseOptions(
            num_drafts=options.num_drafts, debug_prob=options.debug_prob, merge_prob=options.merge_prob
        )
        self._phases = ThreePhasePolicy(phases)
        selector = TournamentSelector(TournamentOptions())
        self._islands = [Population(options.population_size, selector) for _ in range(options.num_islands)]
        self._visits = 0
        """Steps of the islands so far: they take turns."""
        self._tuned: set[str] = set()
        """Forms of programs: without their numbers."""
        self._can_tune = options.tune
        self._best: float | None = None
        self._bandit = Bandit(EXPLORATION, WINDOW)

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        under_way = Counter(way for task in journal.open_tasks if (way := OF_OPERATOR.get(task.operator)))
        drafts = journal.roots + sum(task.operator == "draft" for task in journal.open_tasks)
        if drafts < self.options.num_drafts or not best_allowed(journal, 1):
            return self._phases.ask(journal, rng, k)
        tuning = {_form(journal, task.parent_ids) for task in journal.open_tasks if task.operator == "tune"}
        chosen: list[Proposal] = []
        for slot in range(k):
            proposal = self._propose(journal, rng, under_way, tuning)
            under_way[OF_OPERATOR[proposal.operator]] += 1
            chosen.append(proposal.model_copy(update={"slot": slot}))
        return chosen

    def tell(self, journal: Journal, node: Node) -> None:
        way = OF_OPERATOR.get(node.operator)
        fitness = node.fitness if node.is_scored else None
        if way is not None:
            gain = 0.0 if fitness is None or self._best is None else fitness - self._best
            self._bandit.tell(way, gain, node.cost_usd)
            self._visits += way == "islands"
        if node.operator == "tune":
            self._tuned.add(_form(journal, node.parent_ids))
            self._can_tune &= node.failure is not FailureKind.EVAL_ERROR
        if fitness is None:
            return
        self._best = fitness if self._best is None else max(self._best, fitness)
        at_home = node.island is not None and node.operator not in FREE_OPERATORS
        homes = [self._islands[(node.island or 0) % len(self._islands)]] if at_home else self._islands
        for island in homes:
            island.add(node)

    # ------------------------------------------------------------ one step

    def _propose(self, journal: Journal, rng: random.Random, under_way: Counter[str], tuning: set[str]) -> Proposal:
        """Of the ways that have something to propose, the bandit's choice. The greedy phases always have."""
        ways: dict[str, Callable[[], Proposal | None]] = {
            "phases": lambda: self._phases.ask(journal, rng, 1)[0],
            "islands": lambda: self._of_an_island(journal, rng, under_way["islands"]),
            "tune": lambda: self._tune(journal, tuning),
            "restart": lambda: self._restart(journal),
        }
        names = list(ways)
        while True:
            way = names[self._bandit.choose(names, rng, under_way)]
            proposal = ways[way]()
            if proposal is not None:
                why = {"way": way, "ways": names, **proposal.why}
                return proposal.model_copy(update={"why": why})
            names.remove(way)

    def _of_an_island(self, journal: Journal, rng: random.Random, under_way: int) -> Proposal | None:
        number = (self._visits + under_way) % len(self._islands)
        banned = set(marked(journal, "banned"))
        island = self._islands[number]
        draw = rng.random()
        parents = island.sample(2 if draw < self.options.crossover_prob else 1, rng, banned)
        if not parents:
            return None
        if len(parents) > 1 and not self.options.crossover_kin:
            parents = crossed(journal, island.allowed(banned), parents, rng)
        why: dict[str, Any] = {"rule": "a tournament on the island", "draw": round(draw, 6), "pool": len(island)}
        why["parents"] = {node.id: node.fitness for node in parents}
        ids = tuple(node.id for node in reversed(parents))
        return Proposal(operator="crossover" if len(ids) > 1 else "mutate", parents=ids, island=number, why=why)

    def _tune(self, journal: Journal, tuning: set[str]) -> Proposal | None:
        if not self._can_tune:
            return None
        done = self._tuned | tuning
        best = next((node for node in best_allowed(journal, TUNABLE) if form_hash(node.code) not in done), None)
        if best is None:
            return None
        tuning.add(form_hash(best.code))
        return Proposal(operator="tune", parents=(best.id,), why={"rule": "the best form that was not tuned"})

    def _restart(self, journal: Journal) -> Proposal | None:
        best = best_allowed(journal, 1)
        return Proposal(operator="restart", parents=(best[0].id,), why={"rule": "a bold restart from the best"})


def _form(journal: Journal, parent_ids: Sequence[str]) -> str:
    """The first parent's form."""
    return form_hash(journal[parent_ids[0]].code) if parent_ids else ""


POLICY = PolicySpec(
    PortfolioOptions,
    lambda options, deps: PortfolioPolicy(options),
    operators=tuple(OF_OPERATOR),
)
