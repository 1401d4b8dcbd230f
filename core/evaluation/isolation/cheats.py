"""Which known cheats would beat a user's evaluator? Each is tried both ways: beside it, and behind the proxy."""

from __future__ import annotations

import math
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.contracts import Limits, Sandbox
from core.evaluation.isolation.cheat_sources import CHEATS, WALK
from core.evaluation.isolation.isolation import EvaluatorRun, evaluate_apart, evaluate_together
from utils.errors import ConfigError

PROGRAM_NAMES = ("initial_program.py", "initial.py", "program.py", "solution.py")
_LIMITS = Limits(seconds=20, memory_mb=2048, disk_mb=256, processes=64)
_MARGIN = 0.01
"""A cheat has won if it moved the score by more than 1 % and more than three times what chance moves it."""


@dataclass(frozen=True, slots=True)
class CheatResult:
    """One cheat against one evaluator. Scores are None where there was none."""

    name: str
    attempts: str
    honest_score: float | None
    unisolated_score: float | None
    wins_unisolated: bool
    proxy_score: float | None
    wins_through_proxy: bool
    note: str = ""


def attack_evaluator(
    path: Path, program: Path | None = None, *, sandbox: Sandbox | None = None, timeout: float = 30.0
) -> list[CheatResult]:
    """Try every cheat on an evaluator of the OpenEvolve form: `evaluate(program_path) -> {"combined_score": …}`.

    Args:
        program: an honest program that the evaluator accepts; without, one of `initial_program.py`, `program.py`, …
            beside the evaluator.
        sandbox: where candidates run; without, one is opened for this call.
        timeout: seconds for each evaluation.

    Raises:
        ConfigError: no evaluator, no program, or an evaluator that cannot score the honest program.
        NoSandboxError: this machine has no sandbox.
    """
    path = Path(path)
    if not path.is_file():
        raise ConfigError(f"no evaluator at {path}")
    honest = _honest_program(path, program).read_text(encoding="utf-8")
    if sandbox is not None:
        return list(_attack(sandbox, path, honest, timeout))
    from core.executor.sandbox import open_sandbox

    with tempfile.TemporaryDirectory(prefix="swarm-cheats-") as folder:
        opened = open_sandbox("auto", preload=("numpy",), state_dir=Path(folder))
        try:
            return list(_attack(opened, path, honest, timeout))
        finally:
            opened.close()


def _honest_program(path: Path, program: Path | None) -> Path:
    candidates = [program] if program is not None else [path.parent / name for name in PROGRAM_NAMES]
    for candidate in candidates:
        if candidate.is_file() and candidate.resolve() != path.resolve():
            return candidate
    raise ConfigError(f"no program to cheat with: put one of {', '.join(PROGRAM_NAMES)} beside {path.name}")


def _attack(sandbox: Sandbox, path: Path, honest: str, timeout: float) -> Iterator[CheatResult]:
    limits = _LIMITS.model_copy(update={"seconds": timeout})

    def together(code: str) -> EvaluatorRun:
        return evaluate_together(sandbox, path, code, limits=limits)

    def apart(code: str) -> EvaluatorRun:
        return evaluate_apart(sandbox, path, code, limits=limits, timeout=timeout)

    beside = [score_of(together(honest).value) for _ in range(2)]
    behind = [score_of(apart(honest).value) for _ in range(2)]
    if beside[0] is None and behind[0] is None:
        run = together(honest)
        why = run.error or (run.program.message if run.program else "no combined_score")
        raise ConfigError(f"{path} does not score its honest program: {why[-500:]}")

    def try_one(item: tuple[str, tuple[str, str]]) -> CheatResult:
        name, (attempts, body) = item
        code = f"{honest}\n{WALK}\n{body}\n"
        one, other = together(code), apart(code)
        first, second = score_of(one.value), score_of(other.value)
        return CheatResult(
            name=name, attempts=attempts, honest_score=beside[0] if beside[0] is not None else behind[0],
            unisolated_score=first, wins_unisolated=_won(first, beside),
            proxy_score=second, wins_through_proxy=_won(second, behind),
            note=f"not isolated: {other.refused}" if other.refused else "",
        )  # fmt: skip

    with ThreadPoolExecutor(2) as pool:
        yield from pool.map(try_one, CHEATS.items())


def score_of(value: Any) -> float | None:
    """`combined_score`, else the mean of the numbers, as OpenEvolve has it; None for anything else."""
    if isinstance(value, dict) and isinstance(value.get("metrics"), dict):
        value = value["metrics"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = {"combined_score": value}
    if not isinstance(value, dict):
        return None
    chosen = value.get("combined_score")
    if isinstance(chosen, str) and chosen.lstrip("-") in ("inf", "nan"):
        return float(chosen)
    numbers = [v for v in value.values() if isinstance(v, int | float) and not isinstance(v, bool)]
    if isinstance(chosen, int | float):
        return float(chosen)
    return sum(map(float, numbers)) / len(numbers) if numbers else None


def _won(score: float | None, honest: list[float | None]) -> bool:
    """True if the score differs upwards from what the honest program gets (or is infinite)."""
    known = [value for value in honest if value is not None]
    if score is None or not known or math.isnan(score):
        return False
    chance = max(known) - min(known)
    return score > max(known) + max(_MARGIN * abs(max(known)), 3 * chance, 1e-12)
