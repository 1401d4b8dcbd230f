"""The socket over a real server: live events, reconnects, gaps, replay, shut-down with clients connected."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "browser"))
from synthetic_runs import SyntheticRun, competition  # noqa: E402

SERVE = """
import sys
from pathlib import Path
sys.path.insert(0, {root!r})
from dashboard.server.serving import serve, serve_replay
say = lambda text: print(text, flush=True)
sys.exit(serve(Path({project!r}), "127.0.0.1", 0, {token!r}, say=say))
"""


@contextmanager
def server(project: Path, token: str | None = None) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A real server in a process of its own; yields `127.0.0.1:PORT` and the process."""
    code = SERVE.format(root=str(ROOT), project=str(project), token=token)
    process = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        line = process.stdout.readline()
        assert "http://" in line, process.stderr.read() if process.stderr else line
        yield line.split("http://")[1].split("/")[0], process
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGINT)
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe:
                pipe.close()


@pytest.fixture
def run(tmp_path) -> Iterator[SyntheticRun]:
    made = competition(tmp_path / "logs", 10, run="demo")
    yield made
    made.close()


def frames(socket: Any, until: int, seconds: float = 15.0) -> list[dict[str, Any]]:
    """Frames until the event `until` has come."""
    found: list[dict[str, Any]] = []
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        found.append(json.loads(socket.recv(timeout=end - time.monotonic())))
        if found[-1].get("to", 0) >= until:
            return found
    raise AssertionError(f"event {until} did not come")


def seqs(found: list[dict[str, Any]]) -> list[int]:
    return [event["seq"] for frame in found if frame["kind"] == "events" for event in frame["events"]]


def test_stored_events_then_new_ones_without_a_hole(tmp_path, run):
    with server(tmp_path) as (address, _), connect(f"ws://{address}/ws?run=demo&after=0") as socket:
        stored = run.store.seq
        first = frames(socket, stored)
        run.step()
        second = frames(socket, run.store.seq)
    assert seqs(first + second) == list(range(1, run.store.seq + 1))
    assert max(len(frame.get("events", ())) for frame in first) <= 256
    committed = [e for f in second for e in f.get("events", ()) if e["type"] == "node.committed"]
    assert committed[0]["node_id"] == run.nodes[-1].id and committed[0]["at"].startswith("2026-01-05T")


def test_a_new_event_arrives_soon(tmp_path, run):
    with server(tmp_path) as (address, _), connect(f"ws://{address}/ws?run=demo&after={run.store.seq}") as socket:
        json.loads(socket.recv(timeout=5))
        waits = []
        for _ in range(5):
            run.step()
            written = time.monotonic()
            frames(socket, run.store.seq)
            waits.append(time.monotonic() - written)
    assert sorted(waits)[2] < 0.5


def test_a_reconnect_goes_on_after_the_last_event(tmp_path, run):
    with server(tmp_path) as (address, _):
        with connect(f"ws://{address}/ws?run=demo&after=0") as socket:
            first = frames(socket, run.store.seq)
        for _ in range(5):
            run.step()
        last = seqs(first)[-1]
        with connect(f"ws://{address}/ws?run=demo&after={last}") as socket:
            second = frames(socket, run.store.seq)
    assert seqs(first + second) == list(range(1, run.store.seq + 1))


def test_a_client_that_stops_reading_is_told_its_gap_and_the_others_lose_nothing(tmp_path, run):
    """30,000 events while one client does not read: far more than the socket's buffers and its queue hold."""
    from core.events import Warned

    start, count, burst = run.store.seq, 30_000, 250
    healthy: list[dict[str, Any]] = []
    with server(tmp_path) as (address, _):
        url = f"ws://{address}/ws?run=demo&after={start}"
        with connect(url, max_queue=1) as stalled, connect(url) as reader:
            stalled.recv(timeout=5)
            taking = threading.Thread(target=lambda: healthy.extend(frames(reader, start + count, 60)))
            taking.start()
            time.sleep(0.3)
            for _ in range(count // burst):
                run.store.append([Warned(text="x" * 300) for _ in range(burst)])
            taking.join(60)
            late = frames(stalled, start + count, 30)
    assert seqs(healthy) == list(range(start + 1, start + count + 1))
    assert not [frame for frame in healthy if frame["kind"] == "gap"]
    gaps = [frame for frame in late if frame["kind"] == "gap"]
    assert gaps, "the stalled client must have lost events"
    lost = [seq for gap in gaps for seq in range(gap["from"], gap["to"] + 1)]
    assert sorted(seqs(late) + lost) == list(range(start + 1, start + count + 1))


def test_a_gap_can_be_filled_by_rest(tmp_path, run):
    with server(tmp_path) as (address, _):
        with urlopen(f"http://{address}/api/runs/demo/events?after=3&limit=4", timeout=5) as answer:
            page = json.load(answer)
    assert [event["seq"] for event in page["events"]] == [4, 5, 6, 7] and page["last_seq"] == run.store.seq


def test_a_replay_tells_the_same_events_at_its_own_pace(tmp_path, run):
    """Ten steps of 0.4 s and more an event; at speed 100 that is a few hundredths of a second each."""
    run.end()
    with server(tmp_path) as (address, _):
        started = time.monotonic()
        with connect(f"ws://{address}/ws?run=demo&after=0&speed=100") as socket:
            found = frames(socket, run.store.seq)
            took = time.monotonic() - started
            assert json.loads(socket.recv(timeout=5)) == {"kind": "end", "last_seq": run.store.seq}
    assert seqs(found) == list(range(1, run.store.seq + 1))
    expected = (run.store.seq - 1) * 0.4 / 100
    assert expected * 0.8 < took < expected * 4 + 2
    assert len(found) > 5, "not all at once"


def test_a_replay_can_be_paused_and_sped_up(tmp_path, run):
    run.end()
    with server(tmp_path) as (address, _), connect(f"ws://{address}/ws?run=demo&after=0&speed=1") as socket:
        frames(socket, 1)
        socket.send(json.dumps({"paused": True}))
        time.sleep(0.2)
        with pytest.raises(TimeoutError):
            while True:
                socket.recv(timeout=1.0)
        socket.send("not json")
        socket.send(json.dumps({"speed": 1000, "paused": False}))
        started = time.monotonic()
        frames(socket, run.store.seq)
        assert time.monotonic() - started < 5


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_socket_of_another_origin_is_refused(tmp_path, run, origin):
    with server(tmp_path) as (address, _):
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            with connect(f"ws://{address}/ws?run=demo", origin=origin) as socket:
                socket.recv(timeout=2)
        with connect(f"ws://{address}/ws?run=demo", origin=f"http://{address}") as socket:
            assert json.loads(socket.recv(timeout=5))["kind"] in ("status", "events")


def test_a_socket_needs_the_token(tmp_path, run):
    with server(tmp_path, "tok-123") as (address, _):
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            with connect(f"ws://{address}/ws?run=demo") as socket:
                socket.recv(timeout=2)
        with connect(f"ws://{address}/ws?run=demo", additional_headers={"Authorization": "Bearer tok-123"}) as socket:
            assert json.loads(socket.recv(timeout=5))["kind"] in ("status", "events")


def test_an_unknown_run_is_said_so(tmp_path, run):
    with server(tmp_path) as (address, _), connect(f"ws://{address}/ws?run=nothing") as socket:
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=5)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4404


def test_the_server_goes_down_cleanly_with_clients_connected(tmp_path, run):
    with ExitStack() as stack:
        address, process = stack.enter_context(server(tmp_path))
        for _ in range(5):
            stack.enter_context(connect(f"ws://{address}/ws?run=demo&after=0")).recv(timeout=5)
        process.send_signal(signal.SIGINT)
        assert process.wait(8) == 0
        errors = process.stderr.read() if process.stderr else ""
    assert "Traceback" not in errors and "ERROR" not in errors, errors


def test_an_address_for_others_needs_a_token(tmp_path):
    from dashboard.server.serving import serve
    from utils.errors import ConfigError

    with pytest.raises(ConfigError, match=r"dashboard\.token"):
        serve(tmp_path, "0.0.0.0", 0)
