"""An arena without processes: engines run in this one. Only for the trusted parts' own tests."""

from __future__ import annotations

import random
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from core.arena.match import play
from core.arena.memory_book import MemoryBook
from core.arena.spec import ArenaSettings, ArenaSpec
from core.contracts import EvaluatorDeps, ExecutionResult, JobContext, JobSpec, Limits, SessionFailure
from core.state.failure import FailureKind
from core.state.journal import Journal
from utils.errors import JobLost, SandboxError


class InProcessSession:
    """Runs the program by `exec`; exceptions become failures as a sandbox reports them."""

    away = 0.0

    def __init__(self, code: str, prelude: str, seed: int) -> None:
        self.space: dict[str, Any] = {}
        self._code, self._prelude = code, prelude
        random.seed(seed)

    def call(self, function: str, args: Sequence[Any], *, timeout: float) -> Any:
        try:
            if not self.space:
                exec(self._prelude, self.space)
                exec(self._code, self.space)
            found: Any = self.space
            first, *rest = function.split(".")
            found = self.space[first]
            for name in rest:
                found = getattr(found, name)
            return found(*args)
        except TimeoutError as error:
            raise SessionFailure(ExecutionResult(failure=FailureKind.TIMEOUT, message="too slow")) from error
        except ConnectionError as error:  # stands for a worker that died under the session
            raise SessionFailure(ExecutionResult(failure=FailureKind.LOST_WORKER, message="gone")) from error
        except Exception as error:
            raise SessionFailure(ExecutionResult(failure=FailureKind.RUNTIME, message=repr(error))) from error

    def pause(self) -> None: ...

    def leave(self) -> None:
        pass

    def close(self) -> ExecutionResult:
        return ExecutionResult(term_out="bye")


class InProcessSandbox:
    tier = "warm"

    def __init__(self, faults: int = 0) -> None:
        self.opened = 0
        self.faults = faults

    def lasting_session(self, code: str, *, limits: Limits, seed: int = 0, prelude: str = "") -> Any:
        self.opened += 1
        if self.faults > 0:
            self.faults -= 1
            raise SandboxError("the fork server is gone")
        return InProcessSession(code, prelude, seed)

    def close(self) -> None: ...


class DirectJobs:
    """Runs jobs in the calling thread; loses the first `lose` of them."""

    slots = 1

    def __init__(self, sandbox: Any, scratch: Path, lose: int = 0) -> None:
        self.sandbox, self.scratch, self.lose = sandbox, scratch, lose
        self.played: list[JobSpec] = []

    def run(self, spec: JobSpec) -> Any:
        if self.lose > 0:
            self.lose -= 1
            raise JobLost("the machine went away")
        self.played.append(spec)
        return play(spec.payload, JobContext(sandbox=self.sandbox, folder=self.scratch))

    def map(self, specs: Any) -> list[Any]:
        return [self.run(spec) for spec in specs]


class RecordingBook(MemoryBook):
    """Keeps the events too, in the order of the store."""

    def __init__(self) -> None:
        super().__init__()
        self.events: list[Any] = []
        self.lock = threading.Lock()

    def put(self, key: str, game: dict[str, Any], events: Sequence[Any]) -> None:
        super().put(key, game, events)
        with self.lock:
            self.events += events

    def append(self, events: Sequence[Any]) -> None:
        with self.lock:
            self.events += events

    def of(self, kind: str) -> list[Any]:
        return [event for event in self.events if event.type == kind]


def make_deps(root: Path, *, book: RecordingBook | None = None, jobs: Any = None, seed: int = 7) -> EvaluatorDeps:
    book = book or RecordingBook()
    return EvaluatorDeps(
        jobs=jobs or DirectJobs(InProcessSandbox(), root),
        limits=Limits(),
        run_dir=root / "run",
        work_dir=root / "work",
        seed=seed,
        journal=Journal(),
        games=book,
        append=book.append,
        isolated=True,
    )


def four_spec() -> ArenaSpec:
    from problems.connect_four.problem import spec

    return spec()


def four_settings(**changes: Any) -> ArenaSettings:
    from core.arena.limit import MoveLimit

    return ArenaSettings(**{"limit": MoveLimit.parse("depth:2"), "openings": 2, "gauntlet": 4, **changes})


def engine(body: str, name: str = "test") -> str:
    """Source of an engine whose `select_move` has this body."""
    lines = "\n".join("        " + line for line in body.splitlines())
    return f"class E:\n    name = {name!r}\n    def select_move(self, position, time_left_ms):\n{lines}\nengine = E()\n"


FIRST = engine("return position.legal_moves[0]", "first")
LAST = engine("return position.legal_moves[-1]", "last")
