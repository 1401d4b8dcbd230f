"""The socket over a real server: live events, reconnects, gaps, replay, shut-down with clients connected."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from support.dashboard import serve_code, serving
from support.synthetic_runs import SyntheticRun, competition
from support.timing import fastest
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.sync.client import connect


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Path:
    return tmp_path_factory.mktemp("project")


@pytest.fixture(scope="module")
def address(project) -> Iterator[str]:
    """A server of this module's runs."""
    with serving(project) as (address, _):
        yield address


@pytest.fixture
def run(project, request) -> Iterator[SyntheticRun]:
    """A run of this test's own, held open; `run.run` is its id."""
    made = competition(project / "logs", 10, run=re.sub(r"\W+", "-", request.node.name)[:60])
    yield made
    made.close()


def frames(socket: Any, until: int, seconds: float = 60.0) -> list[dict[str, Any]]:
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


def test_stored_events_then_new_ones_without_a_hole(address, run):
    with connect(f"ws://{address}/ws?run={run.run}&after=0") as socket:
        stored = run.store.seq
        first = frames(socket, stored)
        run.step()
        second = frames(socket, run.store.seq)
    assert seqs(first + second) == list(range(1, run.store.seq + 1))
    assert max(len(frame.get("events", ())) for frame in first) <= 256
    committed = [e for f in second for e in f.get("events", ()) if e["type"] == "node.committed"]
    assert committed[0]["node_id"] == run.nodes[-1].id and committed[0]["at"].startswith("2026-01-05T")


def test_a_new_event_arrives_soon(address, run):
    with connect(f"ws://{address}/ws?run={run.run}&after={run.store.seq}") as socket:
        json.loads(socket.recv(timeout=60))

        def told() -> None:
            run.step()
            frames(socket, run.store.seq)

        assert fastest(told, 0.5) < 0.5


def test_a_reconnect_goes_on_after_the_last_event(address, run):
    with connect(f"ws://{address}/ws?run={run.run}&after=0") as socket:
        first = frames(socket, run.store.seq)
    for _ in range(5):
        run.step()
    last = seqs(first)[-1]
    with connect(f"ws://{address}/ws?run={run.run}&after={last}") as socket:
        second = frames(socket, run.store.seq)
    assert seqs(first + second) == list(range(1, run.store.seq + 1))


def test_a_client_that_stops_reading_is_told_its_gap_and_the_others_lose_nothing(address, run):
    """30,000 events while one client does not read: far more than the socket's buffers and its queue hold."""
    from core.events import Warned

    start, count, burst = run.store.seq, 30_000, 250
    healthy: list[dict[str, Any]] = []
    url = f"ws://{address}/ws?run={run.run}&after={start}"
    with connect(url, max_queue=1) as stalled, connect(url) as reader:
        stalled.recv(timeout=60)
        taking = threading.Thread(target=lambda: healthy.extend(frames(reader, start + count)))
        taking.start()
        time.sleep(0.3)
        for _ in range(count // burst):
            run.store.append([Warned(text="x" * 300) for _ in range(burst)])
        taking.join(60)
        late = frames(stalled, start + count)
    assert seqs(healthy) == list(range(start + 1, start + count + 1))
    assert not [frame for frame in healthy if frame["kind"] == "gap"]
    gaps = [frame for frame in late if frame["kind"] == "gap"]
    assert gaps, "the stalled client must have lost events"
    lost = [seq for gap in gaps for seq in range(gap["from"], gap["to"] + 1)]
    assert sorted(seqs(late) + lost) == list(range(start + 1, start + count + 1))


def test_a_gap_can_be_filled_by_rest(address, run):
    with urlopen(f"http://{address}/api/runs/{run.run}/events?after=3&limit=4", timeout=60) as answer:
        page = json.load(answer)
    assert [event["seq"] for event in page["events"]] == [4, 5, 6, 7] and page["last_seq"] == run.store.seq


def test_a_replay_tells_the_same_events_at_its_own_pace(address, run):
    """Ten steps of 0.4 s and more an event; at speed 100 that is some thousandths of a second each."""
    run.end()
    started = time.monotonic()
    with connect(f"ws://{address}/ws?run={run.run}&after=0&speed=100") as socket:
        found = frames(socket, run.store.seq)
        took = time.monotonic() - started
        assert json.loads(socket.recv(timeout=60)) == {"kind": "end", "last_seq": run.store.seq}
    assert seqs(found) == list(range(1, run.store.seq + 1))
    whole = (run.store.seq - 1) * 0.4
    assert 0.8 * whole / 100 < took < 0.8 * whole
    assert len(found) > 5, "not all at once"


def test_a_replay_can_be_paused_and_sped_up(address, run):
    run.end()
    with connect(f"ws://{address}/ws?run={run.run}&after=0&speed=1") as socket:
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
        assert time.monotonic() - started < (run.store.seq - 1) * 0.4 * 0.8


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1"])
def test_a_socket_of_another_origin_is_refused(address, run, origin):
    with pytest.raises((InvalidStatus, ConnectionClosed)):
        with connect(f"ws://{address}/ws?run={run.run}", origin=origin) as socket:
            socket.recv(timeout=60)
    with connect(f"ws://{address}/ws?run={run.run}", origin=f"http://{address}") as socket:
        assert json.loads(socket.recv(timeout=60))["kind"] in ("status", "events")


@pytest.mark.long
def test_a_socket_needs_the_token(project, run):
    with serving(project, "tok-123") as (address, _):
        with pytest.raises((InvalidStatus, ConnectionClosed)):
            with connect(f"ws://{address}/ws?run={run.run}") as socket:
                socket.recv(timeout=60)
        token = {"Authorization": "Bearer tok-123"}
        with connect(f"ws://{address}/ws?run={run.run}", additional_headers=token) as socket:
            assert json.loads(socket.recv(timeout=60))["kind"] in ("status", "events")


def test_an_unknown_run_is_said_so(address):
    with connect(f"ws://{address}/ws?run=nothing") as socket:
        with pytest.raises(ConnectionClosed) as closed:
            socket.recv(timeout=60)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4404


def test_a_run_that_is_removed_while_it_is_followed_is_said_to_be_gone(address, run):
    """The store that is open could be read for ever: whoever watches would see a run that is not there."""
    with connect(f"ws://{address}/ws?run={run.run}&after={run.store.seq}") as socket:
        json.loads(socket.recv(timeout=60))
        run.close()
        shutil.rmtree(run.store.run_dir)
        with pytest.raises(ConnectionClosed) as closed:
            while True:
                socket.recv(timeout=60)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4410
    with connect(f"ws://{address}/ws?run={run.run}") as socket, pytest.raises(ConnectionClosed) as closed:
        socket.recv(timeout=60)
    assert closed.value.rcvd is not None and closed.value.rcvd.code == 4404


@pytest.mark.long
def test_the_server_goes_down_cleanly_with_clients_connected(project, run):
    command = [sys.executable, "-c", serve_code(project)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        address = process.stdout.readline().split("http://")[1].split("/")[0]
        with ExitStack() as stack:
            for _ in range(5):
                stack.enter_context(connect(f"ws://{address}/ws?run={run.run}&after=0")).recv(timeout=60)
            process.send_signal(signal.SIGINT)
            assert process.wait(60) == 0
    finally:
        process.kill()
        _, errors = process.communicate()
    assert "Traceback" not in errors and "ERROR" not in errors, errors


def test_an_address_for_others_needs_a_token(tmp_path):
    from dashboard.server.serving import serve
    from utils.errors import ConfigError

    with pytest.raises(ConfigError, match=r"dashboard\.token"):
        serve(tmp_path, "0.0.0.0", 0)
