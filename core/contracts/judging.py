"""Judging: what a verdict is, and who reaches it, out of the candidate's reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field

from core.contracts.text import CleanLine, CleanText
from core.state.failure import FailureKind
from core.state.node import MetricSource, Node


class Evaluation(BaseModel):
    """A verdict: a metric or a failure, and what the run showed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metric: float | None = None
    """In the problem's own unit; finite, or None."""
    source: MetricSource | None = None
    failure: FailureKind | None = None
    message: CleanLine = ""
    """One line for the user and the next prompt: which limit, which column, which line."""
    signature: tuple[float, ...] = ()
    """Per-case scores, in the order of the cases."""
    seconds: float = 0.0
    term_out: CleanText = ""
    exc_type: CleanLine | None = None
    exc_info: dict[str, Any] | None = None
    duplicate_of: str | None = None
    """Id of an earlier node that behaves the same: not evaluated, not valid."""
    code: str | None = None
    """The program as it was really scored, where the evaluator changed it (`tune`)."""
    interval: tuple[float, float] | None = None
    """95 % interval of `metric`, where the evaluator has one."""
    artifacts: dict[CleanLine, CleanText] = Field(default_factory=dict)
    """Named texts for the next prompt. Untrusted."""
    files: dict[str, str] = Field(default_factory=dict)
    """Name → path of collected outputs, relative to the run's folder."""
    metadata: dict[str, Any] = Field(default_factory=dict)
    """Plain JSON that goes to `Node.metadata` (medals, rung of the ladder, games, …)."""


class EvaluatorDefaults(Protocol):
    """What an evaluator may leave out, and what then holds. `Evaluator` inherits it."""

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        """Search better constants for `node`, a copy of its parent, whose trials run under `node_id`.

        Returns:
            The verdict on the program with `code` set, or a `duplicate_of` where nothing better was found.
        """
        return Evaluation(failure=FailureKind.EVAL_ERROR, message="this problem's evaluator cannot tune")

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        """Score on the final part, which search never sees; None where there is none. Called once, at the end."""
        return [None] * len(nodes)

    def second_look(self, nodes: Sequence[Node]) -> list[Evaluation] | None:
        """Verdicts, in order, on cases that no step of the search saw, for the final choice; None: none are left."""
        return None

    def choice(self) -> str | None:
        """Id of the run's answer, where scores of different rounds cannot be compared. None: the best score wins."""
        return None

    def ensemble(self, nodes: Sequence[Node]) -> tuple[str, list[Node], str] | None:
        """(program, members, plan) of a blend of `nodes` that is better than each alone; None: there is none."""
        return None

    def close(self) -> None:
        """End what the evaluator started, when the run ends."""
        return None


class Evaluator(EvaluatorDefaults, Protocol):
    """Reaches verdicts. Built by `Problem.evaluator(deps)`.

    `together` False: nodes are judged alone; `evaluate` is called with one node, from several threads at once.
    `together` True: one call a round with all its nodes in slot order, because scores are relative or share rungs.
    """

    together: bool

    def check(self, node: Node) -> Evaluation | None:
        """A gate before evaluation: None, or a refusal with `failure` and `message`. Cheap, thread-safe."""

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Return one verdict a node, in order. A candidate's failure is a verdict, never an exception."""
