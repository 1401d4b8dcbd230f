"""FallbackJobs: a remote runner that goes on locally at the first error of the engine. No job is told twice."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from core.contracts import JobResult, JobRunner, JobRunnerDefaults, JobSpec

_TURN_SECONDS = 0.05


class FallbackJobs(JobRunnerDefaults):
    """Implements `JobRunner` over two others.

    Args:
        remote: used until it fails once.
        local: makes the runner that takes over; called at most once.
        notice: told one line when that happens.
    """

    def __init__(self, remote: JobRunner, local: Callable[[], JobRunner], notice: Callable[[str], None]) -> None:
        self.slots = remote.slots
        self._remote = remote
        self._make_local = local
        self._local: JobRunner | None = None
        self._notice = notice
        self._lock = threading.Lock()
        self._specs: dict[str, tuple[str, JobSpec]] = {}
        """Inner id → (outer id, spec) of what is under way; an inner id is prefixed by its runner."""
        self._serial = 0

    def submit(self, spec: JobSpec) -> str:
        with self._lock:
            self._serial += 1
            outer = f"job-{self._serial}"
            self._send(outer, spec)
        return outer

    def next(self, timeout: float | None = None) -> JobResult | None:
        ends = None if timeout is None else time.monotonic() + timeout
        while True:
            for name, runner in self._runners():
                result = runner.next(timeout=_TURN_SECONDS)
                told = self._heard(name, result) if result is not None else None
                if told is not None:
                    return told
            if ends is not None and time.monotonic() > ends:
                return None

    def cancel(self, id: str) -> None:
        with self._lock:
            inner = self._inner(id)
            if inner is not None:
                del self._specs[inner]
        if inner is not None:
            self._runner_of(inner).cancel(inner.partition("/")[2])

    def withdraw(self, id: str) -> bool:
        with self._lock:
            inner = self._inner(id)
            if inner is None or not self._runner_of(inner).withdraw(inner.partition("/")[2]):
                return False
            del self._specs[inner]
            return True

    def _inner(self, outer: str) -> str | None:
        """Where that job is now; None once it is over."""
        return next((key for key, (known, _) in self._specs.items() if known == outer), None)

    def _runner_of(self, inner: str) -> JobRunner:
        runner = self._local if inner.startswith("local/") else self._remote
        assert runner is not None
        return runner

    def close(self) -> None:
        for _, runner in self._runners():
            runner.close()

    def _runners(self) -> list[tuple[str, JobRunner]]:
        with self._lock:
            return [("remote", self._remote)] + ([("local", self._local)] if self._local else [])

    def _send(self, outer: str, spec: JobSpec) -> None:
        name, runner = ("local", self._local) if self._local is not None else ("remote", self._remote)
        self._specs[f"{name}/{runner.submit(spec)}"] = (outer, spec)

    def _heard(self, name: str, result: JobResult) -> JobResult | None:
        """The result under the outer id; None for what was cancelled, and for a remote failure that runs here now."""
        with self._lock:
            found = self._specs.pop(f"{name}/{result.id}", None)
            if found is None:
                return None
            outer, spec = found
            if name == "remote" and (result.lost or result.error) and not result.overdue:
                if self._local is None:
                    self._local = self._make_local()
                    self._notice(f"the remote runner failed ({result.error}); going on locally")
                self._send(outer, spec)
                return None
        return result.model_copy(update={"id": outer})
