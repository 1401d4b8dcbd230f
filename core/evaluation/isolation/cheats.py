"""Which known cheats would beat a user's evaluator? Each is tried both ways: beside it, and as a run would score it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart, program_failure
from core.evaluation.isolation.cheat_sources import CHEATS, CONSTANT, NUMBERS, attack
from core.evaluation.isolation.decider import Decider
from core.evaluation.isolation.decision import Decision
from core.evaluation.isolation.evaluator import EvaluatorRun, EvaluatorUnusable
from core.evaluation.isolation.modules import modules_beside
from core.executor.warm import WarmSandbox
from utils.direction import Direction
from utils.errors import ConfigError
from utils.missing_file import no_file
from utils.scratch_folders import scratch_folder
from utils.thread_pool import Pool
from utils.user_text import user_text

PROGRAM_NAMES = ("initial_program.py", "initial.py", "program.py", "solution.py")
_LIMITS = Limits(seconds=20, memory_mb=2048, disk_mb=256, processes=64)
_MARGIN = 0.01
"""A cheat has won if it moved the score by more than 1 % and more than three times what chance moves it."""
_LEAST_SECONDS = 5.0
_TIMES_HONEST = 20
"""A cheat may take so many times what the honest program takes, at least `_LEAST_SECONDS`: some never end."""


_Look = Callable[[str, float], EvaluatorRun]
"""Scores a program's code within so many seconds."""


@dataclass(frozen=True, slots=True)
class Aim:
    """What a cheat wants: a better score of this metric."""

    lower_is_better: bool = False
    metric: str | None = None
    """None: `combined_score`, else the mean of all numbers."""

    def at(self, honest: str, trick: str) -> str:
        """The honest program with that trick."""
        return attack(honest, trick, lower_is_better=self.lower_is_better, metric=self.metric or "combined_score")

    def score(self, value: Any) -> float | None:
        """What steers, of what an evaluator returned."""
        return score_of(value, self.metric)

    def won(self, score: float | None, honest: list[float | None]) -> bool:
        """True if the score is better than what honest programs get (or infinitely good)."""
        gain = Direction(self.lower_is_better).gain
        known = [value for value in honest if value is not None and math.isfinite(value)]
        if score is None or not known or math.isnan(score):
            return False
        best = Direction(self.lower_is_better).ranked(known, float)[0]
        chance = max(known) - min(known)
        return gain(score, best) > max(_MARGIN * abs(best), 3 * chance, 1e-12)


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
    """As a run would score it; where a run cannot keep the two apart, it is scored beside the evaluator too."""
    note: str = ""


@dataclass(frozen=True, slots=True)
class Attacked:
    """All cheats against one evaluator."""

    decision: Decision
    results: tuple[CheatResult, ...]

    @property
    def sentence(self) -> str:
        """Can it be cheated: alone, and in a run."""
        alone = sum(result.wins_unisolated for result in self.results)
        through = sum(result.wins_through_proxy for result in self.results)
        scored = any(result.unisolated_score is not None for result in self.results)
        held = "Alone it held" if scored else "Alone no program had a score, so nothing is known of that"
        first = f"Alone it can be cheated ({alone} of {len(self.results)} cheats win)" if alone else held
        if self.decision.isolation == "together":
            second = f"in a run its scores are `unisolated`, because {self.decision.reason}: {through} win there too"
        else:
            second = f"in a run it can be cheated too ({through} win)" if through else "in a run none of them wins"
        return f"{first}; {second}."


def attack_evaluator(
    path: Path,
    program: Path | None = None,
    *,
    harness: Path | None = None,
    sandbox: WarmSandbox | None = None,
    timeout: float = 30.0,
    told: Callable[[CheatResult], None] = lambda result: None,
    aim: Aim = Aim(),
    check: Callable[[Any], None] = lambda value: None,
) -> Attacked:
    """Try every cheat on an evaluator of the OpenEvolve form: `evaluate(program_path) -> {"combined_score": …}`.

    Args:
        aim: which way its score is better, and which metric that is.
        check: is given what the evaluator returned of the honest program, and may raise what is wrong with the aim.
        program: an honest program that the evaluator accepts; without, one of `initial_program.py`, `program.py`, …
            beside the evaluator.
        harness: a file that calls the evaluator, loaded in its place: it may have stages, or import OpenEvolve.
        sandbox: where candidates run; without, one is opened for this call.
        timeout: seconds for an evaluation of the honest program; a cheat gets what suits that, and no more.
        told: called with each result as it comes.

    Raises:
        ConfigError: no evaluator, no program, or an evaluator that cannot score the honest program.
        NoSandboxError: this machine has no sandbox.
    """
    path = Path(path).resolve()
    if not path.is_file():
        raise ConfigError(f"--evaluator {path}: {no_file(path)}")
    honest = user_text(_honest_program(path, program), "")
    if sandbox is not None:
        return _attack(sandbox, path, harness or path, honest, timeout, told, aim, check)
    from core.executor.sandbox import open_sandbox

    with scratch_folder("swarm-evo-cheats-") as folder:
        opened = open_sandbox("auto", preload=("numpy",), state_dir=folder)
        assert isinstance(opened, WarmSandbox)
        try:
            return _attack(opened, path, harness or path, honest, timeout, told, aim, check)
        finally:
            opened.close()


def _honest_program(path: Path, program: Path | None) -> Path:
    candidates = [program] if program is not None else [path.parent / name for name in PROGRAM_NAMES]
    for candidate in candidates:
        if candidate.is_file() and candidate.resolve() != path.resolve():
            return candidate
    raise ConfigError(f"no program to cheat with: put one of {', '.join(PROGRAM_NAMES)} beside {path.name}")


def _attack(
    sandbox: WarmSandbox,
    path: Path,
    loaded: Path,
    honest: str,
    timeout: float,
    told: Callable[[CheatResult], None],
    aim: Aim,
    check: Callable[[Any], None],
) -> Attacked:
    limits = _within(timeout)
    start = Apart(loaded, modules=modules_beside(path.parent, honest, path.stem), forks=False, timeout=timeout)
    decider = Decider(
        sandbox,
        honest,
        wanted="auto",
        start=start,
        folder=path.parent,
        shows=(),
        score=aim.score,
        limits=limits,
        seed=0,
    )
    try:
        decision, first = decider.decide()
    except EvaluatorUnusable as error:
        raise ConfigError(f"{path}: {error}") from error
    check(first.value)
    score = aim.score(first.value)
    if score is None or not math.isfinite(score):
        failed = program_failure(first)
        none = (
            f"no {aim.metric or 'combined_score'}"
            if score is None
            else f"its {aim.metric or 'combined_score'} is {score}"
        )
        why = first.error or (failed.message if failed is not None else none)
        raise ConfigError(f"{path} does not score its honest program: {why[-500:]}")

    def beside(code: str, seconds: float) -> EvaluatorRun:
        return decision.together(loaded, path.parent, seconds).run(sandbox, code, limits=_within(seconds))

    def in_a_run(code: str, seconds: float) -> EvaluatorRun:
        if decision.isolation == "together":
            return beside(code, seconds)
        return decision.apart(loaded, seconds).run(sandbox, code, limits=_within(seconds))

    results = []
    for result in _tries(beside, in_a_run, honest, timeout, aim):
        told(result)
        results.append(result)
    return Attacked(decision, tuple(results))


def _within(seconds: float) -> Limits:
    return _LIMITS.model_copy(update={"seconds": seconds})


def _tries(beside: _Look, in_a_run: _Look, honest: str, timeout: float, aim: Aim) -> Iterator[CheatResult]:
    began = time.monotonic()
    alone = [_valid_score(beside(honest, timeout), aim) for _ in range(2)]
    through = [_valid_score(in_a_run(honest, timeout), aim) for _ in range(2)]
    seconds = min(timeout, max(_LEAST_SECONDS, _TIMES_HONEST * (time.monotonic() - began) / 4))
    constant = aim.at(honest, CONSTANT)
    dull = {look: _valid_score(look(constant, seconds), aim) for look in (beside, in_a_run)}

    def wins(name: str, look: _Look, score: float | None, known: list[float | None]) -> bool:
        better = aim.won(score, known)
        return better and (name not in NUMBERS or dull[look] is None or aim.won(score, [dull[look]]))

    def try_one(item: tuple[str, tuple[str, str]]) -> CheatResult:
        name, (attempts, body) = item
        code = aim.at(honest, body)
        run = in_a_run(code, seconds)
        first, second, failed = _valid_score(beside(code, seconds), aim), _valid_score(run, aim), program_failure(run)
        if second is not None and not math.isfinite(second):  # no score, in a run
            second = None
        return CheatResult(
            name=name, attempts=attempts, honest_score=through[0],
            unisolated_score=first, wins_unisolated=wins(name, beside, first, alone),
            proxy_score=second, wins_through_proxy=wins(name, in_a_run, second, through),
            note=failed.message if failed is not None else "",
        )  # fmt: skip

    with Pool(2) as pool:
        yield from pool.map(try_one, CHEATS.items())


def _valid_score(run: EvaluatorRun, aim: Aim) -> float | None:
    """The score that a run would take; None for a program that failed."""
    return None if program_failure(run) is not None else aim.score(run.value)


def score_of(value: Any, metric: str | None = None) -> float | None:
    """The metric, else `combined_score`, else the mean of the numbers, as OpenEvolve has it; None for anything else."""
    if isinstance(value, dict) and isinstance(value.get("metrics"), dict):
        value = value["metrics"]
    if isinstance(value, int | float) and not isinstance(value, bool):
        value = {"combined_score": value}
    if metric is not None:
        value = {"combined_score": value.get(metric)} if isinstance(value, dict) else None
    if not isinstance(value, dict):
        return None
    chosen = value.get("combined_score")
    if isinstance(chosen, str) and chosen.removeprefix("-") in ("inf", "nan"):
        return float(chosen)
    numbers = [v for v in value.values() if isinstance(v, int | float) and not isinstance(v, bool)]
    if isinstance(chosen, int | float):
        return float(chosen)
    return sum(map(float, numbers)) / len(numbers) if numbers else None
