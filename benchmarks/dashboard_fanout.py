"""How many clients can watch one run: every event to each of them, and one that stops reading.

    python -m benchmarks.dashboard_fanout [--clients 100] [--rate 1000] [--seconds 30]

A writer puts `rate` events a second into a real store; the real server tails it; the clients count what they get. The
writer is pinned to one core, server and clients to the other (where there are two). One more client stops reading after
its first frame and begins again at the end: it must lose only its own events and be told which. Latency is from the
event's time in the store to the moment a client has the frame.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import socket as sockets
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else [0]
WRITER_CORE, SERVER_CORE = CORES[0], CORES[-1]

WRITER = """
import sys, time
sys.path.insert(0, {root!r})
from pathlib import Path
from core.events import GameMove
from core.storage.repository import RunStore
store = RunStore(Path({run!r}))
fen = "r1bq1rk1/pp2bppp/2n1pn2/2pp4/3P1B2/2PBPN2/PP1N1PPP/R2QK2R w KQ - 4 8"
rate, seconds, batch = {rate}, {seconds}, 10
started, told = time.monotonic(), 0
while told < rate * seconds:
    store.append([GameMove(game_id="g%d" % (k % 40), ply=told + k + 1, uci="e2e4", san="e4", fen=fen, clock=(60, 60))
                  for k in range(batch)])
    told += batch
    time.sleep(max(0.0, started + told / rate - time.monotonic()))
print(told / (time.monotonic() - started), flush=True)
"""
SERVER = """
import sys
sys.path.insert(0, {root!r})
from pathlib import Path
from dashboard.server.serving import serve
sys.exit(serve(Path({project!r}), "127.0.0.1", 0, say=lambda text: print(text, flush=True)))
"""


@dataclass
class Seen:
    """What one client got."""

    events: int = 0
    last: int = 0
    holes: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)
    waits: list[float] = field(default_factory=list)


def pin(core: int) -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {core})


def start(code: str, core: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-c", code]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, preexec_fn=lambda: pin(core))


@contextmanager
def server(project: Path, core: int = SERVER_CORE) -> Iterator[str]:
    """The dashboard in a process of its own; yields `127.0.0.1:PORT`."""
    process = start(SERVER.format(root=str(ROOT), project=str(project)), core)
    try:
        assert process.stdout is not None
        yield process.stdout.readline().split("http://")[1].split("/")[0]
    finally:
        process.send_signal(signal.SIGINT)
        process.wait(20)


def take(seen: Seen, frame: str) -> None:
    """Count a frame by its head; the events themselves are not parsed, as a hundred browsers would do elsewhere."""
    if frame.startswith('{"kind":"gap"'):
        gap = json.loads(frame)
        seen.gaps.append((gap["from"], gap["to"]))
        seen.last = gap["to"]
    elif frame.startswith('{"kind":"events"'):
        head = frame[: frame.index(',"events"')] + "}"
        place = json.loads(head)
        seen.holes += place["from"] != seen.last + 1
        seen.events += place["to"] - place["from"] + 1
        seen.last = place["to"]
        at = frame.rindex('"at":"') + 6
        told = datetime.fromisoformat(frame[at : frame.index('"', at)])
        seen.waits.append(time.time() - told.timestamp())


def small_socket(url: str) -> sockets.socket:
    """A connection that holds little, so that not reading is felt at the other end."""
    host, port = url.split("/")[2].split(":")
    made = sockets.socket()
    made.setsockopt(sockets.SOL_SOCKET, sockets.SO_RCVBUF, 64 * 1024)
    made.connect((host, int(port)))
    made.setblocking(False)
    return made


async def watch(url: str, until: int, seen: Seen, ready: asyncio.Event | None = None, seconds: float = 120) -> None:
    """Read to the event `until`. With `ready`, read one frame and no more before it is set."""
    from websockets.asyncio.client import connect

    options: dict[str, Any] = {"max_queue": 16, "open_timeout": 60}
    if ready is not None:
        options |= {"max_queue": 1, "sock": small_socket(url)}
    async with connect(url, compression=None, max_size=None, **options) as socket:
        end = time.monotonic() + seconds
        if ready is not None:
            take(seen, str(await socket.recv()))
            await ready.wait()
        while seen.last < until and time.monotonic() < end:
            try:
                async with asyncio.timeout(5):  # not wait_for, which may swallow a cancellation in Python 3.11
                    frame = await socket.recv()
                take(seen, str(frame))
            except TimeoutError:
                continue


async def measure(address: str, options: argparse.Namespace, run: str) -> tuple[list[Seen], Seen, float]:
    total = options.rate * options.seconds
    url = f"ws://{address}/ws?run=bench&after=0"
    clients = [Seen() for _ in range(options.clients)]
    stalled, again = Seen(), asyncio.Event()
    tasks = [asyncio.create_task(watch(url, total, seen, None, options.seconds + 60)) for seen in clients]
    late = asyncio.create_task(watch(url, total, stalled, again, options.seconds + 90))
    await asyncio.sleep(1.5)
    code = WRITER.format(root=str(ROOT), run=run, rate=options.rate, seconds=options.seconds)
    writer = start(code, WRITER_CORE)
    await asyncio.gather(*tasks)
    again.set()
    await late
    output, _ = await asyncio.to_thread(writer.communicate)
    return clients, stalled, float(output)


def report(clients: list[Seen], stalled: Seen, written: float, options: argparse.Namespace) -> bool:
    total = options.rate * options.seconds
    complete = sum(seen.events == total and not seen.holes and not seen.gaps for seen in clients)
    waits = sorted(wait for seen in clients for wait in seen.waits)
    lost = sum(to - first + 1 for first, to in stalled.gaps)
    accounted = stalled.events + lost == total
    print(f"clients                 {options.clients}, and 1 that stops reading")
    print(f"events                  {total} in {options.seconds} s (asked {options.rate}/s, written {written:.0f}/s)")
    print(f"delivered               {sum(seen.events for seen in clients)} of {total * options.clients}")
    print(f"clients with every event, in order, without a gap   {complete} of {options.clients}")
    print(
        f"latency                 median {statistics.median(waits) * 1000:.0f} ms,"
        f" 99 % {waits[int(len(waits) * 0.99)] * 1000:.0f} ms, longest {waits[-1] * 1000:.0f} ms"
    )
    print(f"the stalled client      got {stalled.events}, was told {len(stalled.gaps)} gap(s) of {lost} events;")
    print(f"                        together {'all' if accounted else 'NOT all'} of them")
    return complete == options.clients and accounted and lost > 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--clients", type=int, default=100)
    parser.add_argument("--rate", type=int, default=1000)
    parser.add_argument("--seconds", type=int, default=30)
    options = parser.parse_args()
    sys.path.insert(0, str(ROOT))
    from core.storage.repository import RunStore

    with tempfile.TemporaryDirectory() as folder:
        run = Path(folder) / "logs" / "bench"
        RunStore(run).close()
        with server(Path(folder)) as address:
            pin(SERVER_CORE)
            good = report(*asyncio.run(measure(address, options, str(run))), options)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
