"""What judging a program found beside its score: carried unchanged from the evaluator's verdict to the node."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Rung = Literal["text", "ast", "behaviour", "cheap", "full"]
"""Where a candidate ended on the ladder of ever dearer looks: `text` and `ast` stop duplicates, `cheap` is a quick
score, `behaviour` the same for one that decides on the probe states as an earlier one does, `full` the whole score."""


class TournamentResult(BaseModel):
    """The tournament that a game engine was rated in. The same for all engines of one tournament."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    standings: list[dict[str, Any]] = Field(default_factory=list)
    """One object an engine, best score first: node_id, name, elo, low, high, wins, draws, losses, score, forfeits."""
    crosstable: list[dict[str, Any]] = Field(default_factory=list)
    """One object a pair that met: a, b, wins, draws, losses, pentanomial, los."""
    promoted: tuple[str, ...] = ()
    """Ids of the nodes that lead the next generation, champion first."""
    decision: dict[str, Any] = Field(default_factory=dict)
    """The numbers behind the promotion."""
    times: tuple[str, ...] = ()
    """A line an engine: how much of the time that a move may take it took."""
    games: tuple[str, ...] = ()
    """Games of those who lead that writers can learn from, as text. Untrusted."""


class Findings(BaseModel):
    """What a verdict and the node that it is about have in common. Frozen: a change is a copy."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    message: str = ""
    """One line for the user and the next prompt: which limit, which column, which line. May quote untrusted text."""
    signature: tuple[float, ...] = ()
    """Per-case scores, one an instance, rounded to 12 digits by the evaluator; () where there are no cases."""
    interval: tuple[float, float] | None = None
    """95 % interval of the metric, where the evaluator has one."""
    beside_parent: tuple[float, float, float] | None = None
    """The score over the first parent's, both measured by turns, and its 95 % interval: of times, which depend on what
    else the machine does. None where they were not."""
    limit_share: float | None = None
    """Part of a time limit that the program took, of the limit that it came nearest to. Volatile. None: its seconds are
    told against the problem's one limit."""
    repeats: tuple[float, ...] = ()
    """The scores that the metric is the mean of; () where it is a single one."""
    metrics: dict[str, Any] = Field(default_factory=dict)
    """Everything that a user's evaluator measured, by name; only the metric itself steers."""
    artifacts: dict[str, str] = Field(default_factory=dict)
    """Named texts for the next prompt. Untrusted."""
    files: dict[str, str] = Field(default_factory=dict)
    """Name → path of collected outputs, relative to the run's folder."""
    features: dict[str, float] = Field(default_factory=dict)
    """Named properties of the program, for a policy that keeps the best of each kind (`search.grid`)."""
    name: str = ""
    """What the program is called: a baseline's or file's name, or what an engine calls itself. Untrusted text."""

    logs: str = ""
    """The evaluator's own log lines, where it has any."""
    term_out: str = ""
    """What the program printed, capped. Untrusted text."""
    exc_type: str | None = None
    exc_info: dict[str, Any] | None = None
    """`{args, traceback: [[file, line, function, text]…]}` where the program ended by an exception."""

    duplicate_of: str | None = None
    """Id of an earlier node with the same program: not evaluated, not valid."""
    nothing_left: bool = False
    """In place of a program its writer says that nothing is left to gain: not evaluated, not valid."""
    refused_by: str = ""
    """The check that refused the program before it was evaluated (`check`, `static`, `smoke`); '' if none did."""
    rung: Rung | None = None
    """Where the program ended on the ladder of looks; None where there is no ladder or it failed before."""
    behaviour: str = ""
    """Hash of what the program decides on probe states; equal for programs that decide alike."""
    cheap_score: float | None = None
    """Score of the quick look, lower is better; None if there was none or it was broken off."""
    unisolated_reason: str = ""
    """Why the program shared a process or a sandbox with what scored it; '' where they were apart."""
    tournament: TournamentResult | None = None
    """Games only: the tournament behind the rating."""

    metadata: dict[str, Any] = Field(default_factory=dict)
    """Plain JSON that a problem or a writer adds for people. It is shown; no code of ours reads it by key."""
