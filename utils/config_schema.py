"""The configuration's keys: one pydantic model a section. Documented here, set in `config/*.yaml`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from pydantic import (
    ConfigDict,
    Field,
    PrivateAttr,
    SecretStr,
    ValidationInfo,
    field_validator,
    model_validator,
)

from utils.config_llm import LLMConfig
from utils.config_places import PROJECT_DIR
from utils.config_section import LONGEST, LONGEST_WAIT, CommaText, Section, comma_list
from utils.processors import processors
from utils.strategies import POLICIES, SELECTORS, Options, PolicyOptions, checked_sections


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


class DataConfig(Section):
    """The user's own data, in place of a bundled competition."""

    dir: str | None = None
    """A folder with the tables, or a single table."""
    train: CommaText = None
    """The training table, where its name does not tell it; relative to `data.dir`, or a path of its own without one.

    A pattern (`2023-*.csv`), names with commas between them, or a folder: files of the same columns are one table.
    """
    test: CommaText = None
    """The table to predict, where it is not called `test`; several files as with `train`."""
    labels: CommaText = None
    """A second table that holds the target, joined by a column that both tables have; several files as with `train`."""
    encoding: str | None = None
    """How your text tables are written (`cp1250`, `koi8_r`), where what is told of them is wrong."""
    goal: str | None = None
    """The task in a sentence, for the prompts."""
    target: CommaText = None
    """The column to predict; several with commas between them, scored by the mean of their scores."""
    classes: CommaText = None
    """The target's classes with commas between them, the lowest grade first; of two the last one counts as positive."""
    metric: str | None = None
    """A metric's name, or `FILE.py:FUNCTION` of your own: `function(truth, predicted)` gives a number."""
    split: str = "random"
    """`random`, `stratified`, `distinct` (equal rows stay together), `group:COLUMN` or `time:COLUMN`."""
    hidden: float = Field(0.3, gt=0, le=0.5)
    """Share of the labelled rows that programs never see: one half of them steers the search, the other half is the
    final part. With `time:COLUMN` it says how far ahead of what is learned a program is scored."""
    preview: Literal["schema", "stats", "rows"] = "stats"
    """What of the data a prompt may show: names and types; plus statistics; plus sample rows."""

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str | None) -> str | None:
        try:
            "".encode(value or "utf-8")
        except LookupError as error:
            raise ValueError("an encoding of text that Python knows, such as cp1250, iso8859_2, koi8_r") from error
        return value

    @field_validator("split")
    @classmethod
    def _known_split(cls, value: str) -> str:
        kind, _, column = value.partition(":")
        if value in ("random", "stratified", "distinct") or (kind in ("group", "time") and column):
            return value
        raise ValueError("allowed: random, stratified, distinct, group:COLUMN, time:COLUMN")


class RayConfig(Section):
    """A cluster of Ray (`execution.runner=ray`)."""

    address: str | None = None
    """`HOST:PORT` of a cluster, or `auto`; null: one is started on this machine."""
    num_cpus: int | None = Field(None, ge=1)
    """Processors of the one that is started here; null: all of them."""
    namespace: str | None = None
    """Ray's namespace of the workers; null: one of their own."""


class ModalConfig(Section):
    """Containers of Modal (`execution.runner=modal`)."""

    containers: int = Field(4, ge=1)
    """Containers that are kept warm: so many programs run at once at most."""
    image: list[str] | None = None
    """What `pip` installs into them; null: what our own problems need."""
    cpu: float | None = Field(None, gt=0)
    """Processors of one; null: Modal's own default, as with the next two."""
    memory: int | None = Field(None, ge=1)
    """Memory of one, in MiB."""
    gpu: str | None = None
    """Graphics card of one, by Modal's name for it."""

    @field_validator("image", mode="before")
    @classmethod
    def _comma_list(cls, value: Any) -> Any:
        return comma_list(value)


class ExecutionConfig(Section):
    timeout: float = Field(300.0, gt=0, le=LONGEST_WAIT)
    """Wall-clock seconds of one program's run."""
    sandbox: Literal["auto", "warm", "lite", "bubblewrap", "none"] = "auto"
    """The tier that programs run in; auto: the strongest that holds here. none needs --i-accept-unsandboxed."""
    runner: Literal["local", "ray", "modal"] = "local"
    """Where programs run: processes of this machine, Ray or Modal."""
    python: str | None = None
    """Interpreter for programs and evaluators; null: the one that runs Swarm-Evo."""
    gpus: float = Field(0, ge=0)
    """Graphics cards that a worker's programs may use, whole ones or a part of one: on Ray 0.25 lets four share it."""
    paths: list[str] = Field(default_factory=list)
    """Folders of toolchains (rustup, nvm, conda, …) that programs may read and run; `doctor` names those found here."""
    cpu_seconds: float | None = Field(None, gt=0, le=LONGEST)
    """Processor seconds of one run; null: four times the timeout."""
    memory_mb: int = Field(4096, ge=64, le=10**9)
    """Memory of one run."""
    processes: int = Field(128, ge=1)
    """Processes and threads of one run."""
    file_mb: int = Field(512, ge=1)
    """Size of one file that a program writes."""
    disk_mb: int = Field(1024, ge=1)
    """All that a program writes."""
    output_kb: int = Field(1024, ge=1)
    """What is kept of standard output and error."""
    threads: int = Field(1, ge=1)
    """Threads that numeric libraries may use in one run."""
    usd_per_hour: float = Field(0.0, ge=0)
    """Dollars that an hour of all the machines costs. They count in budget.usd while the search goes on."""
    preload: list[str] | None = None
    """Modules that the warm sandbox imports once; null takes the problem's list."""
    archive_best: int = Field(3, ge=0)
    """What a program left in its workspace is kept of so many nodes with the best scores (`show RUN NODE --files`)."""
    archive_newest: int = Field(2, ge=0)
    """The same of so many of the last nodes."""
    archive_mb: float = Field(32.0, ge=0)
    """At most so much of each, before compression; 0 keeps nothing."""
    ray: RayConfig | None = None
    """The cluster, with `execution.runner=ray`."""
    modal: ModalConfig | None = None
    """The containers, with `execution.runner=modal`."""

    @field_validator("gpus")
    @classmethod
    def _whole_or_a_part(cls, value: float) -> float:
        if value > 1 and value != int(value):
            raise ValueError(f"{value:g} GPUs; allowed are whole numbers, and parts of one such as 0.5")
        return value

    @field_validator("preload", "paths", mode="before")
    @classmethod
    def _comma_list(cls, value: Any) -> Any:
        return comma_list(value)

    @field_validator("ray", "modal", mode="before")
    @classmethod
    def _nothing_said(cls, value: Any) -> Any:
        """Runs of before stored an empty mapping."""
        return value or None


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


USUAL_WORKERS = 2
"""Programs that run at once where the user says nothing, on two processors or more."""


class SearchConfig(Section):
    """What is common to all policies. A policy's own options stand below its name: `search.islands.per_island`."""

    model_config = ConfigDict(extra="allow")
    __pydantic_extra__: dict[str, PolicyOptions]

    policy: str = "three_phase"
    """three_phase, mcts, islands, portfolio, generations, or a policy of a plug-in."""
    max_steps: int | None = Field(50, ge=0)
    """Candidates after which the search ends."""
    max_generations: int | None = Field(None, ge=0)
    """Generations after which the search ends (islands, generations)."""
    control: float | None = Field(None, ge=0, le=1)
    """Share of the steps that are independent draws by the same writer: what the search is compared with. null: 0.1
    where a model writes 30 steps or more, else 0."""
    batch: int = Field(2, ge=1)
    """Proposals that are made from one state of the journal."""
    lag: int | None = Field(None, ge=1)
    """Proposals under way at once in a pipeline; null: twice the batch. A run of few steps with a model begins with
    less, like `batch` and the islands, unless these are set."""
    schedule: str = "pipeline"
    """rounds, pipeline or async: whether a proposal waits for those before it."""
    workers: int = Field(default_factory=lambda: min(USUAL_WORKERS, processors()), ge=1)
    """Programs that run at once: two, or one where there is one processor. A run keeps the number it began with."""
    selectors: dict[str, Options] = Field(default_factory=dict)
    """Options of the parent selectors: `search.selectors.tournament.size`, `search.selectors.softmax.temperature`."""
    top_k_for_full_eval: int = Field(10, ge=1)
    """Programs of a round that get the full score, by their cheap one."""
    tune_trials: int = Field(40, ge=1)
    """Values of a program's constants that one `tune` tries."""
    repeats: int = Field(2, ge=0)
    """script, command: further evaluations of a program that may be the best, where scores are not the same twice."""
    top_k: int = Field(5, ge=1)
    """Candidates of the final choice."""
    ensemble: bool = True
    """At the end, let a blend of the best programs compete (competitions)."""
    smoke: bool = True
    """Competitions of at least 10,000 training rows: run a program on 2 % of them first, on all only if it passes."""

    @model_validator(mode="before")
    @classmethod
    def _options_of_strategies(cls, plain: Any, info: ValidationInfo) -> Any:
        """Every `search.<policy>` and `search.selectors.<selector>` is checked by that strategy's own options."""
        if not isinstance(plain, Mapping):
            return plain
        plugins = info.context or ()
        chosen = plain.get("policy", cls.model_fields["policy"].default)
        sections = {key: value for key, value in plain.items() if key not in cls.model_fields}
        if isinstance(chosen, str) and POLICIES.get(chosen, plugins):
            sections.setdefault(chosen, {})
        return {**plain, **checked_sections(POLICIES, sections, plugins)}

    @field_validator("selectors", mode="before")
    @classmethod
    def _options_of_selectors(cls, plain: Any, info: ValidationInfo) -> Any:
        return checked_sections(SELECTORS, plain, info.context or ()) if isinstance(plain, Mapping) else plain

    @property
    def options(self) -> PolicyOptions:
        """The chosen policy's own options."""
        return self.__pydantic_extra__[self.policy]

    def choose(self, policy: str) -> None:
        """Another policy of ours; its options are those that were given for it, else the usual ones."""
        self.policy = policy
        self.__pydantic_extra__.setdefault(policy, POLICIES.get(policy).options())

    def set_option(self, key: str, value: Any) -> None:
        """Change one of the chosen policy's own options."""
        self.__pydantic_extra__[self.policy] = self.options.model_copy(update={key: value})


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


class ProblemConfig(Section):
    name: str | None = None
    """Which of the family: a competition, a data set, …"""
    path: str | None = None
    """A competition folder."""
    plugins: str | None = None
    """One more folder of `plugins`; its older name."""
    kind: str | None = None
    """Set by the preset: competition, bin_packing, tsp, script, command, connect_four, chess_engines."""
    goal: str | None = None
    """What the user wants, in his own words: every prompt holds it."""
    direction: Literal["max", "min"] | None = None
    """max or min, where the user's own evaluator gives the score."""
    program: str | None = None
    """The user's program with its EVOLVE-BLOCK (script)."""
    evaluator: str | None = None
    """File with evaluate(program_path) (script)."""
    source: CommaText = None
    """Files, or a whole folder, that the search may change (command)."""
    editable: CommaText = None
    """Which files of the folder may change, be added and be deleted: `src/**/*.py`, several with commas (command)."""
    protected: CommaText = None
    """Which of these stay as they are, and are never shown to a writer (command)."""
    build: str | None = None
    """Command that makes what `problem.eval` needs, run again only where its inputs changed (command)."""
    eval: str | None = None
    """Command that prints the metric (command)."""
    metric: str | None = None
    """The metric that steers, by name."""
    metric_from: str | None = None
    """Where the metrics are read: output, regex:PATTERN, json:PATH, junit[:PATH] (command on a folder)."""
    require: CommaText = None
    """What a candidate must meet to have a score, as `tests==pass,size<=100` (command on a folder)."""
    base: str | None = None
    """The snapshot of the folder that a run searches; set by the run itself."""
    grade: str | None = None
    """Command that grades the output outside of the program's reach; the output's path is its last argument, or stands
    for `{output}` (command)."""
    options: dict[str, Any] = Field(default_factory=dict)
    """The problem's own settings: `config problem.options --problem=NAME` lists them."""


class PromptsConfig(Section):
    dir: str | None = None
    """Folder with prompt templates of the user's own, in place of ours."""


class BudgetConfig(Section):
    seconds: float | None = Field(None, ge=0, le=LONGEST)
    """Active seconds of the run, resumes added up; null: agent.time_limit."""
    tokens: int | None = Field(None, ge=0)
    """Tokens of all models together."""
    usd: float | None = Field(5.0, ge=0)
    """Dollars of all models together; the bill never passes it."""
    target: float | None = None
    """The search ends when the best is at least as good as this."""
    stagnation: int | None = Field(None, ge=1)
    """Steps without a new best."""
    repeats: int | None = Field(100, ge=1)
    """Steps in a row whose programs were all known already: the writer has nothing new to say. null: go on."""
    nothing_left: int | None = Field(3, ge=1)
    """Steps in a row whose writers say that nothing is left to gain. null: go on."""


class ArenaConfig(Section):
    promotion: Literal["argmax", "los", "sprt"] = "argmax"
    """When a challenger becomes champion: best rating, likelihood of superiority, or a sequential test."""
    limit: str = "depth:4"
    """`nodes:N`, `depth:N`, `movetime:MS` or `clock:MS+MS`."""
    openings: int = Field(4, ge=1, le=10_000)
    """Openings of a generation's tournament."""
    book: str | None = None
    """File of openings in place of random ones: .epd (positions), .pgn (games) or .txt (moves, one opening a line)."""
    plies: int | None = Field(None, ge=1, le=200)
    """Moves of an opening: of a random one so many (null: 4), of one in `arena.book` at most so many (null: all)."""
    games: int = Field(2, ge=2, le=10_000)
    """Games a pair plays from each opening side, both colours: an even number."""
    gauntlet: int = Field(40, ge=2)
    """Games of each kind in the final, against engines that no tournament saw."""
    draw_adjudication: bool = False
    """End games that both engines call drawn."""
    resign_adjudication: bool = False
    """End games that both engines call lost for one."""
    deadline: float = Field(10.0, gt=0, le=LONGEST_WAIT)
    """Wall-clock seconds a move may take under a nodes or depth limit, and a UCI program to start (at least 10)."""


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

    def note_given(self, keys: frozenset[str]) -> None:
        """Remember which keys the user set."""
        self._given = keys

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
