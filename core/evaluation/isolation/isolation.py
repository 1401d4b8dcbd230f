"""A user's evaluator and a candidate: run apart (the evaluator trusted, the candidate behind a proxy) or together."""

from __future__ import annotations

import json
import os
import select
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.contracts import ExecutionResult, Limits, Sandbox, SessionFailure
from core.evaluation.isolation.proxy import HANDLES
from core.executor.collect import collect_file
from core.executor.inside import frames
from core.executor.server import own_python
from core.executor.session import SandboxSession
from core.state.failure import FailureKind
from utils.errors import SandboxError

_SCRIPT = Path(__file__).parent / "evaluator_process.py"
_OUTPUT_BYTES = 200_000
_LOOK_SECONDS = 0.2
_STUB = """# The candidate is behind a proxy: this file stands in for it and must not be run or read.
open({marker!r}, "w").close()
raise SystemExit("the candidate of this evaluator is behind a proxy and cannot be run as a file")
"""
_RESULT = "working/result.json"


@dataclass(frozen=True, slots=True)
class EvaluatorRun:
    """What an evaluator said about a candidate.

    Attributes:
        value: what it returned, as JSON data; not finite numbers are texts ("nan", "inf").
        error: the evaluator's own traceback; its fault or the candidate's, which only it can know.
        refused: why the two could not be kept apart, or None; `value` is then meaningless.
        program: how the candidate failed for good (time, memory, …), or None.
        isolated: the candidate could not have reached the evaluator.
    """

    value: Any
    error: str | None
    refused: str | None
    program: ExecutionResult | None
    isolated: bool
    output: str = ""
    seconds: float = 0.0


def evaluate_apart(
    sandbox: Sandbox,
    evaluator: Path,
    code: str,
    *,
    function: str = "evaluate",
    limits: Limits,
    timeout: float,
    seed: int = 0,
    python: str | None = None,
    environment: Mapping[str, str] | None = None,
) -> EvaluatorRun:
    """Run `evaluator.function(path of the candidate)` in a trusted process; the candidate answers from the sandbox.

    Args:
        limits: of the candidate; `limits.seconds` is for one call.
        timeout: seconds for the whole evaluation.
        python: interpreter of the evaluator, None for our own.
        environment: of the evaluator's process, None for ours.
    """
    began = time.monotonic()
    session = sandbox.session(code, limits=limits, seed=seed, prelude=HANDLES)
    assert isinstance(session, SandboxSession)
    with tempfile.TemporaryDirectory(prefix="swarm-evaluator-") as folder:
        program, marker = Path(folder) / "candidate.py", Path(folder) / "was-run"
        program.write_text(_STUB.format(marker=str(marker)))
        task = {
            "evaluator": str(evaluator.resolve()), "function": function, "program": str(program),
            "call_timeout": limits.seconds, "marker": str(marker),
        }  # fmt: skip
        try:
            report, output = _converse(session, task, began + timeout, python or own_python(), environment)
        finally:
            closed = session.close()
        if marker.exists() and not report["refused"]:
            report["refused"] = "the evaluator runs the candidate as a file"
    return EvaluatorRun(
        value=report["value"], error=report["error"], refused=report["refused"],
        program=closed if closed.failure is not None else None,
        isolated=closed.isolated, output=output, seconds=time.monotonic() - began,
    )  # fmt: skip


def _converse(
    session: SandboxSession, task: dict[str, Any], deadline: float, python: str, environment: Mapping[str, str] | None
) -> tuple[dict[str, Any], str]:
    """Start the evaluator's process and serve its calls until it reports, ends or is late."""
    ours, theirs = socket.socketpair()
    with tempfile.TemporaryFile() as output:
        process = subprocess.Popen(
            [python, "-P", str(_SCRIPT), str(theirs.fileno())], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL,
            stdout=output, stderr=output, start_new_session=True, cwd=Path(task["evaluator"]).parent,
            env=None if environment is None else dict(environment),
        )  # fmt: skip
        theirs.close()
        try:
            frames.send(ours, task)
            report = _serve(session, ours, deadline, Path(task["marker"]))
        except OSError:
            report = None
        finally:
            ours.close()
            _end(process)
        output.seek(0)
        text = output.read(_OUTPUT_BYTES).decode("utf-8", "replace")
    if report is None:
        late = time.monotonic() >= deadline
        why = "the evaluator did not end in time" if late else f"the evaluator ended by itself: {text[-1000:]}"
        report = {"value": None, "error": why, "refused": None, "failed": None}
    return report, text


def _refused(reason: str) -> dict[str, Any]:
    return {"value": None, "error": reason, "refused": reason, "failed": None}


def _serve(session: SandboxSession, channel: socket.socket, deadline: float, marker: Path) -> dict[str, Any] | None:
    while (left := deadline - time.monotonic()) > 0:
        if marker.exists():
            return _refused("the evaluator runs the candidate as a file")
        if not select.select([channel], [], [], min(_LOOK_SECONDS, left))[0]:
            continue
        received = frames.receive(channel)
        if received is None:
            return None
        request = received[0]
        if "report" in request:
            report: dict[str, Any] = request["report"]
            return report
        if "refused" in request:
            return _refused(str(request["refused"]))
        frames.send(channel, _answer(session, request, max(0.001, deadline - time.monotonic())))
    return None


def _answer(session: SandboxSession, request: dict[str, Any], left: float) -> dict[str, Any]:
    timeout = min(request["timeout"], left)
    try:
        if "names" in request:
            return {"value": session.look_wrapped(timeout)}
        value = session.call_wrapped(request["call"], request["args"], request["named"], timeout=timeout)
        return {"value": value}
    except SessionFailure as failure:
        result = failure.result
        kind = result.failure or FailureKind.RUNTIME
        return {"failed": [kind.value, result.message, result.exc_type]}


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        process.wait(1.0)
    except subprocess.TimeoutExpired:
        pass
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    process.wait()


_TOGETHER = """
import importlib.util, json, os, sys
sys.path.insert(0, "/workspace/evaluator" if os.path.isdir("/workspace/evaluator") else os.path.abspath("evaluator"))
spec = importlib.util.spec_from_file_location("to_plain", os.path.abspath("working/to_plain.py"))
tools = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tools)
value = tools.to_plain(tools.load(os.path.abspath({evaluator!r}), {function!r})(os.path.abspath("candidate.py")))
with open({result!r}, "w") as file:
    json.dump(value, file)
"""


def evaluate_together(
    sandbox: Sandbox,
    evaluator: Path,
    code: str,
    *,
    function: str = "evaluate",
    limits: Limits,
    seed: int = 0,
    reason: str | None = None,
) -> EvaluatorRun:
    """Run both inside the sandbox, where the candidate can reach the evaluator: its score is `unisolated`.

    The evaluator's folder is there as `/workspace/evaluator`, a copy.
    """
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="swarm-together-") as folder:
        root = Path(folder) / "workspace"
        (root / "working").mkdir(parents=True)
        _copy_evaluator(evaluator, root / "evaluator")
        (root / "candidate.py").write_text(code, encoding="utf-8", errors="surrogateescape")
        (root / "working" / "to_plain.py").write_text(_SCRIPT.read_text())
        script = _TOGETHER.format(evaluator=f"evaluator/{evaluator.name}", function=function, result=_RESULT)
        result = sandbox.run(script, workspace=root, limits=limits, seed=seed)
        taken = collect_file(root, _RESULT, 16 << 20)
    value, error = None, None
    if result.failure is None and taken.data is not None:
        try:
            value = json.loads(taken.data)
        except (ValueError, RecursionError):
            error = "the evaluator's result is not JSON"
    elif result.failure is None:
        error = f"the evaluator left no result: {taken.reason}"
    return EvaluatorRun(
        value=value, error=error, refused=reason, program=result if result.failure else None, isolated=False,
        output=result.term_out, seconds=time.monotonic() - began,
    )  # fmt: skip


def _copy_evaluator(evaluator: Path, target: Path) -> None:
    """The evaluator's folder, as far as it is small and plain: a data folder of gigabytes stays where it is."""
    target.mkdir()
    copied = 0
    for path in sorted(evaluator.resolve().parent.iterdir(), key=lambda path: path.name != evaluator.name):
        if path.is_file() and not path.is_symlink():
            copied += path.stat().st_size
            if copied > 256 << 20:
                raise SandboxError(
                    f"the folder of {evaluator} holds more than 256 MB; put the evaluator in one of its own"
                )
            (target / path.name).write_bytes(path.read_bytes())
