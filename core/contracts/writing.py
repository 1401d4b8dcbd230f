"""Writing: prompts in, programs out. A writer never runs code."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from core.state.failure import FailureKind
from core.state.findings import TournamentResult
from core.state.node import Node
from core.state.review import Review
from core.state.task import Task

if TYPE_CHECKING:
    from core.events import Event


class Toolbox(Protocol):
    """Functions that a model may call before it writes one program. They look, and change nothing. Thread-safe."""

    tools: Sequence[Mapping[str, Any]]
    """Name, text and JSON schema of each, as `Query` takes them."""
    most_calls: int
    """Of all functions together."""
    most: Mapping[str, int]
    """Function → how often it may be called, where that is less."""
    seconds: float
    """That all calls together may take."""

    def call(self, name: str, arguments: Mapping[str, Any], seconds: float) -> str:
        """The answer as the model reads it, within its bytes; what went wrong is an answer too.

        Args:
            arguments: as the function's schema says.
            seconds: that are left.
        """


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
        role: str = "",
        toolbox: Toolbox | None = None,
        **overrides: Any,
    ) -> str:
        """Return the reply's text, or with `tools` the tool call's arguments as JSON text.

        Args:
            context: plain JSON that real providers ignore and `rules` hands to the problem's RulesWriter.
            attempt: 0 for the first call of this node and role, 1.. for repairs; part of the call's identity.
            role: under which the call is made and counted; '' for the one that the query is bound to.
            toolbox: what the model may call before it replies; not beside `tools`. What cannot call anything is asked
                without.
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
    remembered: tuple[Node, ...] = ()
    """Programs whose code the memory shows below their lines."""
    packages: str = ""
    """Installed packages with versions, one a line."""
    limits: str = ""
    """What a program's run may use, a line each."""
    time_limit: float | None = None
    """Seconds that `Node.exec_time` is told against, in coarse steps; None: nothing is said of time."""
    references: str = ""
    """Scores of reference programs that are not in the journal, a line each."""
    claims_only: bool = False
    """There is no evaluator's score: a reviewer reads it out of what the program prints."""
    writers: int = 1
    """How many writers are asked at the same time."""
    ideas: int = 0
    """To how many of them one call gives a direction each; below two none is asked for."""
    grandparents: tuple[Node, ...] = ()
    """The first parents of the parents, where they have one."""
    better_children: tuple[Node, ...] = ()
    """Of each parent that a child of its own beats, the best such child."""
    others: tuple[Node, ...] = ()
    """The best programs beside the parents, best first."""
    tournament: TournamentResult | None = None
    """The newest one, where programs are rated by tournaments: whoever leads a generation has won an older one."""
    notes: tuple[str, ...] = ()
    """Notes of the user to the next prompt."""
    steps_left: int | None = None
    generations_left: int | None = None
    """Up to `max_generations`, this one included; None without that limit, or where there are no generations."""
    deviation: float | None = None
    """Standard deviation of one score, where programs that were scored several times do not score the same."""
    lower_is_better: bool = False
    shared: Mapping[str, Any] = field(default_factory=dict)
    """What `begin_round` returned for this round or row of rounds."""
    refusal: str = ""
    """In a repair: why the check refused the previous attempt."""
    toolbox: Toolbox | None = None
    """What the writer may look at before it writes; None for nothing but the prompt."""
    extras: Mapping[str, Any] = field(default_factory=dict)
    """Plain JSON from the problem (`Problem.prompt_extras`): signature, allowed imports, output format, …"""


@dataclass(frozen=True, slots=True)
class AgentResult:
    """What an agent wrote. `node` carries code, plan, genes and writer; it has not run."""

    node: Node | None
    success: bool
    error: str = ""
    failure: FailureKind | None = None
    nothing_left: bool = False
    """In place of a program the writer says that nothing is left to gain; `error` is its reason. No failure."""


class AgentDefaults(Protocol):
    """What an agent may leave out, and what then holds. `Agent` inherits it."""

    def begin_round(self, context: AgentContext) -> dict[str, Any]:
        """Return plain JSON that all writers of the coming round share (a strategist's questions); {} for most.

        Where a round is a single proposal, the next `search.batch` of them share it: a row. After {} the next task asks
        again. `context.shared` is what the row before it shares, whose writers are at work while this is asked for.
        """
        return {}

    def takes_shared(self, context: AgentContext) -> bool:
        """True where this task's `begin_round` would ask: then it may ask ahead for the proposals behind its own."""
        return False

    def drain_events(self) -> list[Event]:
        """What happened inside the agent since the last call, for the caller to store."""
        return []


class Agent(AgentDefaults, Protocol):
    """Writes programs. `generate` is `prompt`, `reply`, `code` in a row; the stages can be run one by one."""

    def prompt(self, context: AgentContext) -> Prompt:
        """The two messages for this task: a function of `context` alone."""

    def reply(self, context: AgentContext, prompt: Prompt) -> str:
        """Ask `context.query`, and again with the reason while the reply is unusable, a bounded number of times."""

    def code(self, context: AgentContext, reply: str) -> AgentResult:
        """Read the program out of a reply. What cannot be read is a result without success, never an exception."""

    def generate(self, context: AgentContext) -> AgentResult:
        """All three stages in a row."""


class Reviewer(Protocol):
    """Reads code and output; its numbers are claims."""

    def review(self, context: AgentContext, node: Node) -> Review:
        """Say what became of a node that has its verdict. Raises ReplyError for a reply that cannot be read."""


FORM = "form"
"""Key of a prompt's context: the part of its text that says how a reply is written. Who hands in files needs it not."""
NO_PROGRAM = "[no program] "
"""Begins a reply that stands for a writer that handed in nothing: behind it the reason, on one line; then its words."""
GATEWAY_PORT = 8790
"""Where the gateway of a confined agent is: a port of a network of its own, so that it is always free."""
WRITER_FOLDER = "swarm-evo-writer-"
"""Begins the name of the temporary folder of a command that writes programs."""
WRITER_DISK_MB = 4096
"""What a command that writes programs may keep in its folder, and once more below /tmp."""


@dataclass(frozen=True, slots=True)
class Confined:
    """A command line that runs a writer's command in a view of its own."""

    line: list[str]
    folder: Path
    """Fresh and empty; to be started in."""
    environment: Mapping[str, str]
    """Where the command's home and temporary folder are, as it sees them."""


class WriterBox(Protocol):
    """Where commands that write programs run: they are as untrusted as what they write."""

    @property
    def confines(self) -> bool:
        """False where nothing keeps a command in its folder."""

    def open(
        self, command: Sequence[str], files: Sequence[str] = (), door: int | None = None
    ) -> AbstractContextManager[Confined]:
        """A view for one command: its own files, `files` and the network, and nothing else of the machine.

        Args:
            command: its words, the program as a path; what it needs to start is found and shown.
            files: absolute paths of further files, folders and device nodes; it may read them.
            door: descriptor of a Unix socket, which the started line inherits. The command then has no network but
                127.0.0.1:GATEWAY_PORT, and what listens there is sent through the door.

        Raises:
            NoSandboxError: there is to be a door, and this tier cannot close the rest of the network.
        """


class WriterDesk(Protocol):
    """What a coding agent is handed for one program, and how what it leaves becomes a reply."""

    def hand_out(self, code: str) -> tuple[dict[str, str], list[str]]:
        """(path → text of the program to change, patterns of what may change); `code` is '' without a parent."""

    def take_in(self, files: Mapping[str, str | None], plan: str) -> str:
        """The reply of a model that wrote these files (None: deleted) and said this."""

    def look(self, files: Mapping[str, str | None], code: str) -> dict[str, Any]:
        """`{ok, problems, warnings}`: form, rules, duplicates; never a score. `code` as `hand_out` took it."""


class RulesWriter(Protocol):
    """Writes real programs without a model: a problem's repertoire behind `provider: rules`."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        """Return a reply as a model would give it: a plan in prose and one fenced code block.

        `context` holds `operator`, `parents` (each `{code, plan, metric, failure, message, term_out}`), `preview`,
        `refusal`, `shared`, `lower_is_better` and the problem's `extras`.
        """
