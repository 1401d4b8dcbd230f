"""Judging: what a verdict is, and who reaches it, out of the candidate's reach."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Protocol

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from core.state.failure import FailureKind
from core.state.findings import Findings
from core.state.node import MetricSource, Node
from core.state.task import Task
from core.state.text import CleanData, CleanLine, Measured, RunLine, RunText, WholeText
from utils.direction import LARGEST, as_score
from utils.errors import JobLost


def _scores(values: tuple[float, ...]) -> tuple[float, ...]:
    """() where one of them is no score: nothing could be said of their mean and spread."""
    return values if all(-LARGEST <= value <= LARGEST for value in values) else ()


def _interval(ends: tuple[float, float] | None) -> tuple[float, float] | None:
    return ends if ends is not None and -LARGEST <= ends[0] <= ends[1] <= LARGEST else None


def _seconds(value: float) -> float:
    return value if 0 <= value < math.inf else 0.0


def _finite(values: Mapping[str, float]) -> dict[str, float]:
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _ratio(told: tuple[float, float, float] | None) -> tuple[float, float, float] | None:
    return told if told is not None and 0 < told[1] <= told[0] <= told[2] <= LARGEST else None


Scores = Annotated[tuple[float, ...], AfterValidator(_scores)]
Ratio = Annotated[tuple[float, float, float] | None, AfterValidator(_ratio)]
"""None for what is none: not positive, or outside of its own interval."""
Interval = Annotated[tuple[float, float] | None, AfterValidator(_interval)]
"""None for what is none: its ends are no numbers, or in the wrong order."""


class Evaluation(Findings):
    """A verdict: a metric or a failure, and what the run showed. The node takes over all findings.

    An evaluator may be anybody's: of what it tells beside the score, numbers that cannot be kept and reckoned with are
    left out, and the score stands.
    """

    metric: float | None = None
    """In the problem's own unit; finite, or None."""
    source: MetricSource | None = None
    """Who vouches for the metric; None: the loop says it by whether there was a sandbox."""
    failure: FailureKind | None = None
    claimed: float | None = None
    """The program's own estimate of its score, as it printed it; it steers only where scores cannot be told apart."""
    seconds: Annotated[float, AfterValidator(_seconds)] = 0.0
    """What the program's run took. Volatile."""
    signature: Scores = ()
    interval: Interval = None
    beside_parent: Ratio = None
    limit_share: Annotated[float | None, AfterValidator(as_score)] = None
    repeats: Scores = ()
    cheap_score: Annotated[float | None, AfterValidator(as_score)] = None
    message: RunLine = ""
    term_out: RunText = ""
    exc_type: CleanLine | None = None
    exc_info: CleanData | None = None
    artifacts: dict[CleanLine, RunText] = Field(default_factory=dict)
    metrics: Measured = Field(default_factory=dict)
    features: Annotated[dict[CleanLine, float], AfterValidator(_finite)] = Field(default_factory=dict)
    name: CleanLine = ""
    logs: RunText = ""
    unisolated_reason: RunLine = ""
    metadata: CleanData = Field(default_factory=dict)
    """These may quote a program: a verdict is where they are cleaned and bounded, once."""
    code: WholeText | None = None
    """The program as it was really scored, where the evaluator changed it (`tune`)."""

    @model_validator(mode="before")
    @classmethod
    def _score_or_failure(cls, told: Any) -> Any:
        """A number that is no score, as some evaluators give a program that failed, is that program's failure."""
        metric = told.get("metric") if isinstance(told, dict) else None
        if metric is None:
            return told
        if (score := as_score(metric)) is not None:
            return {**told, "metric": score}
        why = f"the score is {metric!r}: a finite number up to {LARGEST:g} either way is needed"
        known = {"message": told.get("message") or why, "failure": told.get("failure") or FailureKind.NON_FINITE}
        return {**told, **known, "metric": None}

    @classmethod
    def of_lost(cls, error: JobLost) -> Evaluation:
        """The verdict on a program whose worker is lost, or which the user stopped."""
        return cls(failure=FailureKind(error.failure), message=str(error))

    @property
    def detail(self) -> dict[str, Any]:
        """What an evaluator says beside the verdict, as plain JSON: the fields of its own class and the metadata.

        Without the many numbers that a claim is made from.
        """
        own = type(self).model_fields.keys() - Evaluation.model_fields.keys() - {"table", "draws", "shares"}
        return {**self.model_dump(mode="json", include=own, exclude_defaults=True), **self.metadata}


class CaseScore(BaseModel):
    """How a program did on one instance; of infinities and NaN there is none."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    case: str
    """The instance's name."""
    value: float
    """In the unit that people count in: bins used, a tour's length."""
    bound: float | None = None
    """No program can do better than this."""
    gap: float | None = None
    """value / bound − 1."""
    seconds: float | None = None


class RepeatedEvaluation(Evaluation):
    """A verdict of several looks at one program that did not get the same score each time; `metric` is their mean."""

    first: float
    """What it had scored before; where that chose it, it is flattered by luck."""
    again: tuple[float, ...]
    """The further scores, each by itself."""
    failed: int = 0
    """How many further looks failed and were taken again: of an evaluator that fails at times."""


class FinalEvaluation(Evaluation):
    """A verdict on the final part, which search never sees."""

    table: tuple[CaseScore, ...] = ()
    """A row an instance, where there are instances that people know."""

    shares: tuple[float, ...] = ()
    """What each case adds to the score, in the score's unit: their mean is the score. Compared in pairs they say how
    sure a gain is. () where the signature's mean is the score."""
    draws: tuple[float, ...] = ()
    """Where the score is no mean of cases: the score on resampled rows, the same rows draw by draw for every program;
    NaN where it has no value there."""
    drawn: CleanLine = ""
    """What these draw, where it is not single rows: `whole groups`."""
    final_reveals: int | None = None
    """How often this final part has been opened by now, over all runs; None where nobody counts."""
    cases: int | None = None
    """How many independent cases (rows, instances) the score rests on, where they are more than the signature has."""
    validation_cases: int | None = None
    """The same of the validation part."""
    validation_interval: Interval = None
    """95 % interval of the same program's score on the validation part."""
    games: int | None = None
    """Games only: how many fresh games the score rests on."""
    head_to_head: CleanData | None = None
    """Games only: the match against the starting champion (wins_draws_losses, pentanomial, los, elo, low, high)."""
    claim: str = ""
    """What may be said of the score, in one line."""


class EvaluatorDefaults(Protocol):
    """What an evaluator may leave out, and what then holds. `Evaluator` inherits it."""

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        """Search better constants for `node`, a copy of its parent, whose trials run under `node_id`.

        Returns:
            The verdict on the program with `code` set, or a `duplicate_of` where nothing better was found.
        """
        return Evaluation(failure=FailureKind.EVAL_ERROR, message="this problem's evaluator cannot tune")

    def final(self, nodes: Sequence[Node]) -> Sequence[Evaluation | None]:
        """Score on the final part, which search never sees; None where there is none. Called once, at the end.

        A `FinalEvaluation` says more than an `Evaluation`, where there is more to say.
        """
        return [None] * len(nodes)

    def second_look(self, nodes: Sequence[Node]) -> list[Evaluation] | None:
        """Verdicts, in order, on cases that no step of the search saw, for the final choice; None: none are left."""
        return None

    def doubts(self, verdict: Evaluation) -> bool:
        """True if a node's score may be luck that matters: then `confirm` is called before it is committed.

        Called in the order of the commits, with the journal as it stands there.
        """
        return False

    def confirm(self, node: Node, verdict: Evaluation) -> Evaluation | None:
        """A better founded verdict, for scores that are not the same twice; None: the one it has is enough.

        Whatever verdict is returned is stored, also the same again: that it was looked at.
        """
        return None

    @property
    def simplest(self) -> bool:
        """True if the simplest of the programs that cannot be told from the best wins at the end; else the best."""
        return True

    def choice(self) -> str | None:
        """Id of the run's answer, where scores of different rounds cannot be compared. None: the best score wins."""
        return None

    def ensemble(self, nodes: Sequence[Node]) -> tuple[str, list[Node], str] | None:
        """(program, members, plan) of a blend of `nodes` that is better than each alone; None: there is none."""
        return None

    def expect(self, tasks: Sequence[Task]) -> None:
        """A round begins of which all nodes that have a program in the end are judged together: those of `tasks`, or
        their repairs. Called before the round's first `look_ahead`, where rounds are whole.
        """
        return None

    def look_ahead(self, node: Node) -> None:
        """Find out, where nodes are judged together, what needs no other node of the round: while those are written.

        Called once a node, in a thread of its own, when its program is there and `check` has nothing against it. Its
        round's `evaluate` comes later, or never.
        """
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
        """A look before evaluation: None, or a refusal with `failure` and `message`. Cheap, thread-safe."""

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Return one verdict a node, in order. A candidate's failure is a verdict, never an exception."""
