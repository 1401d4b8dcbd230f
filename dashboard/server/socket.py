"""`/ws?run=…&after=SEQ`: a run's events as they come, or with `speed` a replay of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import aclosing

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from dashboard.server.catalog import RunCatalog
from dashboard.server.hub import Hub
from dashboard.server.replay import Replay
from dashboard.server.schemas import ReplayCommand
from utils.errors import UnknownRunError

UNKNOWN_RUN = 4404
GONE = 4410


def socket_routes(catalog: RunCatalog, hub: Hub) -> APIRouter:
    router = APIRouter()

    @router.websocket("/ws")
    async def follow(
        socket: WebSocket,
        run: str = "",
        after: int = Query(0, ge=0, le=2**53),
        speed: float | None = Query(None, ge=0.1, le=10_000),
    ) -> None:
        await socket.accept()
        try:
            run_dir = catalog.run_dir(run)
        except UnknownRunError as error:
            await socket.close(UNKNOWN_RUN, str(error)[:120])
            return
        if speed is not None:
            replay = Replay(run_dir, after=after, speed=speed)
            await _serve(socket, replay.frames(), replay)
            return
        async with hub.follow(run_dir, after) as frames:
            await _serve(socket, frames, None)

    return router


async def _serve(socket: WebSocket, frames: AsyncIterator[str], replay: Replay | None) -> None:
    """Send until the client leaves or there is nothing more; listen at the same time."""
    sender = asyncio.create_task(_send(socket, frames))
    listener = asyncio.create_task(_listen(socket, replay))
    done, pending = await asyncio.wait({sender, listener}, return_when=asyncio.FIRST_COMPLETED)
    if replay is not None and sender in done and listener in pending:
        done, pending = await asyncio.wait({listener})  # a shown replay stays open until its client leaves
    for task in pending:
        task.cancel()
    await asyncio.gather(sender, listener, return_exceptions=True)
    if listener not in done:
        try:
            await socket.close(GONE, "the run cannot be followed any more")
        except RuntimeError:
            return  # closed already


async def _send(socket: WebSocket, frames: AsyncIterator[str]) -> None:
    async with aclosing(frames):  # type: ignore[type-var]
        async for frame in frames:
            await socket.send_text(frame)


async def _listen(socket: WebSocket, replay: Replay | None) -> None:
    while True:
        try:
            text = await socket.receive_text()
        except (WebSocketDisconnect, RuntimeError, KeyError):
            return  # gone, or a binary message
        if replay is None:
            continue
        try:
            command = ReplayCommand.model_validate(json.loads(text))
        except (ValidationError, ValueError):
            continue
        replay.command(speed=command.speed, paused=command.paused)
