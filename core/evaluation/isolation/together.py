"""An evaluation with evaluator and candidate in one sandboxed process, where the candidate can reach the evaluator.

A sandbox of its own has the evaluator loaded: each candidate gets a fork of it. What the evaluator reads is shown there
under its own path, read-only; what merely lies beside it (keys, history, runs) is not. Nothing of it is left for the
next candidate, nor seen by one that is scored apart.
"""

from __future__ import annotations

import glob
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from pathlib import Path
from typing import Any

from core.contracts import Limits, SessionFailure
from core.evaluation.isolation.evaluator import EvaluatorRun, EvaluatorUnusable
from core.executor.long_imports import long_imports
from core.executor.server import own_python
from core.executor.warm import WarmSandbox
from core.state.failure import FailureKind

_LOADING = (Path(__file__).parent / "loading.py").read_text(encoding="utf-8").partition("annotations\n")[2]
_ODD_NUMBER = "what came back in the place of a score holds NaN, an infinity or a number beyond them"
"""The call itself, which is told elsewhere, names the evaluator's place on this machine and holds the whole program."""
STORE = "run.db"
"""A folder of such files' folders holds runs."""
_DRIVER = """
import sysconfig, traceback

def raised_by__(error, home):
    # whose exception it is, as far as its traceback tells: the innermost file of either's, libraries apart
    libraries = tuple({sysconfig.get_path(name) for name in ("stdlib", "purelib", "platlib")})
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_tb(error.__traceback__)]
    own = [file for file in files if file == home or not file.startswith((*libraries, "<"))]
    return bool(own) and own[-1] == home

def traceback__(error):
    # without the frames of this process, which are none of the two's
    told = traceback.TracebackException.from_exception(error)
    told.stack[:] = [frame for frame in told.stack if frame.filename != traceback__.__code__.co_filename]
    return "".join(told.format())[-4000:]

def evaluate__(path, function, code, file, beside):
    # the last of ours: from here on nothing that comes out of this process is to be believed
    home = os.path.abspath(file or "candidate.py")
    for name in os.listdir(beside) if beside else ():
        if name != file and not os.path.lexists(name):
            os.symlink(os.path.join(beside, name), name)
    with open(home, "w", encoding="utf-8", errors="surrogateescape") as file:
        file.write(code)
    try:
        return [to_plain(load(path, function)(home)), None]
    except Exception as error:
        line = traceback.format_exception_only(type(error), error)[-1].strip()[:500]
        return [None, [traceback__(error), line, raised_by__(error, home)]]
"""


def _read(answer: Any) -> EvaluatorRun:
    """What the driver says came of it, a value or an exception; the candidate may have said it in its place."""
    value, raised = answer if isinstance(answer, list) and len(answer) == 2 else (answer, None)
    if raised is None:
        return EvaluatorRun(value=value)
    error, line, by_program = raised if isinstance(raised, list) and len(raised) == 3 else ("", "", False)
    line = str(line)[:500] or "it has no text"
    return EvaluatorRun(error=str(error)[-4000:] or line, line=line, raised=by_program is True)


def visible(shows: Sequence[str], state_dir: Path) -> list[str]:
    """What a sandbox shows of these files and folders: a folder without what is private in it.

    Private are names with a dot before them (keys, logins, history), folders that hold runs, and the working folders of
    ours: an evaluator often lies in the project's folder. What `shows` names is shown, whatever it is called. A folder
    that its owner alone may enter is shown as what lies in it: as root programs are another user.

    Args:
        state_dir: of the sandbox, in the project's folder for such.
    """
    found: list[str] = []
    todo = [Path(path) for path in shows]
    while todo:
        path = todo.pop(0)
        children = sorted(path.iterdir()) if path.is_dir() and not path.is_relative_to(state_dir) else []
        private = [child for child in children if _is_private(child, state_dir)]
        if private or path in state_dir.parents or (children and _is_closed(path)):
            todo += [child for child in children if child not in private]
        else:
            found.append(str(path))
    return found


def _is_closed(path: Path) -> bool:
    return path.stat().st_mode & 0o005 != 0o005


def _is_private(path: Path, state_dir: Path) -> bool:
    return path.name.startswith(".") or path == state_dir.parent or (path.is_dir() and any(path.glob(f"*/{STORE}")))


@dataclass(frozen=True, slots=True)
class Together:
    """How candidates are scored beside a user's evaluator."""

    evaluator: Path
    function: str = "evaluate"
    shows: tuple[str, ...] = ()
    """Files and folders that the evaluator reads; its own folder is among them."""
    timeout: float = 300.0
    """Seconds for one evaluation."""
    file: str = ""
    """What the candidate's file is called, '' for one of Python: compilers go by it."""
    beside: str = ""
    """Folder whose files lie beside the candidate, as they lie beside the user's own program; one of `shows`."""

    def run(
        self,
        sandbox: WarmSandbox,
        code: str,
        *,
        limits: Limits,
        seed: int = 0,
        leave: Callable[[], None] = lambda: None,
    ) -> EvaluatorRun:
        """Score a candidate.

        Args:
            leave: told once the program is being killed.
        Raises:
            EvaluatorUnusable: the evaluator cannot be loaded.
        """
        began = time.monotonic()
        session = self.open(sandbox, code).session("", limits=limits, seed=seed, prelude=_LOADING + _DRIVER)
        arguments = [str(self.evaluator), self.function, code, self.file, self.beside]
        run, program = EvaluatorRun(), None
        try:
            run = _read(session.call("evaluate__", arguments, timeout=self.timeout))
        except SessionFailure as failure:
            result = failure.result
            if result.exc_type is not None and result.failure is FailureKind.RUNTIME:  # which of the two, nobody knows
                run = EvaluatorRun(error=result.message, line=result.message)
            elif result.failure is FailureKind.NON_FINITE:
                program = result.model_copy(update={"message": _ODD_NUMBER})
            else:
                program = result
        session.leave()
        leave()
        closed = session.close()
        found = {"program": program, "output": closed.term_out, "seconds": time.monotonic() - began}
        return run.model_copy(update=found)

    def open(self, sandbox: WarmSandbox, code: str) -> WarmSandbox:
        """The sandbox that has this evaluator loaded, and what `code` imports that takes long to load; opened now if
        there is none. Raises EvaluatorUnusable.
        """
        held = sandbox.config.preload
        if sandbox.cards:  # an evaluator that is loaded where no card is seen would find none later: each job loads it
            evaluator = self.evaluator.read_text(encoding="utf-8", errors="replace")
            preload = (*held, *long_imports(f"{code}\n{evaluator}", held))
        else:
            preload = (*held, *long_imports(code, held), str(self.evaluator))
        name = blake2b(repr((preload, self.shows)).encode(), digest_size=6).hexdigest()

        def opened() -> WarmSandbox:
            named = (str(self.evaluator.parent), *self.shows)
            shared = tuple(glob.escape(str(Path(path).resolve())) for path in named)
            config = replace(
                sandbox.config, preload=preload,
                show=(*sandbox.config.show, *visible(named, sandbox.config.state_dir)),
                hide=tuple(path for path in sandbox.config.hide if not path.startswith(shared)),  # the user's evaluator
                state_dir=sandbox.config.state_dir / f"together-{name}",
            )  # fmt: skip
            box = WarmSandbox(config, cards=sandbox.cards)
            fault = box.ready().missing.get(str(self.evaluator))
            if fault is not None:
                box.close()
                raise EvaluatorUnusable(fault, fault, sandbox.config.python or own_python())
            return box

        return sandbox.resources.get(f"together {name}", opened)
