"""JobPool: many threads submit jobs to one runner, of whatever kind, and wait for their results."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future
from typing import Any

from core.contracts import JobResult, JobRunner, JobSpec
from utils.counts import counted
from utils.errors import BudgetExhausted, Interrupted, JobLost, JobOverdue, JobStopped, SandboxError

STOPPED = "the user stopped it while it ran"
_ATTEMPTS = 3


class JobPool:
    """Implements `Jobs` over a runner: many threads submit and wait; the runner tells the results, or one thread asks
    for them.

    A lost worker's job is run again, up to three times in all; one that overstepped its deadline is not.

    Args:
        seconds_left: → seconds of the run's budget that are left. A job that is still under way at their end is
            cancelled, and BudgetExhausted is raised: its node stays open for a resume.
        is_ending: True once the user wants the end. What runs then goes on to its end, with further jobs of its label;
            what no worker has begun is withdrawn, and Interrupted is raised.
        on_ending: told once, then, how many jobs are waited for.
        limit: → the key of the budget that those seconds are of.
    """

    def __init__(
        self,
        runner: JobRunner,
        seconds_left: Callable[[], float] | None = None,
        is_ending: Callable[[], bool] = lambda: False,
        on_ending: Callable[[int], None] = lambda running: None,
        limit: Callable[[], str] = lambda: "budget.seconds",
    ) -> None:
        self.slots = runner.slots
        self._runner = runner
        self._seconds_left = seconds_left
        self._is_ending, self._on_ending, self._limit = is_ending, on_ending, limit
        self._told_of_end = False
        self._waiting: dict[str, tuple[Future[JobResult], str]] = {}
        """Job id → who waits for it, and the job's label."""
        self._stopped: set[str] = set()
        self._begun: set[str] = set()
        """Labels of which a job is known to have been begun."""
        self._lock = threading.Lock()
        self._abandoned = False
        self._broken: Exception | None = None
        """What ended the thread that hands out results: nobody would hear of one any more."""
        self._closed = threading.Event()
        runner.listen(self._hear)
        self._pump = threading.Thread(target=self._hand_out, daemon=True, name="job-results")
        self._pump.start()

    def run(self, spec: JobSpec) -> Any:
        return self._value(self._submit(spec), spec)

    def map(self, specs: Iterable[JobSpec]) -> list[Any]:
        todo = list(specs)
        futures: list[Future[JobResult]] = []
        try:
            for spec in todo:
                futures.append(self._submit(spec))
            return [self._value(future, spec) for future, spec in zip(futures, todo, strict=True)]
        except BaseException:
            self._give_up(futures)
            raise

    def stop(self, label: str) -> bool:
        """Kill what runs under that label, for the user; whoever waits gets JobStopped. False if nothing does."""
        with self._lock:
            found = {id_: future for id_, (future, of) in self._waiting.items() if of == label}
            if found:
                self._stopped.add(label)
            for id_ in found:
                del self._waiting[id_]
        for id_, future in found.items():
            self._runner.cancel(id_)
            future.set_result(JobResult(id=id_, lost=True))
        return bool(found)

    def refuse(self, labels: Iterable[str]) -> None:
        """Jobs of these labels were stopped when the run was first done: they are not begun again."""
        self._stopped.update(labels)

    def abandon(self) -> None:
        """What runs is about to be killed by us: whoever waits gets Interrupted, never what became of it by that."""
        self._abandoned = True

    def close(self) -> None:
        """Close the runner as well. Whoever still waits gets Interrupted."""
        self.abandon()
        self._closed.set()
        self._runner.close()
        self._pump.join(timeout=5.0)
        with self._lock:
            waiting, self._waiting = self._waiting, {}
        for future, _ in waiting.values():
            future.set_exception(Interrupted("interrupted"))

    def _submit(self, spec: JobSpec) -> Future[JobResult]:
        future: Future[JobResult] = Future()
        with self._lock:  # a result that is there at once is handed out when its job is known
            if self._abandoned:  # looked at here: `close` ends the waiting of those that it finds
                raise Interrupted("interrupted")
            if self._broken is not None:
                raise _fault(self._broken)
            if spec.label in self._stopped:
                raise JobStopped(STOPPED)
            if spec.label and spec.label not in self._begun and self._is_ending():
                raise Interrupted("interrupted")
            self._waiting[self._runner.submit(spec)] = future, spec.label
        return future

    def _value(self, future: Future[JobResult], spec: JobSpec) -> Any:
        for attempt in range(1, _ATTEMPTS + 1):
            result = self._wait(future)
            if self._abandoned:
                raise Interrupted("interrupted")
            if result.lost and spec.label in self._stopped:
                raise JobStopped(STOPPED)
            if result.overdue:
                raise JobOverdue(result.error)
            if not result.lost:
                break
            if attempt == _ATTEMPTS:
                raise JobLost(result.error or f"the worker of {spec.entry} was lost {counted(attempt, 'time')}")
            future = self._submit(spec)
        if result.error:
            raise SandboxError(result.error)
        return result.value

    def _wait(self, future: Future[JobResult]) -> JobResult:
        while True:
            left = self._seconds_left() if self._seconds_left else None
            try:
                return future.result(timeout=None if left is None or left == math.inf else max(left, 0.0))
            except TimeoutError:
                if self._seconds_left is not None and self._seconds_left() <= 0:
                    self._give_up([future])
                    raise BudgetExhausted(f"{self._limit()} is reached; what was running stays open") from None

    def _give_up(self, futures: Sequence[Future[JobResult]]) -> None:
        """Cancel what nobody waits for any more; what is over is left as it is."""
        with self._lock:
            ids = [id_ for id_, (waiting, _) in self._waiting.items() if any(waiting is one for one in futures)]
            for id_ in ids:
                del self._waiting[id_]
        for id_ in ids:
            self._runner.cancel(id_)

    def _hand_out(self) -> None:
        try:
            self._hand_out_results()
        except Exception as error:  # noqa: BLE001 - a fault of ours, here or in who is told: whoever waits raises it
            self._break(error)

    def _break(self, error: Exception) -> None:
        with self._lock:
            self._broken = error
            waiting, self._waiting = self._waiting, {}
        for future, _ in waiting.values():
            future.set_exception(_fault(error))

    def _hand_out_results(self) -> None:
        while not self._closed.is_set():
            if self._is_ending():
                self._withdraw()
                if not self._told_of_end:
                    self._told_of_end = True
                    self._on_ending(len(self._waiting))
            result = self._runner.next(timeout=0.2)
            if result is not None:
                self._hand(result)

    def _hear(self, result: JobResult) -> None:
        try:
            self._hand(result)
        except Exception as error:  # noqa: BLE001 - as above; the runner goes on
            self._break(error)

    def _hand(self, result: JobResult) -> None:
        with self._lock:
            waiting = self._waiting.pop(result.id, None)
            self._begun.update([waiting[1]] if waiting else [])
        if waiting is not None:  # else it was stopped or given up
            waiting[0].set_result(result)

    def _withdraw(self) -> None:
        """Take back what waits for a worker and belongs to nothing that runs."""
        with self._lock:
            for id_, (future, label) in list(self._waiting.items()):
                if not label or label in self._begun:
                    continue
                if self._runner.withdraw(id_):
                    del self._waiting[id_]
                    future.set_exception(Interrupted("interrupted"))
                else:
                    self._begun.add(label)


def _fault(error: Exception) -> SandboxError:
    return SandboxError(f"results of jobs cannot be handed out: {type(error).__name__}: {error}")
