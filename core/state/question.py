"""A question about a node, beside the proposal to write it: a review that a writer outside answers by a ticket."""

from __future__ import annotations

ANSWER = "answer.json"
"""The one file of its ticket: a JSON object that follows the ticket's `schema`."""


def question_name(node_id: str, role: str, attempt: int) -> str:
    """What its ticket is called, where that of a proposal is called as its node."""
    return f"{node_id}-{role}-{attempt}"


def node_of(name: str) -> str:
    """The node that a ticket is about."""
    return name.partition("-")[0]


def is_question(name: str) -> bool:
    """True for the ticket of a question, False for that of a proposal."""
    return "-" in name
