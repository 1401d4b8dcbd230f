"""A trial of engine files before any game: that each loads in the sandbox and makes a legal first move."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from core.arena.match import Engine
from core.arena.memory_book import MemoryBook
from core.arena.pairings import Pairing, meetings
from core.arena.spec import ArenaSettings, ArenaSpec
from core.arena.tournament import Tournament
from core.contracts import EvaluatorDeps
from utils.clean_text import one_line
from utils.errors import ConfigError

_SHOWN = 300
"""Characters of what an engine fails with."""


def check_engine_files(
    engines: Mapping[str, Engine], deps: EvaluatorDeps, spec: ArenaSpec, settings: ArenaSettings
) -> None:
    """Let each file make the first move of a game, under the games' own limit. Nothing is kept of it.

    Args:
        engines: what the user gave, for messages → the engine of the file.

    Raises:
        ConfigError: the engine would have lost by that move, or before it.
    """
    other = Engine(id="sparring", name=spec.sparring.name, code=spec.sparring.code)
    pairs = [(engine, other) for engine in engines.values()]
    games = meetings(pairs, [()], games=2, seed=deps.seed, spec=spec, settings=settings, kind="trial")
    first_moves = [_one_ply(game) for game in games if game.match.white is not other]
    tournament = Tournament(replace(deps, games=MemoryBook(), append=lambda events: None), spec.game, 0)
    lost = {game["white"]: game for game in tournament.play(first_moves, kind="trial") if game["loser"] == 0}
    for word, engine in engines.items():
        if engine.id in lost:
            why = f"{lost[engine.id]['termination'].replace('_', ' ')}: {lost[engine.id]['message']}"
            raise ConfigError(f"engine '{word}': it does not play {spec.game.name}: {one_line(why, _SHOWN)}")


def _one_ply(pairing: Pairing) -> Pairing:
    return replace(pairing, match=pairing.match.model_copy(update={"max_plies": 1}))
