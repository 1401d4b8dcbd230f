"""Clients that come and hang up at random, at every stage of a connection, for a few seconds: the server lives on."""

from __future__ import annotations

import asyncio
import json
import os
import random
import shutil
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from urllib.request import urlopen

import pytest
from support.dashboard import serve_code
from support.synthetic_runs import competition
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed, InvalidMessage

SECONDS = 5.0
CLIENTS = 24
RUNS = 30
"""More than the catalog keeps open at once, so that readers are put out while others read."""


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Many finished runs, one whose store is no database, and `live`, which goes on during the test."""
    logs = tmp_path_factory.mktemp("project") / "logs"
    made = competition(logs, 12, run="run-0")
    made.finish()
    for number in range(1, RUNS):
        shutil.copytree(logs / "run-0", logs / f"run-{number}")
    (logs / "broken").mkdir()
    (logs / "broken" / "run.db").write_bytes(b"no database" * 1000)
    return logs.parent


class Crowd:
    """Clients of one server; `done` counts what each kind of visit achieved."""

    def __init__(self, address: str, seed: int) -> None:
        self.host, _, self.port = address.partition(":")
        self.address = address
        self.rng = random.Random(seed)
        self.done: dict[str, int] = {}

    async def gather(self) -> None:
        end = time.monotonic() + SECONDS
        await asyncio.gather(*(self._client(end) for _ in range(CLIENTS)))

    async def _client(self, end: float) -> None:
        visits: list[Callable[[], Awaitable[None]]] = [self.follows, self.replays, self.half_a_handshake, self.asks]
        while time.monotonic() < end or (not self.is_enough and time.monotonic() < end + 60):
            visit = self.rng.choice(visits)
            try:
                await asyncio.wait_for(visit(), 60)
            except (ConnectionClosed, InvalidMessage, ConnectionError, asyncio.IncompleteReadError):
                continue
            self.done[visit.__name__] = self.done.get(visit.__name__, 0) + 1

    @property
    def is_enough(self) -> bool:
        """Each kind of visit came to its end a few times, which takes a busy machine longer."""
        return len(self.done) == 4 and min(self.done.values()) >= 5

    def run(self) -> str:
        return self.rng.choice(["live", "live", "broken", f"run-{self.rng.randrange(RUNS)}", "nobody"])

    async def follows(self) -> None:
        await self._socket(f"run={self.run()}&after={self.rng.choice([0, 0, 20, 10**6])}")

    async def replays(self) -> None:
        await self._socket(f"run={self.run()}&speed={self.rng.choice([1, 50, 10_000])}")

    async def _socket(self, query: str) -> None:
        async with connect(f"ws://{self.address}/ws?{query}", compression=None) as socket:
            for _ in range(self.rng.randrange(4)):
                with suppress(TimeoutError):  # a run at its end says nothing more
                    await asyncio.wait_for(socket.recv(), 0.3)
                if self.rng.random() < 0.3:
                    await socket.send(self.rng.choice(['{"speed": 3}', '{"paused": true}', "[" * 5000, b"\0"]))
            await asyncio.sleep(self.rng.choice([0, 0, 0.01, 0.1]))
            if self.rng.random() < 0.7:
                socket.transport.abort()  # no word of farewell

    async def half_a_handshake(self) -> None:
        request = (
            f"GET /ws?run=live HTTP/1.1\r\nHost: {self.address}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            "Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        ).encode()
        _, writer = await asyncio.open_connection(self.host, int(self.port))
        writer.write(request[: self.rng.choice([30, len(request), len(request)])])
        await writer.drain()
        await asyncio.sleep(self.rng.choice([0, 0.001, 0.01]))
        writer.transport.abort()

    async def asks(self) -> None:
        path = self.rng.choice(["", "", f"/{self.run()}/snapshot", f"/{self.run()}/nodes", f"/{self.run()}/events"])
        reader, writer = await asyncio.open_connection(self.host, int(self.port))
        writer.write(f"GET /api/runs{path} HTTP/1.1\r\nHost: {self.address}\r\n\r\n".encode())
        await writer.drain()
        if self.rng.random() < 0.5:
            status = (await reader.readline()).split()
            assert status[1] in (b"200", b"404", b"409", b"422"), status
        writer.transport.abort()


@pytest.mark.long
def test_clients_that_hang_up_at_random_never_take_the_server_down(project, tmp_path):
    with (tmp_path / "server.txt").open("w+") as told:
        process = subprocess.Popen(
            [sys.executable, "-X", "dev", "-c", serve_code(project)], stdout=subprocess.PIPE, stderr=told, text=True
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().split("http://")[1].split("/")[0]
            crowd = Crowd(address, seed=7)
            with _search_goes_on(project):
                asyncio.run(crowd.gather())
            assert process.poll() is None, f"the server ended by itself with {process.returncode}"
            with urlopen(f"http://{address}/api/health", timeout=60) as answer:
                assert json.load(answer)["ok"]
            _few_files_are_open(process.pid)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
        finally:
            process.kill()
            process.wait()
            process.stdout.close()  # type: ignore[union-attr]
        told.seek(0)
        words = told.read()
    assert crowd.is_enough, crowd.done
    for sign in ("Traceback", "exception", "never retrieved", "ERROR"):
        assert sign not in words, words[-4000:]


class _search_goes_on:
    """A writer adds nodes to the run `live`."""

    def __init__(self, project: Path) -> None:
        self._made = competition(project / "logs", 5, run="live")
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._write)

    def __enter__(self) -> None:
        self._thread.start()

    def __exit__(self, *_: object) -> None:
        self._ended.set()
        self._thread.join()
        self._made.close()

    def _write(self) -> None:
        while not self._ended.wait(0.02):
            self._made.step()


def _few_files_are_open(pid: int) -> None:
    """Connections are closed: the catalog's own readers hold one write-ahead log each, an unreadable store nothing.

    Logs are counted, since SQLite keeps closed database files for the next opening while another connection reads.
    """
    end = time.monotonic() + 60
    while len(names := _open_stores(pid)) > 24 + 4:
        assert time.monotonic() < end, names
        time.sleep(0.1)


def _open_stores(pid: int) -> list[str]:
    """Names of the open files of stores, by run."""
    found = []
    for link in Path(f"/proc/{pid}/fd").iterdir():
        with suppress(OSError):
            target = Path(os.readlink(link))
            if target.name == "run.db-wal" or target.parent.name == "broken":
                found.append(f"{target.parent.name}/{target.name}")
    return sorted(found)


def test_a_store_that_is_no_database_is_said_so_on_the_socket(project):
    """The hub opens a store in the event loop: an unreadable one ends that connection, with the reason."""
    from starlette.testclient import TestClient
    from starlette.websockets import WebSocketDisconnect

    from dashboard.server.app import create_app

    with TestClient(create_app(project), base_url="http://127.0.0.1:8008") as client:
        with client.websocket_connect("ws://127.0.0.1:8008/ws?run=broken") as socket:
            with pytest.raises(WebSocketDisconnect) as left:
                socket.receive_text()
    assert left.value.code == 4410 and "not a database" in left.value.reason
    with pytest.raises(sqlite3.DatabaseError):
        sqlite3.connect(project / "logs" / "broken" / "run.db").execute("SELECT 1 FROM events")
