"""What a step from a stage takes over of the node that it does again."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from core.contracts import STAGES, WRITING_ROLES, CallRecord
from core.loop.by_hand import code_stage
from core.state.node import Node

AGAIN, SINCE = "again", "since"
"""Of `Proposal.why`: the node that is done again, and the first stage that is not taken over."""


def kept_stages(source: Node, calls: Iterable[CallRecord], since: str) -> dict[str, dict[str, Any]]:
    """Stage → its payload, of those before `since`.

    Args:
        calls: of `source`, in their order.
    """
    writing = [call for call in calls if call.role in WRITING_ROLES]
    stages: dict[str, dict[str, Any]] = {}
    before = STAGES[: STAGES.index(since)]
    if "prompt" in before and writing:
        stages["prompt"] = {"system": writing[0].system, "user": writing[0].user}
    if "reply" in before and writing:
        stages["reply"] = {"text": writing[-1].reply, "writer": source.writer}
    if "code" in before:
        stages["code"] = code_stage(source)
    return stages
