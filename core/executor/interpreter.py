"""The seed's form of running a program: a working folder, a timeout, `run(code)`."""

from __future__ import annotations

from pathlib import Path

from core.contracts import ExecutionResult, Limits, Sandbox
from core.executor.workspace import WorkspaceManager


class Interpreter:
    """Runs programs one after the other in one working folder, each in a process of its own.

    Args:
        working_dir: shown as /workspace.
        timeout: seconds of wall clock for one run.
        sandbox: what runs them; the caller keeps and closes it.
        inputs: folder for the read-only /workspace/input, or None.
        limits: all other limits; `timeout` overrides its seconds.
    """

    def __init__(
        self,
        working_dir: Path,
        timeout: float = 300,
        *,
        sandbox: Sandbox,
        inputs: Path | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.workspace = WorkspaceManager(Path(working_dir))
        self.limits = (limits or Limits()).model_copy(update={"seconds": float(timeout)})
        self._sandbox = sandbox
        self._inputs = inputs

    def run(self, code: str, reset_session: bool = True, *, seed: int = 0) -> ExecutionResult:
        """Run a program and say what it showed.

        Args:
            reset_session: empty `submission/` and `working/` first. State in memory never survives a run.
        """
        self.workspace.setup()
        if reset_session:
            self.workspace.cleanup_submission()
            self.workspace.cleanup_working()
        return self._sandbox.run(
            code, workspace=self.workspace.root, inputs=self._inputs, limits=self.limits, seed=seed
        )
