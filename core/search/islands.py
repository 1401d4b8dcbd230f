"""Islands: separate populations that exchange their best and start again where they are weak.

Source: Romera-Paredes et al. 2024 (FunSearch), with resets counted in evaluations instead of hours.
"""

from __future__ import annotations

import random
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import count, islice
from typing import TYPE_CHECKING, Any

from pydantic import Field

from core.contracts import ParentSelector, Proposal, SearchPolicy
from core.events import Event, IslandMigrated, IslandReset, Warned
from core.search.grid import OF_EVERY_PROGRAM, Axis, Grid, feature
from core.search.migration import Migration, routes
from core.search.parents import crossed
from core.search.population import Population
from core.search.selection import fitness
from core.search.selectors.tournament import TournamentOptions, TournamentSelector
from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from core.state.task import derive_seed
from utils.strategies import PolicyOptions, PolicySpec

if TYPE_CHECKING:
    from core.state.journal import Journal

CANDIDATES_TOLD = 12
"""Members of an island named in `show --why`; a run keeps them for every node."""
FEATURES_TOLD = 12
PARENTS_CONSIDERED = 3
"""How many of an island's best `refine` and `tune` choose from."""


class IslandsOptions(PolicyOptions):
    """Separate populations that exchange their best: for programs that run fast."""

    num_islands: int = Field(3, ge=1, le=10_000)
    """Populations; with `grid` there is one more."""
    per_island: int = Field(8, ge=1)
    """Candidates an island writes a generation."""
    population_size: int = Field(50, ge=2)
    """Members an island keeps."""
    selection: str = Field("tournament", json_schema_extra={"names": "selectors"})
    """How parents are drawn: tournament, rank, softmax, or a selector of a plug-in."""
    migration: Migration = "global"
    """`global`: each island's best goes into a pool that outlives resets, and every island takes in the pool; `ring`:
    each best goes to the next island; `all`: each best goes to every other island."""
    migration_interval: int = Field(5, ge=0)
    """Generations between two migrations; 0: never."""
    reset_evaluations: int = Field(0, ge=0)
    """Candidates after which the weaker half of the islands starts again from a survivor's best; 0: never."""
    stagnation_restart: int = Field(0, ge=0)
    """Generations without a better best after which an island starts again; 0: never."""
    crossover_prob: float = Field(0.3, ge=0, le=1)
    """Share of an island's candidates that have two parents."""
    crossover_kin: bool = True
    """Two parents may be kin, alike, or a baseline and what beats it; a model finds nothing to combine there."""
    generate_prob: float = Field(0.1, ge=0, le=1)
    """Share of an island's candidates that are written anew, without a parent; 1: random draws, the control."""
    elite_prob: float = Field(0.0, ge=0, le=1)
    """Share of an island's candidates that change its best program, not one that is drawn; larger where a model has
    few steps."""
    refine_interval: int = Field(0, ge=0)
    """Generations between candidates of `llm.refine`; 0: never."""
    tune_interval: int = Field(0, ge=0)
    """Generations between searches of a program's constants; 0: never."""
    grid: dict[str, Axis] | None = None
    """MAP-Elites as one more population: feature name → {low, high, bins}. A feature is a number that the evaluator
    returns beside the score, or `length`, `nodes` or `constants` of the program."""

    @property
    def generation_size(self) -> int:
        return self.per_island * (self.num_islands + bool(self.grid))


class IslandsPolicy(SearchPolicy):
    """Search policy of the heuristic family. One generation = `per_island` nodes of each island, slots in island order.

    A round may be a part of a generation, or the rest of one and the beginning of the next: a round of fewer programs
    than were asked for would leave workers idle.
    Baselines and the user's programs found every island. An island without a member asks for `generate`.

    Args:
        selector: draws the parents in each island, a tournament if absent; the grid draws every cell alike.
        seed: for the draws in `tell` (founders of a reset); the run's seed.
    """

    def __init__(
        self, options: IslandsOptions | None = None, selector: ParentSelector | None = None, seed: int = 0
    ) -> None:
        self.options = options = options or IslandsOptions()
        selector = selector or TournamentSelector(TournamentOptions())
        self.islands = [Population(options.population_size, selector) for _ in range(options.num_islands)]
        self.grid = Grid(options.grid) if options.grid else None
        self.seed = seed
        self.generation = 0
        self._pool = Population(options.num_islands)
        self._told: defaultdict[int, Counter[int]] = defaultdict(Counter)
        """Of each generation that is not over, the nodes of each island."""
        self._evaluations = 0
        self._improved_in = [0] * options.num_islands
        self._founders: list[Node] = []
        self._treated: set[tuple[str, str]] = set()
        self._events: list[Event] = []
        self._told_lacking = False

    # ------------------------------------------------------------ the seam

    @property
    def finished_generations(self) -> int:
        return self.generation

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        """The next k slots that nobody has, in order; what a generation has too few of, the next one gives.

        A slot whose proposal was withdrawn is free again: every island writes as many a generation.
        """
        under_way = [
            task for task in journal.open_tasks if task.generation is not None and task.generation >= self.generation
        ]
        asked: set[tuple[str, str]] = {(task.operator, parent) for task in under_way for parent in task.parent_ids}
        banned = {node_id for node_id, mark in journal.marks.items() if mark == "banned"}
        taken = Counter((task.generation, task.island or 0) for task in under_way)
        places = islice(self._free(taken), k)
        return [self._propose(journal, generation, slot, rng, banned, asked) for generation, slot in places]

    def _free(self, under_way: Counter[tuple[int | None, int]]) -> Iterator[tuple[int, int]]:
        """(generation, slot) of what is neither told nor under way, in order.

        Args:
            under_way: (generation, island) → proposals.
        """
        each = self.options.per_island
        for generation in count(self.generation):
            told = self._told.get(generation, Counter())
            for island in range(self.options.generation_size // each):
                taken = told[island] + under_way[generation, island]
                yield from ((generation, island * each + place) for place in range(taken, each))

    def tell(self, journal: Journal, node: Node) -> None:
        if node.operator in FREE_OPERATORS:
            self._found(node)
            return
        self._evaluations += 1
        if node.operator in ("refine", "tune") and node.parent_id:
            self._treated.add((node.operator, node.parent_id))
        if node.is_scored:
            self._settle(node)
        if node.generation is not None:
            self._told[node.generation][node.island or 0] += 1
        while self._told[self.generation].total() >= self.options.generation_size:
            self._end_generation()
        if self.options.reset_evaluations and self._evaluations % self.options.reset_evaluations == 0:
            self._reset_weaker_half()

    def drain_events(self) -> list[Event]:
        """Migrations and resets since the last call, for the caller to store."""
        events, self._events = self._events, []
        return events

    # ------------------------------------------------------------ asking

    def _propose(
        self,
        journal: Journal,
        generation: int,
        slot: int,
        rng: random.Random,
        banned: set[str],
        asked: set[tuple[str, str]],
    ) -> Proposal:
        options = self.options
        island = slot // options.per_island
        home = self._home(island, slot)
        pool = home.allowed(banned)
        place: dict[str, Any] = {"generation": generation, "island": island, "slot": slot}
        if not pool:
            return Proposal(operator="generate", why={"rule": "the island is empty"}, **place)
        best = home.get_top_k(PARENTS_CONSIDERED, banned)
        if slot % options.per_island == 0 and (special := self._special(generation, best, asked)):
            operator, parent = special
            asked.add(special)
            why = {"rule": f"{operator} is due", "pool": len(pool)}
            return Proposal.model_validate({"operator": operator, "parents": (parent,), "why": why, **place})
        draw = rng.random()
        if draw < options.generate_prob:
            return Proposal(operator="generate", why={"rule": "fresh blood", "draw": round(draw, 6)}, **place)
        drawn = draw - options.generate_prob - options.elite_prob
        if drawn < 0:
            why = {"rule": "the island's best", "draw": round(draw, 6), "pool": len(pool)}
            return Proposal(operator="mutate", parents=(best[0].id,), why=why, **place)
        crossover = drawn < options.crossover_prob and len(pool) > 1
        parents = home.sample(2 if crossover else 1, rng, banned)
        if len(parents) > 1 and not options.crossover_kin:
            parents = crossed(journal, pool, parents, rng)
        why = {"rule": _rule_of(home), "draw": round(draw, 6), "pool": len(pool)}
        why["candidates"] = [node.id for node in pool[:CANDIDATES_TOLD]]
        why["parents"] = {node.id: node.fitness for node in parents}
        ids = tuple(node.id for node in reversed(parents))
        return Proposal(operator="crossover" if len(ids) > 1 else "mutate", parents=ids, why=why, **place)

    def _home(self, island: int, slot: int) -> Population | Grid:
        """Whose programs are parents. Where none has the grid's features, the islands stand in for it in turn."""
        if island < len(self.islands):
            return self.islands[island]
        return self.grid if self.grid is not None and self.grid.allowed() else self.islands[slot % len(self.islands)]

    def _special(self, generation: int, best: list[Node], asked: set[tuple[str, str]]) -> tuple[str, str] | None:
        """(`tune` or `refine`, node id) where one is due and a program of the island's best has not had it."""
        due = {"tune": self.options.tune_interval, "refine": self.options.refine_interval}
        for operator, interval in due.items():
            if interval and generation and generation % interval == 0:
                for node in best:
                    treatment = (operator, node.id)
                    if treatment not in self._treated and treatment not in asked and node.operator != operator:
                        return treatment
        return None

    # ------------------------------------------------------------ learning

    def _found(self, node: Node) -> None:
        if node.is_scored:
            self._founders.append(node)
            for island in range(len(self.islands)):
                self._join(island, node)
            self._place(node)

    def _settle(self, node: Node) -> None:
        island = node.island if node.island is not None else 0
        self._join(island % len(self.islands), node)
        self._place(node)

    def _place(self, node: Node) -> None:
        """Into the grid. That a program has no place there is told once: the name may be misspelt."""
        if self.grid is None or self.grid.add(node) or self._told_lacking:
            return
        if name := self.grid.lacking(node):
            self._told_lacking = True
            measured = [name for name in (*node.metrics, *node.features) if feature(node, name) is not None]
            known = ", ".join([*OF_EVERY_PROGRAM, *measured][:FEATURES_TOLD])
            text = f"search.islands.grid: a program without the feature '{name}' has no place in it; known are {known}"
            self._events.append(Warned(text=text, node_id=node.id))

    def _join(self, island: int, node: Node) -> None:
        population = self.islands[island]
        before = population.best
        if population.add(node) and (before is None or fitness(node) > fitness(before)):
            self._improved_in[island] = self.generation

    def _end_generation(self) -> None:
        del self._told[self.generation]
        self.generation += 1
        interval = self.options.migration_interval
        if interval and self.generation % interval == 0 and len(self.islands) > 1:
            self._migrate()
        if self.options.stagnation_restart:
            for island in range(len(self.islands)):
                if self.generation - self._improved_in[island] > self.options.stagnation_restart:
                    self._restart(island, self._founder_for(island))

    def _migrate(self) -> None:
        planned = routes(self.options.migration, self.islands, self._pool)
        moves = [move for move in planned if self.islands[move[2]].add(move[0])]
        if moves:
            told = [(node.id, source, target) for node, source, target in moves]
            self._events.append(IslandMigrated(generation=self.generation - 1, moves=told))

    def _reset_weaker_half(self) -> None:
        def strength(island: int) -> tuple[float, int]:
            best = self.islands[island].best
            return (best.fitness or 0.0, -island) if best else (float("-inf"), -island)

        order = sorted(range(len(self.islands)), key=strength)
        weak = order[: len(order) // 2]
        survivors = order[len(order) // 2 :]
        for island in weak:
            draw = random.Random(derive_seed(self.seed, "reset", self._evaluations, island))
            self._restart(island, self.islands[draw.choice(survivors)].best)

    def _founder_for(self, island: int) -> Node | None:
        """A reset by stagnation starts from another island's best, a lone island from the first baseline."""
        others = [p.best for i, p in enumerate(self.islands) if i != island and p.best is not None]
        draw = random.Random(derive_seed(self.seed, "restart", self.generation, island))
        if others:
            return draw.choice(others)
        return self._founders[0] if self._founders else None

    def _restart(self, island: int, founder: Node | None) -> None:
        self.islands[island].clear()
        if founder is not None:
            self.islands[island].add(founder)
        self._improved_in[island] = self.generation
        self._events.append(IslandReset(island=island, founder=founder.id if founder else None))


def _rule_of(home: Population | Grid) -> str:
    """How the parents of a home are drawn, for `show --why`."""
    return type(home.selector).__name__ if isinstance(home, Population) else "every cell of the grid alike"


POLICY = PolicySpec(
    IslandsOptions,
    lambda options, deps: IslandsPolicy(options, deps.selector(options.selection), deps.seed),
    operators=("generate", "mutate", "crossover", "refine", "tune"),
)
