"""What the writers of a generation are told of its last tournament: games to read, and how long moves took."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import fmean
from typing import Any

from core.arena.limit import MoveLimit
from core.arena.openings import opening_parts
from core.arena.pgn import eval_text
from core.arena.standings import POINTS
from core.contracts import Game
from utils.prompt_text import shorten
from utils.time_share import time_share

CHAMPION_GAMES = 4
"""Games that the champion did not win: lost ones first."""
RIVAL_GAMES = 2
"""Games that the runner-up lost to the champion."""
GAME_BYTES = 1_800
"""Of a game's moves: of longer ones the beginning and the end are told."""


def told_games(game: Game, games: Sequence[Mapping[str, Any]], promoted: Sequence[str]) -> list[str]:
    """Games of those who lead, as text of several lines each: what the champion did not win, and what the runner-up
    lost to it. Of equal games one is told.

    Args:
        games: of one tournament, as the book keeps them, in the order of the pairings.
        promoted: ids of champion and runner-up.
    """
    champion, rival = (*promoted, None, None)[:2]
    once = {(g["white"], g["black"], *g["opening"], *g["moves"]): g for g in games}.values()
    short = sorted((g for g in once if champion in _sides(g)), key=lambda g: _points(g, champion))
    missed = [g for g in short if _points(g, champion) < 1][:CHAMPION_GAMES]
    won = [g for g in short if rival in _sides(g) and _points(g, champion) == 1][:RIVAL_GAMES]
    return [
        *(_told(game, kept, _sides(kept).index(champion)) for kept in missed),
        *(_told(game, kept, _sides(kept).index(rival)) for kept in won),
    ]


def told_times(
    games: Iterable[Mapping[str, Any]], limit: MoveLimit, deadline: float, names: Mapping[str, str]
) -> Iterator[str]:
    """How much of the time that a move may take each engine took in the mean, in coarse steps, a line for all of one
    step; under a clock how much of a game's time. Nothing of whom nobody measured (games of older versions)."""
    shares: dict[str, list[float]] = {}
    for kept in games:
        for side, seconds in enumerate(kept.get("a_move") or ()):
            if seconds is not None:
                moves = max(1, len(kept["moves"]) // 2)
                allowed = limit.longest_game(2 * moves, deadline) / (2 * moves)
                shares.setdefault(_sides(kept)[side], []).append(seconds / allowed)
    told = {player: time_share(fmean(found), 1.0) for player, found in shares.items()}
    for step in dict.fromkeys(filter(None, map(told.get, names))):
        yield f"{', '.join(names[player] for player in names if told.get(player) == step)}: in the mean a move {step}"


def _told(game: Game, kept: Mapping[str, Any], side: int) -> str:
    """One game; behind the moves of `side`, which did not win it, stands what it thought of its position."""
    mine, other = kept["names"][side], kept["names"][1 - side]
    ending = "drew with" if kept["result"] == "1/2-1/2" else "lost to"
    colour = ("first", "second")[side]
    why = f"{kept['termination']}: {kept['message']}" if kept["message"] else kept["termination"]
    moves = shorten(_movetext(game, kept, side), GAME_BYTES, head=0.4)
    return f"{mine} (moving {colour}) {ending} {other}, {why}\n{moves}"


def _movetext(game: Game, kept: Mapping[str, Any], side: int) -> str:
    """The moves as people write them, numbered from the start position; the opening's in parentheses."""
    start, given = opening_parts(kept["opening"])
    state: Any = game.initial(kept["opening"][: len(kept["opening"]) - len(given)])
    words = [] if start is None else [f"from {start}:"]
    thoughts = list(zip(kept.get("scores") or (), kept.get("depths") or (), strict=True))
    line = [*given, *kept["moves"]]
    for ply, move in enumerate(line):
        turn, made = game.to_move(state), ply - len(given)
        number = f"{ply // 2 + 1}. " if ply % 2 == 0 else ""
        thought = eval_text(*thoughts[made], turn) if turn == side and 0 <= made < len(thoughts) else ""
        opens, closes = "(" if given and ply == 0 else "", ")" if given and ply == len(given) - 1 else ""
        words.append(f"{opens}{number}{game.san(state, move)}{closes}{thought}")
        state = game.apply(state, move)
    return " ".join(words)


def _sides(kept: Mapping[str, Any]) -> tuple[str, str]:
    return kept["white"], kept["black"]


def _points(kept: Mapping[str, Any], player: str | None) -> float:
    points = POINTS[kept["result"]]
    return points if player == kept["white"] else 1 - points
