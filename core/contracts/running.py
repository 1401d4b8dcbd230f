"""Running: untrusted code in a sandbox, and jobs on this machine or others; what happened is told by us."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Protocol

from pydantic import BaseModel, ConfigDict

from core.state.failure import FailureKind
from core.state.text import CleanLine, RunLine, RunText


class Limits(BaseModel):
    """What one job may use. Each breach has a FailureKind of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float = 300.0
    cpu_seconds: float | None = None
    """None: 4 × seconds."""
    memory_mb: int = 4096
    """Of the whole process tree, proportional set size."""
    processes: int = 128
    """Processes and threads."""
    file_mb: int = 512
    disk_mb: int = 1024
    """Of all that is written, `/tmp` and `/dev/shm` too; every entry costs at least 12 KiB. What lies in memory takes a
    quarter of that at most."""
    output_kb: int = 1024
    answer_kb: int = 64 << 10
    """One answer of a session, as it is sent. A problem whose answers are small says so."""
    threads: int = 1
    """Threads of BLAS and OpenMP."""
    core: int | None = None
    """Pinned to this CPU, where the score is a time; None: any."""

    @property
    def processor_seconds(self) -> float:
        """Of all processes and threads of a script together."""
        return 4 * self.seconds if self.cpu_seconds is None else self.cpu_seconds


class ExecutionResult(BaseModel):
    """What running a program showed, told by the trusted side."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    term_out: RunText = ""
    """stdout and stderr as they came, capped with a line that says what was left out."""
    exec_time: float = 0.0
    cpu_seconds: float | None = None
    max_memory_mb: float | None = None
    exit_code: int | None = None
    failure: FailureKind | None = None
    message: RunLine = ""
    """Which limit and how much, or the last line of the traceback."""
    exc_type: CleanLine | None = None
    exc_info: dict[str, Any] | None = None
    """`{args, traceback: [[file, line, function, text]…]}` where the program ended by an exception."""
    overlaid: tuple[str, ...] = ()
    """Paths of the base tree that something lies over after the job: what was put there before it, and what it changed
    or removed itself."""
    tier: str = "none"
    """warm, lite, bubblewrap or none."""

    @property
    def isolated(self) -> bool:
        """True if the program ran in a sandbox."""
        return self.tier != "none"


@dataclass(frozen=True, slots=True)
class BaseTree:
    """A folder of the host that a job sees as its workspace, with the workspace's own files laid over it.

    The folder itself is never changed: what the job writes lies beside it.
    """

    folder: Path
    replaced: tuple[str, ...] = ()
    """Paths of it that are not there: deleted, or the workspace has its own. Without links in them."""
    writable: tuple[str, ...] = ()
    """Paths of it that the job may write."""
    charged: int = 0
    """Bytes of it in the workspace, where that is a copy: not the job's."""


class Session(Protocol):
    """A long-lived sandboxed child that holds one program and answers calls. Every answer is checked by us."""

    @property
    def away(self) -> float:
        """Seconds of the last call in which this process stood still, as after Ctrl-Z: they are not the program's."""

    def call(self, function: str, args: Sequence[Any], *, timeout: float) -> Any:
        """Call `function` of the program with plain data. Raises SessionFailure when the program fails."""

    def call_many(self, function: str, batch: Sequence[Sequence[Any]], *, timeout: float) -> list[Any]:
        """Many calls in one frame; exactly `len(batch)` answers."""

    def pause(self) -> None:
        """Stop the program until the next call: it does not run while nobody waits for it."""

    def leave(self) -> None:
        """Begin to close: it is killed while the caller does something else. All that may follow is `close`."""

    def close(self) -> ExecutionResult:
        """Kill it and say what it printed and used."""


class SessionFailure(Exception):
    """The program behind a session failed: `result` says how. Caught by evaluators, never shown as our error."""

    def __init__(self, result: ExecutionResult) -> None:
        super().__init__(result.message)
        self.result = result


class Sandbox(Protocol):
    """Runs untrusted code so that nothing escapes. Thread-safe."""

    tier: str

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
        """Run a program with `workspace` as /workspace and `inputs` read-only as /workspace/input.

        Everything of the job is dead when this returns; what it wrote in `workspace` is still there, untrusted.
        """

    def command(
        self,
        argv: Sequence[str],
        *,
        workspace: Path,
        inputs: Path | None = None,
        limits: Limits,
        seed: int = 0,
        base: BaseTree | None = None,
    ) -> ExecutionResult:
        """The same for an arbitrary command line (any language).

        Args:
            base: the folder below the workspace. Only the tier `warm` shows it there; elsewhere `workspace` is a copy
                of it already, whose files stay ours.
        """

    def session(
        self, code: str, *, limits: Limits, seed: int = 0, workspace: Path | None = None, prelude: str = ""
    ) -> Session:
        """Hold a program ready for calls. It is loaded by the first call, within its timeout.

        Args:
            prelude: source that runs first in the program's namespace (helper functions, classes); not trusted either.
            limits: `seconds` and `cpu_seconds=None` limit nothing here: each call has its own timeout.
        """

    def lasting_session(self, code: str, *, limits: Limits, seed: int = 0, prelude: str = "") -> Session:
        """As `session`, for a program that is wanted again and again.

        When it is closed in good order its process waits, stopped, for the next lasting session of the same program and
        limits, which loads it anew: its names, `random` and numpy's generator are as after a start with that seed. What
        it hid elsewhere in its process may be there still.
        """

    def close(self) -> None:
        """End all sessions and what the sandbox itself has started."""


class JobSpec(BaseModel):
    """A piece of work as plain data, so that any machine can do it: `entry(payload, context) -> plain JSON`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entry: str
    """`package.module:function` of ours (trusted code), called with (payload, JobContext)."""
    payload: dict[str, Any]
    """Plain JSON; bytes are allowed as base64 text."""
    label: str = ""
    """What the work is for: a node's id, under which live output is told, or a game's key. Once a job of it has begun,
    the others belong to what runs; a job without a label is always a part of something that does."""
    seconds: float = 3600.0
    """Deadline for the whole job, its own clean-up included."""
    cpus: float = 1.0
    gpus: float = 0.0
    memory_mb: int = 1024
    alone: bool = False
    """No other job of the runner beside it: its score is a time."""


JobState = Literal["waits", "runs", "over", "withdrawn"]
"""Where a job stands: it waits for a worker, it holds one, it let it go, it was taken back before it had one."""
JobListener = Callable[[str, JobState], None]
"""Hears (the job's label, where it stands now) in the runner's threads. For viewers: nothing is decided by it."""


class JobResult(BaseModel):
    """What became of a job: its value, or an error of ours (the candidate's failures are inside the value)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    value: Any = None
    error: str = ""
    """Our fault: traceback text. '' when the entry returned."""
    lost: bool = False
    """The worker died, was cut off or overstepped the deadline, also after retries."""
    overdue: bool = False
    """It is `lost` because it overstepped `JobSpec.seconds`: to run it again would cost as much again."""


class JobContext:
    """What an entry finds where it runs.

    Args:
        folder: where `scratch` lies: most jobs have no use for it, and it is made for those that ask.
        leave: told that only tidying up is left.
    """

    def __init__(
        self,
        sandbox: Sandbox,
        folder: Path,
        on_output: Callable[[str], None] | None = None,
        leave: Callable[[], None] = lambda: None,
    ) -> None:
        self.on_output = on_output
        self.leave = leave
        """For an entry to call once what it does not trust is over or being killed: what is left is to wait for that,
        and the next job may begin meanwhile."""
        self._sandbox = sandbox
        self._folder = folder
        self._is_begun = False

    @property
    def sandbox(self) -> Sandbox:
        """Where it runs what it does not trust."""
        self._is_begun = True
        return self._sandbox

    @property
    def is_begun(self) -> bool:
        """The entry has asked for the sandbox: what goes wrong from then on may be a program's doing."""
        return self._is_begun

    @property
    def scratch(self) -> Path:
        """A private folder of this job, removed afterwards."""
        self._folder.mkdir(exist_ok=True)
        return self._folder


class JobRunnerDefaults(Protocol):
    """What a JobRunner may leave out."""

    def listen(self, told: Callable[[JobResult], None]) -> None:
        """Tell each result from here on at once, in whatever thread, and no longer by `next`.

        A runner that leaves it out is asked for its results, by a thread for which each has to wait.
        """
        return None


class JobRunner(JobRunnerDefaults, Protocol):
    """Runs jobs on this machine or others. `run_job(spec)` is pure; retries, deadlines and cancellation are ours."""

    slots: int

    def submit(self, spec: JobSpec) -> str:
        """Queue a job; its id."""

    def next(self, timeout: float | None = None) -> JobResult | None:
        """The next finished job, each told once, or None after `timeout` seconds."""

    def cancel(self, id: str) -> None:
        """Stop it if it runs; its result is discarded."""

    def withdraw(self, id: str) -> bool:
        """Take back a job that nobody has begun yet; False for one that runs or is over, which goes on."""

    def close(self) -> None:
        """Stop what runs and let go of the workers."""


class Jobs(Protocol):
    """A JobRunner as threads use it: submit and wait."""

    slots: int

    def run(self, spec: JobSpec) -> Any:
        """The entry's value. JobLost when the worker is gone after retries, SwarmEvoError for an error of ours."""

    def map(self, specs: Iterable[JobSpec]) -> list[Any]:
        """Values in order; as many at once as there are slots."""
