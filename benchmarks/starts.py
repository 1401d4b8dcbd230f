"""What a start costs: seconds from the command to the first program, and the modules that are loaded by then.

python -m benchmarks.starts [--count 5]
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
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HEAVY = ("pandas", "sklearn", "numpy", "scipy", "numba", "optuna", "matplotlib", "httpx2", "anthropic", "google.genai",
         "fastapi", "uvicorn", "ray", "modal")  # fmt: skip

PROBE = """
import json, os, sys
sys.path.insert(0, {root!r})
sys.argv = ["main.py", *{words!r}]
import core.backend.backend_rules as rules
def first(*_):
    heavy = [name for name in {heavy!r} if name in sys.modules]
    sys.stdout.write("\\n@" + json.dumps(heavy) + "\\n")
    sys.stdout.flush()
    os.killpg(0, 9)
rules.write = first
import runpy
runpy.run_path({main!r}, run_name="__main__")
"""


def modules_at_first_query(folder: Path, words: Sequence[str]) -> list[str]:
    """Heavy modules that the main process has loaded when it first asks `rules`. The process is ended there."""
    code = PROBE.format(root=str(ROOT), words=list(words), heavy=HEAVY, main=str(ROOT / "main.py"))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=120, start_new_session=True
    )
    line = next((text for text in done.stdout.splitlines() if text.startswith("@")), None)
    if line is None:
        raise RuntimeError(f"no query was reached: {done.stdout[-500:]} {done.stderr[-500:]}")
    found: list[str] = json.loads(line[1:])
    return found


FAMILIES: dict[str, list[str]] = {
    "competition/ames": [],
    "bin_packing": ["--problem", "bin_packing"],
    "connect_four": ["--problem", "connect_four"],
    "script": ["--problem", "script", f"problem.path={ROOT / 'examples' / 'openevolve' / 'minimise'}"],
}
"""Whose starts are timed, and the words that name them."""

START = """
import os, sys, time
sys.path.insert(0, {root!r})
sys.argv = ["main.py", *{words!r}]
from core.executor import slot as slots
original = slots.SandboxSlot.start
def start(slot, job, fds):
    import threading
    if threading.current_thread().name == "job" and not job.code.startswith({ours!r}):
        sys.stdout.write(f"\\n@{{time.time()}}\\n")
        sys.stdout.flush()
        os.killpg(0, 9)
    original(slot, job, fds)
slots.SandboxSlot.start = start
import runpy
runpy.run_path({main!r}, run_name="__main__")
"""
"""Ends when the first program of the run begins in the sandbox: neither one of the sandbox's proof, which are run by
another thread, nor the self-test's."""


def start(folder: Path, words: Sequence[str]) -> float:
    """Seconds from `python main.py` until the first program of the run begins in the sandbox."""
    looker = (ROOT / "core" / "executor" / "inside" / "looker.py").read_text(encoding="utf-8")
    code = START.format(root=str(ROOT), words=list(words), ours=looker.splitlines()[0], main=str(ROOT / "main.py"))
    usual = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    began = time.time()
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, env=usual, capture_output=True, text=True, timeout=300,
        start_new_session=True,
    )  # fmt: skip
    line = next((text for text in done.stdout.splitlines() if text.startswith("@")), None)
    if line is None:
        raise RuntimeError(f"no program was begun: {done.stdout[-500:]} {done.stderr[-500:]}")
    return float(line[1:]) - began


def starts(count: int) -> dict[str, list[float]]:
    """Family → seconds of its first start in a new folder, where data are prepared and the sandbox is proven, and of
    so many later ones; the families in turns.
    """
    with tempfile.TemporaryDirectory(prefix="swarm-start-") as name:
        found: dict[str, list[float]] = {family: [] for family in FAMILIES}
        for _ in range(count + 1):
            for number, (family, words) in enumerate(FAMILIES.items()):
                folder = Path(name) / str(number)
                folder.mkdir(exist_ok=True)
                found[family].append(start(folder, words))
        return found


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--count", type=int, default=5, help="later starts of each family")
    count = parser.parse_args().count
    print(f"from `python main.py` until the first program begins in the sandbox (rules; median of {count} starts)")
    print(f"{'':<20} {'s':>6} {'range':>13} {'first ever':>11}")
    for family, (first, *later) in starts(count).items():
        told = f"{min(later):.2f} … {max(later):.2f}"
        print(f"{family:<20} {statistics.median(later):>6.2f} {told:>13} {first:>11.2f}")
    with tempfile.TemporaryDirectory(prefix="swarm-start-") as folder:
        heavy = modules_at_first_query(Path(folder), FAMILIES["competition/ames"])
    print(f"heavy modules in the main process at the first query: {', '.join(heavy) or 'none'}")


if __name__ == "__main__":
    main()
