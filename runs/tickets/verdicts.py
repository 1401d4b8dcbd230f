"""What became of a told program, as its writer is told: by the process that holds the run, and from the store alone."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from agents.case_scores import case_name, shown
from core.state.failure import FailureKind
from core.state.node import Node
from runs.tickets.names import warnings_of
from utils.direction import Direction
from utils.line_numbers import LineNumbers
from utils.printed_text import without_repeats

ABOUT_TEXT = (FailureKind.SYNTAX, FailureKind.IMPORT_BLOCKED, FailureKind.SIGNATURE)
"""Failures whose message is ours, and names lines of the program."""
TAIL = 2000
"""Characters of a program's output."""


def verdict_of(node: Node, lines: LineNumbers, told: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The verdict on a committed node.

    Args:
        lines: from the node's program to the file that was handed in.
        told: the fact of `runs.parts.context_history`, which says whether writers may know each case's score.
    """
    message = lines.in_message(node.message) if node.failure in ABOUT_TEXT else node.message
    return {
        "state": "duplicate" if node.duplicate_of else "committed",
        "node_id": node.id,
        "metric": node.metric_value,
        "metric_source": node.metric_source,
        "metrics": node.metrics,
        "cases": _cases(node, told[-1].get("extras", {}).get("cases") if told else None),
        "failure": node.failure.value if node.failure else None,
        "message": message,
        "warnings": [*warnings_of(node.metric_value, message), *_unisolated(node)],
        "output_tail": lines.in_output(without_repeats(node.term_out)[-TAIL:]),
    }


def _cases(node: Node, told: Mapping[str, Any] | None) -> dict[str, Any]:
    """What the program scored on each case, of many on the worst; {} where a prompt would not say it either."""
    if not told or len(node.signature) < 2:
        return {}
    places = shown(node.signature, Direction(node.lower_is_better))
    worst = [{"case": case_name(place, told["names"]), "score": node.signature[place]} for place in places]
    return {"unit": told["unit"], "count": len(node.signature), "worst": worst}


def best_of(node: Node | None) -> dict[str, Any] | None:
    """The best program so far, as an answer names it."""
    return None if node is None else {"node_id": node.id, "metric": node.metric_value}


def _unisolated(node: Node) -> list[str]:
    """That the score is no proof, and why."""
    if node.metric_source != "unisolated":
        return []
    why = node.unisolated_reason
    return ["the score is unisolated: the program could have reached the evaluator" + (f" ({why})" if why else "")]
