"""A scripted `query` and contexts for agents."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from core.contracts import AgentContext
from core.state.node import Node
from core.state.task import Task

PROGRAM = """# [SECTION: DATA]
import pandas as pd

train = pd.read_csv("input/train.csv")
# [SECTION: PREDICT]
train[["Id", "y"]].to_csv("submission/submission.csv", index=False)
"""


class Script:
    """Answers calls from a list; an exception in the list is raised. Keeps what it was asked."""

    def __init__(self, replies: Sequence[Any]) -> None:
        self.replies = list(replies)
        self.calls: list[dict[str, Any]] = []

    def __call__(self, system: str | None, user: str | None, **options: Any) -> str:
        self.calls.append({"system": system, "user": user, **options})
        reply = self.replies.pop(0)
        if isinstance(reply, Exception):
            raise reply
        return reply


def make_context(replies: Sequence[Any] = (), operator: str = "draft", **fields: Any) -> AgentContext:
    parents: tuple[Node, ...] = fields.pop("parents", ())
    task = Task(
        node_id="abc123", operator=operator, parent_ids=tuple(p.id for p in parents), round=3, slot=1, seed=7,
        generation=fields.pop("generation", None), island=fields.pop("island", None),
    )  # fmt: skip
    usual: dict[str, Any] = {"statement": "Predict the price.", "steps_left": 9, "lower_is_better": True}
    return AgentContext(task=task, parents=parents, query=Script(replies), **{**usual, **fields})


@pytest.fixture
def context() -> Callable[..., AgentContext]:
    return make_context


@pytest.fixture
def program() -> str:
    return PROGRAM
