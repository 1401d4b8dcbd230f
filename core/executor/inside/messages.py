"""What host, fork server and supervisor tell each other, as types; and what a forked process is to become.

A message travels as a frame `{"<class name>": {its fields}}`. Both sides import this file.
"""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from types import CodeType
from typing import TYPE_CHECKING, Any, ClassVar

from . import frames, mounts

if TYPE_CHECKING:
    from typing import Self, dataclass_transform
else:

    def dataclass_transform(**_):
        return lambda base: base


@dataclass_transform(frozen_default=True)
class Record:
    """Fields as of a frozen dataclass. To make a dataclass takes a millisecond, and every sandbox begins with these."""

    _names: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls) -> None:
        cls._names = tuple(vars(cls).get("__annotations__", ()))

    def __init__(self, *values: Any, **named: Any) -> None:
        found = vars(self)
        found.update(zip(self._names, values), **named)  # noqa: B905 - Python 3.9
        for name in self._names:
            if name not in found:
                found[name] = getattr(type(self), name)
        if len(found) > len(self._names) or len(values) > len(self._names):
            raise TypeError(f"{type(self).__name__} has no {sorted(found.keys() - set(self._names))}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]

    def changed(self, **fields: Any) -> Self:
        """Another one with these fields."""
        return type(self)(**{**vars(self), **fields})


class Message(Record):
    """Base of everything that travels."""


class ServerSetup(Message):
    """Host to fork server, once: what is the same for all jobs of a sandbox."""

    tier: str
    scratch: str
    """An empty folder of the host to mount the new root on."""
    preload: list[str]
    """Modules to import before the first job."""
    show: list[str]
    """Further host paths that candidates may read."""
    hide: list[str]
    """Parts of what is shown that candidates do not see; see `hiding.find`."""
    keep: list[str]
    """Host paths that stay where they lie in such a part: what candidates are given lies there."""
    working: str
    """Host folder in which each candidate's own files lie. It sees no others in it."""


class Ready(Message):
    """Fork server to host: it is preloaded."""

    seconds: float
    """How long the imports took."""
    missing: dict[str, str]
    """Modules that could not be imported, with the reason."""
    version: list[int]
    executable: str
    arch: str
    read_only: list[str]
    """Host paths that candidates see."""
    hidden: list[str]
    """Parts of them that candidates do not see."""
    msgpack: bool
    """The candidates' interpreter has msgpack."""


class SlotWanted(Message):
    """Host to fork server, with a socket: make a supervisor at its other end."""


class SlotMade(Message):
    """Fork server to host: the supervisor's process id, as the host sees it."""

    pid: int


class SlotSetup(Message):
    """Host to supervisor, first: what its jobs have in common."""

    tier: str
    uid: int | None
    """User id of the candidates, None for our own."""
    disk_mb: int
    inputs: str | None
    """Host folder for /workspace/input."""
    workspace: str | None
    """Host folder for /workspace; None for jobs that leave nothing behind."""
    in_memory: bool
    """The workspace is copied into memory and back, so that the disk limit is the kernel's."""
    base: str | None = None
    """Host folder that lies below the workspace; what is written lies over it, in memory."""
    replaced: Sequence[str] = ()
    """Paths of the base that are not shown."""
    writable: Sequence[str] = ()
    """Paths of the base that jobs may write."""
    charged: int = 0
    """Bytes that lie in the workspace before a job and are not its own."""
    devices: Sequence[str] = ()
    """Nodes of the GPUs that jobs may use."""

    @property
    def home(self) -> str:
        """The workspace as candidates see it."""
        return mounts.WORKSPACE if self.workspace is None or self.tier == "warm" else self.workspace


class JobLimits(Record):
    """`core.contracts.Limits` as the supervisor reads it; the fields mean the same."""

    seconds: float
    cpu_seconds: float | None
    memory_mb: int
    processes: int
    file_mb: int
    disk_mb: int
    output_kb: int
    threads: int
    core: int | None


class Job(Message):
    """Host to supervisor, with descriptors: start a candidate.

    Only what all candidates of a slot have in common travels so. What is one's own lies in the last descriptor, which
    its process reads: the next is forked from the same supervisor, and finds in memory whatever that has ever held.
    """

    kind: str
    """`script`, `command` or `session`."""
    limits: JobLimits
    deadline: float | None
    """Seconds of wall clock; None where each call of a session has its own."""
    env: dict[str, str]
    code: str = ""
    prelude: str = ""
    """Source that runs before the code of a session, in its namespace."""
    seed: int = 0
    argv: Sequence[str] = ()
    lasting: bool = False
    """Its session's program may be loaded again in the same process."""

    @property
    def answers(self) -> bool:
        """Its program answers calls."""
        return self.kind == "session"

    @property
    def alone(self) -> bool:
        """It answers calls by one process and thread, as an engine does: stopped between them, it stays so."""
        return self.answers and self.limits.processes == 1

    def is_same_program(self, other: Job) -> bool:
        """Equal but for the seed."""
        return other.changed(seed=self.seed) == self

    def common(self) -> Job:
        """What its supervisor may know. Who plays on in a lasting session does not learn by what others are seeded."""
        return self.changed(code="", seed=0 if self.lasting else self.seed, argv=[])

    def own(self) -> bytes:
        """The rest, for `with_own`. No word of a command holds a NUL."""
        words = [str(self.seed), str(len(self.argv)), *self.argv, self.code]
        return "\0".join(words).encode("utf-8", "surrogatepass")

    def with_own(self, own: bytes) -> Job:
        """The whole job, in the candidate's process; little memory is touched, since each page is then copied."""
        seed, count, rest = own.decode("utf-8", "surrogatepass").split("\0", 2)
        *argv, code = rest.split("\0", int(count))
        whole = object.__new__(Job)
        vars(whole).update(vars(self), code=code, seed=int(seed), argv=argv)
        return whole


class Rest(Message):
    """Host to supervisor: a lasting session's process is stopped and waits (True), or goes on (False)."""

    resting: bool


class Stop(Message):
    """Host to supervisor: kill the candidate; its report carries this kind of failure.

    Why, the host knows by itself: that may be in words of the candidate's, which its supervisor never holds.
    """

    kind: str


class Report(Message):
    """Supervisor to host: a job ended, all its processes are dead."""

    status: int | None
    """Wait status of the candidate; None where it was killed for a breach."""
    breach: list[str] | None
    """[kind of failure, message]; no message where the host had it stopped."""
    seconds: float
    cpu: float
    memory: int
    """Most bytes held at once."""
    began: bool
    """Its set-up was complete: from there on whatever it says or does is the program's."""
    overlaid: Sequence[str] = ()
    """Paths of the base that something lies over."""


class Fault(Message):
    """Fork server or supervisor to host: something of ours broke."""

    text: str
    lost: bool = False
    """Only this job is lost, another try may work: a candidate had begun, or the machine was out of something."""


class BubbleJob(Message):
    """Through bubblewrap to the fresh interpreter inside of it."""

    job: Job
    read_only: list[str]
    devices: Sequence[str]


class Start(Record):
    """In a candidate's process, just forked: what it is to become. It never travels."""

    job: Job
    """What it has in common with others."""
    setup: SlotSetup
    layout: mounts.Layout
    fds: list[int]
    """Its descriptors 0, 1, 2, 3."""
    own: int
    """Descriptor of what is its own of the job."""
    nice: int
    """Its priority: the one that its supervisor had before it raised its own."""
    private: int
    """Bytes of private memory that it begins with."""
    prelude: CodeType | None
    """The job's prelude compiled; None where it has none, or none that compiles."""
    link: socket.socket | None = None
    """Without namespaces: where the listener of the candidate's system-call filter is sent."""
    rules: int | None = None
    """In namespaces: the descriptor of its Landlock rules."""
    began: int = -1
    """The end of a pipe that is written to, and closed, when its set-up is complete."""


SHORTAGES = (errno.EAGAIN, errno.ENOMEM, errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ETOOMANYREFS)
"""The machine or the user is out of processes, descriptors or memory, perhaps for a candidate's doing."""


def is_shortage(error: OSError) -> bool:
    return error.errno in SHORTAGES


def send(channel: socket.socket, message: Message, fds: list[int] | None = None) -> None:
    frames.send(channel, to_plain(message), fds)


def receive(channel: socket.socket) -> tuple[Message, list[int]] | None:
    """The next message with its descriptors; None when the other side is gone."""
    received = frames.receive(channel)
    return None if received is None else (from_plain(received[0]), received[1])


def to_plain(message: Message) -> dict[str, Any]:
    return {type(message).__name__: _fields(message)}


def _fields(message: Any) -> dict[str, Any]:
    inner = (Job, JobLimits)
    return {name: _fields(value) if isinstance(value, inner) else value for name, value in vars(message).items()}


def from_plain(plain: dict[str, Any]) -> Message:
    """The inverse of `to_plain`, for what our own processes sent."""
    ((name, fields),) = plain.items()
    message: Message = _load(next(kind for kind in Message.__subclasses__() if kind.__name__ == name), fields)
    return message


def _load(kind: Any, fields: dict[str, Any]) -> Any:
    parts = {"limits": JobLimits, "job": Job}
    return kind(**{name: _load(parts[name], value) if name in parts else value for name, value in fields.items()})
