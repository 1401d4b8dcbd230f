"""Routes that read a run as a whole. All texts they send are data; the page never renders them as HTML."""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import blake2b
from typing import Annotated

from fastapi import APIRouter, Header, Path, Query, Response

from core.storage.unreadable import unreadable
from dashboard.server import overview, search_views
from dashboard.server.catalog import RunCatalog
from dashboard.server.dimensions import dimensions
from dashboard.server.live import live_now
from dashboard.server.presets import presets
from dashboard.server.schemas.control import Presets
from dashboard.server.schemas.runs import (
    Cost,
    EventPage,
    Health,
    Live,
    Outside,
    ReplayAt,
    RunDetail,
    RunSummary,
    Snapshot,
)
from dashboard.server.schemas.search import Curve, Dimensions, FailureCount, Generation, Islands
from dashboard.server.snapshot import event_json, event_rows, snapshot_json
from reports.outside import sessions, tickets, who_wrote

Run = Annotated[str, Path(max_length=128, description="Run id, as listed by /api/runs.")]
SEQ = 2**53


def json_text(body: str) -> Response:
    """JSON that is already text: large answers are not parsed and built again."""
    return Response(body, media_type="application/json")


def run_routes(
    catalog: RunCatalog, *, page_built: bool, replay: ReplayAt | None, plugins: Sequence[str] = ()
) -> APIRouter:
    router = APIRouter(tags=["runs"])

    @router.get("/health")
    def health() -> Health:
        """Whether the server answers, and what it serves."""
        return Health(ok=True, runs=len(catalog.run_ids()), page_built=page_built, replay=replay)

    @router.get("/presets")
    def known_presets() -> Presets:
        """What a new run may choose from."""
        return presets(plugins)

    @router.get("/runs", response_model=list[RunSummary])
    def runs(if_none_match: Annotated[str | None, Header(max_length=100)] = None) -> Response:
        """Every run of the project, newest first; 304 while nothing changed, since a list may be long."""
        body = overview.summaries(catalog)
        headers = {"etag": f'"{blake2b(body.encode(), digest_size=12).hexdigest()}"', "cache-control": "no-cache"}
        if if_none_match and if_none_match.removeprefix("W/") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(body, media_type="application/json", headers=headers)

    @router.get("/runs/{run}")
    def run_detail(run: Run) -> RunDetail:
        """A run's facts and configuration, secrets masked."""
        return overview.detail(catalog, run)

    @router.get("/runs/{run}/snapshot", response_model=Snapshot)
    def snapshot(run: Run, at: int | None = Query(None, ge=0, le=SEQ)) -> Response:
        """The state at `at` (now, without it), to go on from with `/ws?run=…&after=<as_of_seq>`."""
        detail = overview.detail(catalog, run)
        return json_text(snapshot_json(catalog.reader(run), detail, at))

    @router.get("/runs/{run}/events", response_model=EventPage)
    def events(run: Run, after: int = Query(0, ge=0, le=SEQ), limit: int = Query(256, ge=1, le=5000)) -> Response:
        """Events with `seq` > after, oldest first: what a client fetches when it was told of a gap."""
        reader = catalog.reader(run)
        with unreadable(reader.name), reader.db.transaction():
            told = ",".join(event_json(*row) for row in event_rows(reader, after, limit))
            last = reader.last_seq()
        return json_text(f'{{"events":[{told}],"last_seq":{last}}}')

    return router


def view_routes(catalog: RunCatalog) -> APIRouter:
    router = APIRouter(tags=["views"])

    @router.get("/runs/{run}/live")
    def live(run: Run) -> Live:
        """What each open program waits for or does; the last 8 KiB of what running candidates printed, and of replies
        that are being written."""
        return live_now(catalog.run_dir(run))

    @router.get("/runs/{run}/curve")
    def curve(run: Run) -> Curve:
        """Best so far, by step, by active seconds and by dollars."""
        return search_views.curve(catalog.reader(run))

    @router.get("/runs/{run}/failures")
    def failures(run: Run) -> list[FailureCount]:
        """How often programs failed, by kind and operator, with the newest example of each kind."""
        return search_views.failures(catalog.reader(run))

    @router.get("/runs/{run}/islands")
    def islands(run: Run) -> Islands:
        """Each island's best so far, its resets, and what migrated; empty where the policy has no islands."""
        return search_views.islands(catalog.reader(run))

    @router.get("/runs/{run}/generations")
    def generations(run: Run) -> list[Generation]:
        """Each generation's programs and scores; of an arena also its champion, and who took the title and why."""
        return search_views.generations(catalog.reader(run))

    @router.get("/runs/{run}/dimensions")
    def differing(run: Run) -> Dimensions:
        """What the scored programs differ in: recipes of `rules`, all that an evaluator measured."""
        return dimensions(catalog.reader(run))

    @router.get("/runs/{run}/cost")
    def cost(run: Run) -> Cost:
        """Calls, tokens, dollars and seconds by role and model."""
        return search_views.cost(catalog.reader(run))

    @router.get("/runs/{run}/outside")
    def outside(run: Run) -> Outside:
        """Who wrote what: programs by writer, tickets by their state, and the sessions of coding agents."""
        reader = catalog.reader(run)
        wrote = who_wrote(reader.nodes(texts=False), bool(reader.fact("lower_is_better", False)))
        return Outside.model_validate({"writers": wrote, "tickets": tickets(reader), "sessions": sessions(reader)})

    return router
