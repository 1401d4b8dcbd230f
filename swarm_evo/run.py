"""Run: a search that goes on in a process of its own, followed, awaited or stopped from here."""

from __future__ import annotations

import asyncio
import time
import warnings
from collections import deque
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from swarm_evo.arguments import end_of
from swarm_evo.child import INTERRUPTED, NOTHING_VALID, Child
from swarm_evo.errors import SearchError
from swarm_evo.kept import KeptFiles
from swarm_evo.language import in_python
from swarm_evo.notebook import Cell, in_notebook
from swarm_evo.result import Result, read_result

AWAITED_SECONDS = 0.5
ENDED = "The search was ended: the run's wait() has what there is."


@dataclass(frozen=True, slots=True)
class Step:
    """A candidate that has its verdict."""

    step: int | None
    """Which step of the search it is, from 1; None for what is no step: a baseline, a program of yours, an ensemble."""
    node_id: str
    operator: str
    metric: float | None
    """None where it failed or is a duplicate."""
    is_best: bool
    """The best candidate so far; a baseline beside the search may be better."""
    best_metric: float | None
    """Of the run so far."""
    failure: str | None
    message: str
    parent_ids: tuple[str, ...]
    elapsed: float
    """Seconds since the run began."""


class Run:
    """A handle that comes back at once: `for step in run`, `run.wait()`, `await run`, `run.stop()`.

    `with swarm_evo.start(…) as run:` ends the search in good order where the block is left before it has ended.

    Args:
        words: of the command line, verb first.
        on_step: called with each `Step` while somebody waits or loops; what it raises ends the run in good order and is
            raised.
        show: a picture of the progress in the notebook's cell; None: where there is a cell.
        printed: is given what the user's evaluator printed for a candidate.
        kept: files that are held until the run names them.

    Raises:
        SearchError: there is nothing to show it by.
    """

    def __init__(
        self,
        words: Sequence[str],
        *,
        on_step: Callable[[Step], Any] | None = None,
        quiet: bool = True,
        show: bool | None = None,
        printed: Callable[[Path, str], None] | None = None,
        kept: KeptFiles | None = None,
    ) -> None:
        if show and find_spec("IPython") is None:
            raise SearchError("show=True: IPython shows it, and is not installed here; on_step= is told everywhere")
        self._child = Child([*words, "--events"], quiet=quiet, kept=kept)
        self._on_step, self._printed = on_step, printed
        self._cell = Cell() if (in_notebook() if show is None else show) else None
        self._loops: list[deque[Step]] = []
        """What each loop that goes on has not had yet."""
        self._result: Result | None = None

    def __enter__(self) -> Run:
        return self

    def __exit__(self, *_: object) -> None:
        if not self._child.ended:
            self._end()

    def __repr__(self) -> str:
        name = self._child.opened.get("run", "not begun yet")
        return f"Run({name!r}, {'ended' if self._child.ended else 'running'})"

    @property
    def folder(self) -> Path | None:
        """`logs/<run>`; None until the run has begun."""
        opened = self._child.opened
        return Path(opened["folder"]) if opened else None

    def __iter__(self) -> Iterator[Step]:
        """Each candidate once, as it gets its verdict; ends with the run. Baselines and own programs come too.

        Who waits here for the next one and is interrupted (Ctrl-C) ends the run in good order; then that is raised.
        A `stop()` inside of the loop waits for the end itself: what was still judged comes to the loop afterwards.

        Raises:
            SearchError: the run failed.
        """
        steps: deque[Step] = deque()
        self._loops.append(steps)
        try:
            goes_on = True
            while goes_on:
                goes_on = self._looped()
                while steps:
                    yield steps.popleft()
        finally:
            self._loops = [other for other in self._loops if other is not steps]
        self.wait()

    def wait(self, seconds: float | None = None) -> Result:
        """Wait for the end and return what the run came to.

        An interrupt (Ctrl-C, the notebook's stop button) ends the search in good order and returns what there is; a
        second one stops it at once. One before there is a run is raised.

        Args:
            seconds: None waits until the end.
        Raises:
            SearchError: the run failed.
            TimeoutError: it goes on after `seconds`; `wait` again, or `stop`.
        """
        end = end_of(seconds)
        if self._result is None:
            try:
                if not self._follow(end=end):
                    raise TimeoutError(f"the search goes on after {seconds:g} s: wait() again, or stop()")
            except KeyboardInterrupt:
                self._child.interrupt()
                self._follow(stopping=True)
                if not self._child.opened:
                    raise
            self._result = self._read()
        return self._result

    def stop(self) -> Result:
        """End the search in good order and return what there is."""
        self._child.interrupt()
        return self.wait()

    def __await__(self) -> Generator[Any, None, Result]:
        """`result = await run`: other tasks go on meanwhile. Where the wait is cancelled (a timeout, Ctrl-C) the search
        ends in good order; `run.wait()` has what there is then.
        """
        return self._awaited().__await__()

    async def _awaited(self) -> Result:
        try:
            while self._result is None and not await asyncio.to_thread(self._follow_a_while):
                pass
            return await asyncio.to_thread(self.wait)
        except asyncio.CancelledError:
            self._child.interrupt()
            self._close(ENDED)
            asyncio.get_running_loop().run_in_executor(None, self._child.exit_code)  # the program lives until then
            raise

    def _follow_a_while(self) -> bool:
        """As `_follow`: the stop button cancels a cell's wait when its loop wakes, and nothing else may wake it."""
        return self._follow(end=time.monotonic() + AWAITED_SECONDS)

    # ------------------------------------------------------------ following

    def _looped(self) -> bool:
        """As `_advance`; whatever breaks ends the run."""
        try:
            return self._advance()
        except BaseException:
            self._end()
            raise

    def _end(self) -> None:
        """End the search in good order, since nobody follows it any more; an interrupt meanwhile ends it at once."""
        self._child.interrupt()
        self._close(ENDED)
        try:
            self._child.exit_code()
        except KeyboardInterrupt:
            self._child.interrupt()
            raise

    def _follow(self, stopping: bool = False, end: float | None = None) -> bool:
        """Take in what the child tells until its end, or up to `end` of the clock: then False."""
        try:
            while self._advance(end):
                if end is not None and time.monotonic() >= end:
                    return False
        except KeyboardInterrupt:
            if stopping:
                self._child.interrupt()
                self._close("The search was stopped at once.")
            raise
        except BaseException:
            self._end()
            raise
        return True

    def _advance(self, end: float | None = None) -> bool:
        """Take in the next line that the child tells, or none where there is none by `end`; False at its end."""
        with self._child.news:
            while not self._child.told and not self._child.ended:
                left = 0.5 if end is None else min(0.5, end - time.monotonic())
                if left <= 0:
                    return True
                self._child.news.wait(left)
                if self._cell:
                    self._cell.draw()
            if not self._child.told:
                return False
            line = self._child.told.popleft()
        self._take(line)
        return True

    def _take(self, line: dict[str, Any]) -> None:
        if self._cell:
            self._cell.learn(line)
        if line["type"] == "run.nothing_left":
            warnings.warn(in_python(line["text"]), stacklevel=6)
        if line["type"] != "node.committed":
            return
        step = _step(line)
        for steps in self._loops:
            steps.append(step)
        if self._printed is not None:
            self._printed(Path(self._child.opened["folder"]), step.node_id)
        if self._on_step is not None:
            self._on_step(step)

    def _read(self) -> Result:
        code, last = self._child.exit_code(), self._child.last
        if code not in (0, NOTHING_VALID, INTERRUPTED) or last.get("type") != "result":
            error = self._child.error()
            self._close(str(error))
            raise error
        facts = last["facts"]
        result = read_result(Path(self._child.opened["folder"]), facts)
        go_on = f" Go on with swarm_evo.resume({result.run!r})." if result.status in ("interrupted", "waiting") else ""
        self._close(result.verdict + go_on)
        return replace(result, cell=self._cell)

    def _close(self, text: str) -> None:
        """The cell shows no progress any more, but what became of the search."""
        if self._cell:
            self._cell.close(text)


def _step(line: Mapping[str, Any]) -> Step:
    names = ("step", "node_id", "operator", "metric", "is_best", "best_metric", "failure", "message", "elapsed")
    return Step(**{name: line[name] for name in names}, parent_ids=tuple(line["parent_ids"]))
