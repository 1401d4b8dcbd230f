"""Steps as lines of the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from cli.terminal.best_so_far import BEST, BestSoFar, shown
from core.events import BaselineScored, Event, NodeCommitted
from core.state.operators import FREE_OPERATORS
from reports.winner import titled
from runs.stepper import StageShown, StepBegun


class StepLines:
    """One node in one line, first which step it is: a program of the user, a baseline and an ensemble are none.

    Args:
        best: says who leads.
        max_steps: shown beside the count; None: no limit.
        before: steps that were made before the first line.
    """

    def __init__(self, best: BestSoFar, max_steps: int | None, before: int = 0) -> None:
        self._best = best
        self._max_steps = max_steps
        self._steps = before

    def line(self, event: NodeCommitted) -> str:
        """The line of the next node."""
        moves, score = self._best.moves(event), self._best.told(event)
        self.learn(event)
        parents = f" of {'+'.join(parent[:6] for parent in event.parent_ids)}" if event.parent_ids else ""
        told = [f"{event.node_id[:6]} {event.operator}{parents}: {_outcome_of(event, score, moves)}"]
        told += [self._best.text] if self._best.text else []
        if event.operator not in FREE_OPERATORS:
            self._steps += 1
            told.insert(0, f"step {self._steps}" + (f"/{self._max_steps}" if self._max_steps else ""))
        return "  ".join(told)

    def allow(self, max_steps: int | None) -> None:
        """From here on so many steps are allowed; None: no limit."""
        self._max_steps = max_steps

    @property
    def steps(self) -> int:
        """The number of the last step that had a line."""
        return self._steps

    @property
    def best(self) -> str:
        """Who leads, in words; '' before the first score."""
        return self._best.text

    def learn(self, event: Event) -> None:
        """Take in what has no line of this form."""
        self._best.learn(event)


def baseline_line(event: BaselineScored) -> str:
    missing = "failed" if event.failure else "no score yet"
    return f"{titled(event.model_dump())}: {missing if event.metric is None else shown(event.metric)}"


def _outcome_of(event: NodeCommitted, score: str, moves: bool) -> str:
    if event.metric is not None:
        return score + (f" {BEST}" if moves else "")
    if event.failure is not None:
        return f"failed: {event.failure.value}: {' '.join(event.message.split())[:120]}"
    if event.nothing_left:
        return f"no program: {event.message}"
    if event.is_valid:
        return f"not scored in full: {event.message}"
    return f"duplicate: {event.message}"


def step_lines(done: Iterable[StepBegun | StageShown | NodeCommitted], best: BestSoFar) -> Iterator[str]:
    """What a step by hand did, as it is done."""
    before = 0
    for part in done:
        if isinstance(part, StepBegun):
            before = part.steps
            parents = " ".join(part.task.parent_ids) or "nothing"
            yield f"run {part.run}, node {part.task.node_id}: {part.task.operator} of {parents}"
        elif isinstance(part, StageShown):
            yield f"--- {part.stage}{' (stored before)' if part.stored_before else ''}"
            yield part.text
        else:
            yield StepLines(best, None, before).line(part)
