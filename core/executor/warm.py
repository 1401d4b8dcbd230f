"""The warm sandbox: every job is a fork of a preloaded interpreter, in namespaces of its own.

The same machinery serves the tiers without namespaces (`lite`, `none`): the warden is told which.
"""

from __future__ import annotations

import os
import select
import shutil
import threading
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from core.contracts import ExecutionResult, Limits
from core.executor import verdict
from core.executor.inside import view
from core.executor.output import Output
from core.executor.server import ForkServer, ServerConfig, Slot
from core.executor.uids import UidPool
from core.state.failure import FailureKind
from utils.errors import SandboxError

_GRACE = 10.0
"""Seconds after a deadline in which the warden must have reported; then it is killed itself."""
_REPORT_BYTES = 64_000
_MEMORY_SHARE = 4
"""A workspace is kept in memory while its limit is below a quarter of the machine's memory."""


class WarmSandbox:
    """Implements `Sandbox` on a fork server. Thread-safe: every job has a slot of its own."""

    def __init__(self, config: ServerConfig) -> None:
        self.tier = config.tier
        self._server = ForkServer(config)
        self._state_dir = config.state_dir
        self._uids = UidPool() if os.getuid() == 0 and config.tier != "none" else None
        self._closed = threading.Event()

    def ready(self) -> dict[str, Any]:
        """Wait for the fork server; what it preloaded, what was `missing`, which `version` it is."""
        return self._server.ready()

    def run(
        self,
        code: str,
        *,
        workspace: Path,
        inputs: Path | None = None,
        limits: Limits,
        seed: int = 0,
        argv: Sequence[str] = (),
        on_output: Callable[[str], None] | None = None,
    ) -> ExecutionResult:
        job = job_message("script", limits, code=code, seed=seed, argv=argv)
        return self._once(job, workspace, inputs, limits, on_output)

    def command(
        self, argv: Sequence[str], *, workspace: Path, inputs: Path | None = None, limits: Limits, seed: int = 0
    ) -> ExecutionResult:
        return self._once(job_message("command", limits, seed=seed, argv=argv), workspace, inputs, limits, None)

    def close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            self._server.close()
            if self._uids is not None:
                self._uids.close()
            shutil.rmtree(self._state_dir, ignore_errors=True)

    def open_slot(self, limits: Limits, workspace: Path | None, inputs: Path | None) -> tuple[Slot, int | None]:
        """A slot and the uid it holds, to be given to `close_slot`."""
        uid = self._uids.take() if self._uids is not None else None
        setup = {
            "tier": self.tier, "uid": uid, "limits": limit_message(limits),
            "inputs": None if inputs is None else str(inputs.resolve()),
            "workspace": None if workspace is None else str(workspace.resolve()),
            "in_memory": _fits_in_memory(limits.disk_mb),
        }  # fmt: skip
        try:
            return self._server.open_slot(setup), uid
        except BaseException:
            self._free(uid)
            raise

    def close_slot(self, slot: Slot, uid: int | None) -> None:
        slot.close()
        self._free(uid)

    def _free(self, uid: int | None) -> None:
        if uid is not None and self._uids is not None:
            self._uids.give_back(uid)

    def _once(
        self,
        job: dict[str, Any],
        workspace: Path,
        inputs: Path | None,
        limits: Limits,
        on_output: Callable[[str], None] | None,
    ) -> ExecutionResult:
        slot, uid = self.open_slot(limits, workspace, inputs)
        try:
            rename = None if self.tier == "warm" else (str(workspace.resolve()), view.WORKSPACE)
            output = Output(limits.output_kb * 1024, on_output, rename)
            report, words = _follow(slot, job, output, limits.seconds + _GRACE)
            return result_of(report, verdict.read_exception(words), output, limits, self.tier)
        finally:
            self.close_slot(slot, uid)


def job_message(
    kind: str, limits: Limits, *, code: str = "", prelude: str = "", seed: int = 0, argv: Sequence[str] = ()
) -> dict[str, Any]:
    """What a warden is told about one job. A session has no deadline of its own: each of its frames has."""
    return {
        "kind": kind, "code": code, "prelude": prelude, "seed": seed, "argv": list(argv),
        "threads": limits.threads, "env": environment(limits),
        "deadline": None if kind == "session" else limits.seconds,
    }  # fmt: skip


def limit_message(limits: Limits) -> dict[str, Any]:
    return limits.model_dump() | {"cpu_seconds": verdict.cpu_limit(limits)}


def environment(limits: Limits) -> dict[str, str]:
    """The whole environment of a candidate."""
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
    fixed = {
        "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": view.WORKSPACE, "TMPDIR": "/tmp", "LANG": "C.UTF-8",
        "USER": "candidate", "LOGNAME": "candidate", "PYTHONHASHSEED": "0", "PYTHONDONTWRITEBYTECODE": "1",
        "JOBLIB_TEMP_FOLDER": "/tmp", "MPLBACKEND": "Agg", "MPLCONFIGDIR": "/tmp", "NUMBA_CACHE_DIR": "/tmp",
        "TZ": "UTC",
    }  # fmt: skip
    return fixed | dict.fromkeys(threads, str(limits.threads))


def result_of(
    report: dict[str, Any], raised: verdict.Raised | None, output: Output, limits: Limits, tier: str
) -> ExecutionResult:
    status, breach = report["status"], report["breach"]
    if status is not None and os.WIFEXITED(status) and os.WEXITSTATUS(status) == verdict.SETUP_FAILED:
        text = output.text()
        if text.startswith("the sandbox could not be set up"):
            raise SandboxError(text.strip()[-500:])
    failure, message = verdict.judge(status, None if breach is None else (breach[0], breach[1]), raised, limits)
    told = raised if failure is not None and breach is None else None
    return ExecutionResult(
        term_out=output.text(), exec_time=report["seconds"], cpu_seconds=report["cpu"],
        max_memory_mb=report["memory"] / 2**20, exit_code=verdict.exit_code(status), failure=failure,
        message=message, exc_type=told.type if told else None, exc_info=told.info() if told else None, tier=tier,
    )  # fmt: skip


def _follow(slot: Slot, job: dict[str, Any], output: Output, patience: float) -> tuple[dict[str, Any], bytes]:
    """Start a job, read what it prints and tells until its warden reports."""
    out_read, out_write = os.pipe()
    told_read, told_write = os.pipe()
    null = os.open(os.devnull, os.O_RDONLY)
    try:
        slot.start(job, [null, out_write, out_write, told_write])
    except BaseException:
        os.close(out_read)
        os.close(told_read)
        raise
    finally:
        for fd in (null, out_write, told_write):
            os.close(fd)
    try:
        return _read_until_report(slot, output, out_read, told_read, time.monotonic() + patience)
    finally:
        os.close(out_read)
        os.close(told_read)


def _read_until_report(slot: Slot, output: Output, out: int, told: int, end: float) -> tuple[dict[str, Any], bytes]:
    words = b""
    poll = select.poll()
    for fd in (out, told, slot.control.fileno()):
        poll.register(fd, select.POLLIN)
    stopped = False
    while True:
        ready = {fd for fd, _ in poll.poll(1000.0 * max(0.0, end - time.monotonic()))}
        if not ready:
            kill_warden(slot)
            raise SandboxError("the sandbox's warden did not report in time and was killed")
        if slot.control.fileno() in ready:
            report = slot.report(_GRACE)
            drain(out, output)
            return report, words + (_read_now(told) if not words else b"")
        for fd in ready & {out, told}:
            data = os.read(fd, 65536)
            if not data:
                poll.unregister(fd)
            elif fd == out:
                output.add(data)
            elif len(words) < _REPORT_BYTES:
                words += data
        if output.over and not stopped:
            stopped = True
            slot.stop(FailureKind.OUTPUT.value, f"output: more than {output.cap // 1024:,} KB printed, the limit")


def drain(fd: int, output: Output) -> None:
    """Read what is left in a pipe whose writers are dead."""
    os.set_blocking(fd, False)
    try:
        while not output.over and (data := os.read(fd, 65536)):
            output.add(data)
    except BlockingIOError:
        pass


def _read_now(fd: int) -> bytes:
    os.set_blocking(fd, False)
    try:
        return os.read(fd, _REPORT_BYTES)
    except BlockingIOError:
        return b""


def kill_warden(slot: Slot) -> None:
    """The last resort: with pid 1 its whole namespace dies."""
    try:
        os.kill(slot.pid, 9)
    except OSError:
        pass


def _fits_in_memory(disk_mb: int) -> bool:
    total = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return disk_mb * 2**20 * _MEMORY_SHARE <= total
