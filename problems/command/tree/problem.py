"""A repository as a problem: some of its files are searched, a command scores each candidate in the whole of it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from core.contracts import Agent, AgentBuilder, Baseline, Evaluator, EvaluatorDeps, FileTree, Problem, RulesWriter
from core.state.node import Node
from problems.command.scoring_text import where_from
from problems.command.spec import OUTPUT_UNGRADED, plain_output
from problems.command.tree.base import Base, kept, snapshot
from problems.command.tree.base_archive import keep, unpack
from problems.command.tree.evaluator import Scoring, TreeEvaluator
from problems.command.tree.export import FORMS, export_as, write_changes
from problems.command.tree.grading_copy import grading_copy
from problems.command.tree.hidden_files import grading_files
from problems.command.tree.options import TreeOptions
from problems.command.tree.prompt_view import map_of, relevant
from problems.command.tree.replies import as_reply
from problems.command.tree.scores import COUNTS, conditions_of, sources_of
from problems.command.tree.tree import Ground, Tree, TreeError, read_tree
from problems.metric_direction import is_minimised, is_time
from problems.options import checked_options
from problems.user_files import is_login, listed, named_files
from utils.config_problem import ProblemConfig
from utils.config_schema import Config
from utils.errors import ConfigError
from utils.unread_keys import OF_COMPETITIONS, OF_RUNGS, OF_TUNING
from utils.user_path import user_path

TICKET_BYTES = 400_000
"""Of files that a writer outside is handed."""
BASES = ".bases"


class TreeProblem(Problem):
    """A folder, what may change in it, and a command; see `Problem`."""

    family: Literal["heuristic"] = "heuristic"
    preload: tuple[str, ...] = ()
    seeds_search = True
    claims_only = False
    single_function = True
    language = "diff"
    rules_reach = "only changes numbers"
    reads = (
        "problem.source", "problem.editable", "problem.protected", "problem.build", "problem.eval", "problem.metric",
        "problem.metric_from", "problem.require", "problem.grade", "problem.direction", "problem.options",
        "problem.base",
    )  # fmt: skip

    def __init__(
        self,
        source: Path,
        store: Path,
        scoring: Scoring,
        *,
        section: ProblemConfig,
        editable: tuple[str, ...],
        protected: tuple[str, ...],
        statement: str = "",
    ) -> None:
        self._source, self._store, self._section, self._statement = source, store, section, statement
        self._editable, self._protected = editable, protected
        self.scoring = scoring
        self.lower_is_better = scoring.lower_is_better
        self.name = f"command/{source.name}"
        self.unit = scoring.metric
        self._ground: Ground | None = None

    @property
    def unread(self) -> Mapping[str, str]:
        scoring, found = self.scoring, {**OF_COMPETITIONS, **OF_RUNGS, **OF_TUNING}
        found |= {} if scoring.grade else OUTPUT_UNGRADED
        found |= {} if scoring.build else {"problem.options.build_inputs": "there is no problem.build"}
        timed = "with problem.options.timed the score is the median of several runs, each alone"
        return found | ({"problem.options.repeats": timed, "problem.options.alone": timed} if scoring.timed else {})

    @property
    def ground(self) -> Ground:
        if self._ground is None:
            self.prepare()
        assert self._ground is not None
        return self._ground

    @property
    def hidden_files(self) -> tuple[Path, ...]:
        """In the copy that programs run in, what grades them; and the copy in which that runs."""
        base = self.ground.base.folder
        copy = (grading_copy(base),) if self.scoring.grade else ()
        return (*copy, *(base / path for path in self.ground.hidden))

    @property
    def bound(self) -> float | None:
        return 0.0 if self.lower_is_better and self.unit in COUNTS else None

    @property
    def note(self) -> str:
        notes = [self._note_of_files()]
        if is_time(self.scoring.metric) and not (self.scoring.timed or self.scoring.alone):
            notes.append(
                f"{self.scoring.metric} reads like a time that the command measures itself, and others run beside "
                "it: problem.options.alone=true has each run alone, problem.options.repeats=3 takes the median of three"
            )
        return "; ".join(filter(None, notes))

    def _note_of_files(self) -> str:
        """Files that are meant to change and cannot, for text or name; and logins that programs can read."""
        said = []
        if odd := self.ground.in_other_encoding():
            said.append(f"since they are no UTF-8 text: {listed(odd)}; save them as UTF-8 to have them changed")
        if odd := self.ground.with_odd_names():
            said.append(f"since no diff can say their names: {listed(odd)}; rename them to have them changed")
        notes = [f"not searched, {'; '.join(said)}"] if said else []
        if logins := [path for path in self.ground.base.files if is_login(path)]:
            notes.append(f"programs can read what looks like a login: {listed(logins)}; writers are not shown it")
        if hidden := self.ground.hidden:
            notes.append(f"programs and writers do not see what only problem.grade names: {listed(hidden)}")
        return "; ".join(notes)

    def prepare(self) -> None:
        """Take the snapshot; a run that goes on has its own."""
        ground = Ground(self._base(), self._editable, self._protected)
        commands = [self.scoring.command, self.scoring.build or ""]
        grade = (self.scoring.grade or "").replace(f"{self._source}/", "")
        hidden = grading_files(ground, grade, commands) if grade else ()
        self._ground = replace(ground, hidden=hidden)
        self._section.base = ground.base.id
        if not self._ground.searched():
            patterns = ",".join(self._editable)
            why = f": {note}" if (note := self._note_of_files()) else ""
            raise ConfigError(f"problem.editable={patterns}: no text file of {self._source} is meant by it{why}")

    def check(self) -> None:
        if not self._source.is_dir():
            raise ConfigError(f"problem.source={self._source}: no such folder")

    def _base(self) -> Base:
        wanted = self._section.base
        found = kept(self._store, wanted) if wanted else None
        if found is not None:
            return found
        self.check()
        base = snapshot(self._source, self._store)
        if wanted and base.id != wanted:
            raise ConfigError(
                f"problem.source={self._source}: it has changed since the run began, and the copy {wanted} is gone "
                f"from {self._store}"
            )
        return base

    # ------------------------------------------------------------ what writers are told

    def statement(self) -> str:
        text = self._statement or "Improve the repository."
        scoring = self.scoring
        metric, graded = f"Metric: {self.unit}{self._measured()}.", scoring.grade is not None
        if scoring.timed or graded:
            runs = self._measured()
            metric = where_from(self.unit, scoring.output, timed=scoring.timed, graded=graded, runs=runs)
        lines = [text, f"The command `{scoring.command}` is run in the repository. {metric}"]
        if scoring.require:
            needed = ", ".join(map(str, scoring.require))
            lines.append(f"A candidate has a score only if it meets: {needed}.")
        lines.append("A candidate that changes a locked file, in its reply or while it runs, is void.")
        return "\n".join(lines)

    def _measured(self) -> str:
        """What the score is made of, where it is more than one run."""
        if self.scoring.timed:
            return ", the median of several runs"
        return f", the median of {self.scoring.repeats} runs" if self.scoring.repeats > 1 else ""

    def prompt_extras(self) -> dict[str, Any]:
        return {"language": "diff", "reply_format": "program", "sections": {"Files": map_of(self.ground)}}

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        from problems.command.tree.agent import TreeAgent

        own = [Path(__file__).parent / "prompts"]
        options = {**build.options, "problem_prompts": own, "prompts_dir": build.prompts_dir}
        return {"*": TreeAgent(self.ground, **options)}

    def baselines(self) -> Sequence[Baseline]:
        return [Baseline("initial", Tree(self.ground).code(), own=True)]

    def rules(self) -> RulesWriter:
        from problems.command.tree.writer import TreeWriter

        return TreeWriter(self.ground)

    def restore(self, run_dir: Path) -> None:
        if self._section.base:
            unpack(run_dir, self._store, self._section.base)

    @property
    def scoring_files(self) -> Mapping[str, Path]:
        """What the commands name outside of the folder, whose own files are kept as they were."""
        scoring = self.scoring
        texts = [scoring.command, scoring.grade or "", scoring.build or ""]
        found = named_files(self._source, texts)
        return {name: path for name, path in found.items() if not path.is_relative_to(self._source)}

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        keep(self.ground.base, deps.run_dir)
        return TreeEvaluator(self.ground, self.scoring, deps)

    def normal_hash(self, code: str) -> str | None:
        try:
            return read_tree(self.ground, code).normal_hash()
        except TreeError:
            return None

    @property
    def tree(self) -> FileTree:
        return OutsideView(self.ground)

    # ------------------------------------------------------------ export

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        return write_changes(read_tree(self.ground, node.code), out)

    def export_as(self, form: str, node: Node, target: str, message: str) -> str:
        if form not in FORMS:
            return super().export_as(form, node, target, message)
        return export_as(form, read_tree(self.ground, node.code), target, self._source, message)


class OutsideView(FileTree):
    """A tree as writers outside see it: files in, files out."""

    def __init__(self, ground: Ground) -> None:
        self._ground = ground
        self.editable = ground.editable

    def files(self, code: str) -> dict[str, str]:
        tree = read_tree(self._ground, code) if code else Tree(self._ground)
        return tree.files(relevant(tree, (), TICKET_BYTES))

    def reply(self, files: Mapping[str, str | None]) -> str:
        return as_reply(files)


def build_tree(cfg: Config, project_dir: Path) -> TreeProblem:
    """The problem of a configuration whose `problem.source` is a folder."""
    section = cfg.problem
    options = checked_options(TreeOptions, section.options)
    command, metric = section.eval, section.metric
    if not command or not (metric or options.timed):
        missing = "metric" if command else "eval"
        raise ConfigError(
            f"problem.{missing} is needed: --problem.source=FOLDER --problem.eval=CMD --problem.metric=NAME"
        )
    editable = patterns_of(section.editable)
    if not editable:
        raise ConfigError("problem.editable is needed: which files may change, as in --problem.editable='src/**/*.py'")
    if options.timed and section.direction != "min":
        raise ConfigError("problem.options.timed=true: the score is a time; set problem.direction=min")
    sources = sources_of(section.metric_from)
    if section.grade and any(source.kind in ("json", "junit") for source in sources):
        raise ConfigError(
            f"problem.metric_from={section.metric_from}: a candidate writes such a file, and problem.grade is to grade "
            "it outside: allowed beside problem.grade: output, regex:PATTERN, of what problem.grade prints"
        )
    scoring = Scoring(
        command, metric or "seconds", tuple(sources), tuple(conditions_of(section.require)),
        build=section.build, build_inputs=patterns_of(options.build_inputs), writable=patterns_of(options.writable),
        grade=section.grade, output=plain_output(options.output), timed=options.timed,
        repeats=options.repeats, alone=options.alone,
        lower_is_better=is_minimised(section.direction, metric, begins=cfg.given is not None),
    )  # fmt: skip
    return TreeProblem(
        user_path(str(section.source)).resolve(), project_dir / "workspaces" / BASES, scoring, section=section,
        editable=editable, protected=patterns_of(section.protected), statement=options.statement,
    )  # fmt: skip


def patterns_of(text: str | None) -> tuple[str, ...]:
    return tuple(part.strip() for part in (text or "").split(",") if part.strip())
