"""The evaluator of the arena: nodes are engines, and their verdict is how they play against others."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from core.arena.arena_run import ArenaRun
from core.arena.final import final_evaluations
from core.arena.games_ahead import GamesAhead
from core.arena.match import Engine, engine_of
from core.arena.pairings import meetings, round_robin
from core.arena.round_verdict import RoundVerdict, forfeit_text
from core.arena.spec import ArenaSettings, ArenaSpec
from core.arena.tournament import with_deadline
from core.arena.validator import shadowed, static_refusal
from core.contracts import Evaluation, Evaluator, EvaluatorDeps
from core.state.failure import FailureKind
from core.state.node import Node
from core.state.task import Task

SMOKE_SECONDS = 5.0
"""A smoke match cuts a move off after this, also where rated games allow more."""


class ArenaEvaluator(Evaluator):
    """Rates engines by round robins of champion, runner-up and candidates.

    A node's metric is its Elo over all rated games so far, the starting champion at 0, as it is at its first verdict;
    later ratings are in the standings (`Node.tournament`, event `generation.finished`).
    """

    together = True

    def __init__(self, deps: EvaluatorDeps, spec: ArenaSpec, settings: ArenaSettings) -> None:
        self.run = ArenaRun(deps, spec, settings)
        self._ahead = GamesAhead(self.run)

    def expect(self, tasks: Sequence[Task]) -> None:
        self._ahead.expect(tasks)

    def look_ahead(self, node: Node) -> None:
        """It plays those who are there already."""
        self._ahead.seat(node)

    def close(self) -> None:
        self._ahead.close()

    def check(self, node: Node) -> Evaluation | None:
        """Static checks, then a smoke match: one game with each colour against the random engine."""
        refusal, check = static_refusal(node.code, self.run.spec.packages), "static"
        if refusal is None:
            refusal, check = self._smoke_refusal(node), "smoke"
        return refusal.model_copy(update={"refused_by": check}) if refusal is not None else None

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Play the round robin and return one verdict a node. The first call holds the baselines."""
        run = self.run
        cohort = run.cohort(nodes)
        round_, begun = self._ahead.taken_up(nodes)
        pairings = round_robin(
            [engine_of(node) for node in cohort],
            run.openings(run.settings.openings, round_.label),
            games=run.settings.games,
            seed=run.seed,
            spec=run.spec,
            settings=run.settings,
        )
        verdict = RoundVerdict(run, cohort, nodes, round_.generation, round_.label)
        is_first = all(node.generation is None for node in nodes)
        stage = "the starting engines, round robin" if is_first else f"generation {round_.generation}, round robin"
        games = run.tournament.play(pairings, kind="rated", generation=round_.generation, stage=stage, begun=begun)
        verdict.reach(games)
        run.deps.doing("")  # the search goes on
        return [verdict.of(node) for node in nodes]

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        """Elo above the starting champion by fresh games against a fixed gauntlet, from held-out openings."""
        return list(final_evaluations(self.run, nodes))

    def choice(self) -> str | None:
        """Id of the reigning champion: the run's answer. A frozen metric may be luck; the champion has held its own."""
        return next(iter(self.run.promoted), None)

    def _smoke_refusal(self, node: Node) -> Evaluation | None:
        """None for an engine that plays both games to an end that is not its own forfeit."""
        for game in self._smoke_games(node):
            loser = game["loser"]
            if loser is not None and (game["white"], game["black"])[loser] == node.id:
                told = [forfeit_text(game), shadowed(node.code, self.run.spec.prelude)]
                return Evaluation(failure=FailureKind(game["failure"]), message="; ".join(filter(None, told)))
        return None

    def _smoke_games(self, node: Node) -> list[dict[str, Any]]:
        run = self.run
        sparring = Engine(id="sparring", name=run.spec.sparring.name, code=run.spec.sparring.code)
        pairings = meetings(
            [(engine_of(node), sparring)],
            [()],
            games=2,
            seed=run.seed,
            spec=run.spec,
            settings=with_deadline(run.settings, SMOKE_SECONDS),
            kind="smoke",
        )
        return run.tournament.play(pairings, kind="smoke", generation=node.generation)
