"""Screening: nobody believes a score from beside the evaluator; it says which programs are worth the dearer one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

from core.contracts import Evaluation
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from utils.direction import Direction

RANKED = 3
"""So many scored programs of an island rank: a screened one must seem better than the last of them."""
ALWAYS = frozenset({"baseline", "user", "tune"})
"""Operators whose programs are scored apart whatever the screening says."""
NOISES = 3.0
RELATIVE = 1e-6


@dataclass(frozen=True, slots=True)
class Screened:
    """A program and the verdict that it got beside the evaluator."""

    node: Node
    verdict: Evaluation

    @property
    def score(self) -> float | None:
        return self.verdict.metric


NOT_RANKED = Evaluation(message=f"screened: not among the best {RANKED}, so it was not scored apart", rung="cheap")
"""The verdict on a program that is not scored apart, the same whatever it did.

Beside the evaluator a program sees what is hidden from writers. Its score there and its seconds are numbers that it
chose, like what it printed, raised or made the evaluator say: the next program would have the labels from any of them.
"""


def may_rank(screened: Sequence[Screened], journal: Journal, direction: Direction) -> list[Screened]:
    """Those that are scored apart: they seem better than the last of the best `RANKED` of their island, or they failed,
    and how they fail is told as it is apart.

    A function of the journal and the round alone, so that any number of workers searches alike.
    """
    cuts: dict[int | None, float | None] = {}
    return [
        one
        for one in screened
        if one.score is None
        or (
            one.node.operator in ALWAYS
            or direction.better(one.score, cuts.setdefault(one.node.island, _last_ranked(journal, one.node)))
        )
    ]


def _last_ranked(journal: Journal, node: Node) -> float | None:
    """The score of rank `RANKED` on the node's island; None while fewer are scored."""
    at_home = (other.metric_value for other in journal.ranked() if other.island == node.island)
    return next(islice(at_home, RANKED - 1, None), None)


def margin(noise: float, score: float) -> float:
    """By how much two scores of a program may differ without anybody's doing."""
    return NOISES * noise + RELATIVE * abs(score)


def judged(one: Screened, verdict: Evaluation, again: Evaluation, noise: float, direction: Direction) -> Evaluation:
    """The verdict apart, or TAMPERED: beside the evaluator the program was better than it is apart, by any draws.

    By how much is not said: the program chose that number where it saw what is hidden, and writers read the message.

    Args:
        verdict: apart.
        again: apart with another seed: what the program's own chance does to its score.
        noise: what the score of one program varies by itself.
    """
    if again.metric is None or verdict.metric is None or one.score is None:
        return verdict
    best = again.metric if direction.better(again.metric, verdict.metric) else verdict.metric
    if direction.gain(one.score, best) <= NOISES * abs(again.metric - verdict.metric) + margin(noise, best):
        return verdict
    message = f"better beside the evaluator than apart from it ({verdict.metric:.6g}): it changed how it is scored"
    return Evaluation(failure=FailureKind.TAMPERED, message=message, term_out=verdict.term_out, seconds=verdict.seconds)
