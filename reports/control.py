"""What the search added over independent draws by the same writer, as far as its control draws say."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict

from core.state.node import Node
from core.storage.models import IS_STEP, SCORED
from core.storage.reader import RunReader
from utils.best_of import expected_best
from utils.counts import counted
from utils.direction import Direction, as_score

OPERATOR = "control"
ENOUGH = 5
"""Scored draws from which on an interval is told."""
NONE = "No control: no step was an independent draw (search.control), so what the search added is not known."


class Control(BaseModel):
    """The search beside its control draws. Scores are validation scores in the metric's unit."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    text: str
    """Whole sentences."""
    draws: int = 0
    scored: int = 0
    """Draws whose program has a score: one that was known already has the score that it had."""
    steps: int = 0
    """Of the whole run, the draws included."""
    best_draw: float | None = None
    best: float | None = None
    """Of all steps."""
    expected: float | None = None
    """Best score that as many independent draws as the run has steps would be expected to reach."""
    gain: float | None = None
    """How much better than that the search is; above 0 is good whatever the metric's direction."""
    interval: tuple[float, float] | None = None
    """95 % interval of the gain, where scores of draws are spread normally."""


def control_of(reader: RunReader, facts: Mapping[str, Any]) -> Control:
    """Read at any moment of a run's life."""
    draws = reader.nodes(operator=OPERATOR)
    if not draws:
        return Control(text=NONE)
    direction = Direction(bool(facts.get("lower_is_better")))
    values = _fitness_of(reader, draws)
    top, steps = _best_fitness(reader), reader.steps()
    little = "too few" if len(values) < ENOUGH else "all the same one, which is too little"
    drawn = counted(len(draws), "control draw")
    known = Control(
        text=f"Of {drawn} {len(values)} got a score: {little} to say what the search added.",
        draws=len(draws),
        scored=len(values),
        steps=steps,
        best_draw=_metric(max(values, default=None), direction),
        best=_metric(top, direction),
    )
    if len(values) < ENOUGH or len(set(values)) == 1 or top is None:
        return known
    expected, low, high = expected_best(values, max(1, round(steps * len(values) / len(draws))))
    gain, interval = top - expected, (top - high, top - low)
    said = "not told apart from" if interval[0] <= 0 <= interval[1] else "better than" if gain > 0 else "worse than"
    text = (
        f"If scores of draws are spread normally, which so few cannot show, the best of {counted(steps, 'step')}, "
        f"{direction.turned(top):.6g}, is {said} the best of as many independent draws by the same writer, expected at "
        f"{direction.turned(expected):.6g} from {counted(len(values), 'control draw')}: gain {gain:+.4g} "
        f"(95 % {interval[0]:+.4g} to {interval[1]:+.4g})."
    )
    told = {"text": text, "expected": _metric(expected, direction), "gain": gain, "interval": interval}
    return known.model_copy(update=told)


def _fitness_of(reader: RunReader, draws: Sequence[Node]) -> list[float]:
    """What the draws are worth, one a draw. Without those that repeat a program they would seem to lie further apart
    than they do, and the better the more seldom."""
    scored = dict(reader.db.select(f"SELECT id, fitness FROM nodes WHERE {SCORED}"))
    found = (as_score(scored.get(node.duplicate_of or node.id)) for node in draws)
    return [fitness for fitness in found if fitness is not None]


def _best_fitness(reader: RunReader) -> float | None:
    """Of the steps; the user's own programs and the baselines are no part of the search."""
    found = reader.db.value(f"SELECT max(fitness) FROM nodes WHERE {IS_STEP} AND {SCORED}")
    return None if found is None else float(found)


def _metric(fitness: float | None, direction: Direction) -> float | None:
    """The score whose fitness that is."""
    return None if fitness is None else direction.turned(fitness)
