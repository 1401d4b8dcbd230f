"""Engines and games."""

from __future__ import annotations

from dashboard.server.schemas.base import Model


class Engine(Model):
    """An engine of the arena with its newest rating."""

    node_id: str
    name: str
    generation: int | None
    elo: float | None
    low: float | None
    high: float | None
    wins: int
    draws: int
    losses: int
    parent_id: str | None
    champion_in: list[int]


class GameRow(Model):
    game_id: str
    game: str
    white: str
    black: str
    result: str | None
    termination: str | None
    plies: int
    generation: int | None


class GamePage(Model):
    total: int
    games: list[GameRow]


class Move(Model):
    ply: int
    uci: str
    san: str
    fen: str
    clock: tuple[float | None, float | None]
    seconds: float
    score: float | None = None
    """What the engine said of the position it moved from, white's view; hundredths, a forced win 100,000 less plies."""
    depth: int | None = None


class OpeningMove(Model):
    """A move that nobody chose: the game was begun after it."""

    uci: str
    san: str
    fen: str
    """The position after it; '' where the rules of the game are not known here."""


class GameDetail(GameRow):
    origin: str
    """The position before the opening; '' where the rules of the game are not known here."""
    start: str
    """The position after the opening, from which the engines played."""
    opening: list[OpeningMove]
    opening_name: str | None
    """ECO code and name, once the game is over and where it has one; else, where a position was given, that."""
    moves: list[Move]
