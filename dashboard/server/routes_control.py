"""Routes that change something: start, stop, resume, note, mark. Each is refused for a page of another origin."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, TypeVar

from anyio import CapacityLimiter, to_thread
from fastapi import APIRouter, HTTPException, Query
from fastapi import Path as InPath

from core.storage.begun import begun_steps
from core.storage.labels import Labels, change_labels
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from dashboard.server import control, own
from dashboard.server.catalog import RunCatalog
from dashboard.server.launcher import Launcher
from dashboard.server.presets import fault_of, presets
from dashboard.server.routes_nodes import NodeId, whole_id
from dashboard.server.routes_runs import Run
from dashboard.server.schemas.base import Problem
from dashboard.server.schemas.control import (
    Accepted,
    LabelsRequest,
    Launch,
    MarkRequest,
    NoteRequest,
    Own,
    ResumeRequest,
    StartPlan,
    StartRequest,
    SweepLaunch,
    SweepRequest,
    Writer,
)
from dashboard.server.writers import writer_of
from reports.sweeps.plan import FOLDER
from utils.errors import ConfigError

Asked = TypeVar("Asked", bound=StartRequest)
WAITED_FOR = 2
"""Commands that requests wait for at once; those that queue hold no thread of the server, which others need."""
REFUSED: dict[int | str, dict[str, Any]] = {
    403: {"model": Problem, "description": "Another origin, or a Host name that is not served."},
    404: {"model": Problem, "description": "No such run, node or launch."},
    409: {"model": Problem, "description": "The run's state does not allow it."},
}


def control_routes(catalog: RunCatalog, launcher: Launcher, plugins: Sequence[str] = ()) -> APIRouter:
    router = APIRouter(tags=["control"], responses=REFUSED)

    @router.post("/runs", status_code=202)
    def start(request: StartRequest) -> Launch:
        """Start a run as a child process that executes `main.py`."""
        if fault := fault_of(request, plugins):
            raise HTTPException(409, fault)
        return launcher.start(*_with_own(catalog, request))

    @router.post("/sweeps", status_code=202)
    def start_sweep(request: SweepRequest) -> SweepLaunch:
        """Start a sweep as a child process: its runs are listed as they begin, its table is `/api/sweeps/{name}`."""
        for policy in request.policies:
            if fault := fault_of(request.model_copy(update={"policy": policy}), plugins):
                raise HTTPException(409, fault)
        if request.sweep and (catalog.logs / FOLDER / request.sweep).exists():
            raise HTTPException(409, f"sweep={request.sweep}: there is one of this name; take another")
        return launcher.sweep(*_with_own(catalog, request))

    @router.get("/launches/{launch}")
    def launch_state(launch: Annotated[str, InPath(max_length=64)]) -> Launch:
        """How a started child process fares, and the run it made."""
        found = launcher.state(launch)
        if found is None:
            raise HTTPException(404, "this server started no such process")
        return found

    @router.post("/runs/{run}/stop", status_code=202)
    def stop(run: Run) -> Accepted:
        """Finish what is in flight, save and end; asked a second time: stop now."""
        pid = _holder(catalog, run)
        control.stop_gracefully(catalog.run_dir(run), pid)
        return Accepted(accepted=True, detail="the run finishes what is in flight, saves and ends")

    @router.post("/runs/{run}/resume", status_code=202)
    def resume(run: Run, request: ResumeRequest | None = None) -> Launch:
        """Go on with a run that nobody holds; a finished one with more than what ended it."""
        if catalog.holder(run) is not None:
            raise HTTPException(409, "the run is running")
        more = request or ResumeRequest()
        _refuse_too_few(catalog.reader(run), more.max_steps)
        return launcher.resume(run, more)

    _choosing(router, catalog, launcher, plugins)
    _keeping(router, catalog, launcher)
    _words(router, catalog)
    return router


def _refuse_too_few(reader: RunReader, max_steps: int | None) -> None:
    """409 where the run has begun more steps than it is now allowed."""
    with unreadable(reader.name):
        refusal = "" if max_steps is None else begun_steps(reader).refusal("max_steps", max_steps)
    if refusal:
        raise HTTPException(409, refusal)


def _choosing(router: APIRouter, catalog: RunCatalog, launcher: Launcher, plugins: Sequence[str]) -> None:
    """What a form that starts a run needs to know before it does."""

    @router.post("/plan")
    def plan(request: StartRequest) -> StartPlan:
        """What such a run would be and cost, or why it could not be started. Starts nothing."""
        if fault := fault_of(request, plugins):
            return StartPlan(refusal=fault)
        found = launcher.plan(*_with_own(catalog, request))
        if found is None:
            raise HTTPException(409, "another form is checked in its place: change this one to ask again")
        return found

    @router.get("/writers/{name}")
    def writer(name: Annotated[str, InPath(pattern=r"^[a-z][a-z0-9_-]{0,40}$")]) -> Writer:
        """Whom a preset of `/api/presets` asks, which models may be named, and what they cost."""
        if name not in presets(plugins).llms:
            raise HTTPException(404, "unknown llm preset: see /api/presets")
        return writer_of(name, plugins)

    @router.get("/own")
    def own_things() -> Own:
        """Tables and evaluators of the user's own in the project folder. Untrusted texts."""
        return own.own(catalog.project_dir)


def _keeping(router: APIRouter, catalog: RunCatalog, launcher: Launcher) -> None:
    """What becomes of runs that are there: labelled, removed."""
    turns = CapacityLimiter(WAITED_FOR)

    @router.delete("/runs")
    async def remove(run: Annotated[list[str], Query(min_length=1, max_length=500)]) -> Accepted:
        """Remove runs with all their files. One that a process holds is refused, and then none is removed."""
        return await to_thread.run_sync(_remove, catalog, launcher, run, limiter=turns)

    @router.post("/runs/{run}/solution")
    async def export(run: Run) -> Accepted:
        """Write the winner's files anew, as `export-best` does: of a run that was cut off there are none yet."""
        return await to_thread.run_sync(_export, catalog, launcher, run, limiter=turns)

    @router.patch("/runs/{run}/labels")
    def label(run: Run, request: LabelsRequest) -> Labels:
        """Title, note, tags, put away or not: the user's own words, outside of the journal."""
        try:
            return change_labels(catalog.run_dir(run), **request.model_dump())
        except ConfigError as error:
            raise HTTPException(409, str(error)) from error


def _remove(catalog: RunCatalog, launcher: Launcher, runs: Sequence[str]) -> Accepted:
    names = [catalog.run_dir(run).name for run in runs]
    if refusal := launcher.remove(names):
        raise HTTPException(409, refusal)
    return Accepted(accepted=True, detail=f"removed {', '.join(names)}")


def _export(catalog: RunCatalog, launcher: Launcher, run: str) -> Accepted:
    if catalog.holder(run) is not None:
        raise HTTPException(409, "the run is running: it writes them at its end")
    if refusal := launcher.export(catalog.run_dir(run).name):
        raise HTTPException(409, refusal)
    return Accepted(accepted=True, detail="the winner's files are written")


def _words(router: APIRouter, catalog: RunCatalog) -> None:
    """What a running search is told through its control file."""

    @router.post("/runs/{run}/notes", status_code=202)
    def note(run: Run, request: NoteRequest) -> Accepted:
        """A note to the next prompt; the search writes the event when it takes it up."""
        _holder(catalog, run)
        control.send_line(catalog.run_dir(run), {"kind": "note", "text": request.text})
        return Accepted(accepted=True, detail=control.note_heard(catalog.run_dir(run)))

    @router.post("/runs/{run}/nodes/{node_id}/mark", status_code=202)
    def mark(run: Run, node_id: NodeId, request: MarkRequest) -> Accepted:
        """Pin, ban or free a node; the search applies it between two rounds."""
        _holder(catalog, run)
        node = catalog.reader(run).node(whole_id(catalog, run, node_id))
        if node is None:
            raise HTTPException(404, f"no node '{node_id}' in this run")
        kind = control.MARK_KINDS[request.mark]
        control.send_line(catalog.run_dir(run), {"kind": kind, "node_id": node.id})
        return Accepted(accepted=True, detail="applied between two rounds")

    @router.post("/runs/{run}/nodes/{node_id}/stop", status_code=202)
    def stop_node(run: Run, node_id: NodeId) -> Accepted:
        """Kill the program of one node while it runs; the search goes on, and the node's failure is `stopped`."""
        _holder(catalog, run)
        if catalog.reader(run).node(node_id) is not None:
            raise HTTPException(409, f"node '{node_id}' has ended")
        control.send_line(catalog.run_dir(run), {"kind": "stop", "node_id": node_id})
        return Accepted(accepted=True, detail="killed if it runs now")


def _with_own(catalog: RunCatalog, request: Asked) -> tuple[Asked, Path | None]:
    """The request with the files that it left to be guessed, and the folder that it chose of the user's; or 409."""
    if request.problem == "script":
        return _with_script(catalog, request)
    if request.folder is None:
        if request.target or request.metric or request.classes or request.split:
            raise HTTPException(409, f"problem={request.problem}: choose a folder of your own")
        return request, None
    folder = own.own_tables(catalog.project_dir, request.folder) if request.problem == "competition" else None
    if folder is None:
        raise HTTPException(409, f"folder={request.folder}: not among the folders of your own")
    columns = own.columns_of(folder)
    for name, column in (("target", request.target or ""), ("split", (request.split or "").partition(":")[2])):
        if (column or name == "target") and (column not in columns or "$" in column):
            raise HTTPException(409, f"{name}={column}: no column of {request.folder}/{own.TRAIN}")
    if "$" in (request.classes or ""):
        raise HTTPException(409, "classes: a class with a $ in it is named on the command line")
    return request, folder


def _with_script(catalog: RunCatalog, request: Asked) -> tuple[Asked, Path]:
    script = own.own_script(catalog.project_dir, request.folder or "")
    if script is None:
        raise HTTPException(409, "problem=script: choose a folder of your own with an evaluator")
    chosen = {"program": request.program or script.program, "evaluator": request.evaluator or script.evaluator}
    for part, name in chosen.items():
        if name not in script.files:
            raise HTTPException(409, f"{part}={name}: choose one of the files in {script.name}")
    return request.model_copy(update=chosen), catalog.project_dir / script.name


def _holder(catalog: RunCatalog, run: str) -> int:
    """Process id of the running search, or 409."""
    pid = catalog.holder(run)
    if pid is None:
        raise HTTPException(409, "the run is not running: resume it first")
    return pid
