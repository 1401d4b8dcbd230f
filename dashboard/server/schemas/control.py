"""What may be asked of a run, and what a new one may choose from."""

from __future__ import annotations

from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from core.storage.labels import MAX_NOTE, MAX_TITLE
from dashboard.server.schemas.base import Model

Name = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,60}$")]
"""A word that is no path and no command."""

MetricName = Annotated[str, Field(pattern=r"^[A-Za-z][A-Za-z0-9_-]{0,60}(@[0-9][0-9.]{0,8})?$")]
"""The same, with a number behind it where the metric has one: `map@5`, `quantile@0.9`."""

FileName = Annotated[str, Field(pattern=r"^[A-Za-z0-9_][A-Za-z0-9_. -]{0,120}$")]
"""A file of a folder, without a path."""


class PolicyOption(Model):
    """One option of a search policy that a page may set."""

    name: str
    kind: Literal["integer", "number", "boolean", "choice"]
    default: bool | int | float | str | None
    choices: list[str] = Field(default_factory=list)
    minimum: float | None = None
    maximum: float | None = None
    meaning: str = ""


class Defaults(Model):
    """What holds where nothing is chosen."""

    policy: str | None = None
    max_steps: int | None = None
    max_generations: int | None = None
    seconds: float | None = None
    usd: float | None = None
    workers: int | None = None
    about: str = ""
    """What the problem is, in a line or two."""


class OwnTable(Model):
    """The head of a table. Its texts are the file's own."""

    name: str
    bytes: int
    columns: list[str]
    head: list[list[str]]


class OwnFolder(Model):
    """A folder with tables to learn from."""

    name: str
    tables: list[OwnTable]
    target: str
    """The guessed column to predict; '' where none is clear."""


class OwnScript(Model):
    """A folder with a program and the evaluator that judges it."""

    name: str
    """`.` is the project's folder itself."""
    files: list[str]
    program: str
    """The guessed program; '' where none is clear."""
    evaluator: str
    """The guessed evaluator."""


class Own(Model):
    """What of the user's own lies in the project folder."""

    data: list[OwnFolder]
    scripts: list[OwnScript]


class Presets(Model):
    problems: dict[str, list[str]]
    """Problem preset → names it knows."""
    llms: list[str]
    policies: list[str]
    policy_options: dict[str, list[PolicyOption]]
    """Policy → its own options."""
    defaults: dict[str, Defaults]
    """Of each problem."""
    metrics: list[str]
    """For tables of one's own."""


class ModelPrice(Model):
    """A model that may be named, with its published price."""

    name: str
    input: float
    """Dollars per million tokens of a prompt."""
    output: float
    """Dollars per million tokens of a reply."""
    usd_a_call: float
    """Dollars of a usual call."""
    context: int | None
    """Tokens."""


class Writer(Model):
    """Who a preset asks."""

    name: str
    model: str = ""
    """What is asked where nothing is chosen; '' where there is no model or it has to be named."""
    takes_model: bool = True
    models: list[ModelPrice] = Field(default_factory=list)
    """Some that may be named, a cheap call first."""
    refusal: str = ""
    """Why it cannot be asked as it is set here; '' if it can."""


class StartPlan(Model):
    """What a run would be; nothing was started."""

    refusal: str = ""
    """Why it could not be started, in one line; '' if it could."""
    writer: str = ""
    proposals: int | None = None
    """As many as the budget buys; None where only time ends the search."""
    usd: float | None = None
    """Dollars of so many proposals; None where nothing is paid or no price is known."""
    usd_a_proposal: float | None = None
    usd_cap: float | None = None
    seconds: float | None = None
    note: list[str] = Field(default_factory=list)
    """What the problem says of its scores: how tables were read, which class counts as positive. Untrusted texts."""
    warnings: list[str] = Field(default_factory=list)


class StartRequest(Model):
    """A new run. Every value is a choice or a number: no path and no command comes from a client."""

    problem: str = Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")
    name: str | None = Field(None, pattern=r"^[A-Za-z0-9_][A-Za-z0-9_-]{0,60}$")
    folder: str | None = Field(None, min_length=1, max_length=300)
    """One of the user's own, as `/api/own` lists them: tables for `competition`, a program for `script`."""
    target: str | None = Field(None, min_length=1, max_length=200)
    """A column of these tables."""
    classes: str | None = Field(None, min_length=1, max_length=2000)
    """The target's classes with commas between them, the lowest first; of two the last one counts as positive."""
    split: str | None = Field(None, pattern=r"^(random|stratified|distinct|(group|time):.{1,200})$")
    """How rows are hidden; `group:` and `time:` name a column of these tables."""
    program: FileName | None = None
    """A file of the folder, for `script`; without it the guessed one."""
    evaluator: FileName | None = None
    metric: MetricName | None = None
    """For tables, and for what a script's evaluator returns."""
    direction: Literal["max", "min"] | None = None
    """Of a script's metric."""
    llm: str = Field("rules", pattern=r"^[a-z][a-z0-9_-]{0,40}$")
    model: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._:/@-]{0,120}$")
    """A provider's own name for it, in place of the preset's."""
    policy: Name | None = None
    options: dict[Name, bool | int | float | Name] = Field(default_factory=dict, max_length=60)
    """The policy's own options, as `/api/presets` lists them."""
    max_steps: int | None = Field(None, ge=0, le=1_000_000)
    max_generations: int | None = Field(None, ge=0, le=100_000)
    seconds: float | None = Field(None, ge=0, le=10_000_000)
    usd: float | None = Field(None, ge=0, le=100_000)
    seed: int | None = Field(None, ge=0, le=2**53)
    workers: int | None = Field(None, ge=1, le=256)

    @model_validator(mode="after")
    def _options_are_of_a_policy(self) -> Self:
        if self.options and self.policy is None:
            raise ValueError("options belong to a policy: name one")
        return self


class SweepRequest(StartRequest):
    """The same search by several policies, over as many seeds from `seed` (1) on: a run for each of both."""

    sweep: str | None = Field(None, pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")
    """Its name; without one it gets one."""
    policies: list[Name] = Field(min_length=1, max_length=20)
    """To be compared, in place of `policy`, which stays empty."""
    control: bool = False
    """Independent draws by the same writer as one more setting."""
    seeds: int = Field(5, ge=1, le=50)

    @model_validator(mode="after")
    def _has_policies_of_its_own(self) -> Self:
        if self.policy is not None:
            raise ValueError("a sweep has policies of its own: leave policy empty")
        return self

    @property
    def range_of_seeds(self) -> str:
        """As `sweep --seeds` takes it."""
        first = 1 if self.seed is None else self.seed
        return f"{first}..{first + self.seeds - 1}"


class SweepLaunch(Model):
    """A child process that executes `main.py sweep`."""

    launch: str
    name: str
    """Of the sweep: `/api/sweeps/NAME` knows it as soon as its plan is kept."""


class ResumeRequest(Model):
    """More than what ended the run; what is left out stays as it was."""

    max_steps: int | None = Field(None, ge=1, le=1_000_000)
    max_generations: int | None = Field(None, ge=1, le=100_000)
    seconds: float | None = Field(None, gt=0, le=10_000_000)
    usd: float | None = Field(None, gt=0, le=100_000)


class Launch(Model):
    """A child process that executes `main.py`."""

    launch: str
    state: Literal["starting", "running", "ended"]
    run: str | None
    exit_code: int | None
    output: str
    """The last lines it printed."""


class NoteRequest(Model):
    text: str = Field(min_length=1, max_length=2000)
    """As much of it as the search puts into a prompt (`runs.control.MAX_NOTE`)."""


class LabelsRequest(Model):
    """What is given changes, the rest stays."""

    title: str | None = Field(None, max_length=MAX_TITLE)
    note: str | None = Field(None, max_length=MAX_NOTE)
    add: list[str] = Field(default_factory=list, max_length=20)
    """Tags."""
    remove: list[str] = Field(default_factory=list, max_length=20)
    archived: bool | None = None


class MarkRequest(Model):
    mark: Literal["pinned", "banned", "none"]


class Accepted(Model):
    accepted: bool
    detail: str
