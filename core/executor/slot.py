"""Our end of one supervisor: starting a job there, having it stopped, hearing how it ended."""

from __future__ import annotations

import fcntl
import os
import select
import socket
from collections.abc import Sequence
from contextlib import suppress

from core.executor.inside import messages
from core.executor.inside.messages import Fault, Job, Report, Rest, Stop
from utils.errors import JobLost, SandboxError
from utils.room import room_that_lacked


class SandboxSlot:
    """Our end of one supervisor, which runs one job after the other. Not thread-safe: one user at a time.

    Args:
        holds: modules that its programs find loaded.
    """

    def __init__(self, control: socket.socket, pid: int, holds: tuple[str, ...] = ()) -> None:
        self.control = control
        self.pid = pid
        self.holds = holds
        self._poll = select.poll()
        self._poll.register(control, select.POLLIN)
        self._reasons: dict[str, str] = {}
        """Why we had the job stopped, by the kind of failure."""

    def start(self, job: Job, fds: Sequence[int]) -> None:
        """Start a candidate with `fds` as its descriptors 0, 1, 2, 3. Raises as `report` does."""
        self._reasons = {}
        own = _sealed(job.own())
        try:
            messages.send(self.control, job.common(), [*fds, own])
        except OSError as error:
            self.report(1.0)  # it may have said why it is gone
            raise JobLost(f"the sandbox's supervisor did not take the job: {error}") from error
        finally:
            os.close(own)

    def stop(self, kind: str, message: str) -> None:
        """Have the running candidate killed; its report will carry this breach."""
        self._reasons.setdefault(kind, message)
        self._tell(Stop(kind))

    def rest(self, resting: bool) -> None:
        """Have the running candidate, which is stopped, looked after less often; or as before."""
        self._tell(Rest(resting))

    def _tell(self, message: messages.Message) -> None:
        with suppress(OSError):  # already gone
            messages.send(self.control, message)

    def report(self, timeout: float | None = None) -> Report:
        """The supervisor's report of the job that ended.

        Raises:
            JobLost: the supervisor is gone, late, or broke when a candidate had begun.
            SandboxError: it could not even begin.
        """
        begun = self._poll.poll(None if timeout is None else 1000.0 * timeout)
        received = messages.receive(self.control) if begun else None
        if received is None:
            raise JobLost("the sandbox's supervisor ended without a report (killed from outside, or out of memory)")
        if isinstance(received[0], Fault):
            raise error_of(received[0], "the sandbox could not run a job")
        report = received[0]
        assert isinstance(report, Report)
        if report.breach is None or report.breach[1]:
            return report
        return report.changed(breach=[report.breach[0], self._reasons.get(report.breach[0], "")])

    def close(self) -> None:
        """Let the supervisor go; it takes everything of the slot with it."""
        self.control.close()


def _sealed(data: bytes) -> int:
    """A descriptor of memory that holds `data` and that nobody can change any more."""
    fd = os.memfd_create("job", os.MFD_CLOEXEC | os.MFD_ALLOW_SEALING)
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(fd, view) :]
        fcntl.fcntl(fd, fcntl.F_ADD_SEALS, fcntl.F_SEAL_WRITE | fcntl.F_SEAL_GROW | fcntl.F_SEAL_SHRINK)
    except BaseException:
        os.close(fd)
        raise
    return fd


def lost_by(error: OSError) -> OSError | JobLost:
    """A shortage that costs the job at hand as JobLost; any other error of the system as it is."""
    if not messages.is_shortage(error):
        return error
    return JobLost(f"the machine had no room for a job: {error}{room_that_lacked(str(error))}")


def error_of(fault: Fault, what: str) -> JobLost | SandboxError:
    """The exception for a fault that a process of ours told."""
    return (JobLost if fault.lost else SandboxError)(f"{what}: {fault.text}{room_that_lacked(fault.text)}")
