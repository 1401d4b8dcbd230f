"""Islands: separate populations that exchange their best and start again where they are weak.

Source: Romera-Paredes et al. 2024 (FunSearch), with resets counted in evaluations instead of hours.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from core.contracts import Proposal, SearchPolicy
from core.events import Event, IslandMigrated, IslandReset
from core.search.grid import Grid
from core.search.population import Population
from core.search.selection import build_selector
from core.state.node import FREE_OPERATORS, Node
from core.state.task import derive_seed

if TYPE_CHECKING:
    from core.state.journal import Journal

CANDIDATES_TOLD = 12
"""Members of an island named in `show --why`; a run keeps them for every node."""
PARENTS_CONSIDERED = 3
"""How many of an island's best `refine` and `tune` choose from."""


class IslandsPolicy(SearchPolicy):
    """Search policy of the heuristic family. One generation = `per_island` nodes of each island, slots in island order.

    A round may be a part of a generation (`ask` with k below its size); the rest follows in the next rounds.
    Baselines and the user's programs found every island. An island without a member asks for `generate`.

    Args:
        num_islands: populations; with `grid` there is one more, the MAP-Elites grid.
        per_island: candidates an island writes a generation.
        population_size: members an island keeps.
        selection: tournament, rank or softmax; `tournament_size` and `temperature` belong to them.
        migration: `global` (each island's best goes into a pool that outlives resets, and every island takes in the
            pool), `ring` (each best goes to the next island) or `all` (each best goes to every other island); every
            `migration_interval` generations, 0: never.
        reset_evaluations: nodes after which the weaker half of the islands starts again from a survivor's best;
            0: never.
        stagnation_restart: generations without a better best after which an island starts again; 0: never.
        crossover_prob, generate_prob: shares of the operators; the rest is `mutate`.
        refine_interval, tune_interval: every so many generations the first slot of an island is `refine` or `tune`, a
            program of its best that has not been through it; 0: never.
        grid: feature name → {low, high, bins}, or None.
        seed: for the draws in `tell` (founders of a reset); the run's seed.
    """

    def __init__(
        self,
        *,
        num_islands: int = 3,
        per_island: int = 8,
        population_size: int = 50,
        selection: str = "tournament",
        tournament_size: int = 3,
        temperature: float = 0.1,
        migration: str = "global",
        migration_interval: int = 5,
        reset_evaluations: int = 0,
        stagnation_restart: int = 0,
        crossover_prob: float = 0.3,
        generate_prob: float = 0.1,
        refine_interval: int = 0,
        tune_interval: int = 0,
        grid: Mapping[str, Mapping[str, Any]] | None = None,
        seed: int = 0,
    ) -> None:
        if migration not in ("global", "ring", "all"):
            raise ValueError(f"search.migration={migration!r}; allowed: global, ring, all")
        self.islands = [Population(population_size) for _ in range(num_islands)]
        self.grid = Grid(grid) if grid else None
        self.per_island, self.migration, self.migration_interval = per_island, migration, migration_interval
        self.reset_evaluations, self.stagnation_restart = reset_evaluations, stagnation_restart
        self.crossover_prob, self.generate_prob = crossover_prob, generate_prob
        self.refine_interval, self.tune_interval = refine_interval, tune_interval
        self.seed = seed
        self.generation = 0
        self._selector = build_selector(selection, tournament_size=tournament_size, temperature=temperature)
        self._pool = Population(num_islands)
        self._told = 0
        self._evaluations = 0
        self._improved_in = [0] * num_islands
        self._founders: list[Node] = []
        self._treated: set[tuple[str, str]] = set()
        self._events: list[Event] = []

    # ------------------------------------------------------------ the seam

    @property
    def finished_generations(self) -> int:
        return self.generation

    @property
    def generation_size(self) -> int:
        """Nodes a generation."""
        return self.per_island * (len(self.islands) + (self.grid is not None))

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        """At most k of the generation's open slots, in slot order.

        One proposal at a time (k = 1) takes a slot at random: others may be on their way, unknown here.
        """
        asked: set[tuple[str, str]] = set()
        open_slots = range(self._told, min(self._told + k, self.generation_size))
        if k == 1:
            open_slots = range(slot := rng.randrange(self.generation_size), slot + 1)
        return [self._propose(slot, rng, journal.marks, asked) for slot in open_slots]

    def tell(self, journal: Journal, node: Node) -> None:
        if node.operator in FREE_OPERATORS:
            self._found(node)
            return
        self._evaluations += 1
        if node.operator in ("refine", "tune") and node.parent_id:
            self._treated.add((node.operator, node.parent_id))
        if node.is_scored:
            self._settle(node)
        if node.generation == self.generation:
            self._told += 1
        if self._told >= self.generation_size:
            self._end_generation()
        if self.reset_evaluations and self._evaluations % self.reset_evaluations == 0:
            self._reset_weaker_half()

    def drain_events(self) -> list[Event]:
        """Migrations and resets since the last call, for the caller to store."""
        events, self._events = self._events, []
        return events

    # ------------------------------------------------------------ asking

    def _propose(
        self, slot: int, rng: random.Random, marks: Mapping[str, str], asked: set[tuple[str, str]]
    ) -> Proposal:
        island = slot // self.per_island
        outside = self.grid is not None and island == len(self.islands)
        home: Population | Grid = self.grid if self.grid is not None and outside else self.islands[island]
        pool = [node for node in home.members if marks.get(node.id) != "banned"]
        place: dict[str, Any] = {"generation": self.generation, "island": island, "slot": slot}
        if not pool:
            return Proposal(operator="generate", why={"rule": "the island is empty"}, **place)
        if slot % self.per_island == 0 and (special := self._special(pool, asked)):
            operator, parent = special
            asked.add(special)
            why = {"rule": f"{operator} is due", "pool": len(pool)}
            return Proposal.model_validate({"operator": operator, "parents": (parent,), "why": why, **place})
        draw = rng.random()
        if draw < self.generate_prob:
            return Proposal(operator="generate", why={"rule": "fresh blood", "draw": draw}, **place)
        crossover = draw < self.generate_prob + self.crossover_prob and len(pool) > 1
        parents = self._select(home, pool, 2 if crossover else 1, rng)
        why = {"rule": type(self._selector).__name__, "draw": draw, "pool": len(pool)}
        why["candidates"] = [node.id for node in pool[:CANDIDATES_TOLD]]
        why["parents"] = {node.id: node.fitness for node in parents}
        ids = tuple(node.id for node in reversed(parents))
        return Proposal(operator="crossover" if len(ids) > 1 else "mutate", parents=ids, why=why, **place)

    def _select(self, home: Population | Grid, pool: list[Node], k: int, rng: random.Random) -> list[Node]:
        if isinstance(home, Grid):
            return rng.sample(pool, min(k, len(pool)))
        return self._selector.select(pool, k, rng)

    def _special(self, pool: list[Node], asked: set[tuple[str, str]]) -> tuple[str, str] | None:
        """(`tune` or `refine`, node id) where one is due and a program of the island's best has not had it."""
        for operator, interval in (("tune", self.tune_interval), ("refine", self.refine_interval)):
            if interval and self.generation and self.generation % interval == 0:
                for node in pool[:PARENTS_CONSIDERED]:
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
            if self.grid is not None:
                self.grid.add(node)

    def _settle(self, node: Node) -> None:
        island = node.island if node.island is not None else 0
        self._join(island % len(self.islands), node)
        if self.grid is not None:
            self.grid.add(node)

    def _join(self, island: int, node: Node) -> None:
        population = self.islands[island]
        before = population.best
        if population.add(node) and population.best is not before:
            self._improved_in[island] = self.generation

    def _end_generation(self) -> None:
        self.generation += 1
        self._told = 0
        if self.migration_interval and self.generation % self.migration_interval == 0 and len(self.islands) > 1:
            self._migrate()
        if self.stagnation_restart:
            for island in range(len(self.islands)):
                if self.generation - self._improved_in[island] > self.stagnation_restart:
                    self._restart(island, self._founder_for(island))

    def _migrate(self) -> None:
        moves = [move for move in self._routes() if self.islands[move[2]].add(move[0])]
        if moves:
            told = [(node.id, source, target) for node, source, target in moves]
            self._events.append(IslandMigrated(generation=self.generation, moves=told))

    def _routes(self) -> list[tuple[Node, int, int]]:
        """(node, from, to), fixed before the first move."""
        count = len(self.islands)
        bests = [(population.best, i) for i, population in enumerate(self.islands)]
        sent = [(node, source) for node, source in bests if node is not None]
        if self.migration == "ring":
            return [(node, source, (source + 1) % count) for node, source in sent]
        if self.migration == "global":
            for node, _ in sent:
                self._pool.add(node)
            sent = [(node, (node.island or 0) % count) for node in self._pool.members]
        return [(node, source, target) for node, source in sent for target in range(count) if target != source]

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
