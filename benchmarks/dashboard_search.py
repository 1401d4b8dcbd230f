"""Does watching slow the search down? One search, with 100 clients on its events and without them, by turns.

    python -m benchmarks.dashboard_search [--rounds 16] [--seconds 5] [--clients 100]

The search (bin packing u120, rules, one worker) is pinned to one core; the dashboard's server and its clients to the
other. While it runs, phases follow each other in rounds, every second round backwards, so that start-up costs nothing,
and a search that slows down as it grows, or a machine whose load drifts, meets all alike:

    alone     the server runs, nobody is connected
    watched   so many clients are connected and get every event
    busy      nobody is connected, and a loop that adds numbers keeps the other core busy

Two cores of one machine share caches and often one core's units, so that work on the other slows the search down
whatever that work is: `watched ÷ alone` is what a user sees, `watched ÷ busy` is what watching itself adds. Each figure
is the median over the rounds, with the interval that holds the true median in 95 % of cases: for steps a second of wall
clock, and for steps a second of the search's own processor time (all its processes), which other programs disturb less.
Five minutes on a quiet machine decide it.
"""

from __future__ import annotations

import argparse
import asyncio
import math
import os
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from benchmarks.dashboard_fanout import ROOT, SERVER_CORE, WRITER_CORE, Seen, pin, server, watch

KINDS = ("alone", "watched", "busy")
Clock = Literal["wall", "cpu"]
CLOCKS: dict[Clock, str] = {"wall": "by the wall clock", "cpu": "by the search's processor time"}
SETTLE_SECONDS = 0.7
"""Between connecting or leaving and the beginning of a phase."""
ALLOWED = 0.95
"""Watched ÷ alone that is still no cost to speak of."""
TICKS = os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Phase:
    steps: int
    wall: float
    cpu: float
    """Processor seconds of the search and its children."""
    delivered: int
    """Events that the clients got."""


class Search:
    """A running search, seen from outside: its steps by its store, its processor time by the kernel."""

    def __init__(self, process: subprocess.Popen[bytes], run_dir: Path) -> None:
        self.process = process
        self.run_dir = run_dir
        self._store = sqlite3.connect(f"file:{run_dir / 'run.db'}?mode=ro", uri=True, timeout=10)

    def steps(self) -> int:
        return int(self._store.execute("SELECT count(*) FROM nodes").fetchone()[0])

    def cpu(self) -> float:
        """Seconds that the process, what it started, and what those have waited for took so far."""
        assert self.process.poll() is None, "the search ended by itself"
        children: dict[int, list[int]] = {}
        ticks: dict[int, int] = {}
        for entry in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = entry.read_text().rpartition(")")[2].split()
            except OSError:
                continue  # ended while we looked
            pid = int(entry.parent.name)
            children.setdefault(int(fields[1]), []).append(pid)
            ticks[pid] = sum(int(field) for field in fields[11:15])
        family, waiting = 0, [self.process.pid]
        while waiting:
            pid = waiting.pop()
            family += ticks.get(pid, 0)
            waiting += children.get(pid, [])
        return family / TICKS


@contextmanager
def searching(project: Path) -> Iterator[Search]:
    """A search without end in `project`, pinned; stopped in good order."""
    keys = [
        "--search.max_steps=1000000",
        "--search.max_generations=null",
        "--search.workers=1",
        "--problem.name=u120",
        "--logging.view=quiet",
    ]
    command = [sys.executable, str(ROOT / "main.py"), "run", "--problem=bin_packing", *keys]
    process = subprocess.Popen(
        command, cwd=project, preexec_fn=lambda: pin(WRITER_CORE), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        end = time.monotonic() + 120
        while not (runs := sorted(project.glob("logs/*/metrics.json"))) or not runs[-1].parent.name.startswith("u120"):
            assert time.monotonic() < end and process.poll() is None, "the search did not begin"
            time.sleep(0.2)
        yield Search(process, runs[-1].parent)
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(60)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


async def phase(search: Search, address: str, clients: int, seconds: float) -> Phase:
    """Steps and processor time of `seconds`, with so many clients connected all the while."""
    url = f"ws://{address}/ws?run={search.run_dir.name}&after={2**53}"
    seen = [Seen() for _ in range(clients)]
    tasks = [asyncio.create_task(watch(url, 2**60, one, None, 600)) for one in seen]
    while clients and not all(one.events for one in seen):
        await asyncio.sleep(0.05)
        if failed := [task for task in tasks if task.done()]:
            raise SystemExit(f"a client was lost: {failed[0]}")
    await asyncio.sleep(SETTLE_SECONDS)
    before = search.steps(), time.monotonic(), search.cpu(), sum(one.events for one in seen)
    await asyncio.sleep(seconds)
    after = search.steps(), time.monotonic(), search.cpu(), sum(one.events for one in seen)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    steps, wall, cpu, delivered = (float(b) - float(a) for a, b in zip(before, after, strict=True))
    return Phase(int(steps), wall, cpu, int(delivered))


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


async def measure(search: Search, address: str, options: argparse.Namespace) -> list[dict[str, Phase]]:
    await phase(search, address, options.clients, 1.0)  # both sides have their code warm
    print("round   steps/s: alone  watched  busy   steps/CPU-s: alone  watched  busy   delivered   load", flush=True)
    rounds = []
    for number in range(options.rounds):
        found: dict[str, Phase] = {}
        for kind in KINDS if number % 2 == 0 else KINDS[::-1]:
            with busy_core() if kind == "busy" else nullcontext():
                found[kind] = await phase(search, address, options.clients * (kind == "watched"), options.seconds)
        if not all(one.steps for one in found.values()):
            print(f"{number + 1:>5}   left out: no step in one of its phases", flush=True)
            continue
        rounds.append(found)
        wall, cpu = ([one[kind] for kind in KINDS] for one in (rates(found, "wall"), rates(found, "cpu")))
        print(
            f"{number + 1:>5}   {wall[0]:>14.1f}  {wall[1]:>7.1f} {wall[2]:>5.1f}   {cpu[0]:>18.1f}  {cpu[1]:>7.1f}"
            f" {cpu[2]:>5.1f}   {found['watched'].delivered:>9}   {os.getloadavg()[0]:>4.1f}",
            flush=True,
        )
    return rounds


def rates(found: dict[str, Phase], clock: Clock) -> dict[str, float]:
    return {kind: one.steps / getattr(one, clock) for kind, one in found.items()}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=16)
    parser.add_argument("--seconds", type=float, default=5.0, help="of one phase")
    parser.add_argument("--clients", type=int, default=100)
    options = parser.parse_args()
    if options.rounds < 6:
        parser.error("--rounds: fewer than 6 carry no 95 % interval")
    pin(SERVER_CORE)
    with tempfile.TemporaryDirectory() as folder, server(Path(folder)) as address, searching(Path(folder)) as search:
        rounds = asyncio.run(measure(search, address, options))
    if len(rounds) < 6:
        print("too few rounds: the machine is too busy, or --seconds too short")
        return 1
    for other in ("alone", "busy"):
        for clock, words in CLOCKS.items():
            both = [rates(found, clock) for found in rounds]
            print(verdict(f"watched ÷ {other} {words}", [one["watched"] / one[other] for one in both]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
