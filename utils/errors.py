"""Every error Swarm-Evo raises on purpose.

SwarmEvoError
├── ConfigError          the YAML or the command line is wrong; nothing has run yet (exit 2)
├── BackendError         an LLM call failed
│   ├── BackendAuthError     no key or a bad one: never retried
│   ├── BackendAddressError  the address is wrong, and none answered there before: never retried
│   ├── BackendBusyError     429, 5xx, 529, timeout, dropped connection: retried
│   │   ├── WrongAddressError    no server has the address's name, or the one that has it proves nothing, at this moment
│   │   └── LostReplyError       it broke after it was sent: it may have been billed
│   ├── RefusedError         400, 404, 413, 422: the request as it is; a simpler form may be accepted
│   ├── UnrecordedError      a replay needs a reply that is not in the record
│   └── ReplyError           a reply that cannot be read: repaired a bounded number of times, then a FailureKind
│       ├── UnwantedPromptError  this one prompt has no answer: the server refuses it, or a problem's writer failed
│       └── CutReplyError        the reply ended at `max_tokens`: what came of it may do
├── BudgetExhausted      the run's own limit: ends it in good order
├── Interrupted          the user wants the end in good order: what has not begun stays open for a resume (exit 130)
├── TicketGone           an external writer's ticket expired or was given up: its slot is free again, no step is taken
├── FilesLackError       a run ended, and files of its end could not be written: its answer is stored (exit 1)
├── RunStopped           the user stopped the run at once (Ctrl-C twice) while a call was under way (exit 130)
├── SandboxError         the sandbox itself broke: our fault, the run stops
├── JobLost              the worker that ran a job is gone: the job is run again, then FailureKind.LOST_WORKER
│   ├── JobOverdue           a job overstepped its own deadline: FailureKind.TIMEOUT, never run again
│   └── JobStopped           the user stopped this one program: FailureKind.STOPPED, never run again
└── StoreError           the database refused a read or a write
    ├── LockedStoreError     another process keeps it locked
    ├── BrokenStoreError     what is stored cannot be read, now or later
    │   └── StoreVersionError    a newer version wrote it (exit 2)
    ├── RunBusyError         another process holds the run (exit 2)
    └── RunReadOnlyError     its folder can be read, not written or locked (exit 2)

A candidate that crashes, times out or cheats is NOT an exception: it is a FailureKind on its node.
"""

from __future__ import annotations

import errno
import os

DISK_FAULTS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EFBIG, errno.EIO})
"""What a disk does to any write, whoever writes: the run ends in one line, and a resume goes on where it happened."""


def is_of_the_disk(error: BaseException) -> bool:
    """True for what a disk refused, also where an error of ours or of a child quotes it."""
    if isinstance(error, OSError):
        return error.errno in DISK_FAULTS
    return any(os.strerror(number) in str(error) for number in DISK_FAULTS)


class SwarmEvoError(Exception):
    """Base of every error raised on purpose; its text is one line for the user: what, which value, what is allowed."""

    exit_code = 1

    @property
    def line(self) -> str:
        """As the command line prints it."""
        return f"swarm-evo: {' '.join(str(self).split())}"


class ConfigError(SwarmEvoError):
    """A wrong key, value, file or argument. Raised before anything runs."""

    exit_code = 2


class BackendError(SwarmEvoError):
    """An LLM call failed for good."""


class BackendAuthError(BackendError):
    """The provider refused the key, or there is none. Never retried."""

    exit_code = 2


class BackendBusyError(BackendError):
    """The provider is overloaded or unreachable: worth another try.

    Args:
        retry_after: seconds the server asked us to wait, or None.
    """

    def __init__(self, message: str, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class WrongAddressError(BackendBusyError):
    """No server has the name that the model's address gives, or the one that answers there speaks no TLS or has no
    certificate that is trusted: worth another try where it has answered before."""


class BackendAddressError(BackendError):
    """The model's address is wrong as `WrongAddressError` says, and none has answered there. Never retried."""

    exit_code = 2


class UnrecordedError(BackendError):
    """A replay needs a reply that is not in the record, and it asks no model."""


class LostReplyError(BackendBusyError):
    """The call broke after it was sent: it is tried again, and its worst case stays held in the budget."""


class RefusedError(BackendError):
    """The server refused the request as it is: asking the same again is useless.

    Args:
        status: HTTP status: 400, 404, 413, 422, …
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status

    @property
    def is_about_form(self) -> bool:
        """True if a simpler form of the request (no tools, no schema) may be accepted."""
        return self.status != 404  # a wrong address or model stays wrong


class ReplyError(BackendError):
    """The model answered, but the answer cannot be used (truncated, not JSON, wrong tool, empty)."""


class UnwantedPromptError(ReplyError):
    """This one prompt has no answer: the server refuses it (too long, content policy), or the problem's own writer
    failed on it. Another node's may well have one."""


class CutReplyError(ReplyError):
    """The reply was cut at `max_tokens`.

    Args:
        text: what came of it, without its thoughts.
    """

    def __init__(self, message: str, text: str) -> None:
        super().__init__(message)
        self.text = text


class BudgetExhausted(SwarmEvoError):
    """A limit of the run's own budget is reached; the search ends in good order (exit 0)."""

    exit_code = 0


class Interrupted(SwarmEvoError):
    """The user wants the end in good order (Ctrl-C once): this has not begun, and stays open for a resume."""

    exit_code = 130


class TicketGone(SwarmEvoError):
    """Nobody will write this program: the ticket expired or was given up. The proposal is withdrawn."""


class FilesLackError(SwarmEvoError):
    """A run has ended with its answer stored, and its disk did not take the files that tell it."""


class RunStopped(SwarmEvoError):
    """The user wants the run to end now: waits and retries are given up, nothing more is asked."""

    exit_code = 130


class SandboxError(SwarmEvoError):
    """The sandbox itself failed or is not available: never the candidate's fault."""


class NoSandboxError(SandboxError):
    """No usable sandbox tier on this machine, or the one asked for does not hold (exit 2)."""

    exit_code = 2


class JobLost(SwarmEvoError):
    """The worker that held a job died or was cut off before it reported."""

    failure = "lost_worker"
    """Value of the FailureKind that the job's node gets."""


class JobOverdue(JobLost):
    """The job overstepped `JobSpec.seconds` and was stopped."""

    failure = "timeout"


class JobStopped(JobLost):
    """The user stopped the program that the job ran."""

    failure = "stopped"


class StoreError(SwarmEvoError):
    """The run's database refused a read or a write."""


class LockedStoreError(StoreError):
    """Another process keeps the database locked, longer than a write waits for it."""


class BrokenStoreError(StoreError):
    """What is stored cannot be read, now or later: it was cut off, overwritten, or somebody else's."""


class RunBusyError(StoreError):
    """Another live process holds this run."""

    exit_code = 2


class RunReadOnlyError(StoreError):
    """The run's folder can be read by this user, not written, or it lies where nothing can be locked."""

    exit_code = 2


def unwritable(text: str, error: OSError) -> StoreError:
    """What stands in the way of a write into a run's folder: the user's rights, or the disk."""
    refused = error.errno in (errno.EACCES, errno.EPERM, errno.EROFS)
    return (RunReadOnlyError if refused else StoreError)(f"{text}: {error.strerror or error}")


class StoreVersionError(BrokenStoreError):
    """The store was written by a newer version of Swarm-Evo."""

    exit_code = 2


class UnknownRunError(StoreError):
    """No run of that name in the logs folder."""

    exit_code = 2


class UnknownNodeError(UnknownRunError):
    """The run has no such node."""
