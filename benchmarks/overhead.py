"""What the framework itself costs: a step, a node, a resume.

    python -m benchmarks.overhead [--steps 10000]

A step is everything but the model's latency and the candidate's run: choosing, prompt, reading the reply, duplicates,
store, journal, metrics files. Nodes are realistic: 4 KB of code and 300 lines of output each, all different. The time
in which this file itself makes up programs and outputs stands for the model and the candidate: it is measured, told
and taken off.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import random
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

from benchmarks import _check

ROOT = Path(__file__).resolve().parent.parent
MARKS = (20, 100, 1_000, 10_000, 100_000)
WINDOW = 20
"""Steps round a mark whose median is told."""


def program(rng: random.Random) -> str:
    """A script of about 4 KB, as rules and models write them; never the same twice."""
    lines = ["import numpy as np", "import pandas as pd", "", "", "def features(frame):"]
    for number in range(80):
        lines.append(
            f"    frame['f{number}'] = frame['c{rng.randrange(80)}'] * {rng.random():.6f} + {rng.randrange(999)}"
        )
    lines += ["    return frame", "", "", "train = features(pd.read_csv('input/train.csv'))", f"alpha = {rng.random()}"]
    return "\n".join(lines) + "\n"


class OwnTime:
    """CPU seconds in which the benchmark plays the model and the candidate, over all threads."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._lock = threading.Lock()

    @contextmanager
    def counted(self) -> Iterator[None]:
        began = time.thread_time()
        try:
            yield
        finally:
            spent = time.thread_time() - began
            with self._lock:
                self.seconds += spent


class Writer:
    """Answers at once."""

    def __init__(self, own: OwnTime) -> None:
        self._own = own

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        with self._own.counted():
            return f"Another set of features.\n```python\n{program(rng)}```\n"


class Judge:
    """Scores at once, with 300 lines of output."""

    together = False

    def __init__(self, own: OwnTime) -> None:
        self._own = own

    def check(self, node: Any) -> None:
        return None

    def evaluate(self, nodes: Sequence[Any]) -> list[Any]:
        with self._own.counted():
            return self._verdicts(nodes)

    def _verdicts(self, nodes: Sequence[Any]) -> list[Any]:
        from core.contracts import Evaluation
        from core.state.failure import FailureKind

        found = []
        for node in nodes:
            rng = random.Random(node.id)
            output = "\n".join(
                f"fold {i % 5} epoch {i} loss {rng.random():.8f} auc {rng.random():.8f}" for i in range(300)
            )
            output += "\n"
            if rng.random() < 0.2:
                error = FailureKind.RUNTIME
                found.append(Evaluation(failure=error, message="KeyError: 'c81'", term_out=output, exc_type="KeyError"))
            else:
                found.append(Evaluation(metric=rng.random(), source="verified", term_out=output, seconds=1.0))
        return found

    def final(self, nodes: Sequence[Any]) -> list[None]:
        return [None for _ in nodes]


class Parts(NamedTuple):
    """What a search is made of, as far as it is looked at here."""

    orchestrator: Any
    store: Any
    journal: Any
    model_client: Any

    def close(self) -> None:
        self.model_client.close()
        self.store.close()


def search(run_dir: Path, own: OwnTime, total: int, stop: Callable[[Any], str | None]) -> Parts:
    """A search in a folder, new or to go on with."""
    from agents.coder_agent import CoderAgent
    from core.backend.model_client import ModelClient
    from core.backend.roles import model_settings
    from core.contracts import EvaluatorDefaults, with_defaults
    from core.loop.attempt import RunContext
    from core.loop.orchestrator import Orchestrator
    from core.loop.plan import Plan
    from core.loop.round_schedule import RoundSchedule
    from core.loop.stages import Stages
    from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
    from core.state.journal import Journal
    from core.state.memory import remember
    from core.storage.event_writer import IN_A_SEARCH
    from core.storage.repository import RunStore
    from utils.config_llm import LLMConfig

    store, judge = RunStore(run_dir, delay=IN_A_SEARCH), with_defaults(Judge(own), EvaluatorDefaults)
    journal = Journal(lower_is_better=True, read=store.texts)
    model_client = ModelClient(model_settings(LLMConfig()), log=store, rules=Writer(own), run_seed=1)
    run_context = RunContext(
        "Predict the price. " * 50, preview="c0: float, 1 % missing\n" * 80, packages="numpy==2\n" * 10
    )
    stages = Stages(
        agents={"*": CoderAgent()}, reviewer=None, evaluator=judge, store=store, journal=journal,
        run_context=run_context, bind=model_client.bind, usage=model_client.usage_of,
    )  # fmt: skip
    started = time.perf_counter()
    orchestrator = Orchestrator(
        plan=Plan(seed=1, max_steps=total, writers=2), schedule=RoundSchedule(),
        policy=ThreePhasePolicy(ThreePhaseOptions()), stages=stages,
        evaluator=judge, store=store, journal=journal, stop=stop, spent=lambda: (0, 0.0),
        usage=model_client.usage_of,
        active_seconds=lambda: time.perf_counter() - started,
        memory=lambda j, task: remember(j, task.parent_ids, kind="all", max_tokens=2000),
    )  # fmt: skip
    return Parts(orchestrator, store, journal, model_client)


def steps(total: int) -> dict[str, Any]:
    """Run `total` steps; figures at each mark, and what a resume takes then."""
    from runs.beside.sinks import MetricsSink

    with tempfile.TemporaryDirectory(prefix="swarm-overhead-") as folder:
        run_dir, own = Path(folder) / "run", OwnTime()
        clock: list[Tick] = []
        worth: dict[int, float] = {}

        def stop(progress: Any) -> str | None:
            rss = _rss() if progress.steps in MARKS else 0
            if progress.steps in MARKS and progress.steps not in worth:
                with own.counted():
                    worth[progress.steps] = _worth()
            clock.append(Tick(progress.steps, time.perf_counter(), time.process_time(), own.seconds, rss))
            return "enough" if progress.steps >= total else None

        parts = search(run_dir, own, total, stop)
        parts.store.sinks = [MetricsSink(run_dir, parts.store, False)]
        gc.collect()
        base, started = _rss(), time.perf_counter()
        parts.orchestrator.run()
        rows = [
            _row(mark, clock, base) | _prompts(mark, parts.journal, parts.store) | {"worth": worth[mark]}
            for mark in MARKS
            if mark <= total
        ]
        parts.close()  # its write-ahead log is in the file from here on
        size = sum(path.stat().st_size for path in run_dir.iterdir())
        tables = _tables(run_dir)
        again = resume(run_dir)
    last = clock[-1]
    return {
        "rows": rows, "disk_kb_a_node": size / 1024 / total,
        "tables": {name: count / total for name, count in tables.items()},
        "seconds": last.wall - started, "own": last.own / total, "resume": again,
    }  # fmt: skip


def resume(run_dir: Path) -> dict[str, Any]:
    """What it takes in a fresh process to read a run's nodes and propose the next ones."""
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.overhead", "--resume", str(run_dir)],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=True,
    )  # fmt: skip
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def resumed(run_dir: Path) -> dict[str, Any]:
    """The same in this process: CPU seconds beside a calibration loop's milliseconds, and megabytes that it took."""
    worth = _worth()
    parts = search(run_dir, OwnTime(), 10**9, lambda progress: None)
    base, began = _rss(), time.process_time()
    parts.orchestrator.restore()
    parts.orchestrator.ask(2)
    told = {
        "nodes": len(parts.journal), "cpu": time.process_time() - began, "worth": worth, "mb": (_rss() - base) / 2**20
    }  # fmt: skip
    parts.close()
    return told


class Tick(NamedTuple):
    """What the clocks say between two rounds. Seconds; `rss` in bytes, 0 where it was not asked."""

    steps: int
    wall: float
    cpu: float
    own: float
    rss: int


def _row(mark: int, clock: Sequence[Tick], base: int) -> dict[str, Any]:
    """Medians over the rounds near the mark, in milliseconds a step, the benchmark's own part taken off."""
    near = [
        (before, after)
        for before, after in pairwise(clock)
        if mark - WINDOW <= before.steps < mark + WINDOW and after.steps > before.steps
    ]

    def a_step(name: str) -> float:
        spent = [
            (getattr(after, name) - getattr(before, name) - (after.own - before.own)) / (after.steps - before.steps)
            for before, after in near
        ]
        return 1000 * statistics.median(spent)

    wide = [tick for tick in clock if mark - 5 * WINDOW <= tick.steps <= mark + 5 * WINDOW]
    first, last = wide[0], wide[-1]
    mean = 1000 * (last.cpu - first.cpu - (last.own - first.own)) / max(1, last.steps - first.steps)
    rss = next((tick.rss for tick in clock if tick.steps == mark), 0)
    return {
        "step": mark,
        "ms": a_step("wall"),
        "cpu_ms": a_step("cpu"),
        "mean_ms": mean,
        "kb_a_node": (rss - base) / 1024 / mark,
    }


def _prompts(mark: int, journal: Any, store: Any) -> dict[str, int]:
    """Characters of the longest prompt shortly before the mark."""
    ids = [node.id for node in journal.latest(len(journal))[max(mark - WINDOW, 0) : mark]]
    return {"prompt_chars": max(len(call.system) + len(call.user) for i in ids for call in store.calls(i))}


def _tables(run_dir: Path) -> dict[str, int]:
    """Bytes of the store's largest tables and indexes, pages of theirs that lie idle included."""
    query = "SELECT name, sum(pgsize) FROM dbstat GROUP BY name ORDER BY 2 DESC LIMIT 8"
    with closing(sqlite3.connect(run_dir / "run.db")) as store:
        try:
            return dict(store.execute(query))
        except sqlite3.Error:  # this SQLite was built without dbstat
            return {}


def _worth() -> float:
    """CPU milliseconds that a calibration loop takes of this process now."""
    began = time.process_time()
    for _ in range(5):
        _check.work()
    return 200 * (time.process_time() - began)


def _rss() -> int:
    """Bytes of this process in memory."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


# ---------------------------------------------------------------- metrics files


def metrics(records: int = 100_000) -> dict[str, float]:
    """Microseconds of the 100th and of the last record of metrics.json and metrics.csv."""
    from utils.logger_system import MetricsLog

    row = {"run": "r", "step": 0, "node_id": "0" * 12, "operator": "improve", "metric": 0.123456789, "failure": None}
    with tempfile.TemporaryDirectory(prefix="swarm-metrics-") as folder:
        log = MetricsLog(Path(folder))
        spent: list[float] = []
        for number in range(records):
            began = time.perf_counter()
            log.append({**row, "step": number})
            spent.append(time.perf_counter() - began)
    return {"at 100": 1e6 * statistics.median(spent[80:180]), f"at {records:,}": 1e6 * statistics.median(spent[-100:])}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=10_000)
    parser.add_argument("--resume", type=Path, help=argparse.SUPPRESS)
    args = parser.parse_args()
    if args.resume:
        print(json.dumps(resumed(args.resume)))
    else:
        _tell(args.steps)


def _tell(total: int) -> None:
    print("overhead a step (median of 40 steps round the mark), rules, batch 2, 4 KB of code and 300 lines of output")
    print("mean: CPU ms a step of 200 steps round the mark, those in which the store writes what waited included")
    print("x: CPU time in thousandths of a calibration loop timed at that step: it says what the machine is worth then")
    print(f"{'step':>8} {'ms':>8} {'CPU ms':>8} {'mean':>8} {'x':>5} {'prompt chars':>13} {'memory KB/node':>15}")
    found = steps(total)
    for row in found["rows"]:
        memory = f"{row['kb_a_node']:>15.1f}" if row["step"] >= 1000 else f"{'':>15}"
        share = 1000 * row["cpu_ms"] / row["worth"]
        spent = f"{row['ms']:>8.2f} {row['cpu_ms']:>8.2f} {row['mean_ms']:>8.2f} {share:>5.0f}"
        print(f"{row['step']:>8,} {spent} {row['prompt_chars']:>13,} {memory}")
    print(f"{total:,} steps in {found['seconds']:.1f} s; {found['disk_kb_a_node']:.2f} KB of disk a node")
    print("of these, in bytes: " + ", ".join(f"{name} {size:.0f}" for name, size in found["tables"].items()))
    print(f"taken off: {1000 * found['own']:.2f} ms a step in which the benchmark made up programs and outputs")
    again = found["resume"]
    print(
        f"resume of {again['nodes']:,} nodes in a fresh process: {again['cpu']:.2f} CPU-s and {again['mb']:.0f} MB "
        f"up to the next proposals (calibration {again['worth']:.1f} CPU ms)"
    )
    for name, micro in metrics().items():
        print(f"metrics record {name}: {micro:.0f} µs")


if __name__ == "__main__":
    main()
