"""Does search beat luck and the published rules? All of them on the same held-out instances.

    python -m benchmarks.heuristic_control [--names weibull_5k u500] [--seconds 300] [--seed 42]
    python -m benchmarks.heuristic_control --run logs/RUN        # a run that has ended, compared the same way

A search by `rules`, then as many candidates drawn from the same grammar without parents
(`search.islands.generate_prob=1`), through the same ladder, beside first fit, best fit, FunSearch's rules and
Sum-of-Squares. Excess over the lower bound in %, lower is better, with the 95 % interval over the instances; the test
split is opened once a run, at its end.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

MAIN = Path(__file__).resolve().parent.parent / "main.py"
RANDOM = (
    "search.islands.generate_prob=1", "search.islands.crossover_prob=0", "search.islands.tune_interval=0",
    "search.islands.refine_interval=0", "search.islands.stagnation_restart=0", "search.islands.reset_evaluations=0",
)  # fmt: skip
"""Parents are never looked at, so what is left is the grammar and the ladder."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--names", nargs="+", default=["weibull_5k", "u500"])
    parser.add_argument("--seconds", type=float, default=300)
    parser.add_argument("--seed", type=int, default=42)
    parser.add_argument("--run", type=Path, help="folder of an ended bin packing run")
    options = parser.parse_args()
    if options.run:
        compare(shown(options.run.name, options.run.resolve().parent.parent), options.seed)
        return
    for name in options.names:
        with tempfile.TemporaryDirectory(prefix="control-") as folder:
            words = [f"problem.name={name}", f"budget.seconds={options.seconds}", f"project.seed={options.seed}"]
            compare(searched(Path(folder), words), options.seed)


def compare(found: dict[str, Any], seed: int) -> None:
    """Print a run's table; the random draws are made here."""
    name = found["config"]["problem"]["name"]
    with tempfile.TemporaryDirectory(prefix="control-") as folder:
        problem = found["config"]["problem"]["options"]
        words = [f"problem.options.{key}={value}" for key, value in problem.items() if value is not None]
        words += [f"problem.name={name}", f"search.max_steps={found['steps']}", f"project.seed={seed + 1}", *RANDOM]
        drawn = searched(Path(folder), words)
    detail = found["final"]["detail"]
    rows = [(rule, row["excess"], row["interval"]) for rule, row in detail["references"].items()]
    rows.append((f"best of {drawn['steps']} random draws", drawn["final_metric"], drawn["final_interval"]))
    rows.append((f"search, {found['steps']} candidates", found["final_metric"], found["final_interval"]))
    print(f"{name}: excess in % on {detail['test_instances']} held-out instances (load {os.getloadavg()[0]:.1f})")
    for label, excess, (low, high) in rows:
        print(f"  {label:<28}{100 * excess:7.2f}  ({100 * low:.2f} to {100 * high:.2f})")
    for label, run in (("search", found), ("random", drawn)):
        full = sum(node["metric"] is not None and node["operator"] != "baseline" for node in run["nodes"])
        validation = 100 * run["best_metric"]
        print(f"  {label}: {run['steps']} candidates written, {full} scored in full; {validation:.2f} on validation")
    sys.stdout.flush()


def searched(folder: Path, words: list[str]) -> dict[str, Any]:
    """One run without a key; what `show --json` says of it."""
    common = ["--problem=bin_packing", "--llm=rules", "search.max_generations=null", "logging.view=quiet"]
    _main("run", *common, *words, f"project.dir={folder}")
    return shown("latest", folder)


def shown(run: str, folder: Path) -> dict[str, Any]:
    facts: dict[str, Any] = json.loads(_main("show", run, f"project.dir={folder}", "--json"))
    return facts


def _main(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, str(MAIN), *words], capture_output=True, text=True, timeout=1500, check=False
    )
    if done.returncode:
        sys.exit(f"main.py {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


if __name__ == "__main__":
    main()
