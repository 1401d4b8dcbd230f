"""How a run's candidates are kept apart from a user's evaluator: decided once, with the user's own program.

apart      the evaluator is trusted, each call of the candidate crosses to the sandbox
screen     scored beside the evaluator inside the sandbox first, and apart before the score may rank
together   beside the evaluator inside the sandbox: the candidate can reach it, the score is `unisolated`

No candidate has a say in it: what it answers that cannot cross is its failure.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart, program_failure
from core.evaluation.isolation.evaluator import EvaluatorRun
from core.evaluation.isolation.together import Together
from core.executor.warm import WarmSandbox

Isolation = Literal["apart", "screen", "together"]
Score = Callable[[Any], float | None]
"""The number that steers, of what an evaluator returned."""

FINE_SECONDS = 0.03
"""An evaluation whose calls cost more than this on their way is fine-grained: it is worth screening."""
CALL_SECONDS = 100e-6
"""What a call's way to the sandbox and back costs at most of its time."""
SLOW_SECONDS = 20.0
"""An evaluation that takes longer is not run again only to be compared."""
SAMPLES = 5
"""Scores each way, where two of the same program are not equal."""
LEAST_SLOWED, MOST_SLOWED = 0.2, 1.0
"""Seconds that all calls together take longer when it is tried whether the score is a time: ten times what they took,
but for slow ones a quarter of it."""
APART_BY = 0.05
"""Scores that vary differ one way and the other if all of the one are better than all of the other, by such a share of
the score or by more than either varies."""
RELATIVE = 1e-6
TIMED = "the score depends on time"


class Decision(BaseModel):
    """What was decided, and what it takes to score a candidate so. Plain JSON, kept with the run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    isolation: Isolation
    reason: str = ""
    """Why the two share a sandbox, or what was measured."""
    classes: tuple[str, ...] = ()
    """What objects the user's own program has and what they do (`Proxy.classes`); all else answers with plain data."""
    modules: dict[str, str] = Field(default_factory=dict)
    """Modules beside the evaluator that the program imports: name → source."""
    forks: bool = True
    """Each evaluation may be a fork of the loaded evaluator."""
    shows: tuple[str, ...] = ()
    """What a sandbox has to show for the evaluator to run in it, its own folder apart."""
    noise: float = 0.0
    """How much the score of one program varies by itself."""
    file: str = ""
    """What the file of a program that is no Python is called: its compiler or evaluator may go by that."""

    def apart(self, evaluator: Path, timeout: float) -> Apart:
        return Apart(
            evaluator, classes=self.classes, modules=self.modules, forks=self.forks, timeout=timeout,
            text_file=self.file,
        )  # fmt: skip

    def together(self, evaluator: Path, folder: Path, timeout: float, beside: str = "") -> Together:
        """How a program is scored beside the evaluator.

        Args:
            folder: where the user's evaluator lies on this machine, with what is beside it.
            beside: folder of the user's program, where that is another; for programs that are no Python.
        """
        shows = tuple(path for path in (str(folder), beside, *self.shows) if path)
        if not self.file:
            return Together(evaluator, shows=shows, timeout=timeout)
        return Together(evaluator, shows=shows, timeout=timeout, file=self.file, beside=beside or str(folder))


class Decider:
    """Runs the user's own program each way and compares.

    Args:
        wanted: `problem.options.isolation`.
        start: how the program is run before anything is known: no classes, its modules.
        folder: of the user's evaluator.
        shows: further files and folders that it is known to read.
        score: of what the evaluator returned.
        file: what the program's file is called, where it is no Python; `beside`: its folder, where that is another than
            the evaluator's. Such programs are run by the evaluator, so that the two share a sandbox; a text is only
            read, and may be kept apart (`wanted`).
    """

    def __init__(
        self, sandbox: WarmSandbox, code: str, *, wanted: str, start: Apart, folder: Path, shows: tuple[str, ...],
        score: Score, limits: Limits, seed: int, file: str = "", beside: str = "",
    ) -> None:  # fmt: skip
        self._sandbox, self._code, self._wanted = sandbox, code, wanted
        self._start, self._folder, self._shows, self._score = start, folder, shows, score
        self._limits, self._seed, self._file, self._beside_it = limits, seed, file, beside

    def decide(self) -> tuple[Decision, EvaluatorRun]:
        """The decision, and the run of the user's program that stands for it.

        Raises:
            EvaluatorUnusable: the evaluator cannot be loaded.
        """
        if self._sandbox.tier == "none":
            return self._shared("there is no sandbox", None)
        if self._file and self._wanted != "apart":
            return self._shared(f"the evaluator runs {self._file} itself", None)
        first = self._start.run(self._sandbox, self._code, limits=self._limits, seed=self._seed, watch=True)
        self._shows = (*self._shows, *(path for path in first.opened if not self._is_shown(path)))
        if self._wanted == "together":
            return self._shared("problem.options.isolation=together", first)
        if self._file:
            return Decision(isolation="apart", shows=self._shows, forks=False, file=self._file), first
        hindered = _hindered(first)
        if hindered or self._score(first.value) is None:
            return self._shared(hindered, first)
        return self._compared(first)

    def _is_shown(self, path: str) -> bool:
        return any(path == shown or path.startswith(f"{shown}/") for shown in (str(self._folder), *self._shows))

    # ------------------------------------------------------------ two of the three ways

    def _shared(self, reason: str, first: EvaluatorRun | None) -> tuple[Decision, EvaluatorRun]:
        """Together, if that gives a score; else the failure that the program had apart."""
        decision = Decision(isolation="together", reason=reason, shows=self._shows, file=self._file)
        insisted = self._wanted in ("apart", "screen")
        run = first if insisted and first is not None else self._beside(decision)
        if first is not None and self._score(run.value) is None and not insisted:
            failed_apart = first.program is not None or bool(first.error)
            return decision, first if failed_apart else run
        return decision, run

    def _compared(self, first: EvaluatorRun) -> tuple[Decision, EvaluatorRun]:
        """Apart works: is it what the score would be beside the evaluator, and is it worth screening?"""
        decision = Decision(
            isolation="apart", classes=first.classes, modules=dict(self._start.modules or {}), shows=self._shows,
            forks=first.seconds < SLOW_SECONDS,
        )  # fmt: skip
        fine = self._wanted == "screen" or min(first.call_seconds, first.calls * CALL_SECONDS) > FINE_SECONDS
        if first.seconds >= SLOW_SECONDS and self._wanted != "screen":
            return decision, first
        decision, apart = self._apart_again(decision, first)
        decision = decision.model_copy(update={"noise": _spread(apart)})
        timed = first.clocks and self._is_timed(decision, apart, first)
        if self._wanted == "apart" or not (fine or first.clocks):
            return decision.model_copy(update={"reason": TIMED if timed else ""}), first
        beside, run = self._beside_again(decision, apart)
        if not beside:
            return decision.model_copy(update={"reason": f"it cannot be screened: {_failed(run)}"}), first
        if timed or _differ(apart, beside):
            why = TIMED if first.clocks else "the score is another"
            told = f"{why}: {_mean(apart):.6g} apart, {_mean(beside):.6g} beside the evaluator"
            return decision.model_copy(update={"isolation": "together", "reason": told}), run
        if not fine:
            return decision, first
        found = {"isolation": "screen", "reason": f"{first.calls} calls a program", "noise": _spread(apart + beside)}
        return decision.model_copy(update=found), first

    def _apart_again(self, decision: Decision, first: EvaluatorRun) -> tuple[Decision, list[float]]:
        """Scores apart, by forks of the loaded evaluator where that gives what a fresh one gives."""
        fresh = self._numbers([first])
        forked = self._numbers(self._runs_apart(decision, 1))
        if forked and forked[0] == fresh[0]:
            return decision, fresh + forked
        alone = decision.model_copy(update={"forks": False})
        fresh += self._numbers(self._runs_apart(alone, SAMPLES - 1))
        forked += self._numbers(self._runs_apart(decision, SAMPLES - 1)) if forked else []
        if len(forked) < SAMPLES or _differ(fresh, forked):
            return alone, fresh
        return decision, forked

    def _is_timed(self, decision: Decision, apart: list[float], first: EvaluatorRun) -> bool:
        """True if the score is another, or none, where each call of the program takes longer."""
        took = first.call_seconds
        longer = min(max(LEAST_SLOWED, 10 * took), max(MOST_SLOWED, took / 4))
        slowed = self._numbers(
            self._runs_apart(decision, SAMPLES if _spread(apart) else 1, longer / max(first.calls, 1))
        )
        return not slowed or _differ(apart, slowed)

    def _beside_again(self, decision: Decision, apart: list[float]) -> tuple[list[float], EvaluatorRun]:
        """Scores beside the evaluator, and a run of them; no scores where that does not work."""
        runs = [self._beside(decision)]
        if self._score(runs[0].value) is not None:
            varies = _spread(apart) > 0 or self._score(runs[0].value) != apart[0]
            runs += [self._beside(decision) for _ in range(SAMPLES - 1 if varies else 1)]
        return self._numbers(runs) if len(self._numbers(runs)) == len(runs) else [], runs[0]

    def _runs_apart(self, decision: Decision, count: int, delay: float = 0.0) -> list[EvaluatorRun]:
        how = decision.apart(self._start.evaluator, self._start.timeout)
        told: dict[str, Any] = {"limits": self._limits, "seed": self._seed, "delay": delay}
        return [how.run(self._sandbox, self._code, **told) for _ in range(count)]

    def _beside(self, decision: Decision) -> EvaluatorRun:
        how = decision.together(self._start.evaluator, self._folder, self._start.timeout, self._beside_it)
        return how.run(self._sandbox, self._code, limits=self._limits, seed=self._seed)

    def _numbers(self, runs: list[EvaluatorRun]) -> list[float]:
        found = (self._score(run.value) for run in runs if program_failure(run) is None)
        return [number for number in found if number is not None]


def _hindered(first: EvaluatorRun) -> str:
    """Why the user's own program cannot be scored apart; '' if it can."""
    if first.refused:
        return first.refused
    if first.program is not None and first.program.message.startswith("SyntaxError"):
        return "the program is no Python, so that the evaluator has to start it itself"
    if first.program is not None:
        return f"apart the program fails: {first.program.message}"
    return f"apart the evaluator fails: {first.line}" if first.error else ""


def _failed(run: EvaluatorRun) -> str:
    """Why a run has no score."""
    failed = program_failure(run)
    return failed.message if failed is not None else run.line or "no score"


def _mean(numbers: list[float]) -> float:
    return sum(numbers) / len(numbers)


def _spread(numbers: list[float]) -> float:
    return max(numbers) - min(numbers)


def _differ(ones: list[float], others: list[float]) -> bool:
    """True if the two are not scores of the same thing."""
    low, high = sorted((ones, others), key=min)
    gap = min(high) - max(low)
    size = max(map(abs, (*ones, *others)))
    if gap <= RELATIVE * size:
        return False
    return gap > APART_BY * size or gap > max(_spread(ones), _spread(others))
