"""The application: routes, socket, page and guard put together."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.middleware.gzip import GZipMiddleware

from dashboard.server.api_page import api_page
from dashboard.server.catalog import RunCatalog
from dashboard.server.hub import Hub
from dashboard.server.launcher import MAIN, Launcher
from dashboard.server.opening_line import load_rules
from dashboard.server.page import DIST, page_routes
from dashboard.server.routes_control import control_routes
from dashboard.server.routes_nodes import arena_routes, node_routes
from dashboard.server.routes_results import result_routes
from dashboard.server.routes_runs import run_routes, view_routes
from dashboard.server.routes_sweeps import sweep_routes
from dashboard.server.schemas.base import Problem
from dashboard.server.schemas.frames import FRAMES
from dashboard.server.schemas.runs import ReplayAt
from dashboard.server.security import BodyLimit, Guard
from dashboard.server.socket import socket_routes
from utils.clean_text import one_line
from utils.errors import BrokenStoreError, StoreError, UnknownRunError


def create_app(
    project_dir: Path,
    token: str | None = None,
    *,
    hosts: Iterable[str] | None = (),
    replay: ReplayAt | None = None,
    dist: Path = DIST,
    main: Path = MAIN,
    plugins: Sequence[str] = (),
) -> FastAPI:
    """The dashboard of one project folder.

    Args:
        project_dir: holds `logs/`; runs are started in it.
        token: everything but the page's own files needs it; None for none.
        hosts: names under which the server may be addressed besides loopback; None for any.
        replay: what the page opens first.
        dist: the built page.
        main: the program that runs searches.
        plugins: folders with parts of the user's own, for the form that starts a run and for the run.
    """
    load_rules()
    catalog = RunCatalog(project_dir.resolve())
    hub = Hub()

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await hub.close()
        catalog.close()

    app = FastAPI(
        title="Swarm-Evo dashboard",
        version="1",
        description="Reads the stores of runs; starts `main.py` as a child process; never hosts a search.",
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    api = APIRouter(
        prefix="/api", responses={422: {"model": Problem, "description": "What is wrong with the request."}}
    )
    api.include_router(run_routes(catalog, page_built=(dist / "index.html").is_file(), replay=replay, plugins=plugins))
    api.include_router(view_routes(catalog))
    api.include_router(node_routes(catalog))
    api.include_router(arena_routes(catalog))
    api.include_router(result_routes(catalog))
    launcher = Launcher(catalog, main, plugins)
    api.include_router(sweep_routes(catalog, launcher))
    api.include_router(control_routes(catalog, launcher, plugins))
    app.include_router(api)
    app.include_router(api_page(app))
    app.include_router(socket_routes(catalog, hub))
    app.include_router(page_routes(dist))
    app.add_exception_handler(StoreError, _store_error)
    app.add_exception_handler(RequestValidationError, _wrong_request)
    app.add_middleware(GZipMiddleware, minimum_size=2000, compresslevel=3)
    app.add_middleware(Guard, token=token, hosts=hosts)
    app.add_middleware(BodyLimit)
    _describe_frames(app)
    return app


async def _store_error(_: Request, error: Exception) -> JSONResponse:
    """A store that cannot be read is the run's state, not a fault of the server."""
    passes_not = 404 if isinstance(error, UnknownRunError) else 422 if isinstance(error, BrokenStoreError) else None
    return JSONResponse({"detail": str(error)}, passes_not or 409)


async def _wrong_request(_: Request, error: Exception) -> JSONResponse:
    """What is wrong with a request, in one line, as every other error is told."""
    assert isinstance(error, RequestValidationError)
    told = [f"{'.'.join(map(str, one['loc'][1:])) or one['loc'][0]}: {one['msg']}" for one in error.errors()]
    return JSONResponse({"detail": one_line("; ".join(told), 500)}, 422)


def _describe_frames(app: FastAPI) -> None:
    """Add what travels on the socket to the OpenAPI document, so that the page's types come from one place."""
    build = app.openapi

    def document() -> dict[str, Any]:
        if not app.openapi_schema:
            schemas = build()["components"]["schemas"]
            for frame in FRAMES:
                schema = frame.model_json_schema(ref_template="#/components/schemas/{model}")
                for name, part in schema.pop("$defs", {}).items():
                    schemas.setdefault(name, part)
                schemas[frame.__name__] = schema
        assert app.openapi_schema is not None
        return app.openapi_schema

    app.openapi = document  # type: ignore[method-assign]
