"""What a game brings to the arena, and how the arena is set."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from core.arena.limit import MoveLimit
from core.arena.match import load_game
from core.arena.opening_book import OpeningBook
from core.arena.referee import Adjudication
from core.contracts import Baseline, Game, Limits


@dataclass(frozen=True, slots=True)
class ArenaSpec:
    """A game with its reference engines."""

    entry: str
    """`package.module:Class` of the Game, so that a worker on any machine can load it; `file.py:Class` in `inputs`."""
    prelude: str
    """Source text of the Position class that engines are handed."""
    packages: frozenset[str]
    """Modules outside the standard library that an engine may import."""
    anchor: Baseline
    """The starting champion: 0 Elo."""
    rivals: tuple[Baseline, ...]
    """Whom it meets in the first round robin, the sparring partner apart."""
    sparring: Baseline
    """The random engine of the smoke match."""
    gauntlet: tuple[Baseline, ...]
    """Engines for claims; selection never plays them."""
    opening_plies: int
    """Plies of a random opening."""
    book: OpeningBook | None = None
    """Openings of the user's own, in place of random ones."""
    inputs: Path | None = None
    """Folder of a user's game: its files go to workers elsewhere."""
    files: tuple[Path, ...] = ()
    """Of a user's game: its rules and its engines."""

    @property
    def game(self) -> Game:
        return load_game(self.entry, self.inputs)

    @property
    def baselines(self) -> tuple[Baseline, ...]:
        """Who plays the first round robin, the starting champion first."""
        return self.anchor, *self.rivals, self.sparring


@dataclass(frozen=True, slots=True)
class ArenaSettings:
    """The `arena` section of the configuration."""

    limit: MoveLimit
    promotion: str = "argmax"
    openings: int = 4
    games: int = 2
    """Games of a pair from each opening: half with each colour."""
    gauntlet: int = 40
    """Games of each kind in the final: candidate and anchor against the gauntlet, and against each other."""
    deadline: float = 10.0
    adjudication: Adjudication = field(default_factory=Adjudication)
    session: Limits = field(
        default_factory=lambda: Limits(seconds=3600, memory_mb=512, processes=1, output_kb=64, disk_mb=16, file_mb=16)
    )
    """What an engine's process may use in one game. One process and thread, stopped between its moves:
    nobody thinks on the opponent's time."""
