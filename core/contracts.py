"""The seams of Swarm-Evo and what passes through them.

Search     SearchPolicy.ask / tell            knows scores, not LLMs, files or problems
Writing    Agent.generate, Reviewer.review    know prompts and replies, never run code
Judging    Evaluator.evaluate                 reaches a verdict; its code is out of the candidate's reach
Running    JobRunner, Sandbox, Session        run untrusted code and say what happened
Keeping    Store, EventSink                   facts and their events, one sequence
Plugging   Problem, RulesWriter, Game         what a problem brings along
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from pydantic import BaseModel, ConfigDict, Field

from core.state.failure import FailureKind
from core.state.node import MetricSource, Node, Operator
from core.state.task import Task
from utils.errors import ConfigError

if TYPE_CHECKING:
    from core.events import Event
    from core.state.journal import Journal

STAGES = ("select", "prompt", "reply", "code", "execute", "review")
"""The life of a node; each stage's result is stored before the next begins."""


# ---------------------------------------------------------------- search


class Proposal(BaseModel):
    """What a policy wants written next."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    operator: Operator
    parents: tuple[str, ...] = ()
    """Node ids; the first is the parent to change, the second what `merge`/`crossover` takes from."""
    generation: int | None = None
    island: int | None = None
    slot: int = 0
    repairs: int = 0
    """How often a candidate that `Evaluator.check` refuses goes back to its writer, each attempt a node of its own."""
    why: dict[str, Any] = Field(default_factory=dict)
    """Plain JSON for `show --why`: rule, candidates with scores, the draw."""


class SearchPolicy(Protocol):
    """Decides what to write next from scores alone.

    1. `ask` may not change the policy's state; all state is learned in `tell`. So a run is resumed by telling the
       stored nodes again, in order.
    2. All randomness comes from `rng`, which is seeded from counters by the caller.
    """

    def ask(self, journal: Journal, rng: random.Random, k: int) -> list[Proposal]:
        """Return 1..k proposals for the next round, in slot order. An empty list ends the search."""

    def tell(self, journal: Journal, node: Node) -> None:
        """Learn from a committed node (failures and duplicates too). `journal` already holds it."""

    @property
    def finished_generations(self) -> int | None:
        """How many generations are over; None: it keeps none of its own, the newest node's number counts."""
        return None

    def drain_events(self) -> list[Event]:
        """What happened inside the policy since the last call, for the caller to store."""
        return []


@dataclass(frozen=True, slots=True)
class Progress:
    """How far the run is. All counts survive a resume."""

    steps: int = 0
    """Committed nodes that count."""
    generations: int = 0
    """Finished generations."""
    seconds: float = 0.0
    """Active seconds, resumes added up."""
    tokens: int = 0
    usd: float = 0.0
    best_metric: float | None = None
    steps_since_best: int = 0
    """Committed nodes that count since the best so far was found."""


# ---------------------------------------------------------------- writing


class Query(Protocol):
    """One call of a language model, or of `rules`. Bound by the caller to model, key, store, budget and node."""

    def __call__(
        self,
        system_message: str | None,
        user_message: str | None,
        *,
        tools: list[dict[str, Any]] | None = None,
        tool_choice: dict[str, Any] | str | None = None,
        context: Mapping[str, Any] | None = None,
        attempt: int = 0,
        **overrides: Any,
    ) -> str:
        """Return the reply's text, or with `tools` the tool call's arguments as JSON text.

        Args:
            context: plain JSON that real providers ignore and `rules` hands to the problem's RulesWriter.
            attempt: 0 for the first call of this node and role, 1.. for repairs; part of the call's identity.
            overrides: `model`, `provider`, `temperature`, … for this call only.
        """


@dataclass(frozen=True, slots=True)
class Prompt:
    """What a writer is asked: the two messages, and the same facts as plain JSON for `rules`."""

    system: str
    user: str
    context: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class AgentContext:
    """All that an agent may know about its task. No clock time: prompts are a function of the journal."""

    task: Task
    statement: str
    """The problem's task description."""
    parents: tuple[Node, ...]
    query: Query
    preview: str = ""
    """Data preview; '' where the problem has none."""
    memory: str = ""
    """The journal's summary, within its token budget."""
    packages: str = ""
    """Installed packages with versions, one a line."""
    notes: tuple[str, ...] = ()
    """Notes of the user to the next prompt."""
    steps_left: int | None = None
    lower_is_better: bool = False
    shared: Mapping[str, Any] = field(default_factory=dict)
    """What `begin_round` returned for this round."""
    refusal: str = ""
    """In a repair round: why the gate refused the previous attempt."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON from the problem (`Problem.prompt_extras`): signature, allowed imports, output format, …"""


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What an agent wrote. `node` carries code, plan, genes and writer; it has not run."""

    node: Node | None
    success: bool
    error: str = ""
    failure: FailureKind | None = None


class AgentDefaults(Protocol):
    """What an agent may leave out, and what then holds. `Agent` inherits it."""

    def begin_round(self, context: AgentContext) -> dict[str, Any]:
        """Return plain JSON that all writers of the coming round share (a strategist's questions); {} for most."""
        return {}

    def drain_events(self) -> list[Event]:
        """What happened inside the agent since the last call, for the caller to store."""
        return []


class Agent(AgentDefaults, Protocol):
    """Writes programs. `generate` is `prompt`, `reply`, `code` in a row; the stages can be run one by one."""

    def prompt(self, context: AgentContext) -> Prompt: ...

    def reply(self, context: AgentContext, prompt: Prompt) -> str:
        """Ask `context.query`, and again with the reason while the reply is unusable, a bounded number of times."""

    def code(self, context: AgentContext, reply: str) -> AgentResult: ...

    def generate(self, context: AgentContext) -> AgentResult: ...


class Review(BaseModel):
    """The reviewer's reading of a run (`submit_review` of the seed)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    is_bug: bool
    has_csv_submission: bool
    summary: str
    metric: float | None = None
    lower_is_better: bool | None = None


class Reviewer(Protocol):
    """Reads code and output; its numbers are claims."""

    def review(self, context: AgentContext, node: Node) -> Review: ...


class RulesWriter(Protocol):
    """Writes real programs without a model: a problem's repertoire behind `provider: rules`."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        """Return a reply as a model would give it: a plan in prose and one fenced code block.

        `context` holds `operator`, `parents` (each `{code, plan, metric, failure, message, term_out}`), `preview`,
        `refusal`, `shared`, `lower_is_better` and the problem's `extras`.
        """


# ---------------------------------------------------------------- judging


class Evaluation(BaseModel):
    """A verdict: a metric or a failure, and what the run showed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    metric: float | None = None
    """In the problem's own unit; finite, or None."""
    source: MetricSource | None = None
    failure: FailureKind | None = None
    message: str = ""
    """One line for the user and the next prompt: which limit, which column, which line."""
    signature: tuple[float, ...] = ()
    """Per-case scores, in the order of the cases."""
    seconds: float = 0.0
    term_out: str = ""
    exc_type: str | None = None
    exc_info: dict[str, Any] | None = None
    duplicate_of: str | None = None
    """Id of an earlier node that behaves the same: not evaluated, not valid."""
    code: str | None = None
    """The program as it was really scored, where the evaluator changed it (`tune`)."""
    interval: tuple[float, float] | None = None
    """95 % interval of `metric`, where the evaluator has one."""
    artifacts: dict[str, str] = Field(default_factory=dict)
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
    """Reaches verdicts. Built by `Problem.evaluator(bench)`.

    `together` False: nodes are judged alone; `evaluate` is called with one node, from several threads at once.
    `together` True: one call a round with all its nodes in slot order, because scores are relative or share rungs.
    """

    together: bool

    def check(self, node: Node) -> Evaluation | None:
        """A gate before evaluation: None, or a refusal with `failure` and `message`. Cheap, thread-safe."""

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Return one verdict a node, in order. A candidate's failure is a verdict, never an exception."""


# ---------------------------------------------------------------- running


class Limits(BaseModel):
    """What one job may use. Each breach has a FailureKind of its own."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seconds: float = 300.0
    cpu_seconds: float | None = None
    """None: 4 × seconds."""
    memory_mb: int = 4096
    """Of the whole process tree, proportional set size."""
    processes: int = 128
    """Processes and threads."""
    file_mb: int = 512
    disk_mb: int = 1024
    """Bytes written below the workspace; every inode costs at least 4 KiB."""
    output_kb: int = 1024
    threads: int = 1
    """Threads of BLAS and OpenMP."""
    core: int | None = None
    """Pinned to this CPU, where the score is a time; None: any."""


class ExecutionResult(BaseModel):
    """What running a program showed, told by the trusted side."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    term_out: str = ""
    """stdout and stderr as they came, capped with a line that says what was left out."""
    exec_time: float = 0.0
    cpu_seconds: float | None = None
    max_memory_mb: float | None = None
    exit_code: int | None = None
    failure: FailureKind | None = None
    message: str = ""
    """Which limit and how much, or the last line of the traceback."""
    exc_type: str | None = None
    exc_info: dict[str, Any] | None = None
    """`{args, traceback: [[file, line, function, text]…]}` where the program ended by an exception."""
    tier: str = "none"
    """warm, lite, bubblewrap or none."""

    @property
    def isolated(self) -> bool:
        return self.tier != "none"


class Session(Protocol):
    """A long-lived sandboxed child that holds one program and answers calls. Every answer is checked by us."""

    def call(self, function: str, args: Sequence[Any], *, timeout: float) -> Any:
        """Call `function` of the program with plain data. Raises SessionFailure when the program fails."""

    def call_many(self, function: str, batch: Sequence[Sequence[Any]], *, timeout: float) -> list[Any]:
        """Many calls in one frame; exactly `len(batch)` answers."""

    def pause(self) -> None:
        """Stop the program until the next call: it does not run while nobody waits for it."""

    def close(self) -> ExecutionResult:
        """Kill it and say what it printed and used."""


class SessionFailure(Exception):
    """The program behind a session failed: `result` says how. Caught by evaluators, never shown as our error."""

    def __init__(self, result: ExecutionResult) -> None:
        super().__init__(result.message)
        self.result = result


class Sandbox(Protocol):
    """Runs untrusted code so that nothing escapes. Thread-safe."""

    tier: str

    def run(
        self,
        code: str,
        *,
        workspace: Path,
        inputs: Path | None = None,
        limits: Limits,
        seed: int = 0,
        argv: Sequence[str] = (),
        on_output: Callable[[str], None] | None = None,
    ) -> ExecutionResult:
        """Run a program with `workspace` as /workspace and `inputs` read-only as /workspace/input.

        Everything of the job is dead when this returns; what it wrote in `workspace` is still there, untrusted.
        """

    def command(
        self, argv: Sequence[str], *, workspace: Path, inputs: Path | None = None, limits: Limits, seed: int = 0
    ) -> ExecutionResult:
        """The same for an arbitrary command line (any language)."""

    def session(
        self, code: str, *, limits: Limits, seed: int = 0, workspace: Path | None = None, prelude: str = ""
    ) -> Session:
        """Hold a program ready for calls. It is loaded by the first call, within its timeout.

        Args:
            prelude: source that runs first in the program's namespace (helper functions, classes); not trusted either.
            limits: `seconds` and `cpu_seconds=None` limit nothing here: each call has its own timeout.
        """

    def close(self) -> None: ...


class JobSpec(BaseModel):
    """A piece of work as plain data, so that any machine can do it: `entry(payload, bench) -> plain JSON`."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    entry: str
    """`package.module:function` of ours (trusted code), called with (payload, JobBench)."""
    payload: dict[str, Any]
    """Plain JSON; bytes are allowed as base64 text."""
    label: str = ""
    """Node id that the work is for: live output is told under it."""
    seconds: float = 3600.0
    """Deadline for the whole job, its own clean-up included."""
    cpus: float = 1.0
    gpus: float = 0.0
    memory_mb: int = 1024
    alone: bool = False
    """No other job of the runner beside it: its score is a time."""


class JobResult(BaseModel):
    """What became of a job: its value, or an error of ours (the candidate's failures are inside the value)."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    value: Any = None
    error: str = ""
    """Our fault: traceback text. '' when the entry returned."""
    lost: bool = False
    """The worker died, was cut off or overstepped the deadline, also after retries."""
    overdue: bool = False
    """It is `lost` because it overstepped `JobSpec.seconds`: to run it again would cost as much again."""


@dataclass(frozen=True, slots=True)
class JobBench:
    """What an entry finds where it runs."""

    sandbox: Sandbox
    scratch: Path
    """A private folder of this job, removed afterwards."""
    on_output: Callable[[str], None] | None = None


class JobRunner(Protocol):
    """Runs jobs on this machine or others. `run_job(spec)` is pure; retries, deadlines and cancellation are ours."""

    slots: int

    def submit(self, spec: JobSpec) -> str: ...

    def next(self, timeout: float | None = None) -> JobResult | None:
        """The next finished job, each told once, or None after `timeout` seconds."""

    def cancel(self, id: str) -> None:
        """Stop it if it runs; its result is discarded."""

    def close(self) -> None: ...


class Jobs(Protocol):
    """A JobRunner as threads use it: submit and wait."""

    slots: int

    def run(self, spec: JobSpec) -> Any:
        """The entry's value. JobLost when the worker is gone after retries, SwarmEvoError for an error of ours."""

    def map(self, specs: Iterable[JobSpec]) -> list[Any]:
        """Values in order; as many at once as there are slots."""


# ---------------------------------------------------------------- keeping


class EventSink(Protocol):
    """Something that wants to see events after they are stored (live view, metrics files)."""

    def emit(self, event: Event) -> None: ...


class GameBook(Protocol):
    """Finished games of this run: an evaluator looks here before it plays, so that no game is played twice."""

    def get(self, key: str) -> dict[str, Any] | None: ...

    def put(self, key: str, game: dict[str, Any], events: Sequence[Event]) -> None:
        """Store a finished game and its events in one transaction."""

    def all(self) -> list[dict[str, Any]]: ...


class Store(Protocol):
    """The facts of one run. One writer; a fact and its events share a transaction; events get an increasing `seq`."""

    def open_round(
        self, round_: int, tasks: Sequence[Task], whys: Sequence[dict[str, Any]], events: Sequence[Event]
    ) -> None: ...

    def save_stage(self, node_id: str, stage: str, payload: dict[str, Any], events: Sequence[Event] = ()) -> None: ...

    def save_stages(self, stage: str, payloads: Mapping[str, dict[str, Any]]) -> None:
        """One stage of several nodes, by id, all or nothing."""

    def stages(self, node_id: str) -> dict[str, dict[str, Any]]: ...

    def commit(self, nodes: Sequence[Node], events: Sequence[Event]) -> None: ...

    def nodes(self) -> list[Node]:
        """Committed nodes in journal order."""

    def open_tasks(self) -> list[Task]:
        """Tasks without a committed node, in (round, slot, attempt) order: where a resumed run goes on."""

    def rounds(self) -> int:
        """The number after the highest round that was opened."""

    def why(self, node_id: str) -> dict[str, Any]:
        """What the policy said of its choice."""

    def put_fact(self, key: str, value: Any, events: Sequence[Event] = ()) -> None:
        """A named fact of the run (baselines, shared round data, final result): plain JSON."""

    def get_fact(self, key: str) -> Any | None: ...

    def append(self, events: Sequence[Event]) -> None: ...


# ---------------------------------------------------------------- plugging


@dataclass(frozen=True, slots=True)
class Bench:
    """What a problem's evaluator is built from."""

    jobs: Jobs
    limits: Limits
    run_dir: Path
    """`logs/<run>`; files an evaluator keeps go below `files/<node id>/`."""
    work_dir: Path
    """`workspaces/<run>`; one folder a node below it, removed when the node is archived."""
    seed: int
    journal: Journal
    """Read-only view of what is committed (known signatures, the champion)."""
    games: GameBook
    append: Callable[[Sequence[Event]], None]
    """Stores and tells events of the evaluation (game.move, ladder counts)."""
    isolated: bool
    """False with `execution.sandbox=none`: every score is then `unisolated`."""
    extras: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Baseline:
    """A reference program that the problem brings along."""

    name: str
    code: str


class ProblemDefaults(Protocol):
    """What a problem may leave out, and what then holds. `Problem` inherits it."""

    @property
    def language(self) -> str:
        """Of the programs. Only Python's are compared by their syntax tree."""
        return "python"

    @property
    def note(self) -> str:
        """What a user must know about the scores before the search begins; '' if nothing. Asked after `prepare`."""
        return ""

    def prepare(self) -> None:
        """Make or check the data, in a child process where that needs heavy imports; cached. May raise ConfigError."""
        return None

    def preview(self) -> str:
        """What a prompt shows of the data; '' where there are none."""
        return ""

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        """Agents by operator, with `*` for all others; {} to use the CoderAgent for all."""
        return {}

    def refit(self, node: Node, out: Path, jobs: Jobs, limits: Limits) -> list[Path]:
        """Train `node` once more on all labelled rows, write program and outputs into `out`, return what was written.

        Raises:
            ConfigError: the problem has nothing to train on.
        """
        raise ConfigError("--refit: only competitions have labelled rows to train on once more")


class Problem(ProblemDefaults, Protocol):
    """What is searched. Built once a run from the configuration's `problem` and `data` sections.

    A module in `problems/` offers `build(cfg, project_dir) -> Problem` and registers in `problems/__init__.py`;
    third parties use the entry point group `swarm_evo.problems` or a folder named in `problem.plugins`. Their classes
    may inherit the contracts or only have their form (`with_defaults`).
    """

    name: str
    """As in JSON: `competition/ames`, `bin_packing/u500`, `connect_four`."""
    lower_is_better: bool
    unit: str
    """What the metric is called: RMSLE, excess, Elo, …"""
    family: Literal["competition", "heuristic", "arena"]
    preload: tuple[str, ...]
    """Modules that the warm sandbox imports once."""
    seeds_search: bool
    """True: baselines are parents of the first round; False: they are scored beside the search."""
    claims_only: bool
    """True: there is no evaluator's score; the reviewer's reading of the output is the metric, labelled `claimed`."""
    single_function: bool
    """True: the searched code is one function or a diff; the length rule for whole programs does not apply."""

    def statement(self) -> str: ...

    def prompt_extras(self) -> dict[str, Any]:
        """Plain JSON for prompts and rules: output format, signature, allowed imports, …"""

    def baselines(self) -> Sequence[Baseline]: ...

    def rules(self) -> RulesWriter: ...

    def evaluator(self, bench: Bench) -> Evaluator: ...

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        """Write the standalone program and its outputs into `out`; return what was written."""


Part = TypeVar("Part")


def with_defaults(part: Part, defaults: type) -> Part:
    """`part` itself, completed by what its class leaves out of `defaults` (`ProblemDefaults`, `EvaluatorDefaults`, …).

    Called where a third party's object enters: it need not inherit our classes.
    """
    for name, default in vars(defaults).items():
        if not (name.startswith("_") or hasattr(type(part), name) or name in vars(part)):
            vars(part)[name] = default.__get__(part)
    return part


@dataclass(frozen=True, slots=True)
class AgentBuilder:
    """Lets a problem build agents without knowing the configuration."""

    prompts_dir: Path | None
    single_function: bool
    options: Mapping[str, Any] = field(default_factory=dict)


Outcome = Literal["1-0", "0-1", "1/2-1/2"]


class Game(Protocol):
    """Rules of a two-player game with complete information. States are immutable and hashable; moves are text."""

    name: str

    def initial(self, opening: Sequence[str] = ()) -> Any: ...

    def to_move(self, state: Any) -> Literal[0, 1]: ...

    def legal(self, state: Any) -> Sequence[str]: ...

    def apply(self, state: Any, move: str) -> Any: ...

    def outcome(self, state: Any) -> tuple[Outcome, str] | None:
        """Result and termination (`checkmate`, `four_in_a_row`, …), or None while the game goes on."""

    def text(self, state: Any) -> str:
        """The position as text (FEN for chess)."""

    def san(self, state: Any, move: str) -> str: ...


# ---------------------------------------------------------------- the record of calls


class CallRecord(BaseModel):
    """One answered call of a model (or of `rules`), as stored. The pair (request_hash, sample) names it."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    request_hash: str
    """SHA-256 of the canonical request: provider, model, messages, tools, sampling options; no key, no URL secrets."""
    sample: str
    """Which draw of the same request: `<run seed>/<node id>/<role>/<attempt>`; a function of counters."""
    node_id: str | None = None
    role: str = "code"
    """`code`, `refine`, `feedback`, `strategist`, …"""
    attempt: int = 0
    provider: str = ""
    model: str = ""
    system: str = ""
    user: str = ""
    tool: str = ""
    """Name of the forced tool, or ''."""
    reply: str = ""
    finish_reason: str = ""
    prompt_tokens: int | None = None
    """None where there is no model (`rules`)."""
    completion_tokens: int | None = None
    cost_usd: float | None = None
    """Dollars; 0.0 for a cached reply, None for `rules`."""
    seconds: float = 0.0
    tries: int = 1
    """HTTP attempts."""
    cached: bool = False


class CallLog(Protocol):
    """Where answered calls are kept: in the run's store, in the transaction that precedes their use."""

    def find_call(self, request_hash: str, sample: str) -> CallRecord | None: ...

    def hold_call(self, name: str, tokens: int, usd: float) -> None:
        """Before a request leaves: the most it can cost, held for good unless one of the next two lets go of it."""

    def drop_hold(self, name: str) -> None:
        """The request is known to have cost nothing."""

    def save_call(self, record: CallRecord, held: str = "") -> None:
        """Store the call with its `llm.called` event, and let go of what was held for it under that name."""
