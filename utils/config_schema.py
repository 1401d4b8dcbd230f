"""The whole configuration, a model a section; the larger ones lie beside it. Set in `config/*.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import Field, PrivateAttr, SecretStr, field_validator

from utils.config_data import DataConfig
from utils.config_execution import ExecutionConfig
from utils.config_llm import LLMConfig
from utils.config_places import PROJECT_DIR
from utils.config_problem import ArenaConfig, ProblemConfig
from utils.config_search import BudgetConfig, SearchConfig
from utils.config_section import LONGEST, LONGEST_WAIT, Section, comma_list


class PresetsConfig(Section):
    problem: str = "competition"
    """Problem preset, as `--problem`."""
    llm: str = "rules"
    """Language model preset, as `--llm`."""


class ProjectConfig(Section):
    name: str = ""
    """Prefix of the run id; '' takes the problem's name."""
    seed: int = Field(42, ge=0)
    """Ids and randomness are drawn from it: the same seed searches alike."""
    dir: str = PROJECT_DIR
    """Where `logs/` and `workspaces/` go."""


class AgentConfig(Section):
    time_limit: float = Field(43200.0, gt=0, le=LONGEST)
    """Seconds of active time across resumes; the default of `budget.seconds`."""
    memory: Literal["none", "related", "all"] = "all"
    """Which earlier programs a prompt tells of: none, those related to the parent, or all."""
    memory_tokens: int = Field(4000, ge=100)
    """Longest memory in a prompt, in tokens: a line an attempt."""
    code_tokens: int = Field(20000, ge=0)
    """Code of the best programs so far that the memory shows beside its lines, in tokens."""
    prompt_tokens: int = Field(32000, ge=1000)
    """Longest prompt, in tokens."""
    review: Literal["auto", "always", "never"] = "auto"
    """`auto`: where the reviewer's reading is the score. `always`: of each run, what it taught."""
    ideas: Literal["auto", "always", "never"] = "auto"
    """One more call gives each of the next `search.batch` writers a direction of its own; auto: where these are four or
    more. Only of a model that is asked directly."""
    questions: Literal["auto", "always", "never"] = "auto"
    """Who asks a game's builders: `auto`: the model that writes, standard questions where none does; `always`: a writer
    outside too, by a ticket; `never`: the standard ones."""
    repair_crashes: bool = True
    """A model's program that crashes or runs out of time goes back to it once, with what is known of it, in the same
    step."""
    repairs: int = Field(3, ge=0)
    """Requests that ask for a usable reply again."""
    tools: bool = False
    """A model may look before it writes: `run_python` on the data that programs see, in the sandbox, `read_node`,
    `check`. Each call is a request more."""
    tool_calls: int = Field(8, ge=1)
    """Most calls before one program, with `agent.tools`."""
    tool_seconds: float = Field(60.0, gt=0, le=LONGEST_WAIT)
    """Seconds that all of them together may run."""
    tool_kb: int = Field(8, ge=1)
    """Longest answer of one call, in KB."""


class LoggingConfig(Section):
    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """DEBUG, INFO, WARNING or ERROR, for system.log."""
    view: Literal["auto", "live", "plain", "quiet"] = "auto"
    """What the terminal shows: a live picture, lines, or nothing; auto looks where stdout leads."""
    report: bool = True
    """Plots and report.html at the end, some two seconds of a processor. `report RUN` writes the page later too."""


class TrackingConfig(Section):
    otel: str | None = None
    """Address of an OpenTelemetry receiver (OTLP/HTTP), as `http://127.0.0.1:4318`: traces and metrics."""
    mlflow: str | None = None
    """Tracking address of MLflow, as `http://127.0.0.1:5000`: a run with parameters and metrics by step."""
    experiment: str = "swarm-evo"
    """The experiment's name in MLflow."""
    programs: bool = False
    """Also send the programs' source and the winner's files; keys are never sent."""


class NotifyConfig(Section):
    command: str | None = None
    """A command of yours, started on a new best and at the end with one JSON object on its standard input."""
    url: SecretStr | None = None
    """An address that the same object is posted to, as a chat service's web hook."""
    seconds: float = Field(10.0, ge=0, le=LONGEST)
    """At most one new best is told in so many seconds; the newest is never lost."""


class PromptsConfig(Section):
    dir: str | None = None
    """Folder with prompt templates of the user's own, in place of ours."""


class DashboardConfig(Section):
    host: str = "127.0.0.1"
    """Address that the page is served at."""
    port: int = Field(8008, ge=0, le=65535)
    """Port, 0 for any free one."""
    token: SecretStr | None = None
    """null: a fresh one at each start, told with the address; `none`: no token, only on this machine's own address."""


class Config(Section):
    presets: PresetsConfig = Field(default_factory=PresetsConfig)
    project: ProjectConfig = Field(default_factory=ProjectConfig)
    data: DataConfig = Field(default_factory=DataConfig)
    llm: LLMConfig = Field(default_factory=LLMConfig)
    execution: ExecutionConfig = Field(default_factory=ExecutionConfig)
    agent: AgentConfig = Field(default_factory=AgentConfig)
    search: SearchConfig = Field(default_factory=SearchConfig)
    logging: LoggingConfig = Field(default_factory=LoggingConfig)
    tracking: TrackingConfig = Field(default_factory=TrackingConfig)
    notify: NotifyConfig = Field(default_factory=NotifyConfig)
    problem: ProblemConfig = Field(default_factory=ProblemConfig)
    prompts: PromptsConfig = Field(default_factory=PromptsConfig)
    initial: list[str] = Field(default_factory=list)
    """Programs of the user that become the first nodes."""
    plugins: list[str] = Field(default_factory=list)
    """Folders with parts of the user's own: `policies/`, `providers/`, `operators/`, `selectors/`, `problems/`."""
    final: Literal["all", "part"] = "all"
    """What a competition's own grader scores at the end: the whole test set too, as published scores do and as medals
    are given for, or only the part that no step of the search saw."""
    budget: BudgetConfig = Field(default_factory=BudgetConfig)
    arena: ArenaConfig = Field(default_factory=ArenaConfig)
    dashboard: DashboardConfig = Field(default_factory=DashboardConfig)

    _environment: dict[tuple[str, ...], str] = PrivateAttr(default_factory=dict)
    _given: frozenset[str] | None = PrivateAttr(default=None)
    _typed: frozenset[str] = PrivateAttr(default=frozenset())
    _remarks: list[str] = PrivateAttr(default_factory=list)

    @property
    def environment(self) -> dict[tuple[str, ...], str]:
        """Path → expression (`${env:NAME}`) of every value that an environment variable gave."""
        return self._environment

    def note_environment(self, expressions: dict[tuple[str, ...], str]) -> None:
        """Remember which values environment variables gave; they are stored as expressions."""
        self._environment = dict(expressions)

    @property
    def given(self) -> frozenset[str] | None:
        """Dotted keys that the user set: in a file, the environment or on the command line; None for a stored run."""
        return self._given

    @property
    def typed(self) -> frozenset[str]:
        """Those of the command line: they are meant for this run, where a file may be meant for many."""
        return self._typed

    def note_given(self, keys: frozenset[str] | None, typed: frozenset[str]) -> None:
        """Remember which keys the user set, and which of them on the command line. Of a stored run only these are
        known: those that it is gone on with."""
        self._given, self._typed = keys, typed

    @property
    def remarks(self) -> tuple[str, ...]:
        """What its user should hear of how it came about, before the run begins."""
        return tuple(self._remarks)

    def note_remark(self, text: str) -> None:
        """Remember a line for the user. No log is open yet while a configuration is read."""
        self._remarks.append(text)

    @property
    def plugin_folders(self) -> list[str]:
        """What every registry is asked with: `plugins`, then `problem.plugins`."""
        return plugin_folders({"plugins": self.plugins, "problem": {"plugins": self.problem.plugins}})

    @field_validator("initial", "plugins", mode="before")
    @classmethod
    def _comma_list(cls, value: Any) -> Any:
        return comma_list(value)


def plugin_folders(plain: Mapping[str, Any]) -> list[str]:
    """The plug-in folders of a configuration that is not yet checked."""
    problem = plain.get("problem")
    further = problem.get("plugins") if isinstance(problem, Mapping) else None
    listed = comma_list(plain.get("plugins"))
    folders = [*(listed if isinstance(listed, list | tuple) else ()), further]
    return [folder for folder in folders if isinstance(folder, str) and folder]
