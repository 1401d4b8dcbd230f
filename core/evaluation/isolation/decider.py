"""Decides how candidates are kept apart from a user's evaluator: runs the user's own program each way, and compares."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from core.contracts import Limits
from core.evaluation.isolation.apart import ELSEWHERE, Apart, program_failure
from core.evaluation.isolation.decision import UNSCORED, UNTRIED, Decision
from core.evaluation.isolation.evaluator import EvaluatorRun, EvaluatorUnusable
from core.evaluation.isolation.scores_alike import differ, mean, spread
from core.evaluation.isolation.together import Together
from core.executor.warm import WarmSandbox
from utils.counts import counted
from utils.processors import processors
from utils.thread_pool import threads

Score = Callable[[Any], float | None]
"""The number that steers, of what an evaluator returned."""
Try = Callable[[], EvaluatorRun]
"""Scores the user's own program once."""

FINE_CALLS = 300
"""An evaluation that makes more calls of the program is fine-grained: their way to the sandbox costs more than scoring
it beside the evaluator first. Counted, not timed: a time near the bound would decide two runs otherwise."""
SLOW_SECONDS = 20.0
"""An evaluation that takes longer is not run again only to be compared."""
QUICKER = 4
"""Of a slow one: so many times quicker it has to be beside the evaluator to be scored there first."""
SAMPLES, FEWEST = 5, 3
"""Scores each way, where two of the same program are not equal: with fewer than three, chance would tell them apart too
often. Where a score takes long, they are no more than fit."""
TRIES_SECONDS = 20.0
"""For all scores of a kind together, where that leaves the fewest; several are taken side by side."""
SIDE_BY_SIDE_SECONDS = 0.5
"""Quicker evaluations are tried one after the other: side by side would disturb what is measured of their time."""
LEAST_SLOWED, MOST_SLOWED = 0.2, 1.0
"""Seconds that all calls together take longer when it is tried whether the score is a time: ten times what they took,
but for slow ones a quarter of it."""
TIMED, OTHER = "the score depends on time", "the score is another"
READS = "the evaluator looks at the program's text, its size or its lines"
Scored = tuple[EvaluatorRun, list[float]]
"""One run of the user's own program, and all scores of that kind."""
_CLASS = re.compile(r"^class\s+(\w+)(.*(?:\n(?:[ \t].*)?)*)", re.MULTILINE)
_ASKED = re.compile(r"^[ \t]+def\s*(__\w+__)", re.MULTILINE)
NO_SCORE = "apart the program gets no score"


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
        stands_in: the evaluator is handed a text, and apart one that stands in for it: the scores are always compared.
    """

    def __init__(
        self, sandbox: WarmSandbox, code: str, *, wanted: str, start: Apart, folder: Path, shows: tuple[str, ...],
        score: Score, limits: Limits, seed: int, file: str = "", beside: str = "", stands_in: bool = False,
    ) -> None:  # fmt: skip
        self._stands_in = stands_in
        self._sandbox, self._code, self._wanted = sandbox, code, wanted
        self._start, self._folder, self._shows, self._score = start, folder, shows, score
        self._limits, self._seed, self._file, self._beside_it = limits, seed, file, beside
        self._tries = 0
        self._samples, self._at_once = SAMPLES, 1

    def decide(self) -> tuple[Decision, EvaluatorRun]:
        """The decision, and the run of the user's program that stands for it.

        Raises:
            EvaluatorUnusable: the evaluator cannot be loaded.
        """
        may_be_apart = self._sandbox.tier != "none" and self._wanted != "together" and not self._file
        kept = self._start.begin(self._sandbox) if may_be_apart else None  # while another one scores for the first time
        decision = None
        try:
            decision, run = self._decided()
        finally:
            if kept is not None and (decision is None or decision.isolation == "together" or not decision.forks):
                self._start.end(self._sandbox, kept)
        return decision.model_copy(update={"tries": self._tries}), run

    def _decided(self) -> tuple[Decision, EvaluatorRun]:
        if self._sandbox.tier == "none":
            return self._shared("there is no sandbox", None)
        if self._file and self._wanted != "apart":
            return self._shared(f"the evaluator runs {self._file} itself", None)
        first = self._first()
        if first.refused in ELSEWHERE and self._wanted != "together":
            first = self._served(first)
        if first.error and not first.raised and first.seconds < self._start.timeout:
            again = self._first()  # one that crashes now and then is to be kept apart as well
            first = first if self._score(again.value) is None else again
        if first.seconds > SIDE_BY_SIDE_SECONDS:
            self._at_once = max(1, min(SAMPLES, processors(), self._sandbox.cards.places or SAMPLES))
            fit = int(TRIES_SECONDS * self._at_once / (4 * first.seconds))
            self._samples = min(SAMPLES, max(FEWEST, fit))
        self._shows = (*self._shows, *(path for path in first.opened if not self._is_shown(path)))
        if self._wanted == "together":
            return self._shared("problem.options.isolation=together", first)
        if self._file:
            return Decision(isolation="apart", shows=self._shows, forks=False, file=self._file), first
        hindered = _hindered(first)
        if hindered or self._score(first.value) is None:
            return self._shared(hindered or NO_SCORE, first)
        return self._compared(first)

    def _first(self) -> EvaluatorRun:
        """The user's own program apart, watched."""
        self._tries += 1
        return self._start.run(self._sandbox, self._code, limits=self._limits, seed=self._seed, watch=True)

    def _served(self, refused: EvaluatorRun) -> EvaluatorRun:
        """The same where other processes than the evaluator's own call the program, if that gives a score."""
        alone, self._start = self._start, replace(self._start, serves=True)
        first = self._first()
        if _hindered(first) or self._score(first.value) is None:
            self._start = alone
            return refused
        return first

    def _is_shown(self, path: str) -> bool:
        return any(path == shown or path.startswith(f"{shown}/") for shown in (str(self._folder), *self._shows))

    # ------------------------------------------------------------ two of the three ways

    def _shared(self, reason: str, first: EvaluatorRun | None) -> tuple[Decision, EvaluatorRun]:
        """Together, if that gives a score or nothing else can; else the failure that the program had apart."""
        decision = Decision(isolation="together", reason=reason, shows=self._shows, file=self._file)
        insisted = self._wanted in ("apart", "screen")
        run = first if insisted and first is not None else self._all(partial(self._beside, decision))[0]
        if first is None or self._score(run.value) is not None:
            return decision, run
        failed_apart = first.program is not None or bool(first.error)
        told = first if failed_apart and not first.refused else run
        can_be_apart = not self._file and self._wanted != "together" and (insisted or not first.refused)
        return self._unscored(first) if can_be_apart else decision, told

    def _unscored(self, first: EvaluatorRun) -> Decision:
        """The user's own program fails by itself, wherever it is scored: those that mend it are kept apart, as none of
        them has a say in it, and answer with plain data but for what that program has."""
        classes = tuple(sorted({*first.classes, *declared(self._code)}))
        return Decision(
            isolation="apart", reason=UNSCORED, classes=classes, modules=dict(self._start.modules or {}),
            shows=self._shows, forks=first.seconds < SLOW_SECONDS,
        )  # fmt: skip

    def _compared(self, first: EvaluatorRun) -> tuple[Decision, EvaluatorRun]:
        """Apart works: is it what the score would be beside the evaluator, and is it worth screening?"""
        decision = Decision(
            isolation="apart", classes=first.classes, modules=dict(self._start.modules or {}), shows=self._shows,
            forks=first.seconds < SLOW_SECONDS, calls=first.calls, serves=self._start.serves,
        )  # fmt: skip
        by_text = self._start.serves or not first.calls or first.texts  # of what stands in for the program, maybe
        if by_text and (looked_at := self._by_its_text(decision, first)):
            return looked_at
        fine = self._wanted == "screen" or first.calls > FINE_CALLS
        if first.seconds >= SLOW_SECONDS and self._wanted != "screen":
            if self._wanted == "auto" and first.clocks:
                decision = decision.model_copy(update={"reason": UNTRIED})
            if by_text:
                return self._same_beside(decision, first)
            return (self._quicker_beside(decision, first) if fine and self._wanted == "auto" else decision), first
        looks_beside = by_text or (self._wanted != "apart" and (fine or first.clocks or self._stands_in))
        with threads(1, "opening") as pool:
            if looks_beside:  # who needs it is told what goes wrong
                pool.submit(self._together(decision).open, self._sandbox, self._code)
            tries = [partial(self._apart, decision), *[partial(self._tried_beside, decision)] * looks_beside]
            forked, *beside = self._all(*tries)
        decision, apart = self._forks_or_not(decision, first, forked)
        decision = decision.model_copy(update={"noise": spread(apart), "scores": tuple(apart)})
        slowed = self._slowed(decision, apart, first) if first.clocks else []
        further = self._beside_again(decision, apart, beside[0]) if beside else []
        found = self._all(*slowed, *further)
        beside += found[len(slowed) :]
        timed = first.clocks and self._is_timed(apart, found[: len(slowed)])
        if not looks_beside:
            return decision.model_copy(update={"reason": TIMED if timed else ""}), first
        scores, run = self._numbers(beside), beside[0]
        if len(scores) < len(beside):
            failed = {"reason": f"it cannot be screened: {_failed(run)}", "doubt": _untried(run) if by_text else ""}
            return decision.model_copy(update=failed), first
        if timed or differ(apart, scores):
            return self._another(decision, TIMED if first.clocks else OTHER, (first, apart), (run, scores))
        if not fine:
            return decision, first
        screened = {
            "isolation": "screen",
            "reason": f"{counted(first.calls, 'call')} a program",
            "noise": spread(apart + scores),
        }
        return decision.model_copy(update=screened), first

    def _same_beside(self, decision: Decision, first: EvaluatorRun) -> tuple[Decision, EvaluatorRun]:
        """Of an evaluation that is slow: apart, unless its score is another beside the evaluator."""
        apart, beside = self._sampled(first, decision, partial(self._tried_beside, decision))
        scores, own = self._numbers(beside), self._numbers(apart)
        if not scores:
            return decision.model_copy(update={"doubt": _untried(beside[0])}), first
        if not differ(own, scores):
            return decision, first
        return self._another(decision, OTHER, (first, own), (beside[0], scores))

    def _by_its_text(self, decision: Decision, first: EvaluatorRun) -> tuple[Decision, EvaluatorRun] | None:
        """What is decided where the evaluator looks at the program's file: what stands there is not the program, and a
        check that both pass would pass every program. None where another text there changes nothing."""
        with_another = partial(self._apart, decision, odd=True)
        apart, odd = self._sampled(first, decision, with_another)
        scores = self._numbers(odd) or self._numbers(self._all(with_another))  # it may crash now and then
        if scores and not differ(self._numbers(apart), scores):
            return None
        run = self._tried_beside(decision) if self._wanted == "auto" else None
        if run is None or self._score(run.value) is None:
            doubt = f"{READS}, and finds what stands in for it"
            return decision.model_copy(update={"reason": READS, "doubt": doubt}), first
        return decision.model_copy(update={"isolation": "together", "reason": READS}), run

    def _sampled(
        self, first: EvaluatorRun, decision: Decision, other: Try
    ) -> tuple[list[EvaluatorRun], list[EvaluatorRun]]:
        """(runs apart with the first, others): one of each, and more where their scores differ, maybe by chance."""
        apart, others = [first], self._all(other)
        if differ(self._numbers(apart), self._numbers(others)):
            more = FEWEST - 1
            found = self._all(*[partial(self._apart, decision)] * more, *[other] * more)
            apart, others = apart + found[:more], others + found[more:]
        return apart, others

    def _another(self, decision: Decision, why: str, apart: Scored, beside: Scored) -> tuple[Decision, EvaluatorRun]:
        """The score is another apart: the two share a sandbox, where it is not the user's word that they shall not."""
        told = f"{why}: {mean(apart[1]):.6g} apart, {mean(beside[1]):.6g} beside the evaluator"
        if self._wanted == "apart":
            return decision.model_copy(update={"reason": why, "doubt": f"of your own program {told}"}), apart[0]
        shared = {"isolation": "together", "reason": told, "scores": tuple(beside[1])}
        return decision.model_copy(update=shared), beside[0]

    def _quicker_beside(self, decision: Decision, first: EvaluatorRun) -> Decision:
        """Of an evaluation that is slow apart: screened, where the way of so many calls is what makes it slow.

        A score that stays the same where it took a quarter of the time is none of the time.
        """
        (run,) = self._all(partial(self._tried_beside, decision))
        found, apart = self._numbers([run]), self._numbers([first])
        if not found or run.seconds > first.seconds / QUICKER:
            return decision
        if found[0] != apart[0]:
            if first.clocks:
                return decision
            found += self._numbers(self._all(*[partial(self._tried_beside, decision)] * (SAMPLES - 1)))
        if len(found) not in (1, SAMPLES) or differ(apart, found):
            return decision
        told = f"{counted(first.calls, 'call')} a program"
        return decision.model_copy(update={"isolation": "screen", "reason": told, "noise": spread(apart + found)})

    def _forks_or_not(
        self, decision: Decision, first: EvaluatorRun, forked: EvaluatorRun
    ) -> tuple[Decision, list[float]]:
        """Scores apart, by forks of the loaded evaluator where that gives what a fresh one gives."""
        fresh, by_fork = self._numbers([first]), self._numbers([forked])
        if by_fork and by_fork[0] == fresh[0]:
            return decision, fresh + by_fork
        alone, more = decision.model_copy(update={"forks": False}), self._samples - 1
        tries = [partial(self._apart, alone)] * more + [partial(self._apart, decision)] * (more if by_fork else 0)
        found = self._all(*tries)
        fresh, by_fork = fresh + self._numbers(found[:more]), by_fork + self._numbers(found[more:])
        if len(by_fork) < self._samples or differ(fresh, by_fork):
            return alone, fresh
        return decision, by_fork

    def _slowed(self, decision: Decision, apart: list[float], first: EvaluatorRun) -> list[Try]:
        """Scores where each call of the program takes longer."""
        took = first.call_seconds
        longer = min(max(LEAST_SLOWED, 10 * took), max(MOST_SLOWED, took / 4))
        return [partial(self._apart, decision, longer / max(first.calls, 1))] * (self._samples if spread(apart) else 1)

    def _is_timed(self, apart: list[float], slowed: list[EvaluatorRun]) -> bool:
        """True if the score is another, or none, where calls take longer."""
        scores = self._numbers(slowed)
        return not scores or differ(apart, scores)

    def _beside_again(self, decision: Decision, apart: list[float], run: EvaluatorRun) -> list[Try]:
        """Further scores beside the evaluator; none where the first one did not work."""
        score = self._score(run.value)
        if score is None:
            return []
        varies = spread(apart) > 0 or score != apart[0]
        return [partial(self._tried_beside, decision)] * (self._samples - 1 if varies else 1)

    def _all(self, *tries: Try) -> list[EvaluatorRun]:
        """What comes of them, in order; several at once where they are slow."""
        self._tries += len(tries)
        if self._at_once == 1 or len(tries) < 2:
            return [each() for each in tries]
        with threads(self._at_once, "tries") as pool:
            return [future.result() for future in [pool.submit(each) for each in tries]]

    def _apart(self, decision: Decision, delay: float = 0.0, *, odd: bool = False) -> EvaluatorRun:
        how = decision.apart(self._start.evaluator, self._start.timeout)
        return how.run(self._sandbox, self._code, limits=self._limits, seed=self._seed, delay=delay, odd=odd)

    def _beside(self, decision: Decision) -> EvaluatorRun:
        return self._together(decision).run(self._sandbox, self._code, limits=self._limits, seed=self._seed)

    def _tried_beside(self, decision: Decision) -> EvaluatorRun:
        """The same; an evaluator that cannot be loaded there is one that has no score there, since apart it has."""
        try:
            return self._beside(decision)
        except EvaluatorUnusable as error:
            return EvaluatorRun(error=error.trace, line=error.line)

    def _together(self, decision: Decision) -> Together:
        return decision.together(self._start.evaluator, self._folder, self._start.timeout, self._beside_it)

    def _numbers(self, runs: list[EvaluatorRun]) -> list[float]:
        found = (self._score(run.value) for run in runs if program_failure(run) is None)
        return [number for number in found if number is not None]


def declared(code: str) -> Iterator[str]:
    """What a program's text, which need not parse, says of its classes and of what Python can ask of their objects; as
    `Proxy.classes` does."""
    for head, body in _CLASS.findall(code):
        yield from (head, *(f"{head}.{name}" for name in _ASKED.findall(body)))


def _hindered(first: EvaluatorRun) -> str:
    """Why the user's own program cannot be scored apart; '' if it can."""
    if first.refused:
        return first.refused
    if first.program is not None and first.program.message.startswith("SyntaxError"):
        return "the program is no Python, so that the evaluator has to start it itself"
    if first.program is not None:
        return f"apart the program fails: {first.program.message}"
    return f"apart the {'program' if first.raised else 'evaluator'} fails: {first.line}" if first.error else ""


def _failed(run: EvaluatorRun) -> str:
    """Why a run has no score."""
    failed = program_failure(run)
    return failed.message if failed is not None else run.line or "no score"


def _untried(run: EvaluatorRun) -> str:
    """What is not known where a program that should have been scored beside the evaluator could not be."""
    return f"whether your own program has the same score beside the evaluator could not be tried: {_failed(run)}"
