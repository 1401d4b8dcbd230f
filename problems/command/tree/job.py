"""One scoring of a tree in the sandbox: its build, where there is one, the user's command, what they left."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict
from hashlib import sha256
from pathlib import Path, PurePosixPath
from typing import Any

from core.contracts import ExecutionResult, JobContext, Limits
from core.evaluation.timing import ByTurns, repeat
from core.executor.collect import collect_file
from core.executor.tree_run import TreeRun, run_on_base
from core.state.failure import FailureKind
from problems.command.job import COPY_BYTES, MOST_RUNS, grade
from problems.command.spec import is_folder
from problems.command.tree.fresh_folders import fresh_folder
from problems.command.tree.grading_copy import grading_copy
from problems.command.tree.kept_builds import in_use, kept
from problems.command.tree.tree import LONGEST_PATH
from utils.globs import matches

LARGEST_REPORT = 16 << 20
_KEPT_AS = "files and modes"
"""What is kept of a build: those of versions that kept less are not taken."""


def evaluate(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry. Payload: `inputs` (folder of the base), `changes` (path → text or null), `command`, `build`,
    `build_inputs`, `writable`, `hidden` (paths that programs do not see), `reports` (paths to read), `written` (paths
    that count only if the command writes them), `output`, `grade`, `limits`, `seed`.

    Returns `{result: ExecutionResult, touched: paths, reports: {path: text}, graded: null | {output, code, error}}`.
    """
    limits = Limits.model_validate(payload["limits"])
    with _built(payload, context, limits) as (built, failed):
        if failed is not None:
            return {"result": failed.model_dump(mode="json"), "touched": [], "reports": {}, "graded": None}
        return _evaluated(payload, context, limits, built)


def _evaluated(
    payload: dict[str, Any], context: JobContext, limits: Limits, built: Mapping[str, Path]
) -> dict[str, Any]:
    """What `evaluate` returns of a tree with what was built of it."""
    base, output = Path(payload["inputs"]), payload["output"]
    if is_folder(output):  # what lies in it is the command's work, and not the build's
        built = {path: place for path, place in built.items() if not path.startswith(output)}
    files = {**built, **payload["changes"]}
    if (clash := _clash(files)) is not None:
        message = f"{clash}: the program and what problem.build makes have it as a file and as a folder"
        refused = ExecutionResult(failure=FailureKind.EVAL_ERROR, message=message)
        return {"result": refused.model_dump(mode="json"), "touched": [], "reports": {}, "graded": None}
    files |= dict.fromkeys(payload["hidden"])
    for path in payload["written"]:
        files.pop(path, None)
        if os.path.lexists(base / path):
            files[path] = None
    with run_on_base(
        context.sandbox, ["/bin/sh", "-c", payload["command"]], base=base, files=files,
        scratch=context.scratch / "workspace", limits=limits, seed=payload["seed"],
        writable=[*built, *payload["writable"], *payload["written"]],
    ) as run:  # fmt: skip
        graded = None
        if payload["grade"] and run.result.failure is None:
            place = str(grading_copy(base))
            graded = grade({**payload, "inputs": place}, run.workspace, context.scratch, limits.seconds)
        reports = {path: collect_file(run.workspace, path, LARGEST_REPORT).data for path in payload["reports"]}
    texts = {path: data.decode("utf-8", "replace") for path, data in reports.items() if data is not None}
    return {"result": run.result.model_dump(mode="json"), "touched": run.touched, "reports": texts, "graded": graded}


def repeated(payload: dict[str, Any], context: JobContext) -> dict[str, Any]:
    """Job entry of a command that is run again and again: `runs` times, or where `timed` until its time is known well.

    Returns what the last run did, and `answers`: all of them; with `timed` also `timing` and `beside`, as
    `problems.command.job`; `rival` are then the changes that make another program.
    """
    answers: list[dict[str, Any]] = []

    def once() -> float:
        answers.append(evaluate(payload, context))
        if not _did_its_work(answers[-1]):
            raise _RunFailed
        return float(answers[-1]["result"]["exec_time"])

    def rival() -> float | None:
        other = evaluate({**payload, "changes": payload["rival"]}, context)
        return float(other["result"]["exec_time"]) if _did_its_work(other) else None

    timing = beside = None
    try:
        if payload["timed"]:
            turns = ByTurns(once, rival if payload.get("rival") is not None else None)
            timing = asdict(repeat(turns.once, at_most=MOST_RUNS))
            beside = turns.ratio()
        else:
            for _ in range(payload["runs"]):
                once()
    except _RunFailed:
        pass
    return {**answers[-1], "answers": answers, "timing": timing, "beside": beside}


def _did_its_work(answer: Mapping[str, Any]) -> bool:
    is_right = answer["result"]["failure"] is None and (answer["graded"] or {}).get("code", 0) == 0
    return is_right and not answer["touched"]


def _clash(files: Mapping[str, Any]) -> str | None:
    """A path that is a file, and the folder of another one."""
    there = {path for path, content in files.items() if content is not None}
    above = (str(folder) for path in there for folder in PurePosixPath(path).parents)
    return next((folder for folder in above if folder in there), None)


class _RunFailed(Exception):
    """One of the runs did not do its work."""


# ------------------------------------------------------------ builds


@contextmanager
def _built(
    payload: Mapping[str, Any], context: JobContext, limits: Limits
) -> Iterator[tuple[dict[str, Path], ExecutionResult | None]]:
    """(the files that the build makes of this tree, None), or ({}, how it failed). Built once for equal inputs.

    The files are there inside of the `with`.
    """
    if not payload["build"]:
        yield {}, None
        return
    base = Path(payload["inputs"])
    inputs = {p: text for p, text in sorted(payload["changes"].items()) if matches(p, payload["build_inputs"])}
    made_of = [_KEPT_AS, payload["build"], inputs, *payload["hidden"]]
    key = sha256(json.dumps(made_of).encode("utf-8", "surrogatepass")).hexdigest()[:24]
    place = base.parent / "builds" / key
    with in_use(place) as is_there:
        if is_there:
            yield _files_of(place), None
            return
    place.parent.mkdir(exist_ok=True)
    seen = {**inputs, **dict.fromkeys(payload["hidden"])}
    with fresh_folder(place.parent) as fresh:
        with run_on_base(
            context.sandbox, ["/bin/sh", "-c", payload["build"]], base=base, files=seen,
            scratch=context.scratch / "build", limits=limits, seed=payload["seed"], writable=payload["writable"],
        ) as run:  # fmt: skip
            failed = _failed(run)
            if failed is None:
                _copy(run.workspace, base, inputs, fresh)
        if failed is not None:
            yield {}, failed
            return
        with kept(fresh, place) as where:
            yield _files_of(where), None


def _failed(run: TreeRun) -> ExecutionResult | None:
    result = run.result
    if result.failure is None and run.touched:
        text = f"problem.build changed {', '.join(run.touched[:5])}; files that it may are problem.options.writable"
        result = result.model_copy(update={"failure": FailureKind.TAMPERED, "message": text})
    if result.failure is None:
        return None
    return result.model_copy(update={"message": f"problem.build: {result.message}"})


def _files_of(build: Path) -> dict[str, Path]:
    return {path.relative_to(build).as_posix(): path for path in sorted(build.rglob("*")) if path.is_file()}


def _copy(workspace: Path, base: Path, inputs: Mapping[str, Any], fresh: Path) -> None:
    """Put what the build added into the folder `fresh`."""
    left = COPY_BYTES * 4
    for folder, _, names in os.walk(workspace):
        for name in names:
            relative = os.path.relpath(os.path.join(folder, name), workspace)
            if relative in inputs:
                continue
            found = collect_file(workspace, relative, left)
            if found.data is None or len(os.fsencode(relative)) > LONGEST_PATH:
                continue
            with suppress(OSError):  # whatever a build calls its files
                if not _is_base(base / relative, found.data):
                    left -= len(found.data)
                    target = fresh / relative
                    target.parent.mkdir(parents=True, exist_ok=True)
                    target.write_bytes(found.data)
                    target.chmod(0o755 if found.executable else 0o644)


def _is_base(path: Path, data: bytes) -> bool:
    return path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
