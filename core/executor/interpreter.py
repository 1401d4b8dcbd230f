"""Running programs one after the other in one working folder: the road of every whole program."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

from core.contracts import ExecutionResult, Limits, Sandbox
from core.executor.workspace import WorkspaceManager
from utils.scratch_folders import scratch_folder


class Interpreter:
    """Runs programs, each in a process of its own, in a sandbox.

        with Interpreter(Path("work"), timeout=60) as interpreter:
            print(interpreter.run("print(6 * 7)").term_out)

    Args:
        working_dir: shown to the programs as /workspace, with `submission/` and `working/` in it.
        timeout: seconds of wall clock for one run.
        sandbox: what runs them, kept and closed by the caller. None opens one of the best tier that holds here at the
            first run; `close` closes that one.
        inputs: folder for the read-only /workspace/input; None takes what `workspace.link_input_data` linked, if
            anything.
        limits: all other limits; `timeout` takes the place of its seconds.
    """

    def __init__(
        self,
        working_dir: Path,
        timeout: float = 300,
        *,
        sandbox: Sandbox | None = None,
        inputs: Path | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.workspace = WorkspaceManager(Path(working_dir))
        self.limits = (limits or Limits()).model_copy(update={"seconds": float(timeout)})
        self._sandbox = sandbox
        self._inputs = inputs
        self._closer: weakref.finalize[[], Interpreter] | None = None

    def run(
        self,
        code: str,
        reset_session: bool = True,
        *,
        limits: Limits | None = None,
        seed: int = 0,
        on_output: Callable[[str], None] | None = None,
    ) -> ExecutionResult:
        """Run a program and say what it showed.

        Args:
            reset_session: empty `submission/` and `working/` first. State in memory never survives a run.
            limits: of this run alone, its seconds included.
            seed: of `random` and numpy's legacy generator.
            on_output: called with each piece of text that the program prints, from another thread.
        Raises:
            NoSandboxError: no sandbox was given and none holds on this machine.
            JobLost: the process that watches the program was lost; another try may work.
        """
        self.workspace.setup()
        if reset_session:
            self.workspace.cleanup_submission()
            self.workspace.cleanup_working()
        return self._opened().run(
            code,
            workspace=self.workspace.root,
            inputs=self._inputs or self.workspace.linked_input(),
            limits=limits or self.limits,
            seed=seed,
            on_output=on_output,
        )

    def close(self) -> None:
        """Close the sandbox that this interpreter opened itself; the end of the program does so too."""
        if self._closer is not None:
            self._closer()
            self._sandbox, self._closer = None, None

    def __enter__(self) -> Interpreter:
        return self

    def __exit__(self, *exception: object) -> None:
        self.close()

    def _opened(self) -> Sandbox:
        if self._sandbox is None:
            from core.executor.sandbox import open_sandbox

            with ExitStack() as opened:
                folder = opened.enter_context(scratch_folder("swarm-evo-interpreter-"))
                folder.chmod(0o755)  # as root, candidates are another user
                self._sandbox = open_sandbox("auto", state_dir=folder)
                opened.callback(self._sandbox.close)
                self._closer = weakref.finalize(self, opened.pop_all().close)
        return self._sandbox
