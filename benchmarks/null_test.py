"""The null test: searches where nothing can be found must claim nothing (issue: at most 5 % of 50 searches).

`python -m benchmarks.null_test [--searches 50]`: competitions on permuted labels, and engines that are copies of the
starting champion, each through `main.py` from its first step to its claim on the final part.
"""

from __future__ import annotations

import argparse
import csv
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

MAIN = Path(__file__).resolve().parent.parent / "main.py"
ROWS, FEATURES = 400, 6


def run(*words: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, str(MAIN), "run", "--json", *words], capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 3):  # 3: no valid program
        raise RuntimeError(done.stderr.strip()[-500:])
    facts: dict[str, Any] = json.loads(done.stdout)
    return facts


def permuted(number: int, folder: Path) -> bool:
    """A competition whose target is noise: does the search claim to beat the best baseline?"""
    rng = random.Random(number)
    data = folder / f"data-{number}"
    data.mkdir()
    with (data / "train.csv").open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow([*(f"x{i}" for i in range(FEATURES)), "y"])
        labels = [10 + rng.gauss(0, 1) for _ in range(ROWS)]
        for label in labels:
            table.writerow([*(f"{rng.gauss(0, 1):.6f}" for _ in range(FEATURES)), f"{label:.6f}"])
    facts = run(
        f"--data.dir={data}", "--data.goal=predict y", "--data.target=y", "--data.metric=rmse",
        f"--project.dir={folder}", f"--project.name=null-{number}", f"--project.seed={number}",
        "--search.max_steps=6", "--search.workers=1",
    )  # fmt: skip
    return bool(facts["verdict"]["kind"] == "better")


def copies(number: int, folder: Path) -> bool:
    """An engine that is a copy of the starting champion: does the run claim Elo above it?"""
    champion = MAIN.parent / "problems" / "connect_four" / "engines" / "alpha_beta.py"
    engine = folder / f"copy-{number}.py"
    engine.write_text(f"{champion.read_text()}\nCOPY = {number}\n")
    facts = run(
        "--problem=connect_four", f"--initial={engine}", "--search.max_generations=0", "--search.workers=1",
        f"--project.dir={folder}", f"--project.name=equal-{number}", f"--project.seed={number}", "--arena.gauntlet=8",
    )  # fmt: skip
    interval = facts["final_interval"]
    return bool(interval and interval[0] > 0)


TRIALS = {"permuted labels": permuted, "equal engines": copies}


def count(trial: Callable[[int, Path], bool], searches: int) -> int:
    """Claims of that many searches; progress goes to stderr, since the whole takes many minutes."""
    claims = 0
    with tempfile.TemporaryDirectory(prefix="null-") as name, ThreadPoolExecutor(2) as pool:
        for done, claimed in enumerate(pool.map(lambda number: trial(number, Path(name)), range(searches)), 1):
            claims += claimed
            print(f"  {trial.__name__}: {done} of {searches} done, {claims} claims", file=sys.stderr, flush=True)
    return claims


def main(words: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.null_test")
    parser.add_argument("--searches", type=int, default=50)
    parser.add_argument("--only", choices=TRIALS)
    args = parser.parse_args(words)
    searches = args.searches
    for title, trial in TRIALS.items():
        if args.only not in (None, title):
            continue
        claims = count(trial, searches)
        print(f"{title}: {claims} of {searches} searches claim an improvement ({claims / searches:.0%}; allowed 5 %)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
