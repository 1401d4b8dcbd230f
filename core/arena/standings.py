"""Who stands where: the table of one tournament, and ratings over all games ever."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from utils.shared_property import shared_property
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
    seed: int = 0
    """Two games of the same players, opening and seed with the colours reversed are a pair."""

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
            int(game["seed"]),
        )

    @property
    def line(self) -> tuple[str, str, str, tuple[str, ...]]:
        """Two games with the same line are one game."""
        return self.white, self.black, self.result, (*self.opening, *self.moves)

    @property
    def pair(self) -> tuple[tuple[str, ...], int, frozenset[str]]:
        """What a game has in common with the one of reversed colours, and with no other."""
        return self.opening, self.seed, frozenset((self.white, self.black))

    def points(self, player: str) -> float:
        """Points of `player`, who must be one of the two."""
        return POINTS[self.result] if player == self.white else 1 - POINTS[self.result]


Pair = tuple[Played, Played]
"""Two games from one opening with colours reversed."""


class Pairs:
    """Finds the pairs that count: both games are there, and they are not the same two games as those of another pair.

    A game never counts without its reversed one: the advantage of a colour would become rating. Once two players repeat
    a pair, one pair from each opening counts between them, that of the lowest seed: a player that lost alike again and
    again, and varied what it won, would have its losses counted once and its wins each time.
    """

    def __init__(self) -> None:
        self._halves: dict[Hashable, Played] = {}
        self._closed: set[Hashable] = set()
        self._whole: dict[frozenset[str], list[Pair]] = {}

    def add(self, game: Played) -> bool:
        """True where that makes a pair whole: between its two players others may count from now on."""
        if game.pair in self._closed or game.white == game.black:
            return False
        other = self._halves.setdefault(game.pair, game)
        if other.white == game.white:
            return False
        self._closed.add(game.pair)
        del self._halves[game.pair]
        self._whole.setdefault(frozenset((game.white, game.black)), []).append((other, game))
        return True

    def between(self, players: frozenset[str]) -> list[Pair]:
        """The pairs of these two that count."""
        whole = self._whole.get(players, [])
        if len(_unlike(whole)) == len(whole):
            return whole
        first: dict[tuple[str, ...], Pair] = {}
        for pair in sorted(whole, key=lambda pair: (pair[0].opening, pair[0].seed)):
            first.setdefault(pair[0].opening, pair)
        return _unlike(first.values())

    def counting(self) -> list[Pair]:
        """All that count."""
        return [pair for players in self._whole for pair in self.between(players)]

    @property
    def left_out(self) -> int:
        """Games of whole pairs that do not count."""
        return 2 * sum(len(whole) - len(self.between(players)) for players, whole in self._whole.items())

    @property
    def halves(self) -> list[Played]:
        """Games left out because their reversed one is not there."""
        return list(self._halves.values())


def _unlike(pairs: Iterable[Pair]) -> list[Pair]:
    """One of those that are the same two games."""
    return list({frozenset((hash(one.line), hash(other.line))): (one, other) for one, other in pairs}.values())


class Crosstable:
    """Results between players. Only whole pairs count, and identical ones once (`Pairs`).

    Args:
        players: in the order of the table's ties; only games between them count.
        games: of any players.
    """

    def __init__(self, players: Sequence[str], games: Iterable[Played]) -> None:
        self.players = list(players)
        members = set(players)
        pairs = Pairs()
        for game in games:
            if game.white in members and game.black in members:
                pairs.add(game)
        self.pairs = pairs.counting()
        self.games = [game for pair in self.pairs for game in pair]
        self.copies = pairs.left_out
        self.halves = pairs.halves

    @shared_property
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
        met = [(a, b) for a, b in self.pairs if {a.white, a.black} == {player, opponent}]
        return pair_counts([(a.points(player), b.points(player)) for a, b in met])

    @property
    def left_out(self) -> str:
        """Which games do not count, and why, in one line; '' where all do."""
        parts = []
        if self.copies:
            parts.append(f"{self.copies} between players that repeat pairs move by move")
        if self.halves:
            parts.append(f"{len(self.halves)} without the game of reversed colours")
        return f"games that do not count: {', '.join(parts)}" if parts else ""

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
    """Bradley-Terry Elo over all rated games ever, the anchor at 0. Pairs count as in a table."""

    def __init__(self, games: Iterable[Played] = ()) -> None:
        self._pairs = Pairs()
        self._results: dict[tuple[str, str], tuple[int, int, int]] = {}
        met = {frozenset((game.white, game.black)): game for game in games if self._pairs.add(game)}
        for game in met.values():
            self._count(game)

    def add(self, game: Played) -> None:
        """Count a game, as soon as its reversed one is there too. Order does not matter."""
        if self._pairs.add(game):
            self._count(game)

    def _count(self, game: Played) -> None:
        """The results of its two players anew."""
        first, second = sorted((game.white, game.black))
        games = (one for pair in self._pairs.between(frozenset((first, second))) for one in pair)
        points = Counter(one.points(first) for one in games)
        self._results[first, second] = points[1.0], points[0.5], points[0.0]

    def estimates(self, anchor: str) -> dict[str, Estimate]:
        """Player → Elo with its 95 % interval."""
        return bradley_terry(self._results, anchor)


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
