"""An evaluation with evaluator and candidate apart: the one trusted, the other in the sandbox behind a proxy."""

from __future__ import annotations

import socket
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.contracts import ExecutionResult, Limits, SessionFailure
from core.evaluation.isolation.evaluator import EvaluatorRun, EvaluatorServer
from core.evaluation.isolation.modules import import_lines
from core.evaluation.isolation.proxy import HANDLES
from core.executor.inside import frames
from core.executor.server import own_python
from core.executor.session import SandboxSession
from core.executor.warm import WarmSandbox
from core.state.failure import FailureKind
from utils.errors import JobLost

_OUTPUT_BYTES = 200_000
_LOOK_SECONDS = 0.2
_EXIT_SECONDS = 1.0
_RUN_AS_FILE = "the evaluator runs the candidate as a file"
_STUB = """# The candidate is behind a proxy: this file stands in for it and must not be run or read.
open({marker!r}, "w").close()
raise SystemExit("the candidate of this evaluator is behind a proxy and cannot be run as a file")
"""


@dataclass(frozen=True, slots=True)
class Apart:
    """How candidates are scored apart from a user's evaluator."""

    evaluator: Path
    function: str = "evaluate"
    classes: Sequence[str] | None = None
    """What objects the user's own program has, see `Proxy.classes`; None while that one is scored."""
    modules: Mapping[str, str] | None = None
    """Modules beside the evaluator that the program imports: name → source."""
    forks: bool = True
    """False: each evaluation loads the evaluator anew."""
    timeout: float = 300.0
    """Seconds for one evaluation; `limits.seconds` are for one call of the candidate."""
    text_file: str = ""
    """For a candidate that is a text and no program: the name of the file that the evaluator is given with it. Nothing
    of it is run."""

    def run(
        self, sandbox: WarmSandbox, code: str, *, limits: Limits, seed: int = 0, watch: bool = False, delay: float = 0.0
    ) -> EvaluatorRun:
        """Score a candidate.

        Args:
            watch: note what the evaluator reads; see `EvaluatorServer`.
            delay: seconds that each call of the candidate takes longer, to see whether the score is a time.
        Raises:
            EvaluatorUnusable: the evaluator cannot be loaded.
            JobLost: its process is gone.
        """
        began = time.monotonic()
        deadline = began + self.timeout
        prelude = HANDLES + import_lines(self.modules or {})
        program = "" if self.text_file else code
        session = sandbox.session(program, limits=limits, seed=seed, prelude=prelude)
        try:
            names = session.look_wrapped(min(limits.seconds, self.timeout))
            run = self._judged(sandbox, session, code, names, limits, deadline, watch, delay)
        except SessionFailure:
            run = EvaluatorRun()
        finally:
            closed = session.close()
        found = {
            "program": closed if closed.failure is not None else None, "isolated": closed.isolated,
            "output": _both(closed.term_out, run.output), "seconds": time.monotonic() - began,
        }  # fmt: skip
        return run.model_copy(update=found)

    def _judged(
        self,
        sandbox: WarmSandbox,
        session: SandboxSession,
        code: str,
        names: Any,
        limits: Limits,
        deadline: float,
        watch: bool,
        delay: float,
    ) -> EvaluatorRun:
        with ExitStack() as stack:
            server = self._server(sandbox, stack, deadline, watch)
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="swarm-evaluator-")))
            program, marker = folder / (self.text_file or "candidate.py"), folder / "was-run"
            text = code if self.text_file else _STUB.format(marker=str(marker))
            program.write_text(text, encoding="utf-8", errors="surrogateescape")
            ours, theirs = socket.socketpair()
            stack.callback(ours.close)
            output = stack.enter_context(tempfile.TemporaryFile())
            task = {
                "program": str(program), "names": names, "call_timeout": limits.seconds,
                "watch": watch, "classes": None if self.classes is None else list(self.classes),
                "is_text": bool(self.text_file), "delay": delay,
            }  # fmt: skip
            try:
                with theirs:
                    pid = server.start(task, [session.channel, theirs.fileno(), output.fileno()])
                stack.callback(server.end, pid)
                report = _follow(session, ours, deadline, marker)
                if report is None and time.monotonic() < deadline:
                    server.check(pid)
            except JobLost:  # the job is run again, and everybody's from now on, by a new one
                sandbox.resources.drop(self._key, server)
                raise
            if report is not None:
                _await_end(ours)
            server.end(pid)
            output.seek(0)
            return _read(report, session, marker, output.read(_OUTPUT_BYTES).decode("utf-8", "replace"), deadline)

    def _server(self, sandbox: WarmSandbox, stack: ExitStack, deadline: float, watch: bool) -> EvaluatorServer:
        """The loaded evaluator of this worker, or one of its own for this candidate."""
        python = sandbox.config.python or own_python()
        left = max(1.0, deadline - time.monotonic())

        def loaded() -> EvaluatorServer:
            return EvaluatorServer(self.evaluator, self.function, python, watch=watch, seconds=left)

        if self.forks and not watch:
            server = sandbox.resources.get(self._key, loaded)
            if not server.hinders:
                return server
        fresh = loaded()
        stack.callback(fresh.close)
        return fresh

    @property
    def _key(self) -> str:
        return f"evaluator {self.evaluator} {self.function}"


def _follow(session: SandboxSession, report: socket.socket, deadline: float, marker: Path) -> dict[str, Any] | None:
    """The evaluator's report; None when it ended without one, is late, or runs the candidate as a file.

    Raises:
        SessionFailure: the candidate ended, or broke a limit; there is nothing to be judged any more.
    """
    while (left := deadline - time.monotonic()) > 0 and not marker.exists():
        if session.stand_by(report.fileno(), min(_LOOK_SECONDS, left)):
            received = frames.receive(report)
            return received[0]["report"] if received is not None else None
    return None


def _await_end(report: socket.socket) -> None:
    """Give the evaluator's process a moment for what its modules do at exit."""
    report.settimeout(_EXIT_SECONDS)
    with suppress(OSError):
        report.recv(1)


def _read(
    report: dict[str, Any] | None, session: SandboxSession, marker: Path, output: str, deadline: float
) -> EvaluatorRun:
    if marker.exists():
        return EvaluatorRun(refused=_RUN_AS_FILE, output=output)
    if report is None:
        late = time.monotonic() >= deadline
        why = "the evaluator did not end in time" if late else "the evaluator ended by itself"
        return EvaluatorRun(error=f"{why}: {output[-1000:]}", line=why, output=output)
    if report["failed"] is not None:
        kind, message = report["failed"]
        session.fail(FailureKind(kind), message)
    told = {name: report[name] for name in EvaluatorRun.model_fields.keys() & report.keys()}
    return EvaluatorRun(**told, output=output)


def _both(program: str, evaluator: str) -> str:
    """What the two printed, told apart where both did."""
    if program.strip() and evaluator.strip():
        return f"{evaluator.rstrip()}\n--- the program printed:\n{program}"
    return evaluator if evaluator.strip() else program


def program_failure(run: EvaluatorRun) -> ExecutionResult | None:
    """How the candidate failed by itself, or because what it answered cannot cross; None if it did not."""
    if run.program is not None:
        return run.program
    if run.refused:
        kind = FailureKind.SIGNATURE if run.by_program else FailureKind.EVAL_ERROR
        return ExecutionResult(failure=kind, message=run.refused, term_out=run.output, exec_time=run.seconds)
    return None
