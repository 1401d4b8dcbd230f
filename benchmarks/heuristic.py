"""The heuristic family: evaluations a CPU-second, candidates a second, disk a candidate.

`python -m benchmarks.heuristic [--steps 4000] [--sandboxed 1500]`; targets: 25 times and 10 times the numpy loop, 200
and 80 candidates a second, flat, at most 5 KB a candidate.
"""

from __future__ import annotations

import argparse
import base64
import json
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from core.contracts import Limits
from core.executor.sandbox import open_sandbox
from problems.bin_packing.compiled import pack_ranked
from problems.bin_packing.instances import Instance, generate_split
from problems.bin_packing.job import PRELUDE, checked
from problems.bin_packing.packing import bins_used, pack_vector
from problems.bin_packing.references import FUNSEARCH_OR
from problems.bin_packing.rules import TableRule

ROOT = Path(__file__).resolve().parent.parent
CAPACITY = 150
STEPS = ((2, 4.0), (3, 3.0), (5, 2.0), (7, 1.0), (9, 0.9), (12, 0.95), (15, 0.97), (21, 0.98))

INSTANT = '''
import ast, time
from core.contracts import Baseline, Evaluation

def build(cfg, project_dir):
    return Instant()

class Instant:
    """A program is a number; scoring it takes one millisecond."""
    name, lower_is_better, unit, family = "instant", True, "distance", "heuristic"
    preload, seeds_search, claims_only, single_function = (), True, False, True
    together = False

    def prepare(self): pass
    def statement(self): return "Find x near 2."
    def preview(self): return ""
    def prompt_extras(self): return {}
    def agents(self, build): return {}
    def baselines(self): return [Baseline("zero", "x = 0.0\\n")]
    def rules(self): return self
    def evaluator(self, bench): return self
    def export(self, node, out, run_dir): return []
    def check(self, node): return None
    def final(self, nodes): return [None] * len(nodes)

    def write(self, context, rng):
        parents = context["parents"]
        base = ast.literal_eval(parents[0]["code"].partition("=")[2].strip()) if parents else 0.0
        return f"A step.\\n```python\\nx = {base + rng.gauss(0, 1)!r}\\n```\\n"

    def evaluate(self, nodes):
        end = time.perf_counter() + 0.001
        while time.perf_counter() < end:
            pass
        return [Evaluation(metric=abs(float(n.code.partition("=")[2]) - 2)) for n in nodes]
'''


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


def packing(sandboxed: bool = True) -> None:
    instances = generate_split("u500", "validation", 20)
    items = sorted({int(size) for one in instances for size in one.sizes})
    names: dict = {}
    exec(FUNSEARCH_OR, names)
    rule = names["score_bin"]
    scores = np.array([float(rule(i, r)) for i in items for r in range(i, CAPACITY + 1)])
    answer = checked(base64.b64encode(scores.tobytes()).decode(), items, CAPACITY)

    def pack(table: TableRule, one: Instance) -> int:
        chosen = np.empty(len(one.sizes), dtype=np.int64)
        return int(pack_ranked(table.order, table.tied, one.sizes, CAPACITY, chosen, 1 << 60))

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
    if sandboxed:
        through_session(instances, items, slow, pack)


def through_session(instances: list[Instance], items: list[int], slow: float, pack: Callable[..., int]) -> None:
    """Session opened, rule tabulated, table checked and ranked, instances packed; with the CPU of the sandbox."""
    import resource

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
        children = resource.getrusage(resource.RUSAGE_CHILDREN)
        theirs = (children.ru_utime + children.ru_stime) / (count + 101) * count
    rate = count / (own + theirs)
    print(f"  with tabulation through the session     {rate:9.2f}   {rate / slow:7.1f} times (CPU of both)")
    print(f"  wall clock of one, median               {statistics.median(walls) * 1000:9.2f} ms")


def search(words: list[str], steps: int) -> None:
    """Rate over the first and the last tenth of a run, and its disk."""
    with tempfile.TemporaryDirectory() as folder:
        plugins = Path(folder) / "plugins"
        plugins.mkdir()
        (plugins / "instant.py").write_text(INSTANT)
        command = [
            sys.executable, str(ROOT / "main.py"), "run", *words, f"--search.max_steps={steps}",
            "--search.max_generations=null", f"--project.dir={folder}", "--logging.view=quiet",
            f"--problem.plugins={plugins}",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(done.stderr + done.stdout)
        (run,) = [path.parent for path in Path(folder).glob("logs/*/run.db")]
        rows = json.loads((run / "metrics.json").read_text())
        tenth = max(2, len(rows) // 10)
        size = (run / "run.db").stat().st_size

    def rate(part: list[dict]) -> float:
        made = sum(row["num_candidates"] for row in part[1:])
        return made / (part[-1]["elapsed"] - part[0]["elapsed"])

    print(f"  {steps} candidates: {rate(rows[1:]):.0f} a second; first tenth {rate(rows[1:tenth + 2]):.0f}, "
          f"last tenth {rate(rows[-tenth - 1:]):.0f}; {size / steps / 1024:.1f} KB of store a candidate")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=4000)
    parser.add_argument("--sandboxed", type=int, default=1500)
    options = parser.parse_args()
    packing()
    islands = ["--search.policy=islands", "--search.batch=24", "--search.workers=2", "--search.stagnation_restart=0"]
    print("loop with a trusted evaluator of 1 ms")
    search(["problem.kind=instant", *islands, "--search.per_island=8", "--search.num_islands=3"], options.steps)
    print("through the sandbox: u500, rules of (item, room), each in a process of its own")
    words = ["--problem", "bin_packing", "--problem.name=u500", "--problem.options.signature=pair"]
    search([*words, "--search.workers=2", "--search.tune_interval=0"], options.sandboxed)


if __name__ == "__main__":
    main()
