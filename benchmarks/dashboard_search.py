"""Does watching slow the search down? The same search, alone and with 100 clients on its events.

    python -m benchmarks.dashboard_search [--pairs 5] [--steps 300] [--clients 100]

The search (bin packing u120, rules, same seed, one worker) is pinned to one core; the dashboard's server and its
clients to the other. Runs alternate, watched first in every second pair; the figure is the median over the pairs of
steps a second, watched ÷ alone, by the wall clock and by the search's own processor time (all its processes), which a
busy machine disturbs less.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

from benchmarks.dashboard_fanout import ROOT, SERVER_CORE, WRITER_CORE, Seen, pin, server, watch


class Watchers:
    """Clients that follow the newest run of a project, from its first event to its end."""

    def __init__(self, project: Path, address: str, count: int) -> None:
        self.project, self.address, self.count = project, address, count
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
        logs = self.project / "logs"
        while not (runs := sorted(logs.glob("*/run.db"))) and not self._done.is_set():
            await asyncio.sleep(0.05)
        url = f"ws://{self.address}/ws?run={runs[-1].parent.name}&after=0"
        clients = [Seen() for _ in range(self.count)]
        tasks = [asyncio.create_task(watch(url, 2**60, seen, None, 600)) for seen in clients]
        while not self._done.is_set():
            await asyncio.sleep(0.1)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self.events = sum(seen.events for seen in clients)


def search(project: Path, steps: int) -> tuple[float, float]:
    """Run a search to its end: (steps a second of wall clock, steps a second of its processor time)."""
    keys = [f"--search.max_steps={steps}", "--search.workers=1", "--problem.name=u120", "--logging.view=quiet"]
    command = [sys.executable, str(ROOT / "main.py"), "run", "--problem=bin_packing", *keys]
    before, started = os.times(), time.monotonic()
    subprocess.run(
        command, cwd=project, preexec_fn=lambda: pin(WRITER_CORE), stdout=subprocess.DEVNULL, check=True, timeout=600
    )
    seconds = time.monotonic() - started
    after = os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return steps / seconds, steps / cpu


def once(steps: int, clients: int) -> tuple[float, float, int]:
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        if clients == 0:
            return (*search(project, steps), 0)
        with server(project) as address, Watchers(project, address, clients) as watchers:
            wall, cpu = search(project, steps)
        return wall, cpu, watchers.events


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--pairs", type=int, default=5)
    parser.add_argument("--steps", type=int, default=300)
    parser.add_argument("--clients", type=int, default=100)
    options = parser.parse_args()
    walls, cpus = [], []
    print(
        f"{'pair':<6}{'alone':>10}{'watched':>10}   wall   {'alone':>8}{'watched':>10}   processor   events delivered"
    )
    for pair in range(options.pairs):
        order = [0, options.clients] if pair % 2 == 0 else [options.clients, 0]
        found = {clients: once(options.steps, clients) for clients in order}
        alone, watched = found[0], found[options.clients]
        walls.append(watched[0] / alone[0])
        cpus.append(watched[1] / alone[1])
        line = f"{pair + 1:<6}{alone[0]:>8.1f}/s{watched[0]:>8.1f}/s  {walls[-1]:>5.3f}"
        print(f"{line}  {alone[1]:>8.1f}/s{watched[1]:>8.1f}/s  {cpus[-1]:>5.3f}     {watched[2]:>12}", flush=True)
    print(
        f"watched ÷ alone, median of {options.pairs}: {statistics.median(walls):.3f} by the wall clock,"
        f" {statistics.median(cpus):.3f} by processor time"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main())
