"""The evaluator of the arena: nodes are engines, and their verdict is how they play against others."""

from __future__ import annotations

import random
from collections.abc import Sequence
from itertools import chain
from typing import Any

from core.arena.final import final_evaluations
from core.arena.match import Engine, engine_of
from core.arena.openings import draw_openings
from core.arena.promotion import RULES, Decision
from core.arena.spec import ArenaSettings, ArenaSpec
from core.arena.standings import Crosstable, Played, Ratings, cross_rows, table_rows
from core.arena.tournament import Tournament, count_session, meetings, names_of, round_robin, with_deadline
from core.arena.validator import static_refusal
from core.contracts import Evaluation, Evaluator, EvaluatorDeps
from core.events import Event, GenerationFinished
from core.state.failure import FailureKind
from core.state.node import MetricSource, Node
from core.state.task import derive_seed
from utils.stats import Estimate

SMOKE_SECONDS = 5.0
"""A smoke match cuts a move off after this, also where rated games allow more."""
RECENT = 256
"""Nodes looked back at, at first, for the last standings."""


class ArenaEvaluator(Evaluator):
    """Rates engines by round robins of champion, runner-up and candidates.

    A node's metric is its Elo over all rated games so far, the starting champion at 0, as it is at its first verdict;
    later ratings are in the standings (`metadata["standings"]`, event `generation.finished`).
    """

    together = True

    def __init__(self, deps: EvaluatorDeps, spec: ArenaSpec, settings: ArenaSettings) -> None:
        self.deps = deps
        self.spec = spec
        self.settings = settings
        self.game = spec.game
        self.tournament = Tournament(deps, self.game, count_session(deps))
        self._ratings: Ratings | None = None

    # ------------------------------------------------------------ the gate

    def check(self, node: Node) -> Evaluation | None:
        """Static checks, then a smoke match: one game with each colour against the random engine."""
        refusal = static_refusal(node.code, self.spec.packages)
        if refusal is not None:
            return _refused(refusal.gate, refusal.failure, refusal.reason)
        sparring = Engine(id="sparring", name=self.spec.sparring.name, code=self.spec.sparring.code)
        pairings = meetings(
            [(engine_of(node), sparring)],
            [()],
            games=2,
            seed=self.deps.seed,
            spec=self.spec,
            settings=with_deadline(self.settings, SMOKE_SECONDS),
            kind="smoke",
        )
        games = self.tournament.play(pairings, kind="smoke", generation=node.generation)
        for game in games:
            loser = game["loser"]
            if loser is not None and (game["white"], game["black"])[loser] == node.id:
                return _refused("smoke", FailureKind(game["failure"]), _forfeit_text(game))
        return None

    # ------------------------------------------------------------ the tournament

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Play the round robin and return one verdict a node. The first call holds the baselines."""
        cohort = self._cohort(nodes)
        engines = [engine_of(node) for node in cohort]
        generation = next((node.generation for node in nodes if node.generation is not None), 0)
        label = f"{generation}/{'/'.join(sorted(node.id for node in nodes))}"
        openings = self.openings(self.settings.openings, label)
        pairings = round_robin(
            engines,
            openings,
            games=self.settings.games,
            seed=self.deps.seed,
            spec=self.spec,
            settings=self.settings,
        )
        verdict = _Verdict(self, cohort, nodes, generation, label)
        games = self.tournament.play(pairings, kind="rated", generation=generation, closing=verdict.close)
        verdict.reach(games)
        return [verdict.of(node) for node in nodes]

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        """Elo above the starting champion by fresh games against a fixed gauntlet, from held-out openings."""
        return list(final_evaluations(self, nodes))

    def choice(self) -> str | None:
        """Id of the reigning champion: the run's answer. A frozen metric may be luck; the champion has held its own."""
        promoted = self.promoted()
        return promoted[0] if promoted else None

    # ------------------------------------------------------------ what the journal knows

    @property
    def source(self) -> MetricSource:
        return "verified" if self.deps.isolated else "unisolated"

    def promoted(self) -> list[str]:
        """Champion and runner-up after the last tournament in the journal; [] before the first."""
        journal = self.deps.journal
        for count in (RECENT, len(journal)):
            for node in reversed(journal.latest(count)):
                if "promoted" in node.metadata:
                    return [str(id_) for id_ in node.metadata["promoted"]]
        return []

    def anchor(self, nodes: Sequence[Node]) -> Node | None:
        """The starting champion among `nodes` or in the journal."""
        for node in chain(nodes, self.deps.journal):
            if node.operator == "baseline" and node.code.strip() == self.spec.anchor.code.strip():
                return node
        return None

    @property
    def ratings(self) -> Ratings:
        """All rated games ever, read from the book once."""
        if self._ratings is None:
            rated = (game for game in self.deps.games.all() if game["kind"] == "rated")
            self._ratings = Ratings(Played.of(game) for game in rated)
        return self._ratings

    def _cohort(self, nodes: Sequence[Node]) -> list[Node]:
        """Champion and runner-up, then the candidates."""
        known = [self.deps.journal[id_] for id_ in self.promoted() if id_ in self.deps.journal]
        return list({node.id: node for node in [*known, *nodes]}.values())

    def openings(self, count: int, *label: object, held_out: bool = False) -> list[tuple[str, ...]]:
        """Lines to begin from, a function of the run's seed and `label`; fewer where the held-out part has fewer."""
        return draw_openings(
            self.game,
            count,
            plies=self.spec.opening_plies,
            seed=derive_seed(self.deps.seed, "openings", *label),
            held_out=held_out,
            book=self.spec.book,
            fewer=held_out,
        )


class _Verdict:
    """One tournament's outcome: standings, promotion, and a verdict a node."""

    def __init__(
        self, arena: ArenaEvaluator, cohort: Sequence[Node], nodes: Sequence[Node], generation: int, label: str
    ) -> None:
        self.arena = arena
        self.cohort = cohort
        self.nodes = nodes
        self.generation = generation
        self.label = label
        self.table = Crosstable([], [])
        self.decision = Decision(())
        self.rows: list[dict[str, Any]] = []
        self._reached = False

    def close(self, games: list[dict[str, Any]]) -> list[Event]:
        """The event that ends the generation."""
        self.reach(games)
        finished = GenerationFinished(
            generation=self.generation,
            ratings=self.rows,
            promoted=list(self.decision.promoted),
            decision=self.decision.numbers,
        )
        return [finished]

    def reach(self, games: list[dict[str, Any]]) -> None:
        """Decide, once, from the tournament's games."""
        if self._reached:
            return
        self._reached = True
        arena = self.arena
        played = [Played.of(game) for game in games]
        players = [node.id for node in self.cohort]
        self.table = Crosstable(players, played)
        rng = random.Random(derive_seed(arena.deps.seed, "promotion", self.label))
        first = arena.anchor(self.nodes) if not arena.promoted() else None
        if first is not None and first.id in players:
            self.decision = self._coronation(first.id)
        else:
            champion = next(iter(arena.promoted()), None)
            rule = RULES[arena.settings.promotion]()
            self.decision = rule.decide(self.table, champion, rng, self._more)
        for game in self.table.games:
            arena.ratings.add(game)
        names = names_of([engine_of(node) for node in self.cohort])
        self.rows = table_rows(self.table, self._estimates(players), names)

    def of(self, node: Node) -> Evaluation:
        """The node's verdict. It has no signature: engines of different generations have no games in common."""
        row = next(row for row in self.rows if row["node_id"] == node.id)
        count = row["wins"] + row["draws"] + row["losses"]
        metadata = {
            "name": row["name"],
            "standings": self.rows,
            "crosstable": cross_rows(self.table),
            "promoted": list(self.decision.promoted),
            "decision": self.decision.numbers,
        }
        if count == 0:
            message = "none of its games could be played: every worker was lost"
            return Evaluation(failure=FailureKind.LOST_WORKER, message=message, metadata=metadata)
        forfeits = sum(row["forfeits"].values())
        if forfeits == count:
            kind, message = self._why_forfeited(node)
            return Evaluation(failure=kind, message=message, metadata=metadata)
        interval = None if row["low"] is None else (row["low"], row["high"])
        return Evaluation(
            metric=row["elo"],
            source=self.arena.source,
            interval=interval,
            message=f"{row['wins']} won, {row['draws']} drawn, {row['losses']} lost of {count}",
            metadata=metadata,
        )

    def _estimates(self, players: Sequence[str]) -> dict[str, Estimate]:
        """Elo of the cohort, the anchor at 0.

        Where no games lead to the anchor (a forked run has an empty book), the first of the cohort with a metric
        keeps it and the others are measured from there.
        """
        anchor = self.arena.anchor(self.nodes)
        if anchor is not None:
            estimates = self.arena.ratings.estimates(anchor.id)
            if set(players) <= set(estimates):
                return estimates
        fixed = next((node for node in self.cohort if node.metric_value is not None), self.cohort[0])
        by = fixed.metric_value or 0.0
        found = self.arena.ratings.estimates(fixed.id)
        return {name: Estimate(e.elo + by, e.low + by, e.high + by) for name, e in found.items()}

    def _coronation(self, anchor: str) -> Decision:
        """Before the first generation the anchor is champion by definition, its best rival the runner-up."""
        others = sorted((p for p in self.table.players if p != anchor), key=lambda p: -self.table.score(p))
        scores = {player: round(self.table.score(player), 4) for player in self.table.players}
        return Decision((anchor, *others[:1]), {"rule": "anchor", "scores": scores})

    def _more(self, first: str, second: str, pairs: int) -> Crosstable:
        """Play further pairs of two engines and return the table with them."""
        arena = self.arena
        engines = {node.id: engine_of(node) for node in self.cohort}
        already = {game.opening for game in self.table.games if {game.white, game.black} == {first, second}}
        openings = arena.openings(pairs, self.label, "more", len(already))
        pairings = meetings(
            [(engines[first], engines[second])],
            [opening for opening in openings if opening not in already],
            games=2,
            seed=arena.deps.seed,
            spec=arena.spec,
            settings=arena.settings,
            kind="rated",
        )
        games = arena.tournament.play(pairings, kind="rated", generation=self.generation)
        self.table = Crosstable(self.table.players, [*self.table.games, *(Played.of(game) for game in games)])
        return self.table

    def _why_forfeited(self, node: Node) -> tuple[FailureKind, str]:
        book = self.arena.deps.games.all()
        for game in reversed(book):
            loser = game["loser"]
            if loser is not None and (game["white"], game["black"])[loser] == node.id:
                return FailureKind(game["failure"]), f"it forfeited every game: {_forfeit_text(game)}"
        return FailureKind.RUNTIME, "it forfeited every game"


def _refused(gate: str, failure: FailureKind, reason: str) -> Evaluation:
    return Evaluation(failure=failure, message=reason, metadata={"gate": gate})


def _forfeit_text(game: dict[str, Any]) -> str:
    return f"{game['termination']} at move {len(game['moves']) // 2 + 1}: {game['message']}"
