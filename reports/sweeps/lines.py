"""The list of sweeps, as terminal and page show it."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from core.storage.held import is_held
from reports.run_index import RunLine
from reports.sweeps.names import setting_names
from reports.sweeps.plan import Plan, noted_run, sweeps_of, was_begun
from utils.errors import ConfigError


class SweepRun(BaseModel):
    """A run of a sweep."""

    model_config = ConfigDict(extra="forbid")

    run: str
    setting: list[str]
    """`key=value` words; [] where nothing varies."""
    name: str
    """Of the setting, as people read it."""
    seed: int


class SweepLine(BaseModel):
    """One line of a list of sweeps. A sweep itself is `SweepTable`."""

    model_config = ConfigDict(extra="forbid")

    name: str
    problem: str
    """Of its first run; '' before there is one."""
    status: Literal["not begun", "running", "interrupted", "finished"]
    started_at: str
    """When its plan was kept, in UTC."""
    settings: int
    seeds: int
    begun: int
    """Runs that were begun, those that were removed since too."""
    runs: list[SweepRun]
    """Those that are there."""


def sweep_lines(logs: Path, lines: dict[str, RunLine]) -> list[SweepLine]:
    """Every sweep, the newest first; one whose plan cannot be read is left out.

    Args:
        lines: what is known of all runs, by their names: none of them is opened, since a page asks again and again.
    """
    found = []
    for folder, began in sweeps_of(logs).items():
        try:
            found.append(_line(folder, Plan.read(folder), began, lines))
        except ConfigError:
            continue
    return found


def _line(folder: Path, plan: Plan, began: float, lines: dict[str, RunLine]) -> SweepLine:
    noted = {cell: noted_run(folder, cell) for cell in plan.cells}
    runs = {cell: run for cell, run in noted.items() if run in lines}
    known, names = [lines[run] for run in runs.values()], setting_names(plan.settings)
    ever = sum(was_begun(folder, cell) for cell in plan.cells)  # removed since or not
    held = any(map(is_held, (folder, *(folder.parents[1] / run for run in runs.values()))))
    return SweepLine(
        name=folder.name,
        problem=known[0].problem if known else "",
        status=_status(plan, ever, known, held=held),
        started_at=datetime.fromtimestamp(began, UTC).isoformat(timespec="seconds"),
        settings=len(plan.settings),
        seeds=len(plan.seeds),
        begun=ever,
        runs=[
            SweepRun(run=run, setting=list(cell.setting), name=names[cell.setting], seed=cell.seed)
            for cell, run in runs.items()
        ],
    )


def _status(
    plan: Plan, begun: int, runs: list[RunLine], *, held: bool
) -> Literal["not begun", "running", "interrupted", "finished"]:
    if held:
        return "running"
    if not begun:
        return "not begun"
    ended = sum(line.status == "finished" for line in runs)
    return "finished" if begun == len(plan.cells) and ended == len(runs) else "interrupted"
