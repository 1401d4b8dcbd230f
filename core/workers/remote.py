"""RemoteJobs: a JobRunner over workers elsewhere. Deadlines and cancellation are ours; the engine carries bytes."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from core.contracts import JobListener, JobResult, JobSpec
from core.workers.job_queue import JobQueue, QueuedJob
from core.workers.shipping import READS, Answer, News, land, pack_folder, tell
from utils.errors import JobLost, JobOverdue
from utils.patience import Patience

POLL_SECONDS = 0.2
"""How soon a cancelled or overdue job is noticed."""
READY_SECONDS = 120.0
"""So long at most a job waits while no slot has a worker; then it is told as lost."""
IDLE_SECONDS = 1.0
"""A worker that had nothing to do for longer is asked whether it is still there before it gets a job; so is one that
has not been heard of since another was lost: a node that is gone takes all of its workers."""


class RemoteWorker(Protocol):
    """One worker with a warm sandbox, doing one job at a time."""

    def ready(self, timeout: float) -> bool:
        """True once it can take a job; False while it has no place yet, starts or is busy.

        Raises JobLost when it is gone, SandboxError when no sandbox holds there.
        """

    def submit(self, spec: str, inputs: tuple[str, bytes] | None) -> None:
        """Send a job; at most one is under way."""

    def poll(self, timeout: float) -> Answer | News | None:
        """Its answer, what the job says while it works, or None. Raises JobLost when the worker is gone."""

    def kill(self) -> None:
        """End the worker and all that runs on it."""


class RemoteJobs(JobQueue):
    """Implements `JobRunner`: one thread a slot drives one worker, and takes a job when its worker is ready.

    So a slot that finds no room, after a node was lost for one, holds no job back: the others do them all, and it joins
    them when there is room again. A worker that dies, or whose job is cancelled or overdue, is killed and replaced. A
    result that comes from a cancelled job is discarded. A lost job is told as lost; whether it is run again is the
    JobPool's to say.

    Args:
        open_worker: asks for a worker; it need not be ready. Raises for a request that no node can meet.
        on_output: called with (label or job id, text) while a candidate prints.
    """

    def __init__(
        self,
        open_worker: Callable[[], RemoteWorker],
        slots: int,
        on_job: JobListener | None = None,
        on_output: Callable[[str, str], None] | None = None,
    ) -> None:
        super().__init__(slots, on_job)
        self._open = open_worker
        self._on_output = on_output
        self._folders: dict[str, tuple[str, bytes]] = {}
        self._packing = threading.Lock()
        """One packs a folder, who reads the same waits for it; nobody else does."""
        self._workers: dict[int, RemoteWorker] = {}
        """Thread → the worker that it drives."""
        self._heard: dict[int, float] = {}
        """Thread → when its worker was known to be there."""
        self._lost = 0.0
        """When a worker was lost last, as far as is known."""
        self._faults: dict[int, Exception] = {}
        """Thread → why it could get none: told to its next job."""

    def _take(self) -> QueuedJob | None:
        while True:
            self._equip()
            since = time.monotonic()
            job = super()._take()
            if job is None or self._was_there(since) or self._is_there():
                return job
            self._todo.put(job)

    def _was_there(self, since: float) -> bool:
        """Whether nothing speaks for it that this thread's worker, idle since then, is gone."""
        heard = self._heard.get(threading.get_ident(), math.inf)  # without one there is a fault to be told
        return time.monotonic() - since < IDLE_SECONDS and heard > self._lost

    def _equip(self) -> None:
        """Get this thread a worker, or the reason why it gets none."""
        me, patience = threading.get_ident(), time.monotonic() + READY_SECONDS
        self._faults.pop(me, None)
        while not (me in self._workers or me in self._faults or self._closing.is_set()):
            try:
                self._await_worker(patience)
            except JobLost as error:
                if self._nobody_works(patience):
                    self._faults[me] = error
                self._closing.wait(POLL_SECONDS)
            except Exception as error:  # noqa: BLE001 - the engine's own faults come in any type
                self._faults[me] = error

    def _await_worker(self, patience: float) -> None:
        worker = self._open()
        try:
            while not self._closing.is_set():
                if worker.ready(POLL_SECONDS):
                    self._workers[threading.get_ident()] = worker
                    self._heard[threading.get_ident()] = time.monotonic()
                    return
                if self._nobody_works(patience):
                    raise JobLost(f"no worker was ready within {READY_SECONDS:g} s")
        finally:
            if threading.get_ident() not in self._workers:
                _kill(worker)

    def _nobody_works(self, patience: float) -> bool:
        return not self._workers and time.monotonic() > patience

    def _is_there(self) -> bool:
        """Whether this thread's worker answers: one whose node is gone meanwhile would lose the job for nothing."""
        worker = self._workers.get(threading.get_ident())
        try:
            while worker and not self._closing.is_set():
                if worker.ready(POLL_SECONDS):
                    self._heard[threading.get_ident()] = time.monotonic()
                    return True
        except Exception:  # noqa: BLE001 - the engine's own faults come in any type
            self._leave()
        return False

    def _run(self, job: QueuedJob) -> JobResult | None:
        try:
            answer = self._answer(job)
        except (JobLost, ConnectionError) as error:
            answer = JobResult(id=job.id, lost=True, overdue=isinstance(error, JobOverdue), error=str(error))
            self._lost = self._lost if answer.overdue else time.monotonic()
            self._leave()
        except Exception as error:  # noqa: BLE001 - the engine's own faults come in any type
            answer = JobResult(id=job.id, error=f"{type(error).__name__}: {error}")
            self._leave()
        if answer is None:
            self._leave()
        return answer

    def _leave(self) -> None:
        """Kill this thread's worker: whatever it still does must not be heard of again."""
        self._heard.pop(threading.get_ident(), None)
        worker = self._workers.pop(threading.get_ident(), None)
        if worker is not None:
            _kill(worker)

    def _answer(self, job: QueuedJob) -> JobResult | None:
        """The job's result; None when it was cancelled."""
        me = threading.get_ident()
        if me in self._faults:
            raise self._faults[me]
        worker = self._workers[me]
        worker.submit(job.spec.model_dump_json(), self._folder(job.spec))
        patience = Patience(job.spec.seconds)
        told, label = self._on_output, job.spec.label or job.id
        on_output = None if told is None else lambda text: told(label, text)
        while not self._closing.is_set():
            if job.cancelled.is_set():
                return None
            if patience.left <= 0:
                raise JobOverdue(f"the job was still running after {job.spec.seconds:g} s, its deadline")
            heard = patience.look(lambda seconds: worker.poll(min(seconds, POLL_SECONDS)))
            if isinstance(heard, Answer):
                self._heard[me] = time.monotonic()
                return JobResult(id=job.id, **land(heard, job.spec))
            if heard is not None:
                tell(heard, job.spec, on_output)
        return None

    def _folder(self, spec: JobSpec) -> tuple[str, bytes] | None:
        """What the job reads, packed once for all jobs."""
        path = spec.payload.get(READS)
        if not path:
            return None
        with self._packing:
            if path not in self._folders:
                self._folders[path] = pack_folder(Path(path), links=True)
            return self._folders[path]


def _kill(worker: RemoteWorker) -> None:
    with suppress(Exception):  # one that is gone with its node can fail to be killed in any way
        worker.kill()
