"""`/ws?run=…&after=SEQ`: a run's events as they come, or with `speed` a replay of it."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import AsyncGenerator
from contextlib import aclosing, suppress

from fastapi import APIRouter, Query, WebSocket, WebSocketDisconnect
from pydantic import ValidationError

from dashboard.server.catalog import RunCatalog
from dashboard.server.hub import Hub
from dashboard.server.replay import FASTEST, SLOWEST, Replay
from dashboard.server.schemas.frames import ReplayCommand
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
        speed: float | None = Query(None, ge=SLOWEST, le=FASTEST),
    ) -> None:
        try:
            await socket.accept()
            await _follow(socket, catalog, hub, run, after, speed)
        except WebSocketDisconnect:
            return  # hung up in the middle of a word: nobody is left to be told

    return router


async def _follow(socket: WebSocket, catalog: RunCatalog, hub: Hub, run: str, after: int, speed: float | None) -> None:
    try:
        run_dir = catalog.run_dir(run)
    except UnknownRunError as error:
        await _close(socket, UNKNOWN_RUN, str(error))
        return
    if speed is not None:
        replay = Replay(run_dir, after=after, speed=speed)
        await _serve(socket, replay.frames(), replay)
        return
    try:
        async with hub.follow(run_dir, after) as frames:
            await _serve(socket, frames, None)
    except sqlite3.Error as error:
        await _close(socket, GONE, f"the store cannot be read: {error}")


async def _serve(socket: WebSocket, frames: AsyncGenerator[str, None], replay: Replay | None) -> None:
    """Send until the client leaves or there is nothing more; listen at the same time."""
    sender = asyncio.create_task(_send(socket, frames))
    listener = asyncio.create_task(_listen(socket, replay))
    try:
        await asyncio.wait({sender, listener}, return_when=asyncio.FIRST_COMPLETED)
        if replay is not None and sender.done() and sender.exception() is None:
            await asyncio.wait({listener})  # a shown replay stays open until its client leaves
        left = listener.done()
    finally:  # also when the server goes down: neither may outlive the connection
        sender.cancel()
        listener.cancel()
        await asyncio.gather(sender, listener, return_exceptions=True)
    if not left:
        await _close(socket, GONE, "the run cannot be followed any more")


async def _close(socket: WebSocket, code: int, reason: str) -> None:
    with suppress(RuntimeError):  # closed already
        await socket.close(code, reason.encode()[:120].decode("utf-8", "ignore"))


async def _send(socket: WebSocket, frames: AsyncGenerator[str, None]) -> None:
    async with aclosing(frames):
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
            command = ReplayCommand.model_validate_json(text)
        except ValidationError:
            continue
        replay.command(speed=command.speed, paused=command.paused)
