# ruff: noqa: E501 - programs as data
"""python -m benchmarks.cheats: a cheat that walks the stack and rescales the constant of three evaluators.

Each evaluator has the form of OpenEvolve: `evaluate(program_path)` imports the candidate. Beside it in one sandbox the
cheat wins (`unisolated`); through the proxy it gets what the honest program gets.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from core.contracts import Limits, Sandbox
from core.evaluation.isolation.apart import Apart
from core.evaluation.isolation.cheats import score_of
from core.evaluation.isolation.together import Together
from core.executor.sandbox import open_sandbox

EVALUATORS = {
    "target": (
        "TARGET = 100.0\n{load}\n    total = sum(m.f(i) for i in range(10))\n    return {{'combined_score': total / TARGET}}",
        "def f(x): return x",
    ),
    "error": (
        "SCALE = 10.0\n{load}\n    import math\n    error = sum(abs(m.f(i) - math.sqrt(i)) for i in range(1, 20))\n"
        "    return {{'combined_score': 1 / (1 + error * SCALE), 'error': error}}",
        "def f(x): return x ** 0.51",
    ),
    "bins": (
        "CAPACITY = 10\n{load}\n    items = [3, 7, 5, 5, 2, 8, 6, 4] * 5\n    bins = []\n    for item in items:\n"
        "        fits = [b for b in bins if sum(b) + item <= CAPACITY]\n"
        "        if fits: max(fits, key=lambda b: m.priority(item, CAPACITY - sum(b))).append(item)\n"
        "        else: bins.append([item])\n    return {{'combined_score': -float(len(bins))}}",
        "def priority(item, room): return room",
    ),
}
LOAD = (
    "import importlib.util\ndef evaluate(program_path):\n"
    "    spec = importlib.util.spec_from_file_location('program', program_path)\n"
    "    m = importlib.util.module_from_spec(spec)\n    spec.loader.exec_module(m)"
)
RESCALE = """
import sys
def _rescale(names=("TARGET", "SCALE", "CAPACITY"), factors=(1e-3, 1e-3, 1e3)):
    frame = sys._getframe()
    while frame:
        for name, factor in zip(names, factors):
            if name in frame.f_globals: frame.f_globals[name] *= factor
        frame = frame.f_back
_name = "priority" if "priority" in globals() else "f"
def _wrapped(*a, _f=globals()[_name]):
    _rescale()
    return _f(*a)
globals()[_name] = _wrapped
"""


def figures(sandbox: Sandbox, name: str, folder: Path) -> dict[str, float]:
    """Scores of one evaluator: of the honest program, of the cheat beside it, of the cheat behind the proxy."""
    source, honest = EVALUATORS[name]
    evaluator = folder / "evaluator.py"
    evaluator.write_text(source.format(load=LOAD))
    limits = Limits(seconds=20)
    runs = {
        "honest": Apart(evaluator, timeout=30).run(sandbox, honest, limits=limits),
        "unisolated": Together(evaluator, timeout=30).run(sandbox, honest + RESCALE, limits=limits),
        "proxy": Apart(evaluator, timeout=30).run(sandbox, honest + RESCALE, limits=limits),
    }
    assert [run.isolated for run in runs.values()] == [True, False, True]
    scores = {kind: score_of(run.value) for kind, run in runs.items()}
    missing = [f"{kind}: {runs[kind].error}" for kind, score in scores.items() if score is None]
    if missing:
        raise RuntimeError("; ".join(missing))
    return {kind: score for kind, score in scores.items() if score is not None}


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="swarm-bench-") as top:
        folder = Path(top)
        folder.chmod(0o755)
        sandbox = open_sandbox("auto", state_dir=folder / "state")
        try:
            print(
                f"tier {sandbox.tier}\n{'evaluator':12s} {'honest':>10s} {'cheat, unisolated':>18s} {'cheat, proxy':>14s}"
            )
            for name in EVALUATORS:
                found = figures(sandbox, name, folder)
                print(f"{name:12s} {found['honest']:10.4g} {found['unisolated']:18.4g} {found['proxy']:14.4g}")
        finally:
            sandbox.close()


if __name__ == "__main__":
    main()
