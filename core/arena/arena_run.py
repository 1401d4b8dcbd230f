"""What every part of an arena evaluation needs to know of its run: the game, the settings, and what was played."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import chain
from threading import Lock

from core.arena.openings import draw_openings
from core.arena.spec import ArenaSettings, ArenaSpec
from core.arena.standings import Played, Ratings
from core.arena.tournament import Tournament, count_session
from core.contracts import EvaluatorDeps
from core.state.node import MetricSource, Node
from core.state.task import derive_seed
from utils.logger_system import log_msg
from utils.shared_property import shared_property

RECENT = 256
"""Nodes looked back at, at first, for the last standings."""


class ArenaRun:
    """One run of an arena: its tournament, its ratings, and what its journal says of champions."""

    def __init__(self, deps: EvaluatorDeps, spec: ArenaSpec, settings: ArenaSettings) -> None:
        self.deps = deps
        self.spec = spec
        self.settings = settings
        self.game = spec.game
        self._tournament: Tournament | None = None
        self._opening = Lock()

    @property
    def tournament(self) -> Tournament:
        """Made when the first game is due, and the process counted in the run's folder: who only looks leaves it."""
        with self._opening:
            if self._tournament is None:
                self._tournament = Tournament(self.deps, self.game, count_session(self.deps))
            return self._tournament

    @property
    def seed(self) -> int:
        return self.deps.seed

    @property
    def source(self) -> MetricSource:
        """Who vouches for the scores."""
        return "verified" if self.deps.isolated else "unisolated"

    @property
    def promoted(self) -> list[str]:
        """Ids of champion and runner-up after the last tournament in the journal; [] before the first."""
        journal = self.deps.journal
        for count in (RECENT, len(journal)):
            for node in reversed(journal.latest(count)):
                if node.tournament is not None:
                    return list(node.tournament.promoted)
        return []

    def anchor(self, nodes: Sequence[Node]) -> Node | None:
        """The starting champion, whose Elo is 0, among `nodes` or in the journal; None where it was never played."""
        for node in chain(nodes, self.deps.journal):
            if node.operator == "baseline" and node.code.strip() == self.spec.anchor.code.strip():
                return node
        return None

    def cohort(self, nodes: Sequence[Node]) -> list[Node]:
        """Who plays the next tournament: champion and runner-up, then `nodes`."""
        known = [self.deps.journal[id_] for id_ in self.promoted if id_ in self.deps.journal]
        return list({node.id: node for node in [*known, *nodes]}.values())

    @shared_property
    def ratings(self) -> Ratings:
        """All rated games ever of engines that were judged, read from the book once; later ones are added to it."""
        return Ratings(self._rated())

    def _rated(self) -> Iterator[Played]:
        """But for those that were played ahead by an engine that gave way to the same one of another slot."""
        for game in self.deps.games.all():
            white, black = self._judged(game["white"]), self._judged(game["black"])
            if game["kind"] == "rated" and white is not None and black is not None:
                yield replace(Played.of(game), white=white, black=black)

    def _judged(self, id_: str) -> str | None:
        """Id of the engine that the program counts as; None where it counts as none (yet)."""
        node = self.deps.journal.get_node_by_id(id_)
        if node is None or node.duplicate_of is None:
            return id_ if node is not None else None
        return node.duplicate_of if node.rung == "text" else None

    def openings(
        self, count: int, *label: object, held_out: bool = False, without: Collection[tuple[str, ...]] | None = None
    ) -> list[tuple[str, ...]]:
        """Openings to begin from, a function of the run's seed and `label`; fewer where the held-out part has fewer.

        Args:
            without: openings that are not wanted again; then there may be fewer, too.

        Raises:
            ConfigError: the game has too few for a tournament.
        """
        seed, book = derive_seed(self.seed, "openings", *label), self.spec.book
        if book is not None:
            drawn = book.draw(count, seed=seed, held_out=held_out, without=without or ())
            for told in book.news():
                log_msg("WARNING", told)
            return drawn
        fewer = held_out or without is not None
        return draw_openings(
            self.game,
            count,
            plies=self.spec.opening_plies,
            seed=seed,
            held_out=held_out,
            fewer=fewer,
            without=without or (),
        )
