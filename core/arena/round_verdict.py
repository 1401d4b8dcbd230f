"""The verdict of one round robin: standings, promotion, and what each engine is told."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import Any

from core.arena.arena_run import ArenaRun
from core.arena.match import engine_of
from core.arena.pairings import meetings, names_of
from core.arena.promotion import Decision, decide
from core.arena.standings import Crosstable, Played, cross_rows, table_rows
from core.arena.told_games import told_games, told_times
from core.contracts import Evaluation
from core.state.failure import FailureKind
from core.state.findings import TournamentResult
from core.state.node import Node
from core.state.task import derive_seed
from utils.logger_system import log_msg
from utils.stats import Estimate


class RoundVerdict:
    """One tournament's outcome: standings, promotion, and a verdict a node."""

    def __init__(
        self, run: ArenaRun, cohort: Sequence[Node], nodes: Sequence[Node], generation: int, label: str
    ) -> None:
        self.run = run
        self.cohort = cohort
        self.nodes = nodes
        self.generation = generation
        self.label = label
        self.table = Crosstable([], [])
        self.decision = Decision(())
        self.rows: list[dict[str, Any]] = []
        self.result = TournamentResult()
        self._games: list[dict[str, Any]] = []
        """Of this round, as the book keeps them, in the order of the pairings."""

    def reach(self, games: Sequence[dict[str, Any]]) -> None:
        """Decide from the tournament's games, among those whom they rate: nobody without a score gets a title."""
        self._games = list(games)
        run = self.run
        players = [node.id for node in self.cohort]
        self.table = Crosstable(players, [Played.of(game) for game in games])
        self._rate()
        rng = random.Random(derive_seed(run.seed, "promotion", self.label))
        first = run.anchor(self.nodes) if not run.promoted else None
        estimates = self._estimates()
        rated = [player for player in players if self._is_rated(player, estimates)]
        if first is not None and first.id in players:
            self.decision = self._coronation(first.id, rated)
        else:
            champion = next(iter(run.promoted), None)
            self.decision = decide(run.settings.promotion, self.table, rated, champion, rng, self._more)
        self._rate()
        if self.table.left_out:
            log_msg("INFO", f"generation {self.generation}, {self.table.left_out}")
        names = names_of([engine_of(node) for node in self.cohort])
        self.rows = table_rows(self.table, self._estimates(), names, self.decision.promoted)
        self.result = TournamentResult(
            standings=self.rows,
            crosstable=cross_rows(self.table),
            promoted=self.decision.promoted,
            decision=self.decision.numbers,
            times=tuple(told_times(self._games, run.settings.limit, run.settings.deadline, names)),
            games=tuple(told_games(run.game, self._games, self.decision.promoted)),
        )

    def _rate(self) -> None:
        """Count the round's games among all rated ones, each once, as a resumed run reads them from the book."""
        for game in self._games:
            self.run.ratings.add(Played.of(game))

    def of(self, node: Node) -> Evaluation:
        """The node's verdict. It has no signature: engines of different generations have no games in common."""
        row = next(row for row in self.rows if row["node_id"] == node.id)
        count = row["wins"] + row["draws"] + row["losses"]
        known: dict[str, Any] = {"name": row["name"], "tournament": self.result}
        anchor = self.run.anchor(self.nodes)
        if count == 0 and node is not anchor:  # whose Elo is 0 whatever it has played
            message = "no pair of its games could be played to the end: workers were lost"
            return Evaluation(failure=FailureKind.LOST_WORKER, message=message, **known)
        forfeits = sum(row["forfeits"].values())
        if count and forfeits == count:
            kind, message = self._why_forfeited(node)
            return Evaluation(failure=kind, message=message, **known)
        if row["elo"] is None:
            message = "no game of its connects it with the engines that are rated: workers were lost"
            return Evaluation(failure=FailureKind.LOST_WORKER, message=message, **known)
        return Evaluation(
            metric=row["elo"],
            source=self.run.source,
            interval=(row["low"], row["high"]),
            message=f"in its first tournament {row['wins']} won, {row['draws']} drawn, {row['losses']} lost of {count}",
            **known,
        )

    def _is_rated(self, player: str, estimates: Mapping[str, Estimate]) -> bool:
        """True if its verdict is a score: whoever holds a title has one, from an earlier round."""
        games = sum(self.table.total(player))
        has_played = games > sum(self.table.forfeits(player).values())
        return player in self.run.promoted or (has_played and player in estimates)

    def _estimates(self) -> dict[str, Estimate]:
        """Elo of the cohort, the anchor at 0.

        Where no games lead to the anchor (a forked run has an empty book), the first of these with a metric keeps it
        and the others are measured from there.
        """
        anchor = self.run.anchor(self.nodes)
        found = self.run.ratings.estimates(anchor.id) if anchor is not None else {}
        apart = [node for node in self.cohort if node.id not in found]
        fixed = next((node for node in apart if node.metric_value is not None), None)
        if fixed is None and len(apart) == len(self.cohort):
            fixed = apart[0]
        if fixed is None:
            return found
        by = fixed.metric_value or 0.0
        beside = self.run.ratings.estimates(fixed.id)
        return {**{name: Estimate(e.elo + by, e.low + by, e.high + by) for name, e in beside.items()}, **found}

    def _coronation(self, anchor: str, rated: Sequence[str]) -> Decision:
        """Before the first generation the anchor is champion by definition, its best rival the runner-up."""
        others = sorted((player for player in rated if player != anchor), key=lambda p: -self.table.score(p))
        scores = {player: round(self.table.score(player), 4) for player in self.table.players}
        return Decision((anchor, *others[:1]), {"rule": "anchor", "scores": scores})

    def _more(self, first: str, second: str, pairs: int) -> Crosstable:
        """Play further pairs of two engines and return the table with them."""
        run = self.run
        engines = {node.id: engine_of(node) for node in self.cohort}
        met = [game for game in map(Played.of, self._games) if {game.white, game.black} == {first, second}]
        already = {game.opening for game in met}  # also from where they repeat another game: nothing is learned there
        pairings = meetings(
            [(engines[first], engines[second])],
            run.openings(pairs, self.label, "more", len(already), without=already),
            games=2,
            seed=run.seed,
            spec=run.spec,
            settings=run.settings,
            kind="rated",
        )
        stage = f"generation {self.generation}, further games of the two that lead"
        games = run.tournament.play(pairings, kind="rated", generation=self.generation, stage=stage)
        self._games += games
        self.table = Crosstable(self.table.players, [Played.of(game) for game in self._games])
        return self.table

    def _why_forfeited(self, node: Node) -> tuple[FailureKind, str]:
        for game in reversed(self._games):
            loser = game["loser"]
            if loser is not None and (game["white"], game["black"])[loser] == node.id:
                return FailureKind(game["failure"]), f"it forfeited every game: {forfeit_text(game)}"
        return FailureKind.RUNTIME, "it forfeited every game"


def forfeit_text(game: dict[str, Any]) -> str:
    """Why a game was forfeited, in one line."""
    return f"{game['termination']} at move {len(game['moves']) // 2 + 1}: {game['message']}"
