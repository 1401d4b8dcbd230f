"""Whether a step costs more late in a long run than early: both in turns, so that both find the same machine.

    python -m benchmarks.flatness [--steps 10000] [--turns 3] [--long DIR]

Steps and nodes are those of `benchmarks.overhead`. A long run is made first (or taken from `--long`, where it is left
and goes on). Then by turns a new run makes steps 100 to 500, and a fresh process the next 400 of the long one.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from benchmarks.overhead import ROOT, OwnTime, search
from utils.collector import rare_collections

WARM, MEASURED = 100, 400
"""Steps of a process that are not counted, and those that are."""


def milliseconds(run_dir: Path) -> tuple[int, float]:
    """Go on with a run, or begin it: where the steps begin that count, and CPU milliseconds of one."""
    own = OwnTime()
    began: list[int] = []
    at: list[tuple[int, float]] = []

    def stop(progress: Any) -> str | None:
        began.append(progress.steps)
        done = progress.steps - began[0]
        if done >= WARM:
            at.append((progress.steps, time.process_time() - own.seconds))
        return "enough" if done >= WARM + MEASURED else None

    known = run_dir.is_dir()
    parts = search(run_dir, own, 10**9, stop)
    with rare_collections():
        if known:
            parts.orchestrator.restore()
        parts.orchestrator.run()
    parts.close()
    (first, before), (last, after) = at[0], at[-1]
    return first, 1000 * (after - before) / (last - first)


def turn(run_dir: Path) -> tuple[int, float]:
    """`milliseconds` in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.flatness", "--one", str(run_dir)],
        cwd=ROOT, capture_output=True, text=True, check=True,
    )  # fmt: skip
    first, spent = json.loads(done.stdout)
    return int(first), float(spent)


def made(run_dir: Path, total: int) -> None:
    """The long run."""
    parts = search(run_dir, OwnTime(), total, lambda progress: "enough" if progress.steps >= total else None)
    with rare_collections():
        parts.orchestrator.run()
    parts.close()


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--long", type=Path, help="a run of this benchmark to go on with")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.one:
        print(json.dumps(milliseconds(args.one)))
        return
    with tempfile.TemporaryDirectory(prefix="swarm-flat-") as folder:
        long = args.long or Path(folder) / "long"
        if not long.is_dir():
            made(long, args.steps)
        print(f"CPU ms a step over {MEASURED} steps, a new run and a long one in turns")
        ratios = []
        for number in range(args.turns):
            (early, one), (late, other) = turn(Path(folder) / f"new{number}"), turn(long)
            ratios.append(other / one)
            print(
                f"from step {early:,}: {one:.2f}   from step {late:,}: {other:.2f}   ratio {ratios[-1]:.3f}", flush=True
            )
    print(f"ratio, median: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
