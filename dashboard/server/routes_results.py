"""Routes for what one takes along of a run: its report and the winner's files. All are saved, never shown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Annotated

from fastapi import APIRouter, HTTPException, Query
from fastapi.responses import FileResponse, HTMLResponse

from core.storage.unreadable import unreadable
from dashboard.server.catalog import RunCatalog
from dashboard.server.routes_nodes import NOT_FOUND
from dashboard.server.routes_runs import Run
from dashboard.server.schemas.runs import SolutionFile

SOLUTION = "best_solution"
"""Folder of the winner in a run's own folder, as the run's end and `export-best` write it."""
MOST_FILES = 1000


def result_routes(catalog: RunCatalog) -> APIRouter:
    router = APIRouter(tags=["results"], responses=NOT_FOUND)

    @router.get("/runs/{run}/report.html", response_class=HTMLResponse)
    def report(run: Run) -> HTMLResponse:
        """The report as `report` writes it, of the store as it is now, to save. The run's folder is left alone."""
        from reports.facts import read_facts
        from reports.html import render

        headers = {"content-disposition": f'attachment; filename="{run}.html"'}
        run_dir = catalog.run_dir(run)
        with unreadable(run):
            return HTMLResponse(render(read_facts(run_dir)).encode("utf-8", "replace"), headers=headers)

    @router.get("/runs/{run}/solution")
    def solution(run: Run) -> list[SolutionFile]:
        """The winner's files: its program, what it hands in, its engine. [] before the end or without a winner."""
        return sized(solution_files(catalog.run_dir(run)))

    @router.get("/runs/{run}/solution/file", response_class=FileResponse)
    def solution_file(run: Run, name: Annotated[str, Query(min_length=1, max_length=1000)]) -> FileResponse:
        """One of them, to save: never shown by the browser."""
        path = solution_files(catalog.run_dir(run)).get(name)
        if path is None:
            raise HTTPException(404, "the winner has no such file")
        return FileResponse(path, media_type="application/octet-stream", filename=f"{run}-{path.name}")

    return router


def sized(found: Mapping[str, Path]) -> list[SolutionFile]:
    """What is still there: `export-best` writes the winner's files anew."""
    told = []
    for name, path in found.items():
        with suppress(OSError):
            told.append(SolutionFile(name=name, bytes=path.stat().st_size))
    return told


def solution_files(run_dir: Path) -> dict[str, Path]:
    """Name below the winner's folder → file. A link is no file of the run: it and what is behind it are left out."""
    top = run_dir / SOLUTION
    if top.is_symlink():
        return {}
    below = (Path(folder) / name for folder, _, names in os.walk(top) for name in names)
    found = sorted(path for path in below if path.is_file() and not path.is_symlink())
    return {path.relative_to(top).as_posix(): path for path in found[:MOST_FILES]}
