"""RemoteJobs: a JobRunner over workers elsewhere. Deadlines and cancellation are ours; the engine carries bytes."""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from core.contracts import JobResult, JobSpec
from core.workers.exclusive import SharedExclusiveLock
from core.workers.shipping import READS, land, pack_folder
from utils.errors import JobLost, JobOverdue

POLL_SECONDS = 0.2
"""How soon a cancelled or overdue job is noticed."""


class RemoteWorker(Protocol):
    """One worker with a warm sandbox, doing one job at a time."""

    def submit(self, spec: str, inputs: tuple[str, bytes] | None) -> None:
        """Send a job; at most one is under way."""

    def poll(self, timeout: float) -> tuple[str, bytes] | None:
        """Its answer, or None while it works. Raises JobLost when the worker is gone."""

    def kill(self) -> None:
        """End the worker and all that runs on it."""


@dataclass(slots=True)
class _Item:
    id: str
    spec: JobSpec
    cancelled: threading.Event = field(default_factory=threading.Event)


class RemoteJobs:
    """Implements `JobRunner`: one thread a slot drives one worker.

    A worker that dies, or whose job is cancelled or overdue, is killed and replaced. A result that comes from a
    cancelled job is discarded. A lost job is told as lost; whether it is run again is the JobPool's to say.

    Args:
        open_worker: makes a worker; may block until the cluster has room. Raises for a request that no node can meet.
    """

    def __init__(self, open_worker: Callable[[], RemoteWorker], slots: int) -> None:
        self.slots = slots
        self._open = open_worker
        self._todo: queue.SimpleQueue[_Item | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[JobResult] = queue.SimpleQueue()
        self._items: dict[str, _Item] = {}
        self._folders: dict[str, tuple[str, bytes]] = {}
        self._lock = threading.Lock()
        self._closed = threading.Event()
        self._lane = SharedExclusiveLock()
        self._serial = 0
        self._threads = [threading.Thread(target=self._drive, daemon=True, name=f"remote-{i}") for i in range(slots)]
        for thread in self._threads:
            thread.start()

    def submit(self, spec: JobSpec) -> str:
        with self._lock:
            self._serial += 1
            item = _Item(f"job-{self._serial}", spec)
            self._items[item.id] = item
        self._todo.put(item)
        return item.id

    def next(self, timeout: float | None = None) -> JobResult | None:
        try:
            return self._done.get(timeout=timeout)
        except queue.Empty:
            return None

    def cancel(self, id: str) -> None:
        with self._lock:
            item = self._items.get(id)
        if item is not None:
            item.cancelled.set()

    def close(self) -> None:
        self._closed.set()
        for _ in self._threads:
            self._todo.put(None)
        for thread in self._threads:
            thread.join(timeout=10.0)

    def _drive(self) -> None:
        worker: RemoteWorker | None = None
        while (item := self._todo.get()) is not None and not self._closed.is_set():
            worker = self._work(item, worker)
            with self._lock:
                self._items.pop(item.id, None)
        if worker is not None:
            worker.kill()

    def _work(self, item: _Item, worker: RemoteWorker | None) -> RemoteWorker | None:
        """Do one job; the worker to go on with, or None when it was lost."""
        if item.cancelled.is_set():
            return worker
        try:
            worker = worker or self._open()
            with self._lane.alone() if item.spec.alone else self._lane.shared():
                answer = self._answer(item, worker)
        except JobLost as error:
            overdue = isinstance(error, JobOverdue)
            self._done.put(JobResult(id=item.id, lost=True, overdue=overdue, error=str(error)))
            self._dismiss(worker)
            return None
        except Exception as error:  # noqa: BLE001 - the engine's own faults come in any type
            self._done.put(JobResult(id=item.id, error=f"{type(error).__name__}: {error}"))
            self._dismiss(worker)
            return None
        if answer is None:
            self._dismiss(worker)
            return None
        self._done.put(answer)
        return worker

    def _answer(self, item: _Item, worker: RemoteWorker) -> JobResult | None:
        """The job's result; None when it was cancelled."""
        worker.submit(item.spec.model_dump_json(), self._folder(item.spec))
        ends = time.monotonic() + item.spec.seconds
        while not self._closed.is_set():
            if item.cancelled.is_set():
                return None
            if time.monotonic() > ends:
                raise JobOverdue(f"the job was still running after {item.spec.seconds:g} s, its deadline")
            answer = worker.poll(POLL_SECONDS)
            if answer is not None:
                found = land(*answer, item.spec)
                return JobResult(id=item.id, value=found.get("value"), error=found.get("error", ""))
        return None

    def _dismiss(self, worker: RemoteWorker | None) -> None:
        """Whatever it still does must not be heard of again."""
        if worker is not None:
            worker.kill()

    def _folder(self, spec: JobSpec) -> tuple[str, bytes] | None:
        """What the job reads, packed once for all jobs."""
        path = spec.payload.get(READS)
        if not path:
            return None
        with self._lock:
            if path not in self._folders:
                self._folders[path] = pack_folder(Path(path))
            return self._folders[path]
