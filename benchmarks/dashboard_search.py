"""Does watching slow the search down? The same search alone, and with 100 clients on its events.

    python -m benchmarks.dashboard_search [--rounds 6] [--steps 300] [--clients 100]

A search of one seed does the same work every time (bin packing u120, rules, one worker). It is pinned to one core; the
dashboard's server and its clients to the other. Every round does it three times, every second round backwards:

    alone     the server runs, nobody is connected
    watched   so many clients are connected and get every event
    busy      nobody is connected, and a loop that adds numbers keeps the other core busy

Two cores of one machine share caches and often one core's units, so that work on the other slows the search down
whatever that work is: `watched ÷ alone` is what a user sees, `watched ÷ busy` is what watching itself adds. Each figure
is the median over the rounds, with the interval that holds the true median in 95 % of cases: for steps a second of wall
clock between the first and the last commit, and for steps a second of the search's own processor time (all its
processes), which other programs disturb less.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.dashboard_fanout import ROOT, SERVER_CORE, WRITER_CORE, Seen, pin, server, watch

KINDS = ("alone", "watched", "busy")
Clock = Literal["wall", "cpu"]
CLOCKS: dict[Clock, str] = {"wall": "by the wall clock", "cpu": "by the search's processor time"}
ALLOWED = 0.95
"""Watched ÷ alone that is still no cost to speak of."""


@dataclass(frozen=True, slots=True)
class Done:
    """One search, from its first to its last commit."""

    steps: int
    wall: float
    cpu: float
    """Processor seconds of the search and its children, its start included."""
    delivered: int = 0
    """Events that the clients got."""


class Watchers:
    """Clients that follow the newest run of a project, from its first event to its end."""

    def __init__(self, project: Path, address: str, count: int) -> None:
        self._project, self._address, self._count = project, address, count
        self.events = 0
        self._done = threading.Event()
        self._thread = threading.Thread(target=self._work)

    def __enter__(self) -> Watchers:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._done.set()
        self._thread.join()

    def _work(self) -> None:
        pin(SERVER_CORE)  # of this thread only
        asyncio.run(self._follow())

    async def _follow(self) -> None:
        while not (runs := sorted(self._project.glob("logs/*/metrics.json"))):
            if self._done.is_set():
                return
            await asyncio.sleep(0.05)
        url = f"ws://{self._address}/ws?run={runs[-1].parent.name}&after=0"
        clients = [Seen() for _ in range(self._count)]
        tasks = [asyncio.create_task(watch(url, 2**60, seen, None, 600)) for seen in clients]
        while not self._done.is_set():
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        for lost in await asyncio.gather(*tasks, return_exceptions=True):
            if not isinstance(lost, asyncio.CancelledError):
                raise SystemExit(f"a client was lost: {lost}")
        self.events = sum(seen.events for seen in clients)


def search(project: Path, steps: int) -> Done:
    """Run the search to its end, pinned."""
    keys = [f"--search.max_steps={steps}", "--search.workers=1", "--problem.name=u120", "--logging.view=quiet"]
    command = [sys.executable, str(ROOT / "main.py"), "run", "--problem=bin_packing", *keys]
    before = os.times()
    subprocess.run(
        command, cwd=project, preexec_fn=lambda: pin(WRITER_CORE), stdout=subprocess.DEVNULL, check=True, timeout=600
    )
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    (store,) = (path for path in project.glob("logs/*/run.db") if not path.parent.is_symlink())
    connection = sqlite3.connect(f"file:{store}?mode=ro", uri=True)
    query = "SELECT min(at), max(at), count(*) FROM events WHERE type = 'node.committed'"
    first, last, count = connection.execute(query).fetchone()
    connection.close()
    return Done(count, (last - first) / 1e6, cpu)


def once(kind: str, steps: int, clients: int) -> Done:
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as address:
        if kind != "watched":
            with busy_core() if kind == "busy" else nullcontext():
                return search(Path(folder), steps)
        with Watchers(Path(folder), address, clients) as watchers:
            found = search(Path(folder), steps)
        return Done(found.steps, found.wall, found.cpu, watchers.events)


def median_interval(values: Sequence[float]) -> tuple[float, float, float]:
    """(median, low, high): order statistics that hold the true median in at least 95 % of cases, whatever the noise."""
    ordered, n = sorted(values), len(values)
    outside, cut = 0.5**n, 0
    while cut < n // 2 and outside <= 0.025:
        cut += 1
        outside += math.comb(n, cut) * 0.5**n
    cut = max(0, cut - 1)
    return statistics.median(ordered), ordered[cut], ordered[n - 1 - cut]


def verdict(name: str, ratios: Sequence[float]) -> str:
    middle, low, high = median_interval(ratios)
    says = "less than 5 %" if low >= ALLOWED else "more than 5 %" if high < ALLOWED else "not decided by these rounds"
    return f"{name}: {middle:.3f} (95 % {low:.3f} … {high:.3f}): cost {says}"


@contextmanager
def busy_core() -> Iterator[None]:
    """A loop on the core of server and clients that touches nothing of theirs."""
    loop = subprocess.Popen([sys.executable, "-c", "n = 0\nwhile True: n += 1"], preexec_fn=lambda: pin(SERVER_CORE))
    try:
        yield
    finally:
        loop.kill()
        loop.wait()


def measure(options: argparse.Namespace) -> list[dict[str, Done]]:
    print("round   steps/s: alone  watched  busy   steps/CPU-s: alone  watched  busy   delivered   load", flush=True)
    rounds = []
    for number in range(options.rounds):
        order = KINDS if number % 2 == 0 else KINDS[::-1]
        found = {kind: once(kind, options.steps, options.clients) for kind in order}
        rounds.append(found)
        wall, cpu = ([one[kind] for kind in KINDS] for one in (rates(found, "wall"), rates(found, "cpu")))
        print(
            f"{number + 1:>5}   {wall[0]:>14.1f}  {wall[1]:>7.1f} {wall[2]:>5.1f}   {cpu[0]:>18.1f}  {cpu[1]:>7.1f}"
            f" {cpu[2]:>5.1f}   {found['watched'].delivered:>9}   {os.getloadavg()[0]:>4.1f}",
            flush=True,
        )
    return rounds


def rates(found: dict[str, Done], clock: Clock) -> dict[str, float]:
    return {kind: one.steps / getattr(one, clock) for kind, one in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=6)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--clients", type=int, default=100)
    options = parser.parse_args()
    if options.rounds < 6:
        parser.error("--rounds: fewer than 6 carry no 95 % interval")
    rounds = measure(options)
    for other in ("alone", "busy"):
        for clock, words in CLOCKS.items():
            both = [rates(found, clock) for found in rounds]
            print(verdict(f"watched ÷ {other} {words}", [one["watched"] / one[other] for one in both]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
