"""What a large repository costs a candidate: `python -m benchmarks.trees [--files 5000] [--steps 400] [--tier lite]`.

Time: the same command as a job in a base of one file and in one of many, in turns; the difference is the base's cost.
Disk and flatness: searches of `rules` on the large base; bytes that a step adds to the store between a quarter of
the steps and all of them, beside what the changed file has, and whether later steps take longer than earlier ones.
"""

from __future__ import annotations

import argparse
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from statistics import median

from core.storage.packing import json_of

ROOT = Path(__file__).resolve().parent.parent


def repository(folder: Path, files: int) -> Path:
    """One searched file, one that scores, and `files` others in folders of fifty."""
    for number in range(files):
        path = folder / f"lib/d{number // 50}" / f"f{number}.py"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"VALUE_{number} = {number}\n" * 20)
    (folder / "src").mkdir(parents=True)
    (folder / "src/a.sh").write_text("".join(f"A{i}={i * 37}\n" for i in range(40)))
    (folder / "score.sh").write_text('. ./src/a.sh; echo "score: $(( A1 * 3 + A7 - A20 ))"\n')
    return folder


def job_seconds(folder: Path, files: int, tier: str = "auto", rounds: int = 30) -> tuple[float, float]:
    """(median seconds of a job in a small base, in a large one), measured in turns."""
    from core.contracts import EvaluatorDeps, Limits
    from core.executor.sandbox import open_sandbox
    from core.state.journal import Journal
    from core.state.node import Node
    from core.workers.local import LocalJobs
    from core.workers.pool import JobPool
    from problems.command.tree.base import snapshot
    from problems.command.tree.evaluator import Scoring, TreeEvaluator
    from problems.command.tree.tree import Ground, Tree

    sandbox = open_sandbox(tier, state_dir=folder / "state")
    jobs = JobPool(LocalJobs(sandbox, 1, scratch=folder))
    deps = EvaluatorDeps(
        jobs=jobs, limits=Limits(seconds=30), run_dir=folder, work_dir=folder, seed=1, journal=Journal(),
        games=None, append=lambda events: None, isolated=True,  # type: ignore[arg-type]
    )  # fmt: skip
    grounds = [
        Ground(snapshot(repository(folder / f"of{count}", count), folder / "bases"), ("src/**",))
        for count in (0, files)
    ]
    evaluators = [TreeEvaluator(ground, Scoring("sh score.sh", "score"), deps) for ground in grounds]
    taken: tuple[list[float], list[float]] = ([], [])
    for number in range(rounds + 2):
        for ground, evaluator, seconds in zip(grounds, evaluators, taken, strict=True):
            text = str(ground.base.text("src/a.sh")).replace("A7=259", f"A7={number}")
            node = Node(code=Tree(ground).with_file("src/a.sh", text).code())
            began = time.perf_counter()
            verdict = evaluator.check(node) or evaluator.evaluate([node])[0]
            seconds.append(time.perf_counter() - began)
            assert verdict.metric is not None, verdict.message
    jobs.close()
    sandbox.close()
    return median(taken[0][2:]), median(taken[1][2:])


def search(folder: Path, source: Path, steps: int) -> dict[str, float]:
    """Bytes that a step adds, those of the changed files, and the median pause between commits early and late."""
    words = [
        "run", "--problem", "command", f"problem.source={source}", "problem.editable=src/**",
        "problem.eval=sh score.sh", "problem.metric=score", "problem.direction=max", "search.workers=1",
        "logging.report=false", "logging.view=quiet", "budget.repeats=null",
    ]  # fmt: skip
    first = steps // 4
    begun, store = (_searched(folder / str(count), [*words, f"search.max_steps={count}"]) for count in (first, steps))
    with closing(sqlite3.connect(store)) as connection:
        committed = "SELECT body FROM events WHERE type = 'node.committed' ORDER BY seq"
        times = [json_of(row[0])["elapsed"] for row in connection.execute(committed)]
    pauses = [after - before for before, after in pairwise(times)]
    return {
        "a step": (store.stat().st_size - begun.stat().st_size) / (steps - first),
        "changed": (source / "src/a.sh").stat().st_size,
        "early": median(pauses[: len(pauses) // 4]),
        "late": median(pauses[-(len(pauses) // 4) :]),
    }


def _searched(folder: Path, words: list[str]) -> Path:
    """The store of a run in a folder of its own."""
    folder.mkdir(parents=True)
    subprocess.run([sys.executable, str(ROOT / "main.py"), *words], cwd=folder, check=True)
    (store,) = folder.glob("logs/*/run.db")
    with closing(sqlite3.connect(store)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    return store


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--files", type=int, default=5000)
    parser.add_argument("--steps", type=int, default=400, help="of the search; 0 leaves it out")
    parser.add_argument("--tier", default="auto", help="of the sandbox, for the job")
    args = parser.parse_args()
    folder = Path(tempfile.mkdtemp(prefix="trees-"))
    try:
        small, large = job_seconds(folder, args.files, args.tier)
        print(f"a job: {small * 1000:.0f} ms in a base of 2 files, {large * 1000:.0f} ms in one of {args.files + 2:,}")
        if not args.steps:
            return
        found = search(folder / "project", folder / f"of{args.files}", args.steps)
        print(f"store: {found['a step']:,.0f} bytes a step, of which {found['changed']:,.0f} are the changed file's")
        print(f"a step: {found['early'] * 1000:.0f} ms early, {found['late'] * 1000:.0f} ms late")
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    main()
