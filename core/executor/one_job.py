"""One job of a slot: what its supervisor is told, and what is heard of it until it has ended."""

from __future__ import annotations

import os
import select
import time
from collections.abc import Sequence
from contextlib import ExitStack

from core.contracts import Limits
from core.executor.inside import mounts
from core.executor.inside.messages import Job, JobLimits, Report
from core.executor.output import Output, drain, nothing, pipe
from core.executor.slot import SandboxSlot
from core.state.failure import FailureKind
from utils.errors import JobLost

_GRACE = 120.0
"""Seconds after a deadline in which the supervisor must have reported; then it is killed itself. It kills the candidate
in time by itself; what takes long on a busy machine is copying many small files out."""
_REPORT_BYTES = 64_000


def job_of(
    kind: str, limits: Limits, *, code: str = "", prelude: str = "", seed: int = 0, argv: Sequence[str] = ()
) -> Job:
    """What a supervisor is told about one job.

    A session is as long as it has calls, each with a deadline of its own: it has none itself, and its CPU is only
    limited where somebody said so.
    """
    session = kind == "session"
    plain = limits.model_dump(exclude={"answer_kb"}) | ({} if session else {"cpu_seconds": limits.processor_seconds})
    return Job(
        kind=kind, limits=JobLimits(**plain), deadline=None if session else limits.seconds, code=code, prelude=prelude,
        seed=seed, argv=list(argv), env=environment(limits),
    )  # fmt: skip


def environment(limits: Limits) -> dict[str, str]:
    """The whole environment of a candidate, but for its PATH."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    fixed = {
        "HOME": mounts.WORKSPACE, "TMPDIR": "/tmp", "LANG": "C.UTF-8",
        "USER": "candidate", "LOGNAME": "candidate", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
        "MPLBACKEND": "Agg", "TZ": "UTC",
    }  # fmt: skip
    return fixed | dict.fromkeys(mounts.CACHES, "/tmp") | dict.fromkeys(threads, str(limits.threads))


def follow(slot: SandboxSlot, job: Job, output: Output, seconds: float) -> tuple[Report, bytes]:
    """Start a job, read what it prints and tells until its supervisor reports: soon after so many seconds at last.

    Raises:
        JobLost: it did not; it is killed then.
    """
    with ExitStack() as ours:
        with ExitStack() as theirs:
            out, out_write = pipe(ours, theirs)
            told, told_write = pipe(ours, theirs)
            slot.start(job, [nothing(theirs), out_write, out_write, told_write])
        return _read_until_report(slot, output, out, told, time.monotonic() + seconds + _GRACE)


def _read_until_report(slot: SandboxSlot, output: Output, out: int, told: int, end: float) -> tuple[Report, bytes]:
    description = b""
    poll = select.poll()
    for fd in (out, told, slot.control.fileno()):
        poll.register(fd, select.POLLIN)
    stopped = False
    while True:
        ready = {fd for fd, _ in poll.poll(1000.0 * max(0.0, end - time.monotonic()))}
        if not ready:
            kill_supervisor(slot)
            raise JobLost("the sandbox's supervisor did not report in time and was killed")
        if slot.control.fileno() in ready:
            report = slot.report(_GRACE)
            drain(out, output)
            return report, description or _read_now(told)
        for fd in ready & {out, told}:
            data = os.read(fd, 65536)
            if not data:
                poll.unregister(fd)
            elif fd == out:
                output.add(data)
            elif len(description) < _REPORT_BYTES:
                description += data
        if output.over and not stopped:
            stopped = True
            slot.stop(FailureKind.OUTPUT.value, f"output: more than {output.cap // 1024:,} KB printed, the limit")


def _read_now(fd: int) -> bytes:
    os.set_blocking(fd, False)
    try:
        return os.read(fd, _REPORT_BYTES)
    except BlockingIOError:
        return b""


def kill_supervisor(slot: SandboxSlot) -> None:
    """The last resort: with pid 1 its whole namespace dies."""
    try:
        os.kill(slot.pid, 9)
    except OSError:
        pass
