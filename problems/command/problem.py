"""The universal adapter: source files in any language, and a command that prints a metric."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from core.contracts import Agent, AgentBuilder, Baseline, Evaluator, EvaluatorDeps, Problem, RulesWriter
from core.state.node import Node
from core.workers.shipping import check_shippable
from problems.blocks import told_marks
from problems.command.bundle import join, split
from problems.command.job import COPY_BYTES, going_along
from problems.command.scoring_text import where_from
from problems.command.spec import OUTPUT_UNGRADED, CommandSpec, is_folder, plain_output
from problems.command.tree.options import TreeOptions
from problems.grading_files import graded_alone
from problems.languages import language_of
from problems.metric_direction import is_minimised
from problems.options import checked_options
from problems.user_files import Words, file_text, is_code, is_login, listed, named_files
from utils.clean_text import one_line
from utils.config_schema import Config
from utils.config_section import Section
from utils.errors import ConfigError
from utils.missing_file import no_file
from utils.prompt_text import fenced_data
from utils.unread_keys import OF_COMPETITIONS, OF_RUNGS
from utils.user_path import user_path
from utils.user_text import user_text


class Options(Section):
    """`problem.options` of this problem."""

    output: str = "output.txt"
    """File that the command writes and `problem.grade` reads, or a folder of files: `results/`, with a slash at its
    end; relative to the folder of the sources."""
    statement: str = ""
    """What the files are for, for the prompt."""
    reply: Literal["diff", "program"] = "diff"
    """How a model answers: SEARCH/REPLACE blocks or the whole program, as it likes; `program`: always the whole."""
    timed: bool = False
    """The score is the seconds that the command takes, measured from outside, alone on one core; `problem.metric` is
    then only its name and may be left out, and `problem.grade` says by its exit code whether the output is right."""


OPTIONS = (Options, TreeOptions)
_RUNS = ", the median of several runs"
MOST_NAMED = 30
"""Files beside the sources that a prompt names."""


class CommandProblem(Problem):
    """Files, a command and the name of a metric; see `Problem`. `sent`: workers elsewhere get the files' folder."""

    unit = "metric"
    family: Literal["heuristic"] = "heuristic"
    preload: tuple[str, ...] = ()
    seeds_search = True
    claims_only = False
    single_function = True
    reads = (
        "problem.source", "problem.eval", "problem.metric", "problem.grade", "problem.direction", "problem.options",
    )  # fmt: skip

    def __init__(self, spec: CommandSpec, *, statement: str = "", reply: str = "diff", sent: bool = False) -> None:
        self.spec, self._statement, self._reply, self._sent = spec, statement, reply, sent
        self.lower_is_better = spec.lower_is_better
        self.name = f"command/{spec.sources[0].stem}"
        self.unit = spec.metric

    @property
    def unread(self) -> Mapping[str, str]:
        found = {**OF_COMPETITIONS, **OF_RUNGS}
        return found if self.spec.grade else {**found, **OUTPUT_UNGRADED}

    @property
    def language(self) -> str:
        kinds = {language_of(path) for path in self.spec.sources}
        return kinds.pop() if len(kinds) == 1 and len(self.spec.sources) == 1 else "text"

    @property
    def code(self) -> str:
        return join({path.name: user_text(path, "problem.source=") for path in self.spec.sources})

    @property
    def hidden_files(self) -> tuple[Path, ...]:
        """Beside the sources, what grades and what looks like a login, unless the command or the program names it."""
        return tuple(sorted({*self._grading, *self._logins}))

    @property
    def _grading(self) -> tuple[Path, ...]:
        """What the grading names and neither the command nor the program does."""
        spec, said = self.spec, [self.spec.command, self.code]
        if spec.grade is None:
            return ()
        shown = {*named_files(spec.folder, said, spec.sources).values()}
        graded = {*named_files(spec.folder, [spec.grade], spec.sources).values()}
        beside = {path.name: path for path in spec.folder.iterdir() if path.is_file() and path not in spec.sources}
        programs = [name for name, path in beside.items() if path in shown and is_code(name)]
        grade = spec.grade.replace(f"{spec.folder}/", "")
        alone = graded_alone(beside, lambda name: file_text(beside[name]), grade, said, programs)
        graded |= {beside[name] for name in alone}
        return tuple(sorted(path for path in graded - shown if path.is_relative_to(spec.folder)))

    @property
    def _logins(self) -> tuple[Path, ...]:
        said = Words.of(self.spec.command).names | Words.of(self.code).names
        beside = {*self.spec.folder.iterdir()} - {*self.spec.sources}
        return tuple(sorted(p for p in beside if is_login(p.name) and p.name not in said and p.is_file()))

    @property
    def note(self) -> str:
        graded = [path.name for path in self._grading if path.parent == self.spec.folder]
        logins = [path.name for path in self._logins]
        told = [f"programs do not see what only problem.grade names: {listed(graded)}" if graded else ""]
        told += [f"programs do not see what looks like a login: {listed(logins)}" if logins else ""]
        hidden = {*self.spec.sources, *self.hidden_files}
        names = [path.name for path in self.spec.folder.iterdir() if path not in hidden]
        large = [path.name for path in going_along(self.spec.folder, names)[1]]
        most = f"{COPY_BYTES >> 20} MB are copied beside the sources"
        told += [
            f"programs do not see what is too large ({most}): {listed(large)}" if large else "",
            self._left_folders,
        ]
        return "; ".join(filter(None, told))

    @property
    def _left_folders(self) -> str:
        """Which folders that something names stay behind, and how the whole is searched."""
        spec = self.spec
        named = {name.partition("/")[0] for name in self.scoring_files if "/" in name}
        left = sorted(f"{name}/" for name in named if name not in ("", "..") and (spec.folder / name).is_dir())
        if not left:
            return ""
        whole = f"--problem.source={spec.folder} --problem.editable={','.join(spec.names)}"
        return f"programs do not see folders beside the sources ({listed(left)}): {whole} takes all along"

    @property
    def scoring_files(self) -> Mapping[str, Path]:
        """What the command, the grading and the sources name beside them. The sources are what changes."""
        spec = self.spec
        without = {*spec.sources, spec.folder / spec.output}
        if is_folder(spec.output):
            without |= {*(spec.folder / spec.output).rglob("*")}
        return named_files(spec.folder, [spec.command, spec.grade or "", self.code], without)

    def prepare(self) -> None:
        self.check()
        if self._sent:
            check_shippable(self.spec.folder, "source")

    def check(self) -> None:
        for path in self.spec.sources:
            if not path.is_file():
                raise ConfigError(f"problem.source={path}: {no_file(path)}")
            if path.parent != self.spec.folder:
                raise ConfigError(f"problem.source={path}: all files must lie in one folder ({self.spec.folder})")
            user_text(path, "problem.source=")

    def statement(self) -> str:
        files = ", ".join(self.spec.names)
        text = self._statement or f"Improve {files}."
        if len(self.spec.sources) > 1:
            text += "\nThe files come one after the other, each below a line `=== name ===`; keep these lines."
        text += told_marks(self.code)
        graded = self.spec.grade is not None
        metric = where_from(
            self.unit, self.spec.output, timed=self.spec.timed, graded=graded, runs=_RUNS if self.spec.timed else ""
        )
        return f"{text}\nThe command `{self.spec.command}` is run on them. {metric}"

    def prompt_extras(self) -> dict[str, Any]:
        told = {"program": self.code, "language": self.language, "reply_format": self._reply}
        beside = self._beside()
        return {**told, "sections": {"Beside them": fenced_data(beside)}} if beside else told

    def _beside(self) -> str:
        """The files that programs find beside the sources, smallest first, with their sizes."""
        hidden = {*self.spec.sources, *self.hidden_files, self.spec.folder / self.spec.output}
        names = [path.name for path in self.spec.folder.iterdir() if path not in hidden]
        found = going_along(self.spec.folder, names)[0]
        lines = [f"{one_line(path.name)} ({path.stat().st_size:,} bytes)" for path in found[:MOST_NAMED]]
        return "\n".join([*lines, *([f"and {len(found) - MOST_NAMED} more"] if len(found) > MOST_NAMED else [])])

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        from problems.block_agent import BlockAgent

        return {"*": BlockAgent(single_function=True, prompts_dir=build.prompts_dir, **build.options)}

    def baselines(self) -> Sequence[Baseline]:
        return [Baseline("initial", self.code, own=True)]

    def rules(self) -> RulesWriter:
        from problems.numbers import NumbersWriter

        return NumbersWriter()

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        from problems.command.evaluator import CommandEvaluator

        return CommandEvaluator(self.spec, deps, hidden=[path.name for path in self.hidden_files])

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        out.mkdir(parents=True, exist_ok=True)
        written = []
        for name, text in (split(node.code, self.spec.names) or {}).items():
            written.append(out / name)
            written[-1].write_text(text)
        return written


def build(cfg: Config, project_dir: Path) -> Problem:
    """The problem of a configuration: `problem.source`, `problem.eval`, `problem.metric`, `problem.direction`.

    Where the source is a folder, or what may change in one is said, candidates are whole trees of files.
    """
    section = cfg.problem
    if section.editable or (section.source and user_path(section.source).is_dir()):
        from problems.command.tree.problem import build_tree

        return build_tree(cfg, project_dir)
    options = checked_options(Options, section.options)
    source, command, metric = section.source, section.eval, section.metric
    if options.timed and not metric:
        metric = "seconds"
    if not (source and command and metric):
        missing = "source" if not source else "metric" if command else "eval"
        raise ConfigError(
            f"problem.{missing} is needed: --problem.source=FILE[,FILE] --problem.eval=CMD --problem.metric=NAME"
        )
    if options.timed and section.direction != "min":
        raise ConfigError("problem.options.timed=true: the score is a time; set problem.direction=min")
    spec = CommandSpec(
        tuple(user_path(name.strip()).resolve() for name in source.split(",") if name.strip()),
        command,
        metric,
        lower_is_better=is_minimised(section.direction, metric, begins=cfg.given is not None),
        grade=section.grade,
        output=plain_output(options.output),
        timed=options.timed,
    )
    sent = cfg.execution.runner != "local"
    return CommandProblem(spec, statement=options.statement, reply=options.reply, sent=sent)
