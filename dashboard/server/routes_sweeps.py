"""Routes that read sweeps: the same search with several settings and seeds."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, HTTPException, Path

from dashboard.server.catalog import LOCK_NAME, RunCatalog, lock_holder
from dashboard.server.schemas.sweeps import SweepLine
from reports.sweeps.plan import Plan, run_of, sweep_folder, sweeps_of
from reports.sweeps.table import SweepTable, table_of
from utils.errors import ConfigError

Name = Annotated[str, Path(max_length=80, description="A sweep's name, as listed by /api/sweeps.")]


def sweep_routes(catalog: RunCatalog) -> APIRouter:
    router = APIRouter(tags=["sweeps"])

    @router.get("/sweeps")
    def sweeps() -> list[SweepLine]:
        """Every sweep of the project, newest first; one whose plan cannot be read is left out."""
        found = []
        for folder in sweeps_of(catalog.logs):
            try:
                plan = Plan.read(folder)
            except ConfigError:
                continue
            begun = sum(run_of(folder, cell) is not None for cell in plan.cells)
            found.append(SweepLine(name=folder.name, settings=len(plan.settings), seeds=len(plan.seeds), begun=begun))
        return found

    @router.get("/sweeps/{name}")
    def sweep(name: Name) -> SweepTable:
        """A sweep as it stands: each run, and a row a setting with means and paired differences."""
        try:
            folder = sweep_folder(catalog.logs, name)
            plan = Plan.read(folder)
        except ConfigError as error:
            raise HTTPException(404, str(error)) from error
        return table_of(plan, folder, lambda run: lock_holder(run / LOCK_NAME) is not None)

    return router
