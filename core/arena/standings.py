"""Who stands where: the table of one tournament, and ratings over all games ever."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from utils.stats import PENTANOMIAL, Estimate, bradley_terry, elo_estimate, los, pair_counts, student_975

POINTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}
"""The first player's points."""

FORFEITS = ("illegal_move", "time_forfeit", "crash")


@dataclass(frozen=True, slots=True)
class Played:
    """What the table needs of a game."""

    white: str
    black: str
    result: str
    termination: str
    opening: tuple[str, ...]
    moves: tuple[str, ...]

    @classmethod
    def of(cls, game: Mapping[str, Any]) -> Played:
        """From a game as the GameBook keeps it."""
        return cls(
            game["white"],
            game["black"],
            game["result"],
            game["termination"],
            tuple(game["opening"]),
            tuple(game["moves"]),
        )

    @property
    def line(self) -> tuple[str, str, tuple[str, ...]]:
        """Two games with the same line are one game."""
        return self.white, self.black, (*self.opening, *self.moves)

    def points(self, player: str) -> float:
        """Points of `player`, who must be one of the two."""
        return POINTS[self.result] if player == self.white else 1 - POINTS[self.result]


def distinct(games: Iterable[Played]) -> list[Played]:
    """The games without repetitions: a copy of a game tells nothing new."""
    return list({game.line: game for game in games}.values())


class Crosstable:
    """Results between players. Identical games count once.

    Args:
        players: in the order of the table's ties; only games between them count.
        games: of any players.
    """

    def __init__(self, players: Sequence[str], games: Iterable[Played]) -> None:
        self.players = list(players)
        members = set(players)
        self.games = [game for game in distinct(games) if game.white in members and game.black in members]

    @cached_property
    def results(self) -> dict[tuple[str, str], tuple[int, int, int]]:
        """(player, opponent) → (wins, draws, losses) of the player; both orders of each pair."""
        counts: dict[tuple[str, str], list[int]] = {}
        for game in self.games:
            for player, opponent in ((game.white, game.black), (game.black, game.white)):
                index = {1.0: 0, 0.5: 1, 0.0: 2}[game.points(player)]
                counts.setdefault((player, opponent), [0, 0, 0])[index] += 1
        return {pair: (c[0], c[1], c[2]) for pair, c in counts.items()}

    def total(self, player: str) -> tuple[int, int, int]:
        """(wins, draws, losses) against all."""
        rows = [counts for (name, _), counts in self.results.items() if name == player]
        return sum(r[0] for r in rows), sum(r[1] for r in rows), sum(r[2] for r in rows)

    def score(self, player: str) -> float:
        """Share of points, 0..1; 0 without a game."""
        wins, draws, losses = self.total(player)
        count = wins + draws + losses
        return (wins + draws / 2) / count if count else 0.0

    def forfeits(self, player: str) -> dict[str, int]:
        """Termination → games that `player` lost by its own doing."""
        lost = (g for g in self.games if player in (g.white, g.black) and g.points(player) == 0.0)
        return dict(Counter(game.termination for game in lost if game.termination in FORFEITS))

    def pentanomial(self, player: str, opponent: str) -> tuple[int, int, int, int, int]:
        """Results of pairs of games from one opening with colours reversed, worst first."""
        white: dict[tuple[str, ...], list[float]] = {}
        black: dict[tuple[str, ...], list[float]] = {}
        for game in self.games:
            if {game.white, game.black} == {player, opponent}:
                side = white if game.white == player else black
                side.setdefault(game.opening, []).append(game.points(player))
        pairs = [pair for opening in white for pair in zip(white[opening], black.get(opening, []), strict=False)]
        return pair_counts(pairs)

    def los(self, player: str, opponent: str) -> float:
        """Likelihood that `player` is the stronger, from their own games."""
        wins, _, losses = self.results.get((player, opponent), (0, 0, 0))
        return los(wins, losses)

    def head_to_head(self, player: str, opponent: str) -> Estimate:
        """Elo difference from their own games, by pairs, with Student's interval: a match has few of them."""
        counts = self.pentanomial(player, opponent)
        pairs = sum(counts)
        if pairs < 2:
            return elo_estimate(counts, PENTANOMIAL)
        return elo_estimate(counts, PENTANOMIAL, z=student_975(pairs - 1) * math.sqrt(pairs / (pairs - 1)))


class Ratings:
    """Bradley-Terry Elo over all rated games ever, the anchor at 0. Each different game is counted once."""

    def __init__(self, games: Iterable[Played] = ()) -> None:
        self._lines: set[int] = set()
        self._results: dict[tuple[str, str], list[int]] = {}
        for game in games:
            self.add(game)

    def add(self, game: Played) -> None:
        line = hash(game.line)
        if line in self._lines:
            return
        self._lines.add(line)
        first, second = sorted((game.white, game.black))
        counts = self._results.setdefault((first, second), [0, 0, 0])
        counts[{1.0: 0, 0.5: 1, 0.0: 2}[game.points(first)]] += 1

    def estimates(self, anchor: str) -> dict[str, Estimate]:
        """Player → Elo with its 95 % interval."""
        return bradley_terry({pair: (c[0], c[1], c[2]) for pair, c in self._results.items()}, anchor)


def newest_elo(ratings: Iterable[Iterable[Mapping[str, Any]]]) -> dict[str, float]:
    """Node id → its Elo in the last of several tables of ratings, oldest first, that holds it."""
    rows = [row for table in ratings for row in table]
    return {row["node_id"]: float(row["elo"]) for row in rows if isinstance(row.get("elo"), int | float)}


def table_rows(
    table: Crosstable, ratings: Mapping[str, Estimate], names: Mapping[str, str], promoted: Sequence[str] = ()
) -> list[dict[str, Any]]:
    """The standings as plain JSON: what `generation.finished` and `Node.tournament` carry.

    In the order by which the title goes: who was promoted, the champion first, then by points.
    """
    places = {player: place for place, player in enumerate(promoted)}
    rows = []
    for player in sorted(table.players, key=lambda name: (places.get(name, len(places)), -table.score(name))):
        wins, draws, losses = table.total(player)
        rating = ratings.get(player)
        rows.append(
            {
                "node_id": player,
                "name": names.get(player, player),
                "elo": round(rating.elo, 1) + 0.0 if rating else None,
                "low": round(rating.low, 1) + 0.0 if rating else None,
                "high": round(rating.high, 1) + 0.0 if rating else None,
                "wins": wins,
                "draws": draws,
                "losses": losses,
                "score": round(table.score(player), 4),
                "forfeits": table.forfeits(player),
            }
        )
    return rows


def cross_rows(table: Crosstable) -> list[dict[str, Any]]:
    """One object a pair: results, pentanomial counts, LOS."""
    rows = []
    for i, player in enumerate(table.players):
        for opponent in table.players[i + 1 :]:
            if (player, opponent) in table.results:
                wins, draws, losses = table.results[player, opponent]
                row = {"a": player, "b": opponent, "wins": wins, "draws": draws, "losses": losses}
                row |= {"pentanomial": list(table.pentanomial(player, opponent))}
                rows.append(row | {"los": round(table.los(player, opponent), 4)})
    return rows
