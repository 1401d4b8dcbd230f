"""What one attempt at a node gathers on its way, and what its writer is told."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from core.contracts import AgentContext, Evaluation, Review
from core.state.failed_attempt import FailedAttempt
from core.state.memory import Memory
from core.state.node import Node
from core.state.operators import BUILTIN, OperatorSpec
from core.state.task import Task
from utils.errors import ConfigError


class Usage(Protocol):
    """What a node's calls used, all roles together. Tokens and dollars are None where there is no model (`rules`)."""

    @property
    def writer(self) -> str: ...

    @property
    def prompt_tokens(self) -> int | None: ...

    @property
    def completion_tokens(self) -> int | None: ...

    @property
    def cost_usd(self) -> float | None: ...

    @property
    def looks(self) -> Mapping[str, int]:
        """Function → how often a model called it before it wrote."""


@dataclass(frozen=True, slots=True)
class RunContext:
    """What every writer of the run is told, and what is asked for at once: constant over the run, but for what a resume
    changed (`as_of`)."""

    statement: str
    preview: str = ""
    packages: str = ""
    limits: str = ""
    time_limit: float | None = None
    """Seconds that a program's run is told against; None: nothing is said of time."""
    references: Callable[[], str] = lambda: ""
    """Scores of reference programs that are not in the journal, as text; the same from the first prompt on."""
    writers: int = 1
    """How many writers are asked at the same time."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    lower_is_better: bool = False
    claims_only: bool = False
    """There is no evaluator's score: the reviewer's reading is the metric."""
    isolated: bool = True
    """Candidates run in a sandbox; else every score is `unisolated`."""
    repair_crashes: bool = False
    """A program that crashes goes back to its writer once, in the same step."""
    review: str = "auto"
    """`auto`, `always` or `never`."""
    operators: Mapping[str, OperatorSpec] = field(default_factory=lambda: BUILTIN)
    """What the policy may propose."""
    batch: int = 2
    """Proposals of one round, or attempts under way at once where there are no rounds."""
    sharing: int = 1
    """How many rounds in a row share what `Agent.begin_round` gives: several where a round is a single proposal."""
    ideas: int = 0
    """As in AgentContext."""
    memory: str = "all"
    """`none`, `related` or `all`: as `core.state.memory.remember` takes it."""
    memory_tokens: int = 4000
    code_tokens: int = 0
    """Of code, beside `memory_tokens` of lines."""
    last_generation: int | None = None
    """The number that nodes of the last generation have, by `max_generations`; None without that limit."""
    chosen_by: Mapping[str, Any] = field(default_factory=dict)
    """Key → value of what else choices and prompts follow from (policy, schedule, agents): only a replay reads it."""
    earlier: Sequence[tuple[float, Mapping[str, Any]]] = ()
    """(round, fields of this class) in order: what rounds before that one were told, where it was something else."""

    def as_of(self, round_: int) -> RunContext:
        """What the writers of that round are told."""
        told = next((fields for end, fields in self.earlier if round_ < end), None)
        return self if told is None else replace(self, **told)

    def generations_left(self, task: Task) -> int | None:
        """Up to the last generation, the task's own included."""
        if self.last_generation is None or task.generation is None:
            return None
        return self.last_generation - task.generation + 1

    def operator(self, name: str) -> OperatorSpec:
        """The operator of that name. Raises ConfigError where a policy proposed one that its spec does not name."""
        if name not in self.operators:
            raise ConfigError(f"the policy proposed the operator '{name}'; there are: {', '.join(self.operators)}")
        return self.operators[name]


@dataclass(frozen=True, slots=True)
class RoundContext:
    """What the writers of one round are told beside the run's: fixed when the round opens."""

    memory: Callable[[Task], Memory]
    steps_left: int | None = None
    notes: tuple[str, ...] = ()
    shared: Mapping[str, Any] = field(default_factory=dict)


@dataclass(slots=True)
class Attempt:
    """A node on its way: filled stage by stage."""

    task: Task
    context: AgentContext
    node: Node | None = None
    verdict: Evaluation | None = None
    review: Review | None = None
    review_error: str = ""
    """Why a review that was wanted is missing."""
    seconds: dict[str, float] = field(default_factory=dict)
    repaired_from: FailedAttempt | None = None
    """The program before this one, where it failed and was repaired in the same step."""
    first_node: Node | None = None
    """The node with that program."""
    passed: Node | None = None
    """The node that the evaluator's `check` had nothing against."""

    @property
    def is_alive(self) -> bool:
        """Written, and nothing has judged it yet."""
        return self.node is not None and self.verdict is None
