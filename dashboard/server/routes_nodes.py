"""Routes for nodes and games."""

from __future__ import annotations

from contextlib import suppress
from typing import Annotated, Any

from fastapi import APIRouter, HTTPException, Path, Query
from fastapi.responses import PlainTextResponse, Response

from core.state.failure import FailureKind
from core.state.node import Node
from core.state.operators import Operator
from dashboard.server import arena_views, nodes
from dashboard.server.catalog import RunCatalog
from dashboard.server.routes_runs import Run
from dashboard.server.schemas.arena import Engine, GameDetail, GamePage
from dashboard.server.schemas.nodes import Call, Diff, NodeDetail, NodePage
from reports.candidates import candidate_rows, candidates_csv
from reports.named_node import named_node, numbered_id
from reports.transcript import Turn, transcript
from reports.winner import rows_of
from utils.errors import UnknownNodeError

NodeId = Annotated[
    str, Path(pattern=r"^[0-9a-f]{1,64}$", description="Node id, a unique prefix of it, or a step number.")
]
GameId = Annotated[str, Query(alias="id", min_length=1, max_length=400)]
Offset = Annotated[int, Query(ge=0, le=10**9)]
Limit = Annotated[int, Query(ge=1, le=1000)]
Small = Annotated[int | None, Query(ge=-1, le=10**9)]
NOT_FOUND: dict[int | str, dict[str, Any]] = {404: {"description": "No such run, node or game."}}


def find_node(catalog: RunCatalog, run: str, node_id: str) -> Node:
    """The node, also a winner that is none of the journal; or 404."""
    reader = catalog.reader(run)
    with suppress(UnknownNodeError):
        return named_node(reader, node_id)
    name = next((row.get("name") for row in rows_of(reader.facts()) if row.get("node_id") == node_id), None)
    if name is not None:
        raise HTTPException(404, f"the baseline {name} was scored beside the search: its program is kept if it wins")
    raise HTTPException(404, f"no node '{node_id}' in this run (yet)")


def whole_id(catalog: RunCatalog, run: str, node_id: str) -> str:
    """The id that a prefix stands for; as it is for a node that is not committed yet."""
    reader = catalog.reader(run)
    node = reader.node(numbered_id(reader, node_id) or node_id)
    return node_id if node is None else node.id


def node_routes(catalog: RunCatalog) -> APIRouter:
    router = APIRouter(tags=["nodes"], responses=NOT_FOUND)

    @router.get("/runs/{run}/candidates.csv", response_class=PlainTextResponse)
    def candidates(run: Run, code: bool = False) -> PlainTextResponse:
        """Every candidate as a row, with all that was measured of it."""
        text = candidates_csv(candidate_rows(catalog.reader(run), code=code))
        headers = {"content-disposition": f'attachment; filename="{run}.csv"'}
        return PlainTextResponse(text, media_type="text/csv", headers=headers)

    @router.get("/runs/{run}/nodes")
    def node_list(
        run: Run,
        offset: Offset = 0,
        limit: Limit = 100,
        operator: Annotated[Operator | None, Query(max_length=64)] = None,
        failure: FailureKind | None = None,
        buggy: bool | None = None,
        generation: Small = None,
        island: Small = None,
        newest_first: bool = False,
    ) -> NodePage:
        """Committed nodes in journal order, without their texts."""
        return nodes.node_page(
            catalog.reader(run),
            offset=offset,
            limit=limit,
            newest_first=newest_first,
            operator=operator,
            failure=failure.value if failure else None,
            buggy=buggy,
            generation=generation,
            island=island,
        )

    @router.get("/runs/{run}/nodes/{node_id}")
    def node_detail(run: Run, node_id: NodeId) -> NodeDetail:
        """A node, whole, with why it was chosen, its children, stage times and tokens. Its texts are untrusted."""
        return nodes.node_detail(catalog.reader(run), find_node(catalog, run, node_id))

    @router.get("/runs/{run}/nodes/{node_id}/code", response_class=PlainTextResponse)
    def code(run: Run, node_id: NodeId) -> PlainTextResponse:
        """The program as plain text."""
        return PlainTextResponse(find_node(catalog, run, node_id).code.encode("utf-8", "replace"))

    @router.get("/runs/{run}/nodes/{node_id}/file", response_class=Response)
    def left(run: Run, node_id: NodeId, name: Annotated[str, Query(min_length=1, max_length=1000)]) -> Response:
        """A file that the program left, to save: never shown by the browser."""
        body = nodes.left_file(catalog.run_dir(run), find_node(catalog, run, node_id).id, name)
        if body is None:
            raise HTTPException(404, "this node left no such file")
        headers = {"content-disposition": "attachment"}
        return Response(body, media_type="application/octet-stream", headers=headers)

    @router.get("/runs/{run}/nodes/{node_id}/diff")
    def diff(
        run: Run, node_id: NodeId, against: Annotated[str | None, Query(pattern=r"^[0-9a-f]{1,64}$")] = None
    ) -> Diff:
        """Line by line against the first parent, or against another node."""
        node = find_node(catalog, run, node_id)
        other = against or node.parent_id
        return nodes.diff(node, find_node(catalog, run, other) if other else None)

    @router.get("/runs/{run}/nodes/{node_id}/calls")
    def calls(run: Run, node_id: NodeId) -> list[Call]:
        """Prompts and replies, in order. Also for a node that is not committed yet. Untrusted texts."""
        return nodes.node_calls(catalog.reader(run), whole_id(catalog, run, node_id))

    @router.get("/runs/{run}/nodes/{node_id}/transcript")
    def session(run: Run, node_id: NodeId) -> list[Turn]:
        """The session of the coding agent that wrote it, turn by turn; [] where none did. Untrusted texts."""
        return transcript(catalog.reader(run).calls(whole_id(catalog, run, node_id)))

    return router


def arena_routes(catalog: RunCatalog) -> APIRouter:
    router = APIRouter(tags=["arena"], responses=NOT_FOUND)

    @router.get("/runs/{run}/engines")
    def engines(run: Run) -> list[Engine]:
        """Rated engines, best first."""
        return arena_views.engines(catalog.reader(run))

    @router.get("/runs/{run}/games")
    def games(
        run: Run,
        offset: Offset = 0,
        limit: Limit = 100,
        engine: Annotated[str | None, Query(min_length=4, max_length=200)] = None,
        generation: Small = None,
    ) -> GamePage:
        """Games, newest first."""
        return arena_views.game_page(
            catalog.reader(run), offset=offset, limit=limit, engine=engine, generation=generation
        )

    @router.get("/runs/{run}/game")
    def game(run: Run, game_id: GameId) -> GameDetail:
        """One game, move by move."""
        found = arena_views.game_detail(catalog.reader(run), game_id)
        if found is None:
            raise HTTPException(404, "no such game in this run")
        return found

    @router.get("/runs/{run}/pgn", response_class=PlainTextResponse)
    def pgn(run: Run, game_id: GameId) -> PlainTextResponse:
        """A finished game as PGN."""
        text = arena_views.pgn(catalog.reader(run), game_id)
        if text is None:
            raise HTTPException(404, "no finished game of that id with a PGN")
        return PlainTextResponse(text, media_type="application/x-chess-pgn")

    return router
