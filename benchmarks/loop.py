"""The loop itself: candidates a second and CPU a candidate, with a trusted evaluator of 1 ms and through the sandbox.

`python -m benchmarks.loop [--steps 1500] [--sandboxed 800]`; 20000 and 5000 show whether it stays flat.
"""

from __future__ import annotations

import argparse
import os
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

INSTANT = '''
import ast, hashlib, time
from core.contracts import Baseline, Evaluation

BYTES = b"x" * 100_000

def turn():
    end = time.perf_counter() + 0.001
    while time.perf_counter() < end:
        pass

def hashed():
    """Seconds of processor time that a hash takes, as numpy's work without the interpreter's lock."""
    began = time.thread_time()
    hashlib.sha256(BYTES).digest()
    return time.thread_time() - began

ROUNDS = round(0.001 / sorted(hashed() for _ in range(51))[25])

def work():
    for _ in range(ROUNDS):
        hashlib.sha256(BYTES).digest()

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
        WORK
        return [Evaluation(metric=abs(float(n.code.partition("=")[2]) - 2)) for n in nodes]
'''


HELD = {"trusted": "turn()", "trusted, without the lock": "work()"}
"""What the evaluator of a millisecond does: Python's own steps, or what C code does for it."""


def search(name: str, words: list[str], steps: int) -> None:
    """Rate and cost of a run by tenths, and its disk. CPU, unlike seconds, says the same on a busy machine."""
    with tempfile.TemporaryDirectory() as folder:
        plugins = Path(folder) / "plugins"
        plugins.mkdir()
        (plugins / "instant.py").write_text(INSTANT.replace("WORK", HELD.get(name, "turn()")))
        command = [
            sys.executable, str(ROOT / "main.py"), "run", *words, f"--search.max_steps={steps}",
            "--search.max_generations=null", f"--project.dir={folder}", "--logging.view=quiet",
            f"--problem.plugins={plugins}",
        ]  # fmt: skip
        samples = followed(command, Path(folder))
        (run,) = [path.parent for path in Path(folder).glob("logs/*/run.db")]
        size = (run / "run.db").stat().st_size
    rates, costs = zip(*by_tenths(samples, steps), strict=True)
    rate = f"{statistics.median(rates):.0f} a second (median tenth; first {rates[0]:.0f}, last {rates[-1]:.0f})"
    print(f"  {steps} candidates: {rate}; {size / steps / 1024:.1f} KB of store a candidate")
    tenths = " ".join(f"{cost:.1f}" for cost in costs)
    print(f"  CPU ms a candidate, {name}: {statistics.median(costs):.2f}; by tenths {tenths}")


Sample = tuple[float, float, float]
"""Candidates committed, seconds, CPU seconds of the run's processes, those that ended too."""


def followed(command: list[str], folder: Path) -> list[Sample]:
    """Run it to its end, looking twice a second."""
    start, samples = time.perf_counter(), []
    with (folder / "said").open("w+") as said:
        process = subprocess.Popen(command, stdout=said, stderr=said)
        while process.poll() is None:
            time.sleep(0.5)
            cpu, done = tree_cpu(process.pid), committed(folder)
            if done:
                samples.append((done, time.perf_counter() - start, cpu))
        if process.returncode:
            said.seek(0)
            sys.exit(said.read())
    return samples


def committed(folder: Path) -> int:
    """Nodes in the run's store; 0 before there is one."""
    for path in folder.glob("logs/*/run.db"):
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True, timeout=5)) as connection:
                return int(connection.execute("select count(*) from nodes").fetchone()[0])
        except sqlite3.Error:
            return 0
    return 0


def tree_cpu(root: int) -> float:
    """CPU seconds of a process and all below it, with what their ended children used (Linux)."""
    stats: dict[int, tuple[int, int]] = {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:  # it ended
            continue
        stats[int(path.parent.name)] = int(fields[1]), sum(map(int, fields[11:15]))
    total, todo = 0, [root]
    while todo:
        process = todo.pop()
        total += stats.get(process, (0, 0))[1]
        todo += [child for child, (parent, _) in stats.items() if parent == process]
    return total / os.sysconf("SC_CLK_TCK")


def by_tenths(samples: list[Sample], steps: int) -> list[tuple[float, float]]:
    """(candidates a second, CPU ms a candidate) of each tenth, between samples in proportion; start and end apart."""

    def at(count: float) -> Sample:
        for before, after in pairwise(samples):
            if before[0] <= count < after[0]:
                share = (count - before[0]) / (after[0] - before[0])
                _, seconds, cpu = (a + share * (b - a) for a, b in zip(before, after, strict=True))
                return count, seconds, cpu
        return next(sample for sample in samples if sample[0] == samples[-1][0])  # before the run's last words

    first, last = samples[0][0], min(samples[-1][0], steps)
    marks = [at(first + (last - first) * tenth / 10) for tenth in range(11)]
    gaps = [tuple(b - a for a, b in zip(x, y, strict=True)) for x, y in pairwise(marks)]
    return [(count / seconds, 1000 * cpu / count) for count, seconds, cpu in gaps]


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=1500)
    parser.add_argument("--sandboxed", type=int, default=800)
    options = parser.parse_args()
    islands = ["--search.policy=islands", "--search.batch=24", "--search.workers=2"]
    islands += [f"--search.islands.{option}" for option in ("stagnation_restart=0", "per_island=8", "num_islands=3")]
    print("loop with a trusted evaluator of 1 ms, in Python and then in C, without the interpreter's lock")
    for held in HELD:
        search(held, ["problem.kind=instant", *islands], options.steps)
    if not options.sandboxed:
        return
    print("through the sandbox: u500, rules of (item, room), each in a process of its own")
    words = ["--problem", "bin_packing", "--problem.name=u500", "--problem.options.signature=pair"]
    search("sandboxed", [*words, "--search.workers=2", "--search.islands.tune_interval=0"], options.sandboxed)


if __name__ == "__main__":
    main()
