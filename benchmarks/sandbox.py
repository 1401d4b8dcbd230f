"""python benchmarks/sandbox.py: what the sandbox costs, measured against a fresh interpreter in the same run.

Timings on a shared machine are noisy: medians of interleaved repetitions.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from core.contracts import Limits
from core.executor.inside import watch
from core.executor.sandbox import open_sandbox
from core.executor.warm import WarmSandbox

ML = "import numpy, pandas, sklearn\nfrom sklearn.linear_model import LogisticRegression\nprint(numpy.__version__)"
FIT = """
import numpy as np
from sklearn.linear_model import LogisticRegression
X = np.random.rand(400, 10); y = X[:, 0] > 0.5
print(LogisticRegression().fit(X, y).score(X, y))
"""
SCORE = "def score(item, room):\n    return item * room + 1\n"
LIMITS = Limits(seconds=60, memory_mb=2048, disk_mb=256)


def seconds(run: Callable[[], Any]) -> float:
    began = time.perf_counter()
    run()
    return time.perf_counter() - began


def warm_against_fresh(sandbox: WarmSandbox, folder: Path, repeats: int) -> dict[str, float]:
    """Median milliseconds of a job that imports numpy, pandas and scikit-learn."""
    warm, fresh = [], []
    fresh_once = [sys.executable, "-c", ML]
    environment = {"PATH": os.environ["PATH"], "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    subprocess.run(fresh_once, capture_output=True, check=True, env=environment)  # files into the page cache
    for _ in range(repeats):
        fresh.append(seconds(lambda: subprocess.run(fresh_once, capture_output=True, check=True, env=environment)))
        warm += [seconds(lambda: checked(sandbox, ML, folder)) for _ in range(5)]
    one, other = statistics.median(warm) * 1e3, statistics.median(fresh) * 1e3
    return {
        "warm_ms": round(one, 1),
        "warm_best_ms": round(min(warm) * 1e3, 1),
        "fresh_ms": round(other, 1),
        "times": round(other / one, 1),
    }


def checked(sandbox: WarmSandbox, code: str, folder: Path) -> None:
    result = sandbox.run(code, workspace=folder, limits=LIMITS)
    if result.failure is not None:
        raise RuntimeError(result.message + result.term_out[-500:])


def throughput(sandbox: WarmSandbox, code: str, root: Path, jobs: int, workers: int) -> float:
    """Jobs a second with `workers` threads."""

    def one(number: int) -> None:
        folder = root / f"{time.monotonic_ns()}-{number}"
        folder.mkdir()
        checked(sandbox, code, folder)

    with ThreadPoolExecutor(workers) as pool:
        return jobs / seconds(lambda: list(pool.map(one, range(jobs))))


def candidates(sandbox: WarmSandbox, count: int, workers: int) -> float:
    """Small programs a second, each in a fresh child, 3 frames of calls each."""

    def one(number: int) -> None:
        with sandbox.session(f"{SCORE}\nK = {number}", limits=LIMITS) as session:
            for _ in range(3):
                session.call_many("score", [[i, number] for i in range(50)], timeout=30)

    with ThreadPoolExecutor(workers) as pool:
        list(pool.map(one, range(workers)))
        return count / seconds(lambda: list(pool.map(one, range(count))))


def calls(sandbox: WarmSandbox, batch: int, repeats: int) -> dict[str, int]:
    """Calls a second in one session, `batch` a frame, whole numbers and fractions, in both forms of frames.

    The median frame; the four take turns.
    """
    numbers = {"int": [[i, i + 1] for i in range(batch)], "float": [[i / 7, i + 1 / 3] for i in range(batch)]}
    frames: dict[str, list[float]] = {}
    with sandbox.session(SCORE, limits=LIMITS) as plain, sandbox.session(SCORE, limits=LIMITS) as quick:
        plain._msgpack = False
        forms = {"json": plain} | ({"msgpack": quick} if quick._msgpack else {})
        for turn in range(repeats + 5):
            for kind, arguments in numbers.items():
                for form, session in forms.items():
                    taken = seconds(partial(session.call_many, "score", arguments, timeout=30))
                    if turn >= 5:
                        frames.setdefault(f"{kind}_{form}", []).append(taken)
    return {name: round(batch / statistics.median(times)) for name, times in frames.items()}


def round_trip(sandbox: WarmSandbox, repeats: int) -> dict[str, float]:
    """Microseconds of one call in a frame of its own."""
    with sandbox.session(SCORE, limits=LIMITS) as session:
        session.call("score", [1, 2], timeout=30)
        times = sorted(seconds(lambda: session.call("score", [1, 2], timeout=30)) * 1e6 for _ in range(repeats))
    return {"p50_us": round(times[len(times) // 2], 1), "p99_us": round(times[int(len(times) * 0.99)], 1)}


def idle_memory(sandbox: WarmSandbox) -> float:
    """Proportional memory of an idle session's processes, in MB (supervisor and candidate)."""
    before = _family_memory()
    session = sandbox.session(SCORE, limits=LIMITS)
    session.call("score", [1, 2], timeout=30)
    grown = _family_memory() - before
    session.close()
    return round(grown / 2**20, 1)


def _family_memory() -> int:
    total = 0
    for pid in watch.descendants(os.getpid()):
        try:
            lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
            total += sum(int(line.split()[1]) * 1024 for line in lines if line.startswith("Private_"))
        except OSError:
            continue
    return total


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tier", default="auto")
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--json", action="store_true")
    args = parser.parse_args()
    figures: dict[str, Any] = {"cpus": os.cpu_count(), "load": os.getloadavg()[0]}
    with tempfile.TemporaryDirectory(prefix="swarm-bench-") as top:
        root = Path(top)
        root.chmod(0o755)
        folder = root / "workspace"
        folder.mkdir()
        ml = open_sandbox(args.tier, preload=("numpy", "pandas", "sklearn"), state_dir=root / "state")
        small = open_sandbox(args.tier, preload=("math", "numpy"), state_dir=root / "state")
        assert isinstance(ml, WarmSandbox) and isinstance(small, WarmSandbox)
        try:
            figures["tier"] = ml.tier
            figures["preload_s"] = round(ml.ready().seconds, 2)
            figures["import_job"] = warm_against_fresh(ml, folder, args.repeats)
            figures["ml_jobs_per_s"] = round(throughput(ml, FIT, root, 60, 2), 1)
            figures["tiny_jobs_per_s"] = round(throughput(small, "print(1)", root, 200, 2), 1)
            figures["tiny_candidates_per_s"] = round(candidates(small, 200, 2), 1)
            figures["calls_per_s_in_batches_of_1000"] = calls(small, 1000, 200)
            figures["single_call"] = round_trip(small, 2000)
            figures["idle_session_private_mb"] = {"small": idle_memory(small), "ml": idle_memory(ml)}
        finally:
            ml.close()
            small.close()
    if args.json:
        print(json.dumps(figures))
    else:
        for name, value in figures.items():
            print(f"{name:32s} {value}")


if __name__ == "__main__":
    main()
