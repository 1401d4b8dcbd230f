"""The warm sandbox: every job is a fork of a preloaded interpreter, in namespaces of its own.

The same machinery serves the tiers without namespaces (`lite`, `none`): the supervisor is told which.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import threading
import time
import weakref
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from core.contracts import BaseTree, ExecutionResult, Limits
from core.executor import verdict
from core.executor.devices import Cards
from core.executor.inside import memory, mounts, packed
from core.executor.inside.messages import Job, Ready, SlotSetup
from core.executor.lasting_session import LastingSession, Waiting
from core.executor.long_imports import long_imports
from core.executor.one_job import follow, job_of
from core.executor.open_files import most_kept
from core.executor.output import Output
from core.executor.report import result_of
from core.executor.server import ForkServer, ServerConfig
from core.executor.session import SandboxSession
from core.executor.slot import SandboxSlot, lost_by
from core.executor.toolchains import search_path
from core.executor.uids import UidPool
from core.executor.workspace import remove_tree
from core.state.failure import FailureKind
from utils.errors import JobLost, SandboxError
from utils.resource_cache import ResourceCache

ROOM_SECONDS = 15.0
"""So long a job waits for room for its processes where the machine has none."""
OWN_ROOM_SECONDS = 1.0
"""The same where one process of ours may have no more descriptors, and no program runs that will let go of some."""
_LOOK_FOR_ROOM = 0.2
_STOPPED = "the job was cancelled or is overdue"
_MEMORY_SHARE = 4
"""A workspace is kept in memory while its limit is below a quarter of the machine's memory."""


class WarmSandbox:
    """Implements `Sandbox` on a fork server. Thread-safe: every job has a slot of its own.

    Args:
        server: one that was started with `config`; None starts one.
        cards: what each job gets its GPUs of; None for no GPUs.
    """

    def __init__(self, config: ServerConfig, server: ForkServer | None = None, cards: Cards | None = None) -> None:
        self.tier = config.tier
        self.config = config
        self.cards = cards or Cards(0)
        self.resources = ResourceCache()
        """What jobs keep between them on this worker: loaded evaluators."""
        self._server = server or ForkServer(config)
        self._state_dir = config.state_dir
        self._uids = UidPool() if os.getuid() == 0 and config.tier != "none" else None
        self._closed = threading.Event()
        self._idle: list[tuple[SandboxSlot, int | None]] = []
        self._most_kept = most_kept()
        self._waiting = Waiting(self._most_kept)
        self._users: dict[SandboxSlot, threading.Thread] = {}
        """Which thread uses a slot."""
        self._dealt: dict[SandboxSlot, list[str]] = {}
        """The GPUs of a slot."""
        self._stopped: weakref.WeakSet[threading.Thread] = weakref.WeakSet()
        """Threads that get no slot any more."""
        self._lock = threading.Lock()

    def ready(self) -> Ready:
        """Wait for the fork server; what it preloaded and what was missing, which version it is."""
        return self._server.ready()

    def hide(self, patterns: Sequence[str]) -> None:
        """Hide what became known after the making, before anything runs: patterns of absolute paths."""
        self.config = replace(self.config, hide=(*self.config.hide, *patterns))
        self._server.hide(patterns)

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
        job = self._job("script", limits, code=code, seed=seed, argv=argv)
        return self._once(job, workspace, inputs, limits, on_output, server=self._server_for(job))

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
        return self._once(self._job("command", limits, seed=seed, argv=argv), workspace, inputs, limits, None, base)

    def session(
        self, code: str, *, limits: Limits, seed: int = 0, workspace: Path | None = None, prelude: str = ""
    ) -> SandboxSession:
        """Hold a program ready for calls; see `session`. Without a workspace it gets a prepared slot."""
        return self._new_session(self._job("session", limits, code=code, prelude=prelude, seed=seed), limits, workspace)

    def lasting_session(self, code: str, *, limits: Limits, seed: int = 0, prelude: str = "") -> LastingSession:
        job = self._job("session", limits, code=code, prelude=prelude, seed=seed).changed(lasting=True)
        return LastingSession(self._waiting_session(job) or self._new_session(job, limits, None), self._keep_waiting)

    def _waiting_session(self, job: Job) -> SandboxSession | None:
        """One whose program waits, with the job's seed."""
        while (found := self._waiting.take(job)) is not None:
            if not self._admitted(found.slot):
                found.close()
                raise SandboxError(_STOPPED)
            if found.again(job.seed):
                return found
        return None

    def _keep_waiting(self, session: SandboxSession) -> None:
        with self._lock:
            self._users.pop(session.slot, None)
        self._waiting.put(session)

    def _new_session(self, job: Job, limits: Limits, workspace: Path | None) -> SandboxSession:
        output = Output(limits.output_kb * 1024, None, None)
        server = self._server_for(job)
        while True:
            pooled = workspace is None and self.tier == "warm" and not self.cards
            kept = self._idle_slot(server) if pooled else None
            own = self._state_folder() if workspace is None and self.tier != "warm" else None
            try:
                slot, uid = kept or self.open_slot(limits, own or workspace, None, server=server)
            except BaseException:
                _removed(own)
                raise

            def give_back(
                slot: SandboxSlot, usable: bool, uid: int | None = uid, pooled: bool = pooled, own: Path | None = own
            ) -> None:
                self._take_back(slot, uid, pooled and usable)
                _removed(own)

            try:
                msgpack = self.ready().msgpack and packed.library() is not None
                return SandboxSession(slot, job, limits, output, self.tier, give_back, msgpack)
            except BaseException as error:
                give_back(slot, False)
                if isinstance(error, OSError):
                    raise lost_by(error) from error
                if kept is None or not isinstance(error, (SandboxError, JobLost)):
                    raise  # an idle slot may have died with an earlier fork server: then with another one

    def _server_for(self, job: Job) -> ForkServer:
        """The fork server that holds what a program imports: ours, or one beside it that is started now."""
        more = () if self.tier == "bubblewrap" else long_imports(job.prelude + job.code, self.config.preload)
        if not more:
            return self._server

        def started() -> ForkServer:
            folder = self._state_dir / "-".join(("with", *more))
            server = ForkServer(replace(self.config, preload=(*self.config.preload, *more), state_dir=folder))
            try:
                server.ready()
            except SandboxError:  # it died of what it imported: programs may do so by themselves
                server.close()
                return self._server
            return server

        return self.resources.get(f"server with {more}", started)

    def _idle_slot(self, server: ForkServer) -> tuple[SandboxSlot, int | None] | None:
        with self._lock:
            fitting = [kept for kept in self._idle if kept[0].holds == server.config.preload]
            kept = fitting[-1] if fitting else None
            if kept is not None:
                self._idle.remove(kept)
        if kept is not None:
            self._in_use(*kept)
        return kept

    def _take_back(self, slot: SandboxSlot, uid: int | None, keep: bool) -> None:
        with self._lock:
            if keep and len(self._idle) < self._most_kept and not self._closed.is_set():
                self._idle.append((slot, uid))
                self._users.pop(slot, None)
                return
        self.close_slot(slot, uid)

    def _state_folder(self) -> Path:
        return Path(tempfile.mkdtemp(prefix="session-", dir=self._state_dir))

    def close(self) -> None:
        if not self._closed.is_set():
            self._closed.set()
            self._waiting.close()
            self.resources.close()
            with self._lock:
                idle, self._idle = self._idle, []
            for slot, _ in idle:
                slot.close()
            self._server.close()
            if self._uids is not None:
                self._uids.close()
            shutil.rmtree(self._state_dir, ignore_errors=True)

    def open_slot(
        self,
        limits: Limits,
        workspace: Path | None,
        inputs: Path | None,
        base: BaseTree | None = None,
        server: ForkServer | None = None,
    ) -> tuple[SandboxSlot, int | None]:
        """A slot and the uid it holds, to be given to `close_slot`.

        Args:
            server: whose slot it is; None: of the one that holds what was to be preloaded.
        """
        uid = self._uids.take() if self._uids is not None else None
        nodes = self.cards.take()
        setup = SlotSetup(
            tier=self.tier, uid=uid, disk_mb=limits.disk_mb,
            inputs=None if inputs is None else str(inputs.resolve()),
            workspace=None if workspace is None else str(workspace.resolve()),
            in_memory=base is not None or _fits_in_memory(limits.disk_mb),
            base=None if base is None else str(base.folder.resolve()),
            replaced=[] if base is None else list(base.replaced),
            writable=[] if base is None else list(base.writable),
            charged=0 if base is None else base.charged, devices=nodes,
        )  # fmt: skip
        try:
            slot = self._slot_when_there_is_room(server or self._server, setup)
        except BaseException:
            self.cards.give_back(nodes)
            if uid is not None and self._uids is not None:
                self._uids.give_back(uid)
            raise
        self._dealt[slot] = nodes
        self._in_use(slot, uid)
        return slot, uid

    def _slot_when_there_is_room(self, server: ForkServer, setup: SlotSetup) -> SandboxSlot:
        """A program beside this one may fill a container's processes for a while: that is no fault of the next."""
        began = time.monotonic()
        while True:
            try:
                return server.open_slot(setup)
            except JobLost as error:
                with self._lock:
                    is_stopped = threading.current_thread() in self._stopped
                    is_ours = not self._users and _is_own_limit(error)
                end = began + (OWN_ROOM_SECONDS if is_ours else ROOM_SECONDS)
                if is_stopped or time.monotonic() > end or self._closed.wait(_LOOK_FOR_ROOM):
                    raise

    def stop_thread(self, thread: threading.Thread) -> None:
        """Have whatever the thread runs killed, it sees a timeout; and give it nothing more. For jobs that are over."""
        with self._lock:
            self._stopped.add(thread)
            for slot, user in self._users.items():
                if user is thread:  # told under the lock: a slot that was given back may be another's by now
                    slot.stop(FailureKind.TIMEOUT.value, _STOPPED)

    def _in_use(self, slot: SandboxSlot, uid: int | None) -> None:
        """Raises SandboxError in a thread that was stopped; the slot is then closed."""
        if not self._admitted(slot):
            self.close_slot(slot, uid)
            raise SandboxError(_STOPPED)

    def _admitted(self, slot: SandboxSlot) -> bool:
        """Note that this thread uses the slot; False for a thread that was stopped."""
        thread = threading.current_thread()
        with self._lock:
            if thread not in self._stopped:
                self._users[slot] = thread
            return thread not in self._stopped

    def close_slot(self, slot: SandboxSlot, uid: int | None) -> None:
        with self._lock:
            self._users.pop(slot, None)
            nodes = self._dealt.pop(slot, [])
        self.cards.give_back(nodes)
        try:
            supervisor = None if uid is None else _handle(slot.pid)
        except OSError:  # no descriptor is left: nobody would see when its last process has ended, so it stays held
            uid = None
        slot.close()
        if uid is not None and self._uids is not None:
            self._uids.give_back(uid, supervisor)

    def _job(self, kind: str, limits: Limits, **parts: Any) -> Job:
        """As `job_of`, with the variables of this sandbox."""
        job, own = job_of(kind, limits, **parts), dict(self.config.environment)
        own["PATH"] = search_path(own.get("PATH", ""), self.config.python)
        return job.changed(env={**job.env, **own})

    def _once(
        self,
        job: Job,
        workspace: Path,
        inputs: Path | None,
        limits: Limits,
        on_output: Callable[[str], None] | None,
        base: BaseTree | None = None,
        server: ForkServer | None = None,
    ) -> ExecutionResult:
        slot, uid = self.open_slot(limits, workspace, inputs, base, server)
        try:
            rename = None if self.tier == "warm" else (str(workspace.resolve()), mounts.WORKSPACE)
            output = Output(limits.output_kb * 1024, on_output, rename)
            report, description = follow(slot, job, output, limits.seconds)
            return result_of(report, verdict.read_exception(description), output, limits, self.tier)
        except OSError as error:
            raise lost_by(error) from error
        finally:
            self.close_slot(slot, uid)


def _removed(folder: Path | None) -> None:
    """A session's own folder, if it has one, goes with it; where its program still runs, at last with the sandbox."""
    with suppress(OSError):
        if folder is not None:
            remove_tree(folder)


def _is_own_limit(error: JobLost) -> bool:
    """True where all descriptors are open that this process may have, or the fork server."""
    return os.strerror(errno.EMFILE) in str(error)


def _fits_in_memory(disk_mb: int) -> bool:
    return disk_mb * 2**20 * _MEMORY_SHARE <= memory.total()


def _handle(pid: int) -> int | None:
    """A pidfd; None where the process has ended."""
    try:
        return os.pidfd_open(pid)
    except ProcessLookupError:
        return None
