"""An evaluation with evaluator and candidate apart: the one trusted, the other in the sandbox behind a proxy."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.contracts import ExecutionResult, Limits, SessionFailure
from core.evaluation.isolation.evaluator import EvaluatorRun, EvaluatorServer, Judging
from core.evaluation.isolation.handles import HANDLES
from core.evaluation.isolation.hidden_lines import without_lines
from core.evaluation.isolation.modules import import_lines
from core.evaluation.isolation.one_evaluation import FORKED
from core.executor.server import own_python
from core.executor.session import SandboxSession
from core.executor.warm import WarmSandbox
from core.state.failure import FailureKind
from utils.errors import JobLost

_LOOK_SECONDS = 0.2
_RUN_AS_FILE = "the evaluator runs the candidate as a file"
ELSEWHERE = (_RUN_AS_FILE, FORKED)
"""Refusals that may be none where the program can be called from other processes (`Apart.serves`)."""


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
    ahead: bool = False
    """The evaluator's process is forked while the program is loaded. The two then mostly stay on different processors,
    and each call wakes the other one: not for evaluations that make many."""
    serves: bool = False
    """The evaluator calls the program from further processes than its own: forks, or children that run its file."""
    text_file: str = ""
    """For a candidate that is a text and no program: the name of the file that the evaluator is given with it. Nothing
    of it is run."""

    def run(
        self,
        sandbox: WarmSandbox,
        code: str,
        *,
        limits: Limits,
        seed: int = 0,
        watch: bool = False,
        delay: float = 0.0,
        odd: bool = False,
        leave: Callable[[], None] = lambda: None,
    ) -> EvaluatorRun:
        """Score a candidate.

        Args:
            leave: told once there is a report, and the program is killed.
            watch: note what the evaluator reads; see `EvaluatorServer`.
            delay: seconds that each call of the candidate takes longer, to see whether the score is a time.
            odd: what stands in for it has another text, to see whether the evaluator looks at that.
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
            run = self._judged(sandbox, session, code, limits, deadline, watch, delay, odd, leave)
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
        limits: Limits,
        deadline: float,
        watch: bool,
        delay: float,
        odd: bool,
        leave: Callable[[], None],
    ) -> EvaluatorRun:
        task: dict[str, Any] = {
            "call_timeout": limits.seconds, "memory_mb": limits.memory_mb, "watch": watch, "delay": delay, "odd": odd,
            "classes": None if self.classes is None else list(self.classes), "serves": self.serves,
        }  # fmt: skip
        if self.serves:
            task["text"] = code
        file, text = (self.text_file, code) if self.text_file else ("candidate.py", None)
        with ExitStack() as stack:
            kept = None if watch else self._kept(sandbox, deadline)
            try:
                within = min(limits.seconds, self.timeout)
                names = None if self.ahead else session.look_wrapped(within)
                server = kept or stack.enter_context(closing(self._loaded(sandbox, deadline, watch)))
                judging = stack.enter_context(closing(server.begin(task, session.channel, file, text)))
                judging.name(session.look_wrapped(within) if self.ahead else names, deadline)
                report = _follow(session, judging, deadline)
                if report is None and time.monotonic() < deadline:
                    judging.check()
            except JobLost:  # the job is run again, and everybody's from now on, by a new one
                if kept is not None:
                    self.end(sandbox, kept)
                raise
            if report is not None and report["at_exit"]:
                judging.await_end()
            if report is None or report["failed"] is None:
                session.leave()
            judging.kill()
            if report is not None and report["failed"] is None:
                leave()
            return _read(report, session, judging.marker, without_lines(judging.printed()), deadline)

    def _kept(self, sandbox: WarmSandbox, deadline: float) -> EvaluatorServer | None:
        """The loaded evaluator of this worker; None where each candidate needs one of its own."""
        if not self.forks:
            return None
        server = self.begin(sandbox)
        try:
            server.load(_left(deadline))
        except BaseException:
            self.end(sandbox, server)
            raise
        return None if server.hinders else server

    def begin(self, sandbox: WarmSandbox) -> EvaluatorServer:
        """The process that this worker keeps for the evaluator, started now if there is none; it loads it later."""
        return sandbox.resources.get(self._key, lambda: self._started(sandbox))

    def end(self, sandbox: WarmSandbox, kept: EvaluatorServer) -> None:
        """Keep it no longer."""
        sandbox.resources.drop(self._key, kept)

    def _loaded(self, sandbox: WarmSandbox, deadline: float, watch: bool) -> EvaluatorServer:
        server = self._started(sandbox)
        try:
            server.load(_left(deadline), watch=watch)
        except BaseException:
            server.close()
            raise
        return server

    def _started(self, sandbox: WarmSandbox) -> EvaluatorServer:
        return EvaluatorServer(self.evaluator, self.function, sandbox.config.python or own_python())

    @property
    def _key(self) -> str:
        return f"evaluator {self.evaluator} {self.function}"


def _left(deadline: float) -> float:
    return max(1.0, deadline - time.monotonic())


def _follow(session: SandboxSession, judging: Judging, deadline: float) -> dict[str, Any] | None:
    """The evaluator's report; None when it ended without one, is late, or runs the candidate as a file.

    Raises:
        SessionFailure: the candidate ended, or broke a limit; there is nothing to be judged any more.
    """
    while (left := deadline - time.monotonic()) > 0:
        if session.stand_by(judging.fileno(), min(_LOOK_SECONDS, left)):
            return judging.received()
        if judging.marker.exists():
            return None
    return None


def _read(
    report: dict[str, Any] | None, session: SandboxSession, marker: Path, output: str, deadline: float
) -> EvaluatorRun:
    if marker.exists():
        return EvaluatorRun(refused=_RUN_AS_FILE, output=output)
    if report is None:
        late = time.monotonic() >= deadline
        within = "the evaluation, with the program's calls in it, did not end in time"
        why = within if late else "the evaluator ended by itself"
        return EvaluatorRun(error="\n".join(filter(None, (why, output[-1000:].strip()))), line=why, output=output)
    if report["failed"] is not None:
        kind, message = report["failed"]
        session.fail(FailureKind(kind), message)
    told = {name: report[name] for name in EvaluatorRun.model_fields.keys() & report.keys()}
    told |= {name: without_lines(report[name]) for name in ("value", "error")}
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
