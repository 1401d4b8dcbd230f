"""A tiny world for step policies: a journal that is filled by hand or by a scripted landscape."""

from __future__ import annotations

import random
from collections.abc import Callable

import pytest

from core.contracts import SearchPolicy
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node


def make_node(
    id: str, metric: float | None = 0.5, operator: str = "draft", parents: tuple[str, ...] = (), **fields: object
) -> Node:
    """A committed node: scored with `metric`, or failed where that is None."""
    failed = metric is None
    return Node(
        code=str(fields.pop("code", f"x = '{id}'")),
        id=id,
        operator=operator,
        parent_ids=parents,
        metric_value=metric,
        metric_source=None if failed else "verified",
        is_buggy=failed and bool(fields.get("is_valid", True)),
        failure=FailureKind.RUNTIME if failed else None,
        **fields,
    )


def play(policy: SearchPolicy, journal: Journal, rounds: int, k: int = 2, seed: int = 0, fail: float = 0.3) -> None:
    """Let the policy search a made-up landscape: children are a little better or worse than their parents, or fail."""
    for number in range(rounds):
        proposals = policy.ask(journal, random.Random(f"{seed}/{number}"), k)
        for proposal in proposals:
            dice = random.Random(f"{seed}/{number}/{proposal.slot}")
            above = [journal[p].metric_value or 0.0 for p in proposal.parents]
            metric = None if dice.random() < fail else max(above, default=0.0) + dice.gauss(0, 1)
            node = journal.append(make_node(f"{number}.{proposal.slot}", metric, proposal.operator, proposal.parents))
            policy.tell(journal, node)


@pytest.fixture
def node() -> Callable[..., Node]:
    return make_node


@pytest.fixture
def search() -> Callable[..., None]:
    return play
