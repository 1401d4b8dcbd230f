"""What one small sandboxed candidate costs, part by part, in microseconds.

`python -m benchmarks.candidate_parts [--count 400]`: candidates one after the other in a prepared slot, each asked
once. Wall time as the main process sees it, and the CPU time of the three who share the work: the main process, the
supervisor (its scheduler's count) and the candidate (which the supervisor reaps). A bare fork of a process with the
same modules is the limit.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median

from core.contracts import Limits
from core.executor.sandbox import open_sandbox
from core.executor.session import SandboxSession
from core.executor.warm import WarmSandbox

PROGRAM = "def score(item, room):\n    return item * room + {number}\n"
PRELOADS: dict[str, tuple[str, ...]] = {
    "math, numpy": ("math", "numpy"),
    "numpy, pandas, sklearn": ("numpy", "pandas", "sklearn"),
}
LIMITS = Limits(seconds=60, memory_mb=2048, disk_mb=256)
PARTS = ("start told", "fork, confine, load", "one call", "kill, reap, report", "all of it")
BARE = """
import os, sys, time
for name in sys.argv[2:]:
    __import__(name)
import gc
gc.collect(); gc.freeze()
times = []
for _ in range(int(sys.argv[1])):
    began = time.perf_counter()
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    os.waitpid(pid, 0)
    times.append(time.perf_counter() - began)
print(sorted(times)[len(times) // 2] * 1e6)
"""


def one(box: WarmSandbox, number: int) -> Iterator[float]:
    """Seconds by the monotonic clock at each boundary between two parts."""
    yield time.perf_counter()
    session = box.session(PROGRAM.format(number=number), limits=LIMITS)
    assert isinstance(session, SandboxSession)
    yield time.perf_counter()
    session.look_wrapped(30)  # answered when the program is loaded
    yield time.perf_counter()
    session.call("score", [3, 4], timeout=30)
    yield time.perf_counter()
    session.close()
    yield time.perf_counter()


def supervisor_cpu(box: WarmSandbox) -> float:
    """Seconds that the idle slot's supervisor has been running; it is the one that the next candidate gets."""
    slot, _ = box._idle[-1]
    return int(Path(f"/proc/{slot.pid}/schedstat").read_text().split()[0]) / 1e9


def measured(box: WarmSandbox, count: int) -> tuple[list[list[float]], float, float]:
    """(µs of each part a candidate, supervisor's CPU µs a candidate, the main process's)."""
    for number in range(20):
        list(one(box, -number))
    before, own = supervisor_cpu(box), time.process_time()
    rows = []
    for number in range(count):
        times = list(one(box, number))
        steps = [1e6 * (after - begun) for begun, after in pairwise(times)]
        rows.append([*steps, 1e6 * (times[-1] - times[0])])
    taken = time.process_time() - own
    return rows, 1e6 * (supervisor_cpu(box) - before) / count, 1e6 * taken / count


def candidate_cpu(box: WarmSandbox, count: int) -> float:
    """CPU µs of a candidate's own process, as its supervisor counts them: the median."""
    used = []
    for number in range(count):
        session = box.session(PROGRAM.format(number=number), limits=LIMITS)
        session.call("score", [3, 4], timeout=30)
        used.append(session.close().cpu_seconds or 0.0)
    return 1e6 * median(used)


def bare_fork(modules: tuple[str, ...], count: int) -> float:
    done = subprocess.run(
        [sys.executable, "-c", BARE, str(count), *modules], capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=400)
    count = parser.parse_args().count
    print(f"medians of {count} candidates, µs; load {os.getloadavg()[0]:.1f}")
    print(f"{'preloaded':26s}" + "".join(f"{name:>21s}" for name in PARTS))
    for name, modules in PRELOADS.items():
        with tempfile.TemporaryDirectory(prefix="swarm-parts-") as top:
            Path(top).chmod(0o755)
            box = open_sandbox("auto", preload=modules, state_dir=Path(top) / "state")
            assert isinstance(box, WarmSandbox)
            try:
                rows, supervisor, own = measured(box, count)
                candidate = candidate_cpu(box, count)
            finally:
                box.close()
        print(f"{name:26s}" + "".join(f"{median(row[part] for row in rows):21.0f}" for part in range(len(PARTS))))
        told = f"CPU: main {own:.0f}, supervisor {supervisor:.0f}, candidate {candidate:.0f}"
        whole, bare = own + supervisor + candidate, bare_fork(modules, count)
        print(f"{'':26s}{told}, together {whole:.0f}; a bare fork {bare:.0f}")


if __name__ == "__main__":
    main()
