"""Scores that are not the same twice: programs or evaluators that draw at random or watch a clock."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, islice
from statistics import fmean

from core.contracts import CONFIRM, Evaluation, Evaluator, EvaluatorDeps, RepeatedEvaluation
from core.evaluation.base import as_time_allows, or_lost
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from utils.logger_system import log_msg
from utils.stats import standard_error, student_975

STEADY = 2
"""After so many programs that scored the same twice, no other is scored again before the end."""
EARLY = 500
"""Among so many first nodes a resumed process finds those that scored the same twice: new bests come early."""
FREE = 6
"""Further evaluations that a search may make at once; more of them as it has steps."""
COMPARED = 10
"""Of so many of the best nodes, the best one that was scored several times tells the spread."""

TRIES = 3
"""So often a look at a program that has a score is taken until it does not fail: an evaluator may fail by itself."""
BY_CHANCE = (FailureKind.EVAL_ERROR, FailureKind.RUNTIME)
"""What may be so; a program that is out of time or memory is."""

SAME_LOOK = 1e-6
"""Two scores of one program that differ by less than this share are one: a GPU adds in another order each time."""

Score = Callable[[Node], Evaluation]
"""Evaluates a program anew."""
_NO_LOOK = (
    "the best is not scored again before it is chosen, since one evaluation took {seconds:.3g} s and the end of a run "
    "is bounded: where scores differ from one time to the next, its own is flattered; a longer search leaves its "
    "end more time"
)
NOT_LOOKED_AT = Evaluation(message="there was no time to score it again")
"""Of a program that the final choice leaves out."""
Look = Callable[[int], Evaluation]
Looks = Callable[[str, Sequence[int], Look, float], Sequence[Evaluation | None]]
"""(what is done, or ''; places; the look at one of them; seconds that one is known to take) → the looks in order, None
where there was no time for it."""


def _in_turn(what: str, places: Sequence[int], look: Look, takes: float) -> Sequence[Evaluation | None]:
    return [look(place) for place in places]


def is_same_look(one: float, other: float) -> bool:
    """True if a program that has one of the scores may have the other by rounding alone, here or on another machine."""
    return math.isclose(one, other, rel_tol=SAME_LOOK)


def averaged(verdict: Evaluation, scores: Sequence[float]) -> Evaluation:
    """The verdict with the mean of several scores of its program, and its 95 % interval; as it is where they agree."""
    if not scores or all(is_same_look(score, scores[0]) for score in scores):
        return verdict
    half = student_975(len(scores) - 1) * (standard_error(scores) or 0.0)
    mean = fmean(scores)
    return verdict.model_copy(update={"metric": mean, "interval": (mean - half, mean + half), "repeats": tuple(scores)})


class Repeats:
    """Scores a program again that may be the best: the best of many noisy scores is best partly by luck.

    In the search, where the first look is better than the best so far, or nearer to it than their spread, further ones
    are taken, and the mean counts. Whether follows from the journal as it stands when the node is committed; what
    failed when it was run again is known to this process alone, and only bounds how many more are taken.

    Args:
        journal: what is committed.
        times: further evaluations of a program; 0: none.
        looks: takes several looks, in threads of its own or not.
    """

    def __init__(self, journal: Journal, times: int, looks: Looks = _in_turn) -> None:
        self._journal = journal
        self._looks = looks
        self._times = times
        self._same: set[str] = set()
        """Programs that scored the same twice, in this process; the journal may lack the newest."""
        self._taken = 0
        """Further evaluations in this process."""

    def doubts(self, verdict: Evaluation) -> bool:
        """True if the program may be the best, and what is known of the others does not say that scores are steady."""
        best = self._journal.leader
        if not self._times or verdict.metric is None or verdict.interval or best is None or best.metric_value is None:
            return False
        if is_same_look(verdict.metric, best.metric_value):
            return False
        if self._journal.direction.gain(verdict.metric, best.metric_value) <= -self._spread():
            return False
        seen = sum(node.interval is not None for node in self._journal)
        same = 0 if seen else self._steady()
        taken = max(self._taken, self._times * seen + same)
        return same < STEADY and taken < FREE + self._journal.steps

    def confirmed(self, node: Node, verdict: Evaluation, score: Score) -> Evaluation | None:
        """The mean of several looks at a node; the verdict that it has where the second says what the first one said.

        None for a program that fails when it is run again: it keeps its first score; the final choice looks once more.
        """
        looks, score = [_tried(score, node)], partial(_tried, score)
        self._taken += 1
        if looks[0].metric is None or verdict.metric is None:
            return None
        if is_same_look(looks[0].metric, verdict.metric):
            self._same.add(node.id)
            return verdict
        looks += self._more([node] * (self._times - 1), score)
        self._taken += self._times - 1
        scores = [verdict.metric, *(look.metric for look in looks if look.metric is not None)]
        return averaged(verdict, scores).model_copy(update={"signature": _mean_cases([verdict, *looks])})

    def _steady(self) -> int:
        """How many programs scored the same twice, of earlier processes too; no more than STEADY are counted."""
        first = islice(self._journal, EARLY)
        looked = (node.id for node in first if CONFIRM in node.stages and node.id not in self._same)
        return sum(1 for _ in islice(chain(self._same, looked), STEADY))

    def _spread(self) -> float:
        """By how much the first look at a program may lie below what it is worth; 0.0 where nothing is known of it."""
        known = (node.interval for node in self._journal.top(COMPARED))
        low, high = next((interval for interval in known if interval is not None), (0.0, 0.0))
        return (high - low) / 2

    def seen_again(self, nodes: Sequence[Node], score: Score) -> list[Evaluation] | None:
        """Each node's mean over its score and further ones; None where the best program scores what it scored before.

        For the final choice: one more look at the best tells whether scores can differ; only then are the others looked
        at again. A program that fails each time that it is run again has no score.

        Args:
            nodes: best first, each with its score. Those for which there is no time have none in the end; where there
                is none for the best (told), no one has.
        """
        if not self._times or not nodes or nodes[0].metric_value is None:
            return None
        failed: list[str] = []
        score = partial(_tried, score, failed=failed)
        takes = nodes[0].exec_time
        first = self._looks("", [0], lambda _: score(nodes[0]), takes)[0]
        if first is None:
            log_msg("WARNING", _NO_LOOK.format(seconds=takes))
            return [NOT_LOOKED_AT for _ in nodes]
        if first.metric is not None and is_same_look(first.metric, nodes[0].metric_value):
            return None
        places = [place for turn in range(self._times) for place in range(len(nodes))][1:]  # each once before any twice
        what = "the best scored again for the choice, since scores differ"
        found = self._looks(what, places, lambda place: score(nodes[place]), takes)
        looks: list[list[Evaluation]] = [[first], *([] for _ in nodes[1:])]
        for place, look in zip(places, found, strict=True):
            looks[place] += [look] if look is not None else []
        return [
            self._mean(node, look, failed.count(node.id)) if look else NOT_LOOKED_AT
            for node, look in zip(nodes, looks, strict=True)
        ]

    def _more(self, nodes: Sequence[Node], score: Score) -> list[Evaluation]:
        found = self._looks("", range(len(nodes)), lambda place: score(nodes[place]), 0.0) if nodes else ()
        return [look for look in found if look is not None]

    def _mean(self, node: Node, looks: Sequence[Evaluation], tries: int) -> Evaluation:
        """Its score counts as often as it was scored for it.

        Args:
            tries: looks that failed and were taken again.
        """
        failed = next((look for look in looks if look.metric is None), None)
        if failed is not None:
            return failed
        before = len(node.repeats) or 1  # an interval alone tells no further look: one timed run has one, too
        scores = [*[node.metric_value] * before, *(look.metric for look in looks)]
        known = [score for score in scores if score is not None]
        told = {name: getattr(looks[-1], name) for name in Evaluation.model_fields}
        told |= {"metric": fmean(known), "signature": (), "repeats": tuple(known)}
        again = tuple(look.metric for look in looks if look.metric is not None)
        return RepeatedEvaluation(**told, first=known[0], again=again, failed=tries)


class RepeatableEvaluator(Evaluator):
    """An evaluator of programs that are judged alone: where luck may have made one the best, it is scored again."""

    _repeats: Repeats

    def _repeated(self, deps: EvaluatorDeps) -> Repeats:
        """Looks on all workers, as the run's allowance allows."""

        def looks(what: str, places: Sequence[int], look: Look, takes: float) -> Sequence[Evaluation | None]:
            return as_time_allows(deps, what, places, look, owed=False, takes=takes)

        return Repeats(deps.journal, deps.repeats, looks)

    def anew(self, node: Node) -> Evaluation:
        """Score a committed program once more."""
        raise NotImplementedError

    def second_look(self, nodes: Sequence[Node]) -> list[Evaluation] | None:
        """The best again, where the same program does not get the same score twice.

        One that the user stopped while it was scored again, or whose worker is lost, has failed: it is not chosen.
        """
        return self._repeats.seen_again(nodes, lambda node: or_lost(lambda: self.anew(node)))

    def doubts(self, verdict: Evaluation) -> bool:
        return self._repeats.doubts(verdict)

    def confirm(self, node: Node, verdict: Evaluation) -> Evaluation | None:
        return self._repeats.confirmed(node, verdict, self.anew)


def _tried(score: Score, node: Node, failed: list[str] | None = None) -> Evaluation:
    """A look at a program that has a score, taken again where it may have failed by chance.

    Args:
        failed: is given the program's id for each look that failed.
    """
    for _ in range(TRIES - 1):
        look = score(node)
        if look.failure not in BY_CHANCE:
            return look
        if failed is not None:
            failed.append(node.id)
    return score(node)


def _mean_cases(looks: Sequence[Evaluation]) -> tuple[float, ...]:
    """The mean of each case; () where there are none, or not the same ones each time."""
    cases = [look.signature for look in looks if look.metric is not None]
    return tuple(map(fmean, zip(*cases, strict=True))) if len(set(map(len, cases))) == 1 else ()
