"""Steps as lines of the terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from core.events import BaselineScored, NodeCommitted
from core.state.operators import FREE_OPERATORS
from runs.stepper import StageShown, StepBegun


class StepLines:
    """One node in one line; steps are numbered, what is no step (a program of the user, an ensemble) is not.

    Args:
        max_steps: shown beside the number; None: no limit.
        before: steps that were made before the first line.
    """

    def __init__(self, max_steps: int | None, before: int = 0) -> None:
        self._max_steps = max_steps
        self._steps = before

    def line(self, event: NodeCommitted) -> str:
        number = ""
        if event.operator not in FREE_OPERATORS:
            self._steps += 1
            number = f"[{self._steps}/{self._max_steps}] " if self._max_steps else f"[{self._steps}] "
        parents = f" of {'+'.join(parent[:6] for parent in event.parent_ids)}" if event.parent_ids else ""
        best = "" if event.best_metric is None else f"  best {event.best_metric:.6g}"
        return f"{number}{event.node_id[:6]} {event.operator}{parents}: {_outcome_of(event)}{best}"


def baseline_line(event: BaselineScored) -> str:
    missing = "failed" if event.failure else "no score yet"
    return f"baseline {event.name}: {missing if event.metric is None else f'{event.metric:.6g}'}"


def _outcome_of(event: NodeCommitted) -> str:
    if event.metric is not None:
        return f"{event.metric:.6g}" + (" *best*" if event.is_best else "")
    if event.failure is not None:
        return f"failed: {event.failure.value}: {' '.join(event.message.split())[:120]}"
    if event.is_valid:
        return f"not scored in full: {event.message}"
    return f"duplicate: {event.message}"


def step_lines(shown: Iterable[StepBegun | StageShown | NodeCommitted]) -> Iterator[str]:
    """What a step by hand did, as it is done."""
    lines = StepLines(None)
    for part in shown:
        if isinstance(part, StepBegun):
            lines = StepLines(None, part.steps)
            parents = " ".join(part.task.parent_ids) or "nothing"
            yield f"run {part.run}, node {part.task.node_id}: {part.task.operator} of {parents}"
        elif isinstance(part, StageShown):
            yield f"--- {part.stage}{' (stored before)' if part.stored_before else ''}"
            yield part.text
        else:
            yield lines.line(part)
