"""A replay's scores: programs are scored again and compared with the record, and the search goes on from the record.

So a score that depends on a clock or on chance, and what a program printed of its times, changes neither prompts nor
choices: each score is compared by itself, and what follows from the recorded ones must come out again.
"""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from core.backend.recording import CUT
from core.contracts import Evaluation, Evaluator
from core.evaluation.repeats import RepeatableEvaluator
from core.state.failed_attempt import FailedAttempt
from core.state.failure import FailureKind
from core.state.findings import Findings
from core.state.node import Node
from core.state.task import Task
from utils.errors import BudgetExhausted

COMPARED = ("metric", "source", "interval", "failure", "signature", "duplicate_of", "code")
"""Fields of a verdict that are to come out again; of the source: that it is not a weaker one now."""
_STRENGTH = ("claimed", "unisolated", "verified")
"""Who vouches for a score, the weakest first."""


@dataclass(frozen=True, slots=True)
class Difference:
    """A program that did not score as it had."""

    node_id: str
    field: str
    before: Any
    now: Any
    again: Any
    """The same once more; as `now`, where a program cannot be scored by itself."""

    @property
    def repeats(self) -> bool:
        """True if the program now scores the same twice: neither a clock nor chance explains the difference."""
        return bool(self.now == self.again)


class RecordedScores:
    """What a run's record knows of its programs, and what scoring them again has shown. Thread-safe.

    Args:
        nodes: of the run.
        baselines: rows of its fact `baselines`.
        cut: nodes that the budget's end cut off while they ran: it does so again.
    """

    def __init__(
        self, nodes: Iterable[Node], baselines: Iterable[Mapping[str, Any]] = (), cut: Collection[str] = ()
    ) -> None:
        self.cut = cut
        self._nodes = {node.id: node for node in nodes}
        self._baselines = {str(row["node_id"]): row for row in baselines}
        self._lock = threading.Lock()
        self.scored = 0
        """Programs that were scored again."""
        self.differences: list[Difference] = []

    def recorded(self, node: Node, live: Evaluation, *, claims_only: bool) -> Evaluation | None:
        """The recorded verdict on just this program; None where the record has none.

        A duplicate is known by the journal: what the evaluator said of it meanwhile is not in the record.
        """
        old = self._nodes.get(node.id)
        if old is None:
            row = self._baselines.get(node.id)
            return live.model_copy(update=_of_baseline(row)) if row is not None else None
        if old.operator == "tune":  # with its parent's program again, where no better constants were found
            tuned = old.code if old.code != node.code else None
            return _verdict_of(old, live, claims_only=claims_only).model_copy(update={"code": tuned})
        if node.code == old.code:
            is_known = old.duplicate_of is None or live.duplicate_of is not None
            return _verdict_of(old, live, claims_only=claims_only) if is_known else None
        first = next((attempt for attempt in old.attempts if attempt.code == node.code), None)
        return _of_attempt(first, live) if first is not None else None

    def count(self, difference: Difference | None) -> None:
        """A program was scored again."""
        with self._lock:
            self.scored += 1
            self.differences += [difference] if difference else []


class ReplayedEvaluator(Evaluator):
    """Scores live, tells `scores` what differs, and answers with the recorded verdict where there is one.

    Args:
        claims_only: the reviewer's reading is the score, and the evaluator has none.
        isolated: programs cannot reach what scores them now; where they can, nothing is said of who vouched then.
    """

    def __init__(
        self, evaluator: Evaluator, scores: RecordedScores, *, claims_only: bool, isolated: bool = True
    ) -> None:
        self._evaluator = evaluator
        self._scores = scores
        self._claims_only = claims_only
        self._isolated = isolated

    @property
    def together(self) -> bool:  # type: ignore[override]
        return self._evaluator.together

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        self._cut_off(node.id for node in nodes)
        found = self._evaluator.evaluate(nodes)
        return [self._answer(node, live) for node, live in zip(nodes, found, strict=True)]

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        self._cut_off([node_id])
        live = self._evaluator.tune(node, node_id, seed)
        return self._answer(node.model_copy(update={"id": node_id}), live)

    def _cut_off(self, node_ids: Iterable[str]) -> None:
        if any(node_id in self._scores.cut for node_id in node_ids):
            raise BudgetExhausted(CUT)

    def _answer(self, node: Node, live: Evaluation) -> Evaluation:
        known = self._scores.recorded(node, live, claims_only=self._claims_only)
        if known is None:
            return live
        field = next((name for name in COMPARED if self._differ(name, known, live)), None)
        self._scores.count(self._difference(node, field, known, live) if field else None)
        return known

    def _differ(self, field: str, known: Evaluation, live: Evaluation) -> bool:
        before, now = _told(field, known), _told(field, live)
        if field != "source" or None in (before, now):
            return field != "source" and bool(before != now)
        return self._isolated and _STRENGTH.index(now) < _STRENGTH.index(before)

    def _difference(self, node: Node, field: str, known: Evaluation, live: Evaluation) -> Difference:
        """What differs, and whether the program scores the same twice now: of a tuned one, the recorded program.

        The interval of a mean of several looks is one that no single look has: there two looks tell by their scores.
        """
        before, now = _told(field, known), _told(field, live)
        if known.code is None:
            second = self._alone(node)
            if second is None:
                return Difference(node.id, field, before, now, now)
            varies = bool(known.repeats) and second.metric != live.metric
            return Difference(node.id, field, before, now, second.metric if varies else _told(field, second))
        looks = [self._alone(node.model_copy(update={"code": known.code})) for _ in range(2)]
        scores = [look.metric if look else None for look in looks]
        return Difference(node.id, field, before, now, now if scores[0] == scores[1] else f"{scores[0]}, {scores[1]}")

    def _alone(self, node: Node) -> Evaluation | None:
        """A fresh score; None where scores are relative."""
        if isinstance(self._evaluator, RepeatableEvaluator):
            return self._evaluator.anew(node)
        return None if self.together else self._evaluator.evaluate([node])[0]

    def check(self, node: Node) -> Evaluation | None:
        return self._evaluator.check(node)

    def expect(self, tasks: Sequence[Task]) -> None:
        self._evaluator.expect(tasks)

    def look_ahead(self, node: Node) -> None:
        self._evaluator.look_ahead(node)

    def final(self, nodes: Sequence[Node]) -> Sequence[Evaluation | None]:
        return self._evaluator.final(nodes)

    def second_look(self, nodes: Sequence[Node]) -> list[Evaluation] | None:
        return self._evaluator.second_look(nodes)

    @property
    def simplest(self) -> bool:
        return self._evaluator.simplest

    def choice(self) -> str | None:
        return self._evaluator.choice()

    def ensemble(self, nodes: Sequence[Node]) -> tuple[str, list[Node], str] | None:
        return self._evaluator.ensemble(nodes)

    def close(self) -> None:
        self._evaluator.close()


def _told(field: str, verdict: Evaluation) -> Any:
    """Who vouches for a score is our own sandbox, where the evaluator does not say another."""
    value = getattr(verdict, field)
    return "verified" if field == "source" and value is None and verdict.metric is not None else value


def _verdict_of(old: Node, live: Evaluation, *, claims_only: bool) -> Evaluation:
    """The verdict that a node was made of; its files are those of this run."""
    told = {name: getattr(old, name) for name in Findings.model_fields}
    score = {"metric": old.metric_value, "source": old.metric_source, "failure": old.failure}
    if claims_only:  # the reviewer said it after the verdict
        failure = None if old.failure is FailureKind.EVAL_ERROR else old.failure
        score = {"metric": live.metric, "source": live.source, "failure": failure}
    return live.model_copy(
        update={
            **told,
            **score,
            "files": live.files,
            "claimed": live.claimed if claims_only else old.claimed_metric,
            "seconds": old.exec_time,
        }
    )


def _of_attempt(attempt: FailedAttempt, live: Evaluation) -> Evaluation:
    """The recorded failure; what else was found of the program is not in the record, and is what it is now."""
    told = {"failure": attempt.failure, "message": attempt.message, "term_out": attempt.term_out}
    return live.model_copy(update={**told, "metric": None, "source": None})


def _of_baseline(row: Mapping[str, Any]) -> dict[str, Any]:
    interval = row.get("interval")
    return {
        "metric": row["metric"],
        "failure": FailureKind(row["failure"]) if row["failure"] else None,
        "message": row["message"],
        "interval": tuple(interval) if interval else None,
        **({"source": row["source"]} if row.get("source") else {}),
    }
