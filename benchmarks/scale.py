"""Beyond one machine: jobs on a Ray cluster of three simulated nodes, one of them killed; and a model of 1,000 workers.

`python -m benchmarks.scale [--jobs 1000] [--simulate] [--slots 64]`; needs the extra [ray] for the cluster. With
`--slots` only that: as many slots on eight simulated nodes, jobs that sleep a second; all well, with a node killed when
half of the jobs are done, and with one added thereupon as well.
"""

from __future__ import annotations

import argparse
import heapq
import random
import statistics
import sys
import tempfile
import threading
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import redirect_stdout
from dataclasses import dataclass
from pathlib import Path

from core.contracts import JobSpec, Limits
from core.workers.local import LocalJobs, script_spec
from core.workers.pool import JobPool
from utils.extras import install_line

JOB_SECONDS = 0.1
SANDBOX = {"choice": "auto", "preload": ("math",), "python": None, "gpus": 0}


def specs(count: int, seconds: float = JOB_SECONDS) -> list[JobSpec]:
    """Sandboxed programs that sleep and print their number."""
    return [
        script_spec(f"import time\ntime.sleep({seconds})\nprint({number})", limits=Limits(seconds=60))
        for number in range(count)
    ]


def overhead(pool: JobPool, count: int) -> float:
    """Seconds a job beyond its 100 ms and its share of the slots."""
    pool.map(specs(pool.slots))
    started = time.perf_counter()
    pool.map(specs(count))
    return (time.perf_counter() - started) * pool.slots / count - JOB_SECONDS


def local(count: int) -> float:
    from core.executor.sandbox import open_sandbox

    with tempfile.TemporaryDirectory() as folder:
        sandbox = open_sandbox(**SANDBOX, state_dir=Path(folder))
        pool = JobPool(LocalJobs(sandbox, 2, scratch=Path(folder) / "jobs"))
        found = overhead(pool, count)
        pool.close()
        sandbox.close()
    return found


@dataclass(frozen=True, slots=True)
class OnCluster:
    """What became of the jobs on a simulated cluster."""

    told: Counter[int]
    """How often the result of each job was told."""
    wall: float
    """Seconds from the first job's start to the last one's end."""
    busy: float
    """Share of this machine's processor time."""


def on_cluster(
    count: int, *, nodes: int, slots: int, seconds: float = JOB_SECONDS, kill: bool = False, add: bool = False
) -> OnCluster:
    """Jobs on simulated nodes; with `kill` one is lost when half of them are done, with `add` another comes then."""
    from ray.cluster_utils import Cluster

    from core.workers.ray import RayCluster
    from core.workers.remote import RemoteJobs

    room = {"num_cpus": slots // nodes}
    simulated = Cluster(initialize_head=True, head_node_args=room)
    others = [simulated.add_node(**room) for _ in range(nodes - 1)]
    simulated.wait_for_nodes()
    ray = RayCluster({"address": simulated.address}, SANDBOX)
    pool = JobPool(RemoteJobs(ray.open_worker, slots))
    pool.map(specs(slots))
    told: Counter[int] = Counter()
    lock, half = threading.Lock(), threading.Event()

    def one(spec: JobSpec) -> None:
        value = pool.run(spec)
        with lock:
            told[int(value["result"]["term_out"])] += 1
            if told.total() >= count // 2:
                half.set()

    before, started = _busy_and_all(), time.perf_counter()
    with ThreadPoolExecutor(slots) as threads:
        jobs = [threads.submit(one, spec) for spec in specs(count, seconds)]
        half.wait()
        if kill:
            simulated.remove_node(others[0], allow_graceful=False)
        if add:
            simulated.add_node(**room)
        for job in jobs:
            job.result()
    wall = time.perf_counter() - started
    busy, whole = (after - then for after, then in zip(_busy_and_all(), before, strict=True))
    pool.close()
    ray.close()
    simulated.shutdown()
    return OnCluster(told, wall, busy / whole)


def cluster_line(count: int, *, nodes: int, slots: int, seconds: float = JOB_SECONDS, **lost: bool) -> str:
    with redirect_stdout(sys.stderr):  # Ray tells at length of the node that is killed
        found = on_cluster(count, nodes=nodes, slots=slots, seconds=seconds, **lost)
    what = ", ".join(f"1 {verb}ed" for verb, wanted in lost.items() if wanted) or "none killed"
    twice = sum(times > 1 for times in found.told.values())
    return (
        f"ray, {nodes} nodes, {slots} slots, {what}: {len(found.told)} of {count} jobs done, {twice} told twice"
        f", {found.wall:.1f} s; slots occupied {count * seconds / (slots * found.wall):.0%}"
        f", this machine's processors busy {found.busy:.0%}"
    )


def _busy_and_all() -> tuple[int, int]:
    """Ticks of all processors: not idle, and all."""
    ticks = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    return sum(ticks) - ticks[3] - ticks[4], sum(ticks)


def ray_overhead(count: int) -> float:
    from core.workers.ray import RayCluster
    from core.workers.remote import RemoteJobs

    ray = RayCluster({"num_cpus": 2}, SANDBOX)
    pool = JobPool(RemoteJobs(ray.open_worker, 2))
    found = overhead(pool, count)
    pool.close()
    ray.close()
    return found


def simulate(workers: int, latency: float, run: float, own: float, steps: int = 20_000, seed: int = 0) -> float:
    """Share of the workers that are busy, by a discrete-event model.

    Assumptions: writing takes a log-normal time of median `latency` seconds and holds no worker; running takes a
    log-normal time of median `run` and holds one; the orchestrator, one thread, spends `own` seconds a node; twice as
    many nodes as workers are under way.
    """
    rng = random.Random(seed)

    def draw(median: float) -> float:
        return rng.lognormvariate(0, 0.5) * median

    events = [(draw(latency), "written") for _ in range(2 * workers)]
    heapq.heapify(events)
    ready, free, done = 0, workers, 0
    orchestrator = busy = now = 0.0
    warm_up = 4 * workers  # nodes before the count begins
    began = 0.0
    while done < steps + warm_up:
        now, kind = heapq.heappop(events)
        if kind == "written":
            ready += 1
        else:
            free += 1
            done += 1
            orchestrator = max(orchestrator, now) + own
            heapq.heappush(events, (orchestrator + draw(latency), "written"))
            if done == warm_up:
                began, busy = now, 0.0
        while ready and free:
            ready, free = ready - 1, free - 1
            seconds = draw(run)
            busy += seconds
            heapq.heappush(events, (now + seconds, "finished"))
    return min(busy / ((now - began) * workers), 1.0)


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale")
    parser.add_argument("--jobs", type=int, default=1000)
    parser.add_argument("--slots", type=int, help="only so many slots on eight nodes")
    parser.add_argument("--simulate", action="store_true", help="only the model")
    args = parser.parse_args(words)
    if args.slots:
        for lost in ({}, {"kill": True}, {"kill": True, "add": True}):
            print(cluster_line(args.jobs, nodes=8, slots=args.slots, seconds=1.0, **lost))
        return 0
    if not args.simulate:
        here = statistics.median(local(100) for _ in range(3))
        print(f"local, 2 slots: {here * 1000:.1f} ms a job beyond its {JOB_SECONDS * 1000:.0f} ms (median of 3 × 100)")
        try:
            import ray  # noqa: F401
        except ImportError:
            print(f"ray: not installed, no figure ({install_line('ray')})")
        else:
            print(f"ray, 2 slots: {ray_overhead(100) * 1000:.1f} ms a job beyond its {JOB_SECONDS * 1000:.0f} ms")
            print(cluster_line(args.jobs, nodes=3, slots=3, kill=True))
    print("model: share of workers busy; rows: seconds a candidate runs; columns: the loop's own ms a node")
    costs = (0.002, 0.005, 0.02)
    print("workers  run   " + "  ".join(f"{own * 1000:4.0f} ms" for own in costs))
    for workers in (10, 100, 1000):
        for run in (1.0, 10.0, 60.0):
            shares = [simulate(workers, latency=20.0, run=run, own=own) for own in costs]
            print(f"{workers:7d} {run:4.0f} s " + "  ".join(f"{share:6.0%} " for share in shares))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
