"""Lasting sessions: a program that is closed in good order waits, and serves its next session without a new process."""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any

from core.contracts import ExecutionResult, SessionFailure
from core.executor.inside.messages import Job
from core.executor.session import SandboxSession


class Waiting:
    """Programs that wait to be wanted again. Thread-safe.

    Args:
        most: of them in one sandbox.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._sessions: list[SandboxSession] = []
        self._lock = threading.Lock()
        self._closed = False

    def take(self, job: Job) -> SandboxSession | None:
        """One that holds the job's program; the caller's from here on."""
        with self._lock:
            for at in reversed(range(len(self._sessions))):
                if job.is_same_program(self._sessions[at].job):
                    return self._sessions.pop(at)
        return None

    def put(self, session: SandboxSession) -> None:
        """Keep it; of too many the one that has waited longest is ended."""
        with self._lock:
            self._sessions.append(session)
            over = [self._sessions.pop(0)] if len(self._sessions) > self._most else []
            if self._closed:
                over, self._sessions = self._sessions, []
        for ended in over:
            ended.close()

    def close(self) -> None:
        """End all, and whatever is put here later."""
        with self._lock:
            self._closed, sessions = True, self._sessions
            self._sessions = []
        for session in sessions:
            session.close()


class LastingSession:
    """Implements `Session`: one use of a program that may outlast it.

    Args:
        keep: told of a session that waits from here on.
    """

    def __init__(self, session: SandboxSession, keep: Callable[[SandboxSession], None]) -> None:
        self._session = session
        self._keep = keep
        self._failed = False
        self._result: ExecutionResult | None = None

    @property
    def away(self) -> float:
        return self._session.away

    def call(self, function: str, args: Sequence[Any], *, timeout: float) -> Any:
        return self.call_many(function, [args], timeout=timeout)[0]

    def call_many(self, function: str, batch: Sequence[Sequence[Any]], *, timeout: float) -> list[Any]:
        if self._result is not None:
            raise ValueError("the session is closed")
        try:
            return self._session.call_many(function, batch, timeout=timeout)
        except SessionFailure:
            self._failed = True
            raise

    def pause(self) -> None:
        if self._result is None:
            self._session.pause()

    def leave(self) -> None:
        """Nothing is begun: one that may wait is asked for its end."""

    def close(self) -> ExecutionResult:
        """What it printed, and of one that does not wait also what it used."""
        if self._result is None:
            rested = None if self._failed else self._session.rest()
            self._result = rested or self._session.close()
            if rested is not None:
                self._keep(self._session)
        return self._result
