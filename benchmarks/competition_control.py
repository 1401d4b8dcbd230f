"""Does search beat luck? The search, random draws from the same repertoire, and the baselines, at the same budget.

    python benchmarks/competition_control.py [--name ames] [--steps 14] [--seeds 42 1 2]

Each row is one run of `main.py` with `rules` in a folder of its own. `random` draws every program anew and knows no
parents; everything else is equal. Lower is better for RMSLE; the last column is scored once, on rows no run has seen.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

MAIN = Path(__file__).resolve().parent.parent / "main.py"
MODES = ("search", "random")


def run(name: str, steps: int, seed: int, mode: str, folder: Path) -> dict[str, Any]:
    """One run; `{best, final, interval, baselines, seconds}`."""
    words = [
        f"problem.name={name}",
        f"search.max_steps={steps}",
        f"project.seed={seed}",
        f"problem.options.rules={mode}",
    ]
    words += [f"project.dir={folder}", "logging.view=quiet", "llm.code.provider=rules"]
    started = time.monotonic()
    _main("run", *words)
    seconds = time.monotonic() - started
    shown = json.loads(_main("show", "latest", f"project.dir={folder}", "--json"))
    baselines = {row["name"]: (row["metric"], row.get("final")) for row in shown["baselines"]}
    return {"best": shown["best_metric"], "final": shown["final_metric"], "baselines": baselines, "seconds": seconds}


def _main(*words: str) -> str:
    done = subprocess.run([sys.executable, str(MAIN), *words], capture_output=True, text=True, timeout=1800)
    if done.returncode:
        sys.exit(f"main.py {' '.join(words)} ended with {done.returncode}: {done.stderr.strip()[-500:]}")
    return done.stdout


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--name", default="ames")
    parser.add_argument("--steps", type=int, default=14)
    parser.add_argument("--seeds", type=int, nargs="+", default=[42, 1, 2])
    options = parser.parse_args()
    rows: dict[str, list[dict[str, Any]]] = {mode: [] for mode in MODES}
    print(f"{'':<22}{'seed':>6}{'validation':>12}{'final':>10}{'seconds':>9}")
    for seed in options.seeds:
        for mode in MODES:
            with tempfile.TemporaryDirectory(prefix="control-") as folder:
                row = run(options.name, options.steps, seed, mode, Path(folder))
            rows[mode].append(row)
            print(f"{mode:<22}{seed:>6}{row['best']:>12.5f}{row['final']:>10.5f}{row['seconds']:>9.0f}", flush=True)
    for mode in MODES:
        best, final = (statistics.median(row[key] for row in rows[mode]) for key in ("best", "final"))
        print(f"{mode + ', median':<22}{'':>6}{best:>12.5f}{final:>10.5f}")
    for name, (metric, final) in rows["search"][0]["baselines"].items():
        print(f"{'baseline ' + name:<22}{'':>6}{_shown(metric):>12}{_shown(final):>10}")


def _shown(value: float | None) -> str:
    return "none" if value is None else f"{value:.5f}"


if __name__ == "__main__":
    main()
