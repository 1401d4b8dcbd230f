"""Jobs on this machine: `LocalJobs` runs them in threads.

A job is trusted code of ours (`JobSpec.entry`) that uses the sandbox for what it does not trust. The threads only wait
for sandboxed processes, so they do not fight for the interpreter.
"""

from __future__ import annotations

import importlib
import queue
import shutil
import tempfile
import threading
import time
import traceback
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Any

from core.contracts import JobContext, JobListener, JobResult, JobSpec, Limits, Sandbox, SessionFailure
from core.executor.collect import collect_file
from core.executor.interpreter import Interpreter
from core.executor.warm import ROOM_SECONDS, WarmSandbox
from core.executor.workspace import remove_tree
from core.workers.job_queue import JobQueue, QueuedJob
from utils.errors import DISK_FAULTS, JobLost, SandboxError
from utils.patience import Patience
from utils.room import room_that_lacked

_LOOK_FOR_ROOM = 0.2
_STOP_SECONDS = 1.0
"""How long a stopped job may take to end before the next one is begun beside it."""


def run_job(spec: JobSpec, context: JobContext) -> Any:
    """Call the job's entry: the same piece of code wherever the job runs.

    Raises:
        SandboxError: the entry cannot be found.
        JobLost: the system refused something after a program had begun: a pipe that is gone, no room for a process.
            What its disk refuses is not the job's alone, and stays an OSError.
        Exception: whatever the entry raised; an error of ours, since a candidate's failure is part of the value.
    """
    module, _, name = spec.entry.partition(":")
    try:
        entry: Callable[[dict[str, Any], JobContext], Any] = getattr(importlib.import_module(module), name)
    except (ImportError, AttributeError, ValueError) as error:
        raise SandboxError(f"no job entry {spec.entry}: {error}") from error
    try:
        return entry(spec.payload, context)
    except OSError as error:
        if context.is_begun and error.errno not in DISK_FAULTS:
            raise JobLost(f"{type(error).__name__}: {error}{room_that_lacked(str(error))}") from error
        raise


def script_spec(
    code: str,
    *,
    limits: Limits,
    inputs: Path | None = None,
    seed: int = 0,
    collect: Iterable[str] = (),
    max_bytes: int = 256 << 20,
    keep_dir: Path | None = None,
    archive: str | None = None,
    archive_mb: float = 0.0,
    label: str = "",
) -> JobSpec:
    """The job of running one whole program and taking the files it was to write; `run_script` says what comes back.

    Args:
        inputs: host folder for the read-only /workspace/input.
        collect: relative paths to take.
        max_bytes: cap for each of them.
        keep_dir: host folder that they are copied to; None looks only.
        archive: node id under which all that the program left goes into `keep_dir` as a zip, too; None packs nothing.
        archive_mb: cap of what is packed, before compression.
        label: node id that live output is told under.
    """
    payload = {
        "code": code, "inputs": None if inputs is None else str(inputs), "limits": limits.model_dump(), "seed": seed,
        "collect": list(collect), "max_bytes": max_bytes, "keep_dir": None if keep_dir is None else str(keep_dir),
        "archive": archive, "archive_mb": archive_mb,
    }  # fmt: skip
    return JobSpec(
        entry="core.workers.local:run_script", payload=payload, label=label, seconds=limits.seconds + 60,
        memory_mb=limits.memory_mb,
    )  # fmt: skip


def run_script(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry of `script_spec`.

    Returns:
        `{result: ExecutionResult as a dict, files: {relative: {path, bytes} | {error}}}`; `path` is null without a
        `keep_dir`.
    """
    limits = Limits.model_validate(payload["limits"])
    inputs, keep_dir, collect = payload["inputs"], payload["keep_dir"], payload["collect"]
    interpreter = Interpreter(
        context.scratch / "workspace", limits.seconds, sandbox=context.sandbox, limits=limits,
        inputs=Path(inputs) if inputs else None,
    )  # fmt: skip
    result = interpreter.run(payload["code"], seed=payload["seed"], on_output=context.on_output)
    workspace = interpreter.workspace
    files = {relative: _take(workspace.root, relative, payload["max_bytes"], keep_dir) for relative in collect}
    if keep_dir and payload["archive"] and set(workspace.written()) - set(collect):
        most_bytes = int(payload["archive_mb"] * 2**20)
        workspace.archive_node_files(payload["archive"], payload["code"], Path(keep_dir), most_bytes=most_bytes)
    return {"result": result.model_dump(mode="json"), "files": files}


def _take(root: Path, relative: str, max_bytes: int, keep_dir: str | None) -> dict[str, Any]:
    taken = collect_file(root, relative, max_bytes)
    if taken.data is None:
        return {"error": taken.reason}
    if keep_dir is None:
        return {"path": None, "bytes": len(taken.data)}
    path = Path(keep_dir) / relative
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(taken.data)
    return {"path": str(path), "bytes": len(taken.data)}


class LocalJobs(JobQueue):
    """Implements `JobRunner` with `slots` threads of this process round one sandbox.

    A job that is cancelled or oversteps its `seconds` is stopped: what it runs in the sandbox is killed, and it gets
    nothing of the sandbox any more. Its own thread cannot be killed; it is left to end by itself. One that has only to
    tidy up holds no slot any more.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        slots: int,
        scratch: Path,
        on_output: Callable[[str, str], None] | None = None,
        on_job: JobListener | None = None,
    ) -> None:
        """
        Args:
            scratch: folder for the jobs' private folders, made if missing.
            on_output: called with (label or job id, text) while a candidate prints.
        """
        super().__init__(slots, on_job)
        self._sandbox = sandbox
        scratch.mkdir(parents=True, exist_ok=True)
        self._scratch = Path(tempfile.mkdtemp(prefix="swarm-jobs-", dir=scratch))
        self._on_output = on_output
        self._idle: list[_JobThread] = []

    def close(self) -> None:
        super().close()
        self._exclusive.await_nobody(_STOP_SECONDS)
        for thread in self._idle:
            thread.todo.put(None)
        with suppress(OSError):  # what ended the run is to be told, and not that its litter stays
            remove_tree(self._scratch)

    def _run(self, job: QueuedJob) -> JobResult | None:
        """None once it is left or cancelled; its result at its deadline."""
        thread = self._idle_thread() or self._new_thread()
        thread.todo.put(job)
        result, patience = None, Patience(job.spec.seconds)
        while not (woken := patience.look(job.is_woken)) and patience.left > 0:
            pass
        if not woken:
            late = f"the job was still running after {job.spec.seconds:g} s, its deadline"
            result = JobResult(id=job.id, lost=True, overdue=True, error=late)
        with self._lock:
            if job.left:  # its thread tells the result, and is free then
                return None
            job.stopped = True
        thread.todo.put(None)
        self._stop(thread)
        return result

    def _may_leave(self, job: QueuedJob) -> list[Callable[[], None]]:
        """How its entry leaves; [] with GPUs, whose memory the next program wants whole."""
        has_cards = isinstance(self._sandbox, WarmSandbox) and len(self._sandbox.cards) > 0
        return [] if has_cards else [lambda: self._leave_slot(job)]

    def _leave_slot(self, job: QueuedJob) -> None:
        """Let the next job begin, unless this one is stopped; called in the job's own thread."""
        with self._lock:
            if job.left or job.stopped:
                return
            self._exclusive.stay()  # before its slot can be free, as it is where the deadline comes just now
            job.left = True
        job.woken.put(None)

    def _idle_thread(self) -> _JobThread | None:
        with self._lock:  # several jobs may want the last one
            return self._idle.pop() if self._idle else None

    def _new_thread(self) -> _JobThread:
        """RuntimeError where the machine has no room for one for long: a program may fill it for a while."""
        end = time.monotonic() + ROOM_SECONDS
        while True:
            try:
                return _JobThread(self._call)
            except RuntimeError:
                if time.monotonic() > end or self._closing.wait(_LOOK_FOR_ROOM):
                    raise

    def _stop(self, thread: threading.Thread) -> None:
        """Told more than once: the first word may come before what it is to stop has begun."""
        end = time.monotonic() + _STOP_SECONDS
        while thread.is_alive() and time.monotonic() < end:
            if isinstance(self._sandbox, WarmSandbox):
                self._sandbox.stop_thread(thread)
            thread.join(_STOP_SECONDS / 20)

    def _call(self, job: QueuedJob, thread: _JobThread) -> None:
        scratch = self._scratch / job.id
        told, label = self._on_output, job.spec.label or job.id
        on_output = None if told is None else lambda text: told(label, text)
        try:
            value = run_job(job.spec, JobContext(self._sandbox, scratch, on_output, *self._may_leave(job)))
            result = JobResult(id=job.id, value=value)
        except JobLost as error:
            result = JobResult(id=job.id, lost=True, error=str(error))
        except BaseException as error:  # noqa: BLE001 - whatever an entry raises is told to the one who waits
            result = JobResult(id=job.id, error=_explain(error))
        try:
            remove_tree(scratch)
        except OSError:
            shutil.rmtree(scratch, ignore_errors=True)
        self._leave_slot(job)
        if job.left:
            self._idle.append(thread)
            self._end(job, result)
            self._exclusive.go()


class _JobThread(threading.Thread):
    """Runs the jobs it is given, one after the other, until it is given None: one whose job had to be stopped."""

    def __init__(self, call: Callable[[QueuedJob, _JobThread], None]) -> None:
        super().__init__(daemon=True, name="job")
        self.todo: queue.SimpleQueue[QueuedJob | None] = queue.SimpleQueue()
        self._call = call
        self.start()

    def run(self) -> None:
        while (job := self.todo.get()) is not None:
            self._call(job, self)


def _explain(error: BaseException) -> str:
    """An error of the sandbox or of the disk as its one line; anything else with its traceback."""
    if isinstance(error, (SandboxError, SessionFailure)) or (isinstance(error, OSError) and error.errno in DISK_FAULTS):
        return f"{type(error).__name__}: {error}"
    return "".join(traceback.format_exception(error))[-4000:]
