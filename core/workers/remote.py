"""RemoteJobs: a JobRunner over workers elsewhere. Deadlines and cancellation are ours; the engine carries bytes."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from core.contracts import JobListener, JobResult, JobSpec
from core.workers.job_queue import JobQueue, QueuedJob
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


class RemoteJobs(JobQueue):
    """Implements `JobRunner`: one thread a slot drives one worker.

    A worker that dies, or whose job is cancelled or overdue, is killed and replaced. A result that comes from a
    cancelled job is discarded. A lost job is told as lost; whether it is run again is the JobPool's to say.

    Args:
        open_worker: makes a worker; may block until the cluster has room. Raises for a request that no node can meet.
    """

    def __init__(self, open_worker: Callable[[], RemoteWorker], slots: int, on_job: JobListener | None = None) -> None:
        super().__init__(slots, on_job)
        self._open = open_worker
        self._folders: dict[str, tuple[str, bytes]] = {}
        self._own = threading.local()
        """Of each thread: the `worker` that it drives, while it has one."""
        self.start()

    def _run(self, job: QueuedJob) -> JobResult | None:
        try:
            answer = self._answer(job, self._worker())
        except JobLost as error:
            answer = JobResult(id=job.id, lost=True, overdue=isinstance(error, JobOverdue), error=str(error))
            self._leave()
        except Exception as error:  # noqa: BLE001 - the engine's own faults come in any type
            answer = JobResult(id=job.id, error=f"{type(error).__name__}: {error}")
            self._leave()
        if answer is None:
            self._leave()
        return answer

    def _worker(self) -> RemoteWorker:
        worker: RemoteWorker | None = getattr(self._own, "worker", None)
        if worker is None:
            worker = self._own.worker = self._open()
        return worker

    def _leave(self) -> None:
        """Kill this thread's worker: whatever it still does must not be heard of again."""
        worker: RemoteWorker | None = getattr(self._own, "worker", None)
        self._own.worker = None
        if worker is not None:
            worker.kill()

    def _answer(self, job: QueuedJob, worker: RemoteWorker) -> JobResult | None:
        """The job's result; None when it was cancelled."""
        worker.submit(job.spec.model_dump_json(), self._folder(job.spec))
        ends = time.monotonic() + job.spec.seconds
        while not self._closing.is_set():
            if job.cancelled.is_set():
                return None
            if time.monotonic() > ends:
                raise JobOverdue(f"the job was still running after {job.spec.seconds:g} s, its deadline")
            answer = worker.poll(POLL_SECONDS)
            if answer is not None:
                found = land(*answer, job.spec)
                return JobResult(id=job.id, **found)
        return None

    def _folder(self, spec: JobSpec) -> tuple[str, bytes] | None:
        """What the job reads, packed once for all jobs."""
        path = spec.payload.get(READS)
        if not path:
            return None
        with self._lock:
            if path not in self._folders:
                self._folders[path] = pack_folder(Path(path), links=True)
            return self._folders[path]
