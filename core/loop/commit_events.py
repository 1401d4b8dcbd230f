"""What is told of a node: the end of its tournament with the verdict; who refused it, a disagreement, the node itself,
the name of a baseline when it is committed."""

from __future__ import annotations

from collections.abc import Sequence

from core.contracts import Evaluation
from core.events import BaselineScored, CandidateRejected, Event, GenerationFinished, NodeCommitted, Warned
from core.loop.attempt import Usage
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from core.state.operators import FREE_OPERATORS
from utils.clean_text import one_line

_NOTHING_LEFT = (
    "the best score is 0 and lower is better: if the metric cannot be negative, nothing is left to gain; "
    "budget.target=0 ends a search there"
)
DISAGREEMENT = 0.2
"""Relative difference between claimed and own score from which the user is told."""


def events_of(node: Node, journal: Journal, usage: Usage, elapsed: float) -> list[Event]:
    """The events of one committed node, in order. `journal` already holds it."""
    best = journal.leader
    is_best = best is not None and best.id == node.id
    events: list[Event] = []
    if node.refused_by and node.failure:
        events.append(
            CandidateRejected(
                generation=node.generation, node_id=node.id, refused_by=node.refused_by, failure=node.failure,
                reason=node.message,
            )
        )  # fmt: skip
    if is_best and node.metric_value == 0 and journal.lower_is_better:
        events.append(Warned(text=_NOTHING_LEFT, node_id=node.id))
    if node.operator == "baseline" and node.failure is not None:
        events.append(failed_baseline(node.name, node.is_own, node.failure, node.message, node.id))
    if _disagree(node):
        text = f"claimed {node.claimed_metric:g} by the program itself, scored {node.metric_value:g}"
        events.append(Warned(text=text, node_id=node.id))
    events.append(
        NodeCommitted(
            node_id=node.id,
            step=node.step,
            number=None if node.operator in FREE_OPERATORS else journal.steps,
            parent_ids=list(node.parent_ids),
            operator=node.operator,
            generation=node.generation,
            island=node.island,
            metric=node.metric_value,
            metric_source=node.metric_source,
            claimed_metric=node.claimed_metric,
            is_buggy=node.is_buggy,
            is_valid=node.is_valid,
            nothing_left=node.nothing_left,
            failure=node.failure,
            message=node.message,
            exec_time=node.exec_time,
            writer=node.writer,
            prompt_tokens=usage.prompt_tokens,
            completion_tokens=usage.completion_tokens,
            cost_usd=usage.cost_usd,
            is_best=is_best,
            best_metric=best.metric_value if best else None,
            best_node_id=best.id if best else None,
            elapsed=round(elapsed, 3),
        )
    )
    if node.operator == "baseline":
        events.append(
            BaselineScored(
                name=node.name, own=node.is_own, node_id=node.id, metric=node.metric_value, failure=node.failure
            )
        )
    return events


def tournament_of(verdicts: Sequence[Evaluation], generation: int | None) -> list[Event]:
    """That a round's tournament is over, for the transaction of its verdicts: told with its last game, or by itself, it
    would be told once more where a kill came before these were stored; [] where they come of none.

    Args:
        generation: None: of the programs that the search begins with.
    """
    found = next((verdict.tournament for verdict in verdicts if verdict.tournament is not None), None)
    if found is None:
        return []
    promoted, decision = list(found.promoted), found.decision
    ended = GenerationFinished(
        generation=generation or 0, ratings=found.standings, promoted=promoted, decision=decision
    )  # fmt: skip
    return [ended]


def _disagree(node: Node) -> bool:
    """True if what the program printed and what we measured differ by more than chance explains."""
    if node.claimed_metric is None or node.metric_value is None or node.metric_source == "claimed":
        return False
    scale = max(abs(node.metric_value), 1e-9)
    return abs(node.claimed_metric - node.metric_value) / scale > DISAGREEMENT


def failed_baseline(name: str, own: bool, failure: FailureKind, message: str, node_id: str) -> Warned:
    """What the search is compared with has no score: people should hear why, the more so if it is their own program."""
    whose = "your program" if own else f"baseline {name}"
    return Warned(text=f"{whose} failed: {failure.value}: {one_line(message)}", node_id=node_id)
