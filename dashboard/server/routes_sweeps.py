"""Routes of sweeps, the same search with several settings and seeds: looked at, stopped, removed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, HTTPException
from fastapi import Path as InPath

from core.storage.held import LOCK, is_held, lock_holder
from dashboard.server import control
from dashboard.server.catalog import RunCatalog
from dashboard.server.launcher import Launcher
from dashboard.server.schemas.base import Problem
from dashboard.server.schemas.control import Accepted
from reports.sweeps.lines import SweepLine, sweep_lines
from reports.sweeps.plan import Plan, run_of, sweep_folder
from reports.sweeps.table import SweepTable, table_of
from utils.counts import counted
from utils.errors import ConfigError

Name = Annotated[str, InPath(max_length=80, description="A sweep's name, as listed by /api/sweeps.")]


def sweep_routes(catalog: RunCatalog, launcher: Launcher) -> APIRouter:
    router = APIRouter(tags=["sweeps"], responses={409: {"model": Problem, "description": "Its runs do not allow it."}})

    @router.get("/sweeps")
    def sweeps() -> list[SweepLine]:
        """Every sweep of the project, newest first; one whose plan cannot be read is left out."""
        lines = {folder.name: listed.line for folder, listed in catalog.index.lines(catalog.folders()).items()}
        return sweep_lines(catalog.logs, lines)

    @router.get("/sweeps/{name}")
    def sweep(name: Name) -> SweepTable:
        """A sweep as it stands: each run, and a row a setting with means and paired differences."""
        folder, plan = _found(catalog, name)
        return table_of(plan, folder, is_held)

    @router.post("/sweeps/{name}/stop", status_code=202)
    def stop(name: Name) -> Accepted:
        """Stop the runs that are under way: they finish what is in flight and save, and no other run begins."""
        folder, plan = _found(catalog, name)
        stopped = Accepted(accepted=True, detail="its run finishes what is in flight and saves; no other begins")
        sweep = lock_holder(folder / LOCK)
        if sweep is not None and control.is_told_to_stop(
            folder, sweep
        ):  # it passes that on, also between two of its runs
            return stopped
        held = [(run, pid) for run, pid in _holders(folder, plan).items() if pid is not None]
        if not held:
            raise HTTPException(409, f"no run of {name} is running")
        for run, pid in held:
            control.stop_gracefully(run, pid)
        return stopped

    @router.delete("/sweeps/{name}")
    def remove(name: Name) -> Accepted:
        """Remove a sweep with all its runs. One with a run that a process holds is refused, and nothing is removed."""
        folder, plan = _found(catalog, name)
        holders = _holders(folder, plan)
        if not launcher.sweep_has_ended(name) or _is_held(folder, plan):
            raise HTTPException(409, f"{name} is running: stop it first")
        if refusal := launcher.remove_sweep(name):
            raise HTTPException(409, refusal)
        return Accepted(accepted=True, detail=f"removed {name} and {counted(len(holders), 'run')}")

    return router


def _found(catalog: RunCatalog, name: str) -> tuple[Path, Plan]:
    """The sweep of that name, or 404."""
    try:
        folder = sweep_folder(catalog.logs, name)
        return folder, Plan.read(folder)
    except ConfigError as error:
        raise HTTPException(404, str(error)) from error


def _holders(folder: Path, plan: Plan) -> dict[Path, int | None]:
    """The runs that have begun, each with the process that works on it."""
    runs = [run for cell in plan.cells if (run := run_of(folder, cell)) is not None]
    return {run: lock_holder(run / LOCK) for run in runs}


def _is_held(folder: Path, plan: Plan) -> bool:
    """True while a process works on the sweep, also between two of its runs, or on one of its runs."""
    return any(pid is not None for pid in (lock_holder(folder / LOCK), *_holders(folder, plan).values()))
