"""JobQueue: what every runner does alike with the jobs that are handed to it, wherever they run."""

from __future__ import annotations

import queue
import threading
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field

from core.contracts import JobListener, JobResult, JobRunnerDefaults, JobSpec, JobState
from core.workers.exclusive import SharedExclusiveLock


@dataclass(slots=True)
class QueuedJob:
    """A job that waits or is under way."""

    id: str
    spec: JobSpec
    cancelled: threading.Event = field(default_factory=threading.Event)
    begun: bool = False
    left: bool = False
    """Only tidying up is left: the next one is begun meanwhile, and whoever tidies up tells what came of it."""
    stopped: bool = False
    """What it comes to is of no account any more."""
    woken: queue.SimpleQueue[None] = field(default_factory=queue.SimpleQueue)
    """Holds something once it is left or cancelled."""

    def is_woken(self, seconds: float) -> bool:
        """True once it is, within so many seconds; told once."""
        try:
            self.woken.get(timeout=seconds)
        except queue.Empty:
            return False
        return True


class JobQueue(JobRunnerDefaults, ABC):
    """Implements `JobRunner` with `slots` threads that take the jobs in order; a subclass says what running one means.

    The first jobs start the threads, each one. A job that wants to be alone waits until no other runs, and the others
    wait for it. What comes of a cancelled job is told to nobody.
    """

    def __init__(self, slots: int, on_job: JobListener | None = None) -> None:
        """`on_job` hears where each job stands."""
        if slots < 1:
            raise ValueError(f"slots={slots}: at least 1 is needed")
        self.slots = slots
        self._on_job = on_job
        self._todo: queue.SimpleQueue[QueuedJob | None] = queue.SimpleQueue()
        self._done: queue.SimpleQueue[JobResult | None] = queue.SimpleQueue()
        self._told: Callable[[JobResult], None] = self._done.put
        self._jobs: dict[str, QueuedJob] = {}
        self._lock = threading.Lock()
        self._serial = 0
        self._closing = threading.Event()
        self._exclusive = SharedExclusiveLock()
        self._threads: list[threading.Thread] = []

    def submit(self, spec: JobSpec) -> str:
        with self._lock:
            self._serial += 1
            job = QueuedJob(f"job-{self._serial}", spec)
            self._jobs[job.id] = job
        self._tell(job, "waits")
        self._todo.put(job)
        self._start_thread()
        return job.id

    def next(self, timeout: float | None = None) -> JobResult | None:
        try:
            return self._done.get(timeout=timeout)
        except queue.Empty:
            return None

    def listen(self, told: Callable[[JobResult], None]) -> None:
        self._told = told

    def cancel(self, id: str) -> None:
        with self._lock:
            job = self._jobs.get(id)
        if job is not None:
            job.cancelled.set()
            job.woken.put(None)

    def withdraw(self, id: str) -> bool:
        with self._lock:
            job = self._jobs.get(id)
            if job is None or job.begun:
                return False
            job.cancelled.set()
            return True

    def close(self) -> None:
        """Take no further job, and wait a while for what is under way."""
        with self._lock:
            self._closing.set()
        for _ in self._threads:
            self._todo.put(None)
        for thread in self._threads:
            thread.join(timeout=10.0)
        self._done.put(None)  # whoever waits for a result need not wait any longer

    def _start_thread(self) -> None:
        with self._lock:
            if len(self._threads) < self.slots and not self._closing.is_set():
                thread = threading.Thread(target=self._work, daemon=True, name=f"jobs-{len(self._threads)}")
                try:
                    thread.start()
                except RuntimeError:  # no room for it: those that are there take the jobs
                    if not self._threads:
                        raise
                    return
                self._threads.append(thread)

    def _work(self) -> None:
        while (job := self._take()) is not None:
            result = self._result(job)
            if not job.left:
                self._end(job, result)
        self._leave()

    def _end(self, job: QueuedJob, result: JobResult | None) -> None:
        """It is over: tell what came of it, unless it was cancelled."""
        try:
            self._tell(job, "over" if job.begun else "withdrawn")
        except Exception as error:  # noqa: BLE001 - as above
            result = _fault(job, error)
        with self._lock:
            del self._jobs[job.id]
        if result is not None and not job.cancelled.is_set():
            self._told(result)

    def _result(self, job: QueuedJob) -> JobResult | None:
        try:
            with self._exclusive.alone() if job.spec.alone else self._exclusive.shared():
                return self._run(job) if self._begin(job) else None
        except Exception as error:  # noqa: BLE001 - a fault of ours: whoever waits raises it, this thread cannot
            return _fault(job, error)

    def _take(self) -> QueuedJob | None:
        """The next job, whenever it comes; None at the end."""
        job = self._todo.get()
        return None if self._closing.is_set() else job

    def _begin(self, job: QueuedJob) -> bool:
        """False where it was cancelled or withdrawn while it waited."""
        with self._lock:
            job.begun = not job.cancelled.is_set()
        if job.begun:
            self._tell(job, "runs")
        return job.begun

    def _tell(self, job: QueuedJob, state: JobState) -> None:
        if self._on_job is not None:
            self._on_job(job.spec.label, state)

    @abstractmethod
    def _run(self, job: QueuedJob) -> JobResult | None:
        """Run it; None when it was cancelled meanwhile, or is `left`."""

    def _leave(self) -> None:
        """Called in each thread before it ends: let go what it held."""


def _fault(job: QueuedJob, error: Exception) -> JobResult:
    return JobResult(id=job.id, error=f"{type(error).__name__}: {error}")
