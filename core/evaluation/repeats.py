"""Scores that are not the same twice: programs or evaluators that draw at random or watch a clock."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from statistics import fmean

from core.contracts import Evaluation, Evaluator, RepeatedEvaluation
from core.state.journal import Journal
from core.state.node import Node
from core.state.summary import is_rounding
from utils.stats import standard_error, student_975

STEADY = 2
"""After so many programs that scored the same twice, no other is scored again before the end."""
FREE = 6
"""Further evaluations that a search may make at once; more of them as it has steps."""
COMPARED = 10
"""Of so many of the best nodes, the best one that was scored several times tells the spread."""

Score = Callable[[Node], Evaluation]
"""Evaluates a program anew."""


class Repeats:
    """Scores a program again that may be the best: the best of many noisy scores is best partly by luck.

    In the search, where the first look is better than the best so far, or nearer to it than their spread, further ones
    are taken, and the mean counts. Whether follows from the journal as it stands when the node is committed.

    Args:
        journal: what is committed.
        times: further evaluations of a program; 0: none.
        doing: told how far the looks of the final choice are.
    """

    def __init__(self, journal: Journal, times: int, doing: Callable[[str], None] = lambda text: None) -> None:
        self._journal = journal
        self._doing = doing
        self._times = times
        self._same = 0
        """Programs that scored the same twice."""
        self._taken = 0
        """Further evaluations in this process."""

    def doubts(self, verdict: Evaluation) -> bool:
        """True if the program may be the best, and what is known of the others does not say that scores are steady."""
        best = self._journal.get_best_node()
        if not self._times or verdict.metric is None or verdict.interval or best is None or best.metric_value is None:
            return False
        if is_rounding(verdict.metric, best.metric_value):
            return False
        if self._journal.direction.gain(verdict.metric, best.metric_value) <= -self._spread():
            return False
        seen = sum(node.interval is not None for node in self._journal)
        taken = max(self._taken, self._times * seen)
        return (seen > 0 or self._same < STEADY) and taken < FREE + self._journal.steps

    def confirmed(self, node: Node, verdict: Evaluation, score: Score) -> Evaluation | None:
        """The mean of several looks at a node; None where the second says what the first one said.

        A program that fails when it is run again keeps its first score: the final choice looks once more.
        """
        looks = [score(node)]
        self._taken += 1
        if looks[0].metric is None or verdict.metric is None:
            return None
        if is_rounding(looks[0].metric, verdict.metric):
            self._same += 1
            return None
        looks += [score(node) for _ in range(self._times - 1)]
        self._taken += self._times - 1
        scores = [verdict.metric, *(look.metric for look in looks if look.metric is not None)]
        half = student_975(len(scores) - 1) * (standard_error(scores) or 0.0)
        mean = fmean(scores)
        return verdict.model_copy(
            update={
                "metric": mean,
                "interval": (mean - half, mean + half),
                "signature": _mean_cases([verdict, *looks]),
                "repeats": tuple(scores),
            }
        )

    def _spread(self) -> float:
        """By how much the first look at a program may lie below what it is worth; 0.0 where nothing is known of it."""
        known = (node.interval for node in self._journal.top(COMPARED))
        low, high = next((interval for interval in known if interval is not None), (0.0, 0.0))
        return (high - low) / 2

    def seen_again(self, nodes: Sequence[Node], score: Score) -> list[Evaluation] | None:
        """Each node's mean over its score and further ones; None where the best program scores what it scored before.

        For the final choice: one more look at the best tells whether scores can differ; only then are the others looked
        at again. A program that fails when it is run again has no score.

        Args:
            nodes: best first, each with its score.
        """
        if not self._times or not nodes or nodes[0].metric_value is None:
            return None
        first = score(nodes[0])
        if first.metric is not None and is_rounding(first.metric, nodes[0].metric_value):
            return None
        looks = [[first, *self._looks(nodes, 0, self._times - 1, score)]]
        looks += [self._looks(nodes, place, self._times, score) for place in range(1, len(nodes))]
        return [self._mean(node, look) for node, look in zip(nodes, looks, strict=True)]

    def _looks(self, nodes: Sequence[Node], place: int, times: int, score: Score) -> list[Evaluation]:
        self._doing(f"the best scored again for the choice, since scores differ: {place} of {len(nodes)}")
        return [score(nodes[place]) for _ in range(times)]

    def _mean(self, node: Node, looks: Sequence[Evaluation]) -> Evaluation:
        """Its score counts as often as it was scored for it."""
        failed = next((look for look in looks if look.metric is None), None)
        if failed is not None:
            return failed
        before = 1 if node.interval is None else 1 + self._times
        scores = [*[node.metric_value] * before, *(look.metric for look in looks)]
        known = [score for score in scores if score is not None]
        told = {name: getattr(looks[-1], name) for name in Evaluation.model_fields}
        told |= {"metric": fmean(known), "signature": (), "repeats": tuple(known)}
        again = tuple(look.metric for look in looks if look.metric is not None)
        return RepeatedEvaluation(**told, first=known[0], again=again)


class RepeatableEvaluator(Evaluator):
    """An evaluator of programs that are judged alone: where luck may have made one the best, it is scored again."""

    _repeats: Repeats

    def anew(self, node: Node) -> Evaluation:
        """Score a committed program once more."""
        raise NotImplementedError

    def second_look(self, nodes: Sequence[Node]) -> list[Evaluation] | None:
        """The best again, where the same program does not get the same score twice."""
        return self._repeats.seen_again(nodes, self.anew)

    def doubts(self, verdict: Evaluation) -> bool:
        return self._repeats.doubts(verdict)

    def confirm(self, node: Node, verdict: Evaluation) -> Evaluation | None:
        return self._repeats.confirmed(node, verdict, self.anew)


def _mean_cases(looks: Sequence[Evaluation]) -> tuple[float, ...]:
    """The mean of each case; () where there are none, or not the same ones each time."""
    cases = [look.signature for look in looks if look.metric is not None]
    return tuple(map(fmean, zip(*cases, strict=True))) if len(set(map(len, cases))) == 1 else ()
