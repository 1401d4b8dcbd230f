"""A book: openings of the user's own, which games begin from in place of random ones."""

from __future__ import annotations

import random
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from hashlib import blake2b

from core.arena.openings import is_open
from core.contracts import Game
from utils.counts import counted
from utils.errors import ConfigError

HELD_OUT = 4
"""One opening in so many is held out for the final part."""
_SHOWN = 8
"""Lines of the file that are named in one sentence."""


@dataclass(frozen=True, slots=True)
class BookOpening:
    """One opening of a book; the game goes on after it."""

    line: int
    """Of the file, from 1."""
    opening: tuple[str, ...]
    """As `Game.initial` takes it."""
    text: str
    """The position that it leads to, as `Game.text`."""


class OpeningBook:
    """Openings of a file, no two of which lead to the same position.

    Who draws from it is given an order by a seed, or that of the file. Where a side wins with one move, or by force as
    the game knows, an opening is passed over; that is looked at when it is drawn, since it takes milliseconds, and told
    by `news`. The held-out part are the openings whose positions have the least hashes: a function of the file alone.

    Args:
        name: what named the file and its path, for messages: `arena.book=uho.epd`.
        repeated: (line, earlier line) of openings that were left out, since they lead where an earlier one does.
    """

    def __init__(
        self, name: str, game: Game, openings: Sequence[BookOpening], repeated: Sequence[tuple[int, int]] = ()
    ) -> None:
        self.name = name
        self.openings = tuple(openings)
        self._game = game
        self._repeated = tuple(repeated)
        held = sorted(self.openings, key=lambda one: blake2b(one.text.encode(), digest_size=8).digest())
        self._held_out = frozenset(one.line for one in held[: -(-len(held) // HELD_OUT)])
        self._open: dict[int, bool] = {}
        """Line → whether games begin there, of those that were looked at."""
        self._told: set[int] = set()

    def part(self, held_out: bool) -> list[BookOpening]:
        """Openings for claims, or those for selection, in the file's order."""
        return [one for one in self.openings if (one.line in self._held_out) == held_out]

    def draw(
        self, count: int, *, seed: int, held_out: bool | None, without: Collection[tuple[str, ...]] = ()
    ) -> list[tuple[str, ...]]:
        """`count` openings in an order of the seed, or as many as there are.

        Args:
            held_out: the part to draw from; None: the whole book.
            without: openings that are not wanted again.
        """
        drawn = list(self.openings) if held_out is None else self.part(held_out)
        random.Random(seed).shuffle(drawn)
        return self._first(count, [one for one in drawn if one.opening not in without])

    def sequence(self, count: int, start: int = 1) -> list[tuple[str, ...]]:
        """`count` openings in the file's order, from the `start`th on, or as many as there are."""
        return self._first(count, self.openings[start - 1 :])

    def check(self, count: int) -> None:
        """Raise ConfigError where selection cannot draw `count` openings from its part, or the final part none."""
        usable = len(self.draw(count, seed=0, held_out=False))
        final = len(self.draw(1, seed=0, held_out=True))
        if usable < count or final < 1:
            parts = f"{len(self.part(False))} for selection, {len(self.part(True))} held out for the final part"
            passed = (
                f", {counted(out, 'opening')} passed over" if (out := list(self._open.values()).count(False)) else ""
            )
            raise ConfigError(
                f"{self.name}: its {counted(len(self.openings), 'opening')} ({parts}{passed}) are too few for "
                f"arena.openings={count}; allowed are at most {usable} here" + ("" if final else ", and 1 held out")
            )

    @property
    def note(self) -> str:
        """What there is, and what was left out of it, in a line."""
        told = f"{self.name}: {counted(len(self.openings), 'opening')}"
        if self._repeated:
            line, earlier = self._repeated[0]
            more = counted(len(self._repeated), "more leads", "more lead")
            told += f"; {more} to the position of an earlier one (the first: line {line}, as line {earlier})"
        return told

    def news(self) -> list[str]:
        """What was passed over and not told yet: at most one line."""
        lines = sorted(line for line, is_open_ in self._open.items() if not is_open_ and line not in self._told)
        self._told |= set(lines)
        if not lines:
            return []
        shown = ", ".join(map(str, lines[:_SHOWN])) + (
            f" and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
        )
        return [f"{self.name}: a side wins by force after the opening of line {shown}: passed over"]

    def _first(self, count: int, openings: Sequence[BookOpening]) -> list[tuple[str, ...]]:
        found: list[tuple[str, ...]] = []
        for one in openings:
            if len(found) == count:
                break
            if self._is_open(one):
                found.append(one.opening)
        return found

    def _is_open(self, one: BookOpening) -> bool:
        if one.line not in self._open:
            self._open[one.line] = is_open(self._game, self._game.initial(one.opening))
        return self._open[one.line]
