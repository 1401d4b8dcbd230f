"""What is written beside the store while a run goes on: metrics files and the best solution so far."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

from core.events import Event, NodeCommitted, RunFinished
from core.state.operators import FREE_OPERATORS
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from reports.conclusion import winner_in
from reports.series import TOP_K
from reports.winner import Winner
from runs.recorded.files import BEST, BEST_SO_FAR, DETAIL, of_another
from runs.search import Search
from utils.direction import Direction
from utils.errors import SwarmEvoError
from utils.logger_system import MetricsLog

LOOKED_BACK = 20_000
"""Newest nodes among which a resume looks for the one that the metrics files end with."""


class TimeSink:
    """Stores how long the run has been worked on: what a kill does not take. With what happens, at most once in
    EVERY_SECONDS; where a program runs for hours and nothing does, every QUIET_SECONDS of a search (`kept`).

    Args:
        save: stores it.
    """

    EVERY_SECONDS = 1.0
    QUIET_SECONDS = 10.0

    def __init__(self, save: Callable[[], None]) -> None:
        self._save = save
        self._saved = time.monotonic()

    def emit(self, event: Event) -> None:
        self._save_after(self.EVERY_SECONDS)

    @contextmanager
    def kept(self) -> Iterator[None]:
        """Inside, it is stored in quiet times too, by a thread of its own."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(self.QUIET_SECONDS):
                with suppress(SwarmEvoError):  # a store that cannot be written ends the run where it is told something
                    self._save_after(self.QUIET_SECONDS)

        thread = threading.Thread(target=watch, daemon=True, name="seconds")
        thread.start()
        try:
            yield
        except BaseException:
            over.set()  # not waited for: where a stop came the store's lock may be held until its frames are gone
            raise
        over.set()
        thread.join()

    def _save_after(self, seconds: float) -> None:
        now = time.monotonic()
        if now - self._saved >= seconds:
            self._saved = now
            self._save()


class MetricsSink:
    """metrics.json and metrics.csv: an object a step, or a generation. A resume goes on behind what they hold; where
    that is not what the store told last, they are made anew.

    Each object names the winner (`winner_node_id`, `winner_metric`, `final_metric`); these are null until the run has
    ended, when all objects get them.
    """

    def __init__(self, run_dir: Path, store: RunStore, by_generation: bool) -> None:
        self._run_dir, self._store = run_dir, store
        kind = GenerationRows if by_generation else StepRows
        self._new_rows = partial(kind, run_dir.name, bool(store.get_fact("lower_is_better")))
        self._log = MetricsLog(run_dir)
        self._rows: StepRows | GenerationRows = self._new_rows()
        self._winner = winner_fields(None)
        if not self._go_on():
            self._restart()

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCommitted):
            self._write(self._rows.add(event))
        elif isinstance(event, RunFinished) and event.status == "finished":
            with RunReader(self._run_dir) as reader:
                facts = reader.facts()
                self._winner = winner_fields(winner_in(reader, facts))
            if not self._log.replace_ends(self._winner):
                self._restart()
            self._write(self._rows.rest())

    def _go_on(self) -> bool:
        """True if the files are those of this run up to a moment: then what was told since is written behind it."""
        if self._log.last is None or not self._log.is_even or not self._log.replace_ends(self._winner):
            return False
        missing: list[NodeCommitted] = []
        for event in islice(self._store.newest_commits(), LOOKED_BACK):
            if not missing and self._rows.may_change(event, self._log.last):
                self._log.drop_last()
            if self._log.last is None:
                return False
            if self._rows.ends_with(event, self._log.last):
                self._rows.skip(self._steps_before(missing))
                for late in reversed(missing):
                    self._write(self._rows.add(late))
                return True
            missing.append(event)
        return False

    def _steps_before(self, missing: Sequence[NodeCommitted]) -> int:
        return self._store.steps() - sum(event.operator not in FREE_OPERATORS for event in missing)

    def _restart(self) -> None:
        self._rows = self._new_rows()
        told = (row for event in self._store.committed_events() for row in self._rows.add(event))
        self._log.restart({**row, **self._winner} for row in told)

    def _write(self, rows: Iterable[dict[str, Any]]) -> None:
        for row in [*rows]:  # all that follows from an event is noted, also where the disk has no room for its row
            self._log.append({**row, **self._winner})


def winner_fields(winner: Winner | None) -> dict[str, Any]:
    """What each object says of the winner; null until the run has ended."""
    return {
        "winner_node_id": winner and winner.node_id,
        "winner_metric": winner and winner.metric,
        "final_metric": winner and winner.final_metric,
    }


class StepRows:
    """One object a committed node."""

    def __init__(self, run: str, lower_is_better: bool) -> None:
        self._run = run
        self._lower = lower_is_better
        self._steps = 0
        """Counted here: events of older versions have no number."""

    def add(self, event: NodeCommitted) -> Iterator[dict[str, Any]]:
        is_step = event.operator not in FREE_OPERATORS
        self._steps += is_step
        yield {
            "run": self._run,
            "step": self._steps if is_step else None,
            "node_id": event.node_id,
            "parent_id": event.parent_ids[0] if event.parent_ids else None,
            "operator": event.operator,
            "metric": event.metric,
            "metric_source": event.metric_source,
            "claimed_metric": event.claimed_metric,
            "lower_is_better": self._lower,
            "is_buggy": event.is_buggy,
            "is_valid": event.is_valid,
            "nothing_left": event.nothing_left,
            "failure": event.failure.value if event.failure else None,
            "exec_time": event.exec_time,
            "best_metric": event.best_metric,
            "best_node_id": event.best_node_id,
            "writer": event.writer,
            "prompt_tokens": event.prompt_tokens,
            "completion_tokens": event.completion_tokens,
            "cost_usd": event.cost_usd,
            "elapsed": round(event.elapsed, 3),
        }

    def rest(self) -> Iterator[dict[str, Any]]:
        return iter(())

    def skip(self, steps: int) -> None:
        """So many steps are told already."""
        self._steps = steps

    def may_change(self, newest: NodeCommitted, last: Mapping[str, Any]) -> bool:
        """True if more nodes may come that belong to `last`."""
        return False

    def ends_with(self, event: NodeCommitted, last: Mapping[str, Any]) -> bool:
        """True if `last` is the object of that event, and of none after it; False for one of an older version."""
        told = (last.get("step"), last.get("node_id"), last.get("elapsed"))
        return told == (event.number, event.node_id, round(event.elapsed, 3))


class GenerationRows:
    """One object a generation, with the fields of the seed's GenerationMetrics.

    A generation is told when the first node of a later one comes, or the run ends. Programs without one (baselines, the
    user's own) are no candidates of any. Token and dollar fields are sums over the generation.
    """

    def __init__(self, run: str, lower_is_better: bool) -> None:
        self._run = run
        self._lower = lower_is_better
        self._pending: list[NodeCommitted] = []
        self._generation = 0

    def add(self, event: NodeCommitted) -> Iterator[dict[str, Any]]:
        if event.generation is None:
            return
        if event.generation > self._generation:
            yield from self.rest()
            self._generation = event.generation
        self._pending.append(event)

    def rest(self) -> Iterator[dict[str, Any]]:
        if self._pending:
            yield self._row(self._pending)
        self._pending = []

    def skip(self, steps: int) -> None:
        """Steps are not counted here."""

    def may_change(self, newest: NodeCommitted, last: Mapping[str, Any]) -> bool:
        """True if `last` is the object of the generation that was the newest when the run ended."""
        return bool(last.get("generation") == newest.generation)

    def ends_with(self, event: NodeCommitted, last: Mapping[str, Any]) -> bool:
        """True if `last` is the object of the generation that ended with that event."""
        return (last.get("generation"), last.get("timestamp")) == (event.generation, event.at.isoformat())

    def _row(self, events: list[NodeCommitted]) -> dict[str, Any]:
        valid = [event.metric for event in events if event.metric is not None and event.is_valid and not event.is_buggy]
        scores = Direction(self._lower).ranked(valid, float)
        failures: dict[str, int] = {}
        for event in events:
            if event.failure is not None:
                failures[event.failure.value] = failures.get(event.failure.value, 0) + 1
        last = events[-1]
        return {
            "run": self._run,
            "generation": self._generation,
            "best_score": scores[0] if scores else None,
            "avg_score": _mean(scores),
            "top_k_avg_score": _mean(scores[:TOP_K]),
            "num_candidates": len(events),
            "num_valid": len(scores),
            "failure_counts": failures,
            "timestamp": last.at.isoformat(),
            "best_metric": last.best_metric,
            "best_node_id": last.best_node_id,
            "lower_is_better": self._lower,
            "writer": last.writer,
            "prompt_tokens": _sum(event.prompt_tokens for event in events),
            "completion_tokens": _sum(event.completion_tokens for event in events),
            "cost_usd": _sum(event.cost_usd for event in events),
            "elapsed": round(last.elapsed, 3),
        }


def _mean(scores: list[float]) -> float | None:
    return sum(scores) / len(scores) if scores else None


def _sum(values: Iterable[Any]) -> Any:
    """None where nothing was counted, as with `rules`."""
    known = [value for value in values if value is not None]
    return sum(known) if known else None


class BestSink:
    """best_solution/ follows the best so far, so that a run that dies leaves its best program behind: the last one
    that the disk had room for. What an earlier end left there of another winner goes: its scores and predictions are
    not those of this program.

    The end writes what the problem makes of the winner, which may have other names, in place of this file.
    """

    def __init__(self, search: Search, run_dir: Path) -> None:
        self._search = search
        self._run_dir = run_dir
        is_python = search.problem.language == "python" and search.problem.tree is None
        self._path = run_dir / BEST / BEST_SO_FAR[0 if is_python else 1]
        self._new = run_dir / f".{self._path.name}"
        """Beside that folder, of which each file counts."""

    def catch_up(self) -> None:
        """Write the best of an earlier process, which was killed before it did or had no room for it. Where the run had
        ended, its winner stays.
        """
        best = self._search.journal.leader
        if best is None or (self._path.parent / DETAIL).exists():
            return
        with suppress(OSError):  # there is no room for it now either
            if not self._path.is_file() or self._path.read_bytes() != _raw(best.code):
                self._write(best.id, best.code)

    def emit(self, event: Event) -> None:
        if isinstance(event, NodeCommitted) and event.is_best:
            self._write(event.node_id, self._search.journal[event.node_id].code)

    def _write(self, node_id: str, code: str) -> None:
        if self._path.parent.is_symlink():  # no run makes one: it may lead anywhere, and the end tells of it
            return
        self._path.parent.mkdir(parents=True, exist_ok=True)
        self._new.write_bytes(_raw(code))
        if (self._path.parent / DETAIL).exists():
            for path in of_another(self._run_dir, node_id):
                if path != self._path:
                    path.unlink(missing_ok=True)
        self._new.replace(self._path)


def _raw(code: str) -> bytes:
    return code.encode("utf-8", "replace")
