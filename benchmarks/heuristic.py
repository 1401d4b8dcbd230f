"""The heuristic family: evaluations of a packing rule a CPU-second.

Wanted are 25 times those of the loop in numpy, 10 times with tabulation through a session. What the search's loop round
them takes says `benchmarks.loop`.
"""

from __future__ import annotations

import base64
import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks._orphans import adopt, cpu_seconds
from core.contracts import Limits
from core.executor.sandbox import open_sandbox
from problems.bin_packing.compiled import pack_ranked
from problems.bin_packing.instances import Instance, generate_split
from problems.bin_packing.job import PRELUDE, checked
from problems.bin_packing.packing import bins_used, pack_vector
from problems.bin_packing.references import FUNSEARCH_OR
from problems.bin_packing.rules import TableRule

CAPACITY = 150
STEPS = ((2, 4.0), (3, 3.0), (5, 2.0), (7, 1.0), (9, 0.9), (12, 0.95), (15, 0.97), (21, 0.98))


def published(item: float, bins: np.ndarray) -> np.ndarray:
    """The rule over all bins in numpy, as whole-array operations."""
    gap = bins - item
    return np.select([gap <= limit for limit, _ in STEPS], [np.full(gap.shape, value) for _, value in STEPS], 0.99)


def per_cpu_second(work: Callable[[], object], seconds: float = 2.0) -> float:
    """Calls a CPU-second of this process, after one that warms up."""
    work()
    start, count = time.process_time(), 0
    while time.process_time() - start < seconds:
        work()
        count += 1
    return count / (time.process_time() - start)


def packing() -> None:
    instances = generate_split("u500", "validation", 20)
    items = sorted({int(size) for one in instances for size in one.sizes})
    names: dict = {}
    exec(FUNSEARCH_OR, names)
    rule = names["score_bin"]
    scores = np.array([float(rule(i, r)) for i in items for r in range(i, CAPACITY + 1)])
    answer = checked(base64.b64encode(scores.tobytes()).decode(), items, CAPACITY)

    def pack(table: TableRule, one: Instance) -> int:
        chosen = np.empty(len(one.sizes), dtype=np.int64)
        return int(pack_ranked(table.order, table.tied, table.row[one.sizes], one.sizes, CAPACITY, chosen, 1 << 60))

    table = TableRule.of(answer, items, CAPACITY)
    used = [pack(table, one) for one in instances]
    assert used == [bins_used(pack_vector(published, one.sizes, CAPACITY)) for one in instances]
    slow = per_cpu_second(lambda: [pack_vector(published, one.sizes, CAPACITY) for one in instances], 5.0)
    ready = per_cpu_second(lambda: [pack(table, one) for one in instances])
    ranked = per_cpu_second(lambda: [pack(TableRule.of(answer, items, CAPACITY), one) for one in instances[:1]]
                            + [pack(table, one) for one in instances[1:]])  # fmt: skip
    print("20 instances of 500 items (the OR3 class), evaluations a CPU-second; packings compared and equal")
    print(f"  published rule in numpy over all bins   {slow:9.2f}")
    print(f"  compiled loop, table ready              {ready:9.2f}   {ready / slow:7.1f} times")
    print(f"  compiled loop, table ranked first       {ranked:9.2f}   {ranked / slow:7.1f} times")
    through_session(instances, items, slow, pack)


def through_session(instances: list[Instance], items: list[int], slow: float, pack: Callable[..., int]) -> None:
    """Session opened, rule tabulated, table checked and ranked, instances packed; with the CPU of the sandbox."""
    import resource

    adopt()
    with tempfile.TemporaryDirectory() as folder:
        sandbox = open_sandbox("auto", preload=("math",), state_dir=Path(folder))
        limits = Limits(seconds=10)

        def once() -> None:
            session = sandbox.session(FUNSEARCH_OR, limits=limits, prelude=PRELUDE)
            answer = checked(session.call("tabulate__", [items, CAPACITY], timeout=10), items, CAPACITY)
            session.close()
            table = TableRule.of(answer, items, CAPACITY)
            for one in instances:
                pack(table, one)

        once()
        walls = []
        for _ in range(100):
            start = time.perf_counter()
            once()
            walls.append(time.perf_counter() - start)
        count, own = 200, time.process_time()
        for _ in range(count):
            once()
        own = time.process_time() - own
        sandbox.close()
        cpu_seconds()  # until all have ended that ran programs
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        theirs = (children.ru_utime + children.ru_stime) / (count + 101) * count
    rate = count / (own + theirs)
    print(f"  with tabulation through the session     {rate:9.2f}   {rate / slow:7.1f} times (CPU of both)")
    print(f"  wall clock of one, median               {statistics.median(walls) * 1000:9.2f} ms")


if __name__ == "__main__":
    packing()
