"""One run of the user's command on a copy of the sources, in the sandbox; and the grading of its output outside."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict
from itertools import accumulate
from pathlib import Path
from typing import Any

from core.contracts import JobContext, Limits
from core.evaluation.timing import ByTurns, repeat
from core.executor.collect import collect_file, collect_folder
from core.executor.workspace import remove_tree
from problems.command.spec import is_folder
from utils.patience import Patience

MOST_RUNS = 30
"""Of a timed command, before its interval is taken as it is."""
COPY_BYTES = 64 << 20
"""Files beside the sources are copied up to this total, smallest first."""


def evaluate(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry. Payload: `files` (name → text), `inputs` (folder of the sources; shipped to a worker elsewhere),
    `command`, `beside` (names of files there that go along), `output`, `grade`, `limits`, `seed`.

    Returns `{result: ExecutionResult, graded: null | {output, code, error}}`.
    """
    workspace = context.scratch / "workspace"
    copy_sources(Path(payload["inputs"]), workspace, payload["files"], payload["beside"])
    argv = ["/bin/sh", "-c", payload["command"]]
    limits = Limits.model_validate(payload["limits"])
    result = context.sandbox.command(argv, workspace=workspace, limits=limits, seed=payload["seed"])
    graded = None
    if payload["grade"] and result.failure is None:
        graded = grade(payload, workspace, context.scratch, limits.seconds)
    return {"result": result.model_dump(mode="json"), "graded": graded}


def timed(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry of a timed command: `evaluate` again and again, each run graded; the seconds are the sandbox's.

    With `rival`, another program's files, that one is run by turns with it.

    Returns the last `{result, graded}` and `timing`: `{seconds, interval, samples}`, or null where a run failed; and
    `beside`: seconds over the rival's with their interval, or null.
    """
    answer: dict[str, Any] = {}

    def run(files: Mapping[str, str]) -> dict[str, Any]:
        remove_tree(context.scratch / "workspace")
        return evaluate({**payload, "files": files}, context)

    def once() -> float:
        nonlocal answer
        answer = run(payload["files"])
        if not _did_its_work(answer):
            raise _RunFailed
        return float(answer["result"]["exec_time"])

    def rival() -> float | None:
        other = run(payload["rival"])
        return float(other["result"]["exec_time"]) if _did_its_work(other) else None

    turns = ByTurns(once, rival if payload.get("rival") else None)
    try:
        timing = asdict(repeat(turns.once, at_most=MOST_RUNS))
    except _RunFailed:
        return {**answer, "timing": None, "beside": None}
    return {**answer, "timing": timing, "beside": turns.ratio()}


def _did_its_work(answer: Mapping[str, Any]) -> bool:
    return answer["result"]["failure"] is None and (answer["graded"] or {}).get("code", 0) == 0


class _RunFailed(Exception):
    """One of the runs did not do its work: there is no time to tell."""


def plain_files(folder: Path) -> list[str]:
    """Names of what may lie beside a source: files, and no links."""
    return sorted(path.name for path in folder.iterdir() if path.is_file() and not path.is_symlink())


def going_along(folder: Path, names: Collection[str]) -> tuple[list[Path], list[Path]]:
    """(files of the folder that are copied beside the sources, those that are too large together): smallest first."""
    there = [folder / name for name in plain_files(folder) if name in names]
    there.sort(key=lambda path: (path.stat().st_size, path.name))
    totals = accumulate(path.stat().st_size for path in there)
    fits = sum(1 for total in totals if total <= COPY_BYTES)
    return there[:fits], there[fits:]


def copy_sources(folder: Path, workspace: Path, files: dict[str, str], beside: Collection[str]) -> None:
    """The plain files beside the sources that are named, then the candidate's own."""
    workspace.mkdir(parents=True, exist_ok=True)
    for path in going_along(folder, {*beside} - files.keys())[0]:
        target = workspace / path.name
        target.write_bytes(path.read_bytes())
        target.chmod(0o755 if os.access(path, os.X_OK) else 0o644)
    for name, text in files.items():
        (workspace / name).write_text(text, encoding="utf-8")
        (workspace / name).chmod(0o755 if os.access(folder / name, os.X_OK) else 0o644)


def grade(payload: dict[str, Any], workspace: Path, scratch: Path, timeout: float) -> dict[str, Any]:
    """Run the grading command outside, in the sources' folder, on a copy of the output: a file, or a folder of them."""
    copy = scratch / "output-to-grade"
    if why := _copy_output(workspace, payload["output"], copy):
        what = "folder" if is_folder(payload["output"]) else "file"
        why = f"{payload['output']}: {why} (the {what} that is graded: problem.options.output)"
        return {"output": "", "code": None, "error": why}
    words = shlex.split(payload["grade"])
    argv = [str(copy) if word == "{output}" else word for word in words]
    if argv == words:
        argv.append(str(copy))
    try:
        code, out, err = _run_apart(argv, payload["inputs"], timeout)
    except (OSError, subprocess.TimeoutExpired) as error:
        return {"output": "", "code": None, "error": f"problem.grade: {error}"}
    return {
        "output": out[-20_000:],
        "code": code,
        "error": _with_place((err if err.strip() else out)[-2_000:], payload) if code else "",
    }


def _copy_output(workspace: Path, output: str, copy: Path) -> str:
    """Put what the program wrote where nothing but what is taken lies; why that cannot be, or ''."""
    if not is_folder(output):
        taken = collect_file(workspace, output, COPY_BYTES)
        if taken.data is not None:
            copy.write_bytes(taken.data)
        is_one = taken.data is None and collect_folder(workspace, output, COPY_BYTES).files is not None
        return f"a folder, which `{output}/` names" if is_one else taken.reason
    found = collect_folder(workspace, output, COPY_BYTES)
    if found.files is not None:
        remove_tree(copy)
        for name, data in found.files.items():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            (copy / name).write_bytes(data)
    return found.reason


def _with_place(error: str, payload: dict[str, Any]) -> str:
    """What the grader said, and where the output lies if it looked for it in the folder of the sources."""
    name, text = payload["output"], error.rstrip()
    last = text[text.rfind("\n") + 1 :]
    is_sought = f"No such file or directory: '{name}'" in last or f"{name}: No such file or directory" in last
    return f"{text} (a copy of {name} is the grader's last argument)" if is_sought else text


def not_graded(graded: Mapping[str, Any]) -> str:
    """Why `grade` came to nothing, in one line."""
    lines = str(graded["error"]).strip().splitlines()
    return f"grading failed: {lines[-1] if lines else 'exit code ' + str(graded['code'])}"


def _run_apart(argv: Sequence[str], folder: str, timeout: float) -> tuple[int, str, str]:
    """(exit code, output, errors) of a command of the user's, in a session of its own: a Ctrl-C is for the search, and
    nothing that it started outlives it. Raises OSError, TimeoutExpired.

    Python leaves no bytecode where it runs: later programs are shown that folder, and a grader's holds its answers.
    """
    with subprocess.Popen(
        argv, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        errors="replace", start_new_session=True, env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
    ) as child:  # fmt: skip
        try:
            out, err = _said(child, timeout)
        finally:
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(child.pid, signal.SIGKILL)
    return child.returncode, out, err


def _said(child: subprocess.Popen[str], timeout: float) -> tuple[str, str]:
    """What it has printed when it has ended, also where that was while we stood still. Raises TimeoutExpired."""
    patience = Patience(timeout)
    while patience.left > 0:
        with suppress(subprocess.TimeoutExpired):
            return patience.look(lambda seconds: child.communicate(timeout=seconds))
    raise subprocess.TimeoutExpired(child.args, timeout)
