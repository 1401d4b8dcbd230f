"""Nodes: a list of them, one whole, its difference to a parent, its prompts and replies."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from core.state.node import MetricSource, Node
from core.state.operators import Operator
from dashboard.server.schemas.base import Model
from dashboard.server.schemas.runs import Totals


class NodeRow(Model):
    """A node in a list: no code, no output."""

    node_id: str
    step: int | None
    """Which step of the search it is, from 1; null for what is no step."""
    place: int
    """In the journal, from 0."""
    parent_ids: list[str]
    operator: Operator
    generation: int | None = None
    island: int | None = None
    metric: float | None = None
    metric_source: MetricSource | None = None
    claimed_metric: float | None = None
    is_buggy: bool = False
    is_valid: bool = True
    failure: str | None = None
    exec_time: float = 0.0
    writer: str = ""


class NodePage(Model):
    total: int
    nodes: list[NodeRow]


class LeftFile(Model):
    """A file that a program left in its workspace. Its name is the program's own."""

    name: str
    bytes: int


class ChangedFile(Model):
    """What a program that is a tree of files changes in one of them, against the base."""

    path: str
    kind: Literal["added", "changed", "deleted"]
    added: int
    """Lines."""
    removed: int
    diff: str
    """Unified. Untrusted text."""


class ShownNode(Node):
    """A node with the number that every surface shows."""

    step: int | None  # type: ignore[assignment]  # its place where it is stored
    """Which step of the search it is, from 1; null for what is no step."""
    place: int
    """In the journal, from 0."""


class NodeDetail(Model):
    """A node, whole. All its texts are untrusted."""

    node: ShownNode
    against_parent: str
    """How it did beside its parent, of scores that are times: `8 % better (6 to 10 %), measured by turns`; '' else."""
    children_ids: list[str]
    why: dict[str, Any]
    stages: dict[str, float]
    """Seconds by stage."""
    mark: Literal["pinned", "banned", "none"]
    totals: Totals
    files: list[LeftFile] = Field(default_factory=list)
    """What is kept of its workspace."""
    changed: list[ChangedFile] | None = None
    """File by file; None for a program that is one text."""


class DiffLine(Model):
    kind: Literal["same", "add", "del", "skip"]
    old: int | None = None
    new: int | None = None
    text: str = ""


class Diff(Model):
    node_id: str
    against: str | None
    added: int
    removed: int
    lines: list[DiffLine]


class Call(Model):
    """A prompt and its reply. Untrusted texts."""

    role: str
    """`look` for a function of ours that a model called before it wrote: `user` its arguments, `reply` its answer."""
    attempt: int
    tool: str
    """Name of the function that was forced, or called by a `look`."""
    provider: str
    model: str
    system: str
    user: str
    reply: str
    finish_reason: str
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    seconds: float
    tries: int
    cached: bool
