"""Games of a round that begin while its other engines are still written.

Which games a round has follows from who was asked for an engine, not from who was quick: openings and seeds are fixed
when the round opens, and each game is named by its programs. So a pair may meet as soon as both are there, and the
round, when it is judged, finds in the book what was played.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from threading import Lock

from core.arena.arena_run import ArenaRun
from core.arena.match import engine_of
from core.arena.pairings import Pairing, meetings
from core.arena.tournament import Begun
from core.state.node import Node
from core.state.task import Task
from utils.counts import counted
from utils.thread_pool import Pool


@dataclass(frozen=True, slots=True)
class Round:
    """What fixes the games of a round."""

    label: str
    """Openings and lots are drawn by it."""
    generation: int

    @classmethod
    def of(cls, ids: Sequence[str], generation: int | None) -> Round:
        """The round of the nodes `ids`; without a generation, that of the starting engines."""
        return cls(f"{generation or 0}/{'/'.join(sorted(ids))}", generation or 0)


@dataclass(slots=True)
class _Table:
    """Who is there already, of a round that is still written."""

    round: Round
    known: list[Node]
    """Champion and runner-up."""
    seated: list[Node] = field(default_factory=list)
    games: dict[str, Future[None]] = field(default_factory=dict)


class GamesAhead:
    """Lets engines play whom they find there, each as it comes, on the workers that nothing else holds."""

    def __init__(self, run: ArenaRun) -> None:
        self._run = run
        self._lock = Lock()
        self._table: _Table | None = None
        self._pool: Pool | None = None

    def expect(self, tasks: Sequence[Task]) -> None:
        """A round of these tasks is written from now on."""
        self.stop()
        generation = next((task.generation for task in tasks if task.generation is not None), None)
        with self._lock:
            known = [] if generation is None else self._run.cohort([])
            self._table = _Table(Round.of([task.node_id for task in tasks], generation), known)

    def seat(self, node: Node) -> None:
        """An engine is there, and nothing is wrong with it: it plays everybody who was there before it."""
        with self._lock:
            table = self._table
            if table is None or not table.known or node.generation != table.round.generation:
                return
            known = self._run.deps.journal.fingerprint
            if any(known(node.code).is_same(known(other.code)) for other in table.seated):
                return  # one of them gives way when the round is judged
            pairings = self._pairings(table, node)
            table.seated.append(node)
            pool = self._pool = self._pool or Pool(max(1, self._run.deps.jobs.slots), "ahead")
            for pairing in pairings:
                if pairing.key not in table.games:
                    table.games[pairing.key] = pool.submit(self._play, pairing, table)

    def _pairings(self, table: _Table, node: Node) -> list[Pairing]:
        """What is to be played yet."""
        run, settings = self._run, self._run.settings
        others = [engine_of(other) for other in (*table.known, *table.seated)]
        pairings = meetings(
            [(other, engine_of(node)) for other in others],
            run.openings(settings.openings, table.round.label),
            games=settings.games,
            seed=run.seed,
            spec=run.spec,
            settings=settings,
            kind="rated",
        )
        return [pairing for pairing in pairings if run.deps.games.get(pairing.key) is None]

    def _play(self, pairing: Pairing, table: _Table) -> None:
        generation = table.round.generation
        self._run.tournament.play([pairing], kind="rated", generation=generation)
        over = 1 + sum(future.done() for future in table.games.values())
        if table is self._table:
            self._run.deps.doing(f"generation {generation}: {counted(over, 'game')} while other engines are written")

    def taken_up(self, nodes: Sequence[Node]) -> tuple[Round, Mapping[str, Begun]]:
        """(the round of `nodes`, which is judged now; its games that are under way). No other begins ahead of it."""
        under_way = self.stop()
        with self._lock:
            table, self._table = self._table, None
        generation = next((node.generation for node in nodes if node.generation is not None), None)
        if table is not None and generation == table.round.generation:
            return table.round, under_way
        return Round.of([node.id for node in nodes], generation), {}

    def stop(self) -> Mapping[str, Begun]:
        """Begin no further game; those under way, by their key."""
        with self._lock:
            games = dict(self._table.games) if self._table is not None else {}
        return {key: _ended(future) for key, future in games.items() if not future.cancel() and not future.done()}

    def close(self) -> None:
        """Wait for what is under way."""
        for ended in self.stop().values():
            ended()
        if self._pool is not None:
            self._pool.shutdown(wait=False, cancel_futures=True)


def _ended(future: Future[None]) -> Callable[[], None]:
    def waits() -> None:
        wait([future])  # whatever became of it: a game that is not in the book is played by who wants it

    return waits
