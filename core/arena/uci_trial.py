"""A trial of a UCI program before any game: that it answers, takes its options and makes a legal move."""

from __future__ import annotations

from contextlib import closing

from core.arena.match import Engine
from core.arena.player import Forfeit
from core.arena.referee import play_game
from core.arena.spec import ArenaSettings
from core.arena.uci import UciPlayer
from core.arena.uci_options import check_options
from core.contracts import Game
from utils.clean_text import one_line
from utils.errors import ConfigError

_SHOWN = 300
"""Characters of what a program says of itself."""


def check_uci_program(word: str, engine: Engine, game: Game, settings: ArenaSettings) -> None:
    """Let `engine.command` make the first move of a game, under the games' own limit.

    Args:
        word: what the user gave, for messages.

    Raises:
        ConfigError: it is no engine of this game, or an option is not one of its own.
    """
    try:
        if engine.options:  # a wrong one may end the program: compare before any is set
            with closing(UciPlayer(engine.command, settings.limit, deadline=settings.deadline)) as player:
                check_options(word, engine.options, player.announced)
        message = _first_move(engine, game, settings)
    except Forfeit as forfeit:
        late = forfeit.termination == "time_forfeit"
        message = f"{forfeit.message}{f' (arena.deadline={settings.deadline:g})' if late else ''}"
    if message:
        raise ConfigError(f"engine '{word}': it does not play {game.name} by UCI: {one_line(message, _SHOWN)}")


def _first_move(engine: Engine, game: Game, settings: ArenaSettings) -> str:
    """Why the program would have lost a game with its first move; '' where it would not."""
    with closing(UciPlayer(engine.command, settings.limit, engine.options, settings.deadline)) as player:
        record = play_game(
            game, (player, player), opening=(), limit=settings.limit, deadline=settings.deadline, max_plies=1
        )
    return record.message
