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


class GameDetail(GameRow):
    start: str
    opening: list[str]
    moves: list[Move]
