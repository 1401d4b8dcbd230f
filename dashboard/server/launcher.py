"""Launcher: starts `main.py` as a child process in a session of its own; the child outlives the server."""

from __future__ import annotations

import json
import secrets
import subprocess
import sys
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.storage.held import LOCK, lock_holder
from dashboard.server.catalog import RunCatalog
from dashboard.server.schemas.control import (
    Launch,
    ResumeRequest,
    StartPlan,
    StartRequest,
    SweepLaunch,
    SweepRequest,
)
from reports.note_parts import note_parts
from utils.apart import let_go, start_apart
from utils.errors import StoreError
from utils.regular_files import end_of, read_regular

MAIN = Path(__file__).resolve().parents[2] / "main.py"
OUTPUT_BYTES = 4000
RM_SECONDS = 120.0
EXPORT_SECONDS = 300.0
PLAN_SECONDS = 60
_SWEEP_END_SECONDS = 3.0
UNREADY = f"the data are still being made ready after {PLAN_SECONDS} s: a run can be started, and is not checked yet"
_KEYS = {
    "name": "problem.name",
    "model": "llm.code.model",
    "target": "data.target",
    "classes": "data.classes",
    "split": "data.split",
    "direction": "problem.direction",
    "policy": "search.policy",
    "max_steps": "search.max_steps",
    "max_generations": "search.max_generations",
    "seconds": "budget.seconds",
    "usd": "budget.usd",
    "seed": "project.seed",
    "workers": "search.workers",
}
"""What a client may choose → configuration key."""
_METRIC = {"competition": "data.metric", "script": "problem.metric"}
"""Problem preset → the key of the metric of what is the user's own."""


@dataclass(slots=True)
class _Child:
    process: subprocess.Popen[bytes]
    output: Path
    run: str | None


class _Newest:
    """Lets one work at a time and at most one wait: who waits gives way to a newer one."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._newest = 0
        self._busy = False

    @contextmanager
    def turn(self) -> Iterator[bool]:
        """True, alone; False at once where a newer one waits."""
        with self._changed:
            self._newest += 1
            number = self._newest
            self._changed.notify_all()
            self._changed.wait_for(lambda: number != self._newest or not self._busy)
            mine = number == self._newest
            self._busy = self._busy or mine
        try:
            yield mine
        finally:
            if mine:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()


class Launcher:
    """Thread-safe.

    Args:
        main: the program to execute, `main.py run …`, `main.py resume RUN` or `main.py sweep …`.
        plugins: the plug-in folders of a run that it starts.
    """

    def __init__(self, catalog: RunCatalog, main: Path = MAIN, plugins: Sequence[str] = ()) -> None:
        self.catalog = catalog
        self.main = main
        self._plugins = [str(Path(folder).resolve()) for folder in plugins]
        self._children: dict[str, _Child] = {}
        self._sweeps: dict[str, str] = {}
        self._lock = threading.Lock()
        self._planning = _Newest()

    def start(self, request: StartRequest, folder: Path | None = None) -> Launch:
        """Start a run. `folder`: the user's own that the request chose, found by the server."""
        return self._launch(["run", *self._words(request, folder)], None)

    def sweep(self, request: SweepRequest, folder: Path | None = None) -> SweepLaunch:
        """Start the runs of a sweep, one after the other."""
        name = request.sweep or f"sweep-{secrets.token_hex(4)}"
        common = request.model_copy(update={"seed": None})
        words = ["sweep", f"--name={name}", f"--seeds={request.range_of_seeds}", *self._words(common, folder)]
        words += ["--vary", f"search.policy={','.join(request.policies)}"]
        words += ["--case", "search.control=1"] if request.control else []
        launch = self._launch(words, None).launch
        self._sweeps[name] = launch
        return SweepLaunch(launch=launch, name=name)

    def sweep_has_ended(self, name: str) -> bool:
        """Whether no process of this server works on the sweep any more; between two runs of it none holds a run."""
        with self._lock:
            child = self._children.get(self._sweeps.get(name, ""))
        if child is None:
            return True
        try:
            child.process.wait(_SWEEP_END_SECONDS)
        except subprocess.TimeoutExpired:
            return False
        return True

    def plan(self, request: StartRequest, folder: Path | None = None) -> StartPlan | None:
        """What the run would be, by `run --plan`; nothing is started. None where a newer question came meanwhile: of a
        form that is filled in, only that one matters, and neither processes nor waiting threads become a crowd."""
        words = [sys.executable, str(self.main), "run", *self._words(request, folder), "--plan"]
        with self._planning.turn() as is_newest:
            if not is_newest:
                return None
            asked = subprocess.Popen(
                words, cwd=self.catalog.project_dir, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                stderr=subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            try:
                out, err = asked.communicate(timeout=PLAN_SECONDS)
            except subprocess.TimeoutExpired:  # it goes on making the data ready, and a run finds them so
                let_go(asked)
                return StartPlan(writer=request.llm, warnings=[UNREADY])
        if asked.returncode:
            return StartPlan(refusal=_last_line(err) or f"run --plan ended with {asked.returncode}")
        told = json.loads(out)
        budget = told["budget"]
        return StartPlan(
            **{name: told[name] for name in ("writer", "proposals", "usd", "usd_a_proposal", "warnings")},
            note=note_parts(told["note"]),
            usd_cap=budget["usd"],
            seconds=budget["seconds"],
        )

    def _words(self, request: StartRequest, folder: Path | None) -> list[str]:
        keys = request.model_dump(exclude_none=True)
        arguments = [f"--problem={keys['problem']}", f"--llm={keys['llm']}"]
        if folder is not None and request.problem == "competition":
            arguments.append(f"--data.dir={folder}")
        elif folder is not None:
            arguments += [f"--problem.{part}={folder / keys[part]}" for part in ("program", "evaluator")]
        if request.metric is not None:
            arguments.append(f"--{_METRIC[request.problem]}={request.metric}")
        arguments += [f"--{_KEYS[name]}={value}" for name, value in keys.items() if name in _KEYS]
        options = keys.get("options", {}).items()
        arguments += [f"--search.{request.policy}.{name}={json.dumps(value)}" for name, value in options]
        if self._plugins:
            arguments.append(f"--plugins={','.join(self._plugins)}")
        return arguments

    def resume(self, run: str, request: ResumeRequest) -> Launch:
        more = request.model_dump(exclude_none=True)
        return self._launch(["resume", run, *(f"--{_KEYS[name]}={value}" for name, value in more.items())], run)

    def remove(self, runs: Sequence[str]) -> str:
        """`rm` of runs, waited for; why it was refused, or ''."""
        return self._waited_for(["rm", *runs, "--yes"], RM_SECONDS)

    def remove_sweep(self, name: str) -> str:
        """`sweep rm`, with all its runs; why it was refused, or ''."""
        return self._waited_for(["sweep", "rm", name, "--yes"], RM_SECONDS)

    def export(self, run: str) -> str:
        """`export-best` of a run, waited for; why it was refused, or ''."""
        return self._waited_for(["export-best", run], EXPORT_SECONDS)

    def _waited_for(self, words: Sequence[str], seconds: float) -> str:
        try:
            ended = subprocess.run(
                [sys.executable, str(self.main), *words], cwd=self.catalog.project_dir, stdin=subprocess.DEVNULL,
                capture_output=True, timeout=seconds,
            )  # fmt: skip
        except subprocess.TimeoutExpired:
            return f"{words[0]} took over {seconds:g} s"
        if ended.returncode == 0:
            return ""
        return _last_line(ended.stderr) or f"{words[0]} ended with {ended.returncode}"

    def state(self, launch: str) -> Launch | None:
        """How a child fares, or None if this server did not start it."""
        with self._lock:
            child = self._children.get(launch)
        if child is None:
            return None
        code = child.process.poll()
        if child.run is None:
            child.run = self._run_of(child)
        state = "ended" if code is not None else "running" if child.run else "starting"
        return Launch(launch=launch, state=state, run=child.run, exit_code=code, output=_tail(child.output))

    def _launch(self, arguments: list[str], run: str | None) -> Launch:
        launch = secrets.token_hex(6)
        folder = self.catalog.logs / ".dashboard"
        folder.mkdir(parents=True, exist_ok=True)
        output = folder / f"{launch}.out"
        with output.open("wb") as sink:
            process = start_apart([sys.executable, str(self.main), *arguments], sink, self.catalog.project_dir)
        with self._lock:
            self._children[launch] = _Child(process, output, run)
        found = self.state(launch)
        assert found is not None
        return found

    def _run_of(self, child: _Child) -> str | None:
        """The run whose lock the child has written its process id into."""
        for run in self.catalog.run_ids():
            lock = self.catalog.logs / run / LOCK
            try:
                words = read_regular(lock, 64).split()
            except (OSError, ValueError):
                continue
            if words[:1] != [str(child.process.pid)] or (child.process.poll() is None and not lock_holder(lock)):
                continue
            try:
                self.catalog.reader(run).last_seq()
            except StoreError:
                continue  # it has only just begun: there is nothing to show yet
            return run
        return None


def _last_line(stderr: bytes) -> str:
    """What a child said was wrong, in one line; '' if it said nothing."""
    told = stderr.decode("utf-8", "replace").strip().splitlines()
    return told[-1].removeprefix("swarm-evo: ") if told else ""


def _tail(path: Path) -> str:
    try:
        return end_of(path, OUTPUT_BYTES)[0].decode("utf-8", "replace")
    except OSError:
        return ""
