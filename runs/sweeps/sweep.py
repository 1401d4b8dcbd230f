"""A sweep, begun or gone on with: its plan is kept, its runs are brought to their ends, its table is read."""

from __future__ import annotations

import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

from core.storage.held import is_held
from reports.run_index import RunIndex
from reports.sweeps.lines import SweepLine, sweep_lines
from reports.sweeps.plan import Cell, Plan, run_of, sweep_folder
from reports.sweeps.table import CellFacts, SweepTable, cell_facts, table_of
from runs.run_folder import all_runs, hold, later_than_all, logs_dir
from runs.stored.removal import Removed, remove_runs
from runs.sweeps.cells import run_cells
from runs.sweeps.words import check_runs
from utils.counts import counted

Teller = Callable[[str], None]
"""Is given a line for people."""


def run_sweep(
    plan: Plan, project_dir: str, *, name: str | None, jobs: int, tell: Teller, finishing: Callable[[], None]
) -> SweepTable:
    """Bring every run of the plan to its end, `jobs` at a time; one that was begun before goes on.

    Args:
        name: of the sweep; None: made from the plan.
        tell: hears which run begins, how many have ended and with which score; from several threads, one at a time.
        finishing: called when the user wants the end in good order.

    Raises:
        ConfigError: the name is that of another sweep. CellFailed, KeyboardInterrupt: as `run_cells`.
    """
    folder = sweep_folder(logs_dir(project_dir), name or plan.default_name)
    folder.mkdir(parents=True, exist_ok=True)
    with hold(folder):  # whoever looks sees that it goes on, also between two of its runs
        whole = plan.with_those_of(folder)
        check_runs(whole.settings, whole.seeds)
        whole.keep(folder, later_than_all(project_dir, datetime.now(UTC)))
        tell(f"sweep {folder.name}: {counted(len(plan.cells), 'run')}; `sweep show {folder.name}` looks at it")
        run_cells(plan, folder, jobs, _Progress(folder, len(plan.cells), tell).say, finishing)
    return table_of(whole, folder, is_held)


def stored_sweep(project_dir: str, name: str) -> SweepTable:
    """A sweep as it stands. ConfigError where there is none of that name."""
    folder = sweep_folder(logs_dir(project_dir), name)
    return table_of(Plan.read(folder), folder, is_held)


def runs_of_sweep(project_dir: str, name: str) -> list[Path]:
    """Folders of its runs that are there. ConfigError where there is no sweep of that name."""
    folder = sweep_folder(logs_dir(project_dir), name)
    runs = (run_of(folder, cell) for cell in Plan.read(folder).cells)
    return list(dict.fromkeys(run for run in runs if run is not None))


def remove_sweep(project_dir: str, name: str, tell: Teller) -> Removed:
    """Remove a sweep with all its runs. While a process works on one of them nothing is removed.

    Raises:
        ConfigError: there is none of that name. RunBusyError, StoreError: as `remove_runs`.
    """
    folder = sweep_folder(logs_dir(project_dir), name)
    return remove_runs(project_dir, runs_of_sweep(project_dir, name), tell, sweep=folder)


def all_sweeps(project_dir: str) -> list[SweepLine]:
    """Every sweep of the project, the newest first."""
    logs = logs_dir(project_dir)
    runs = {folder.name: listed.line for folder, listed in RunIndex(logs).lines(all_runs(project_dir)).items()}
    return sweep_lines(logs, runs)


class _Progress:
    """Counts the runs that have ended."""

    def __init__(self, folder: Path, runs: int, tell: Teller) -> None:
        self._folder, self._runs, self._tell = folder, runs, tell
        self._ended, self._lock = 0, threading.Lock()

    def say(self, cell: Cell, what: str) -> None:
        with self._lock:
            has_ended = what in ("known", "done")
            self._ended += has_ended
            score = _score(cell_facts(self._folder, cell)) if has_ended else ""
            self._tell(f"[{self._ended}/{self._runs}] {what}: {' '.join(cell.words)}{score}")


def _score(facts: CellFacts) -> str:
    where = "validation" if facts.final_metric is None else "the unseen part"
    score = facts.metric if facts.final_metric is None else facts.final_metric
    return f": {'no valid program' if score is None else f'{score:.6g} on {where}'}, {facts.run}"
