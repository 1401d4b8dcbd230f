"""Any program with an evaluator of the user's: `evaluate(program_path)`, in the form that OpenEvolve's users have.

The evaluator is Python; the program is whatever it can judge: Python, another language, a text. Some evaluators hold it
(`problems/evaluator_forms.py`): then `problem.program` is the evaluator's own file.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, JsonValue, field_validator

from core.contracts import Agent, AgentBuilder, Baseline, Evaluator, EvaluatorDeps, Limits, Problem, RulesWriter
from core.evaluation.function_problem import DECIDED
from core.evaluation.isolation.modules import file_beside
from core.executor.long_imports import long_imports
from core.state.node import Node
from core.workers.shipping import check_shippable
from problems.blocks import told_marks
from problems.evaluator_forms import Template, template_of
from problems.evaluator_template import class_of
from problems.languages import language_of
from problems.metric_direction import is_minimised
from problems.numbers import NumbersWriter
from problems.options import checked_options
from problems.script.evaluator_source import check_evaluator, docstring_of, has_stages, uncalled_evaluate
from problems.script.instances import SECONDS
from problems.script.told_modules import offered, told_modules
from problems.user_files import EVALUATOR, folder_files, named_files
from utils.clean_text import clean
from utils.config_schema import Config
from utils.config_section import LONGEST_WAIT, Section, comma_list
from utils.errors import ConfigError
from utils.logger_system import log_msg
from utils.missing_file import no_file
from utils.prompt_text import fenced_data
from utils.shared_property import shared_property
from utils.unread_keys import OF_COMPETITIONS, OF_RUNGS
from utils.user_path import user_path
from utils.user_text import user_bytes, user_text

USUAL_METRIC = "what the evaluator returns as combined_score, else the mean of all numbers that it returns"
USUAL_THRESHOLDS = (0.5, 0.75, 0.9)
_KEY = "problem.options.cascade_thresholds"
TEXTS = (".txt", ".md")
"""Endings of files that nobody runs."""
_INSIDE = ("program", "src")
"""Folders that are called like what lies in them, and not like the task."""


MOST_INPUTS = 500
"""Characters of a specification's inputs that a prompt shows."""


class Options(Section):
    """`problem.options` of this problem."""

    reply: Literal["diff", "program"] = "diff"
    """How a model answers: SEARCH/REPLACE blocks or the whole program, as it likes; `program`: always the whole."""
    statement: str = ""
    """What the program is for, for the prompt."""
    cascade: bool = True
    """Use `evaluate_stage1/2/3` where the evaluator has them."""
    cascade_thresholds: list[float] = Field(default_factory=lambda: [*USUAL_THRESHOLDS])
    """What the score of a stage has to reach for the next stage to run; of one that is minimised, what it may be at
    most: then the usual ones, which are for scores from 0 to 1, bound nothing."""
    isolation: Literal["auto", "apart", "screen", "together"] = "auto"
    """How programs are kept apart from the evaluator: `apart`, behind a proxy; `screen`, in one sandbox first and apart
    before a score may rank; `together`, in one sandbox, labelled `unisolated`. `auto` decides with your own program.
    A text (.txt, .md) that the evaluator only reads, to ask a model with it for one, may be scored `apart`: the
    evaluator then runs outside of the sandbox, with its network."""
    shows: list[str] = Field(default_factory=list)
    """Further files and folders that the evaluator reads, for `screen` and `together`. What it is seen to read is
    known without."""
    evaluation_timeout: float = Field(300.0, gt=0, le=LONGEST_WAIT)
    """Seconds for one whole evaluation; `execution.timeout` is for one call of the program."""

    evaluator_args: dict[str, JsonValue] = Field(default_factory=dict)
    """Keyword arguments of `evaluate`, beside the program's path; a stage gets those that it takes."""

    first_program: str = ""
    """Text of the first program, where a script computes it and no file holds it (GEPA's, LLaMEA's, BLADE's)."""

    _lists = field_validator("shows", "cascade_thresholds", mode="before")(comma_list)


OPTIONS = (Options,)


class ScriptProblem(Problem):
    """A program file and an evaluator file; see `Problem`. `sent`: workers elsewhere get the evaluator's folder."""

    unit = "score"
    family: Literal["heuristic"] = "heuristic"
    seeds_search = True
    claims_only = False
    single_function = True
    reads = (
        "problem.program", "problem.evaluator", "problem.path", "problem.metric", "problem.direction",
        "problem.options",
    )  # fmt: skip

    def __init__(
        self,
        program: Path,
        evaluator: Path,
        options: Options,
        *,
        metric: str | None = None,
        lower_is_better: bool = False,
        direction_open: bool = False,
        sent: bool = False,
        initial: Sequence[str] = (),
    ) -> None:
        self._initial = [user_path(path) for path in initial]
        self.program, self.evaluator_file, self.options = program, evaluator, options
        self.name = f"script/{_title(program)}"
        self.metric, self.lower_is_better = metric, lower_is_better
        self._direction_open = direction_open
        self.unit = metric or self.unit
        self._sent = sent
        self.preload = ("math", *self._long_imports())
        """What the user's own program needs; whoever imports more gets it when it comes."""

    def prepare(self) -> None:
        self.check()
        if self.language != "python" and self.options.isolation in ("apart", "screen"):
            self._check_text()
        if self._sent:
            check_shippable(self.evaluator_file.parent, "evaluator")

    @shared_property
    def _template(self) -> Template | None:
        found, first = template_of(self.evaluator_file), self.options.first_program
        if found is None or found.kind != "search":
            return found
        is_given = self.program != self.evaluator_file and self.program.is_file()
        return found.begun_with(user_text(self.program, "problem.program=") if is_given else first)

    @property
    def _held(self) -> Template | None:
        """The evaluator's own program, where that is the one that is searched."""
        return self._template if self.program == self.evaluator_file else None

    def check(self) -> None:
        for key, path in (("program", self.program), ("evaluator", self.evaluator_file)):
            if not path.is_file():
                raise ConfigError(f"problem.{key}={path}: {no_file(path)}")
        for shown in self.options.shows:
            if not user_path(shown).exists():
                raise ConfigError(f"problem.options.shows={shown}: {no_file(user_path(shown))}")
        user_text(self.program, "problem.program=")
        if self._held and not self.code.strip():
            raise ConfigError(
                f"problem.evaluator={self.evaluator_file}: it holds no first program: --problem.program=FILE names one "
                "(a script that computes it is read by --problem.path=FILE)"
            )
        if self.evaluator_file.suffix == ".py" or self._template:
            check_evaluator(self.evaluator_file, self.options.evaluator_args, cascade=self.options.cascade)

    def _check_text(self) -> None:
        """A program that the evaluator runs itself shares its sandbox; a text is only read."""
        if self.options.isolation == "screen" or self.program.suffix.lower() not in TEXTS:
            texts = ", ".join(TEXTS)
            raise ConfigError(
                f"problem.options.isolation={self.options.isolation}: {self.program.name} is no Python, so its "
                f"evaluator runs it itself: allowed: auto, together; for texts ({texts}), which are only read, apart"
            )

    @property
    def unread(self) -> Mapping[str, str]:
        found = {**OF_COMPETITIONS, **OF_RUNGS}
        if not (self.options.cascade and has_stages(self.evaluator_file)):
            found[_KEY] = f"no stages of {self.evaluator_file.name} are called (evaluate_stage1, …)"
        if self._template is None or self._template.kind != "search":
            found["problem.options.first_program"] = "problem.program names the first one"
        if self.options.isolation == "apart":
            found["problem.options.shows"] = "with problem.options.isolation=apart the evaluator runs as you"
        return found

    @property
    def note(self) -> str:
        return uncalled_evaluate(self.evaluator_file) if self.options.cascade else ""

    @property
    def untold(self) -> str:
        if self.options.statement or self._about or docstring_of(self.evaluator_file):
            return ""
        return f"what is rewarded (nor does a docstring of {self.evaluator_file.name})"

    @property
    def language(self) -> str:
        return "python" if self._held else language_of(self.program)

    @property
    def _about(self) -> str:
        return self._template.about if self._template else ""

    @property
    def _has_final(self) -> bool:
        return self._template is not None and self._template.has_final(self.options.evaluator_args)

    @property
    def hidden_files(self) -> tuple[Path, ...]:
        return (self.evaluator_file,)

    @property
    def scoring_files(self) -> Mapping[str, Path]:
        """The evaluator, and what it names and is told to read. The program is what changes."""
        folder, ours = self.evaluator_file.parent, {self.evaluator_file, self.program}
        source = user_bytes(self.evaluator_file, "problem.evaluator=").decode("utf-8", "replace")
        found = {EVALUATOR: self.evaluator_file, **named_files(folder, [source], ours)}
        found |= {name: folder / name for name in self._beside()}
        data = self._template.data if self._template else ()
        for shown in (*data, *(user_path(path).resolve() for path in self.options.shows)):
            inside = folder_files(shown) if shown.is_dir() else {"": shown}
            found |= {f"{shown.name}/{name}".rstrip("/"): path for name, path in inside.items() if path not in ours}
        return found

    def _beside(self) -> dict[str, str]:
        """Path → source of the modules beside the evaluator that the program may import: they go along with it."""
        if self.language != "python":
            return {}
        found = offered(self.evaluator_file, [self.code], self._template.offers if self._template else ())
        return {file_beside(name): text for name, text in found.items()}

    @property
    def code(self) -> str:
        return self._held.program if self._held else user_text(self.program, "problem.program=")

    def _long_imports(self) -> tuple[str, ...]:
        """Of the user's own program. What is wrong with its file `check` tells."""
        if self.program.is_file():
            with suppress(ConfigError):
                return long_imports(self.code)
        return ()

    def statement(self) -> str:
        told = self.options.statement or self._about
        text = told or f"Improve the program {self.program.name}; an evaluator gives it a score."
        text += told_marks(self.code)
        if self._template and self._template.kind == "search" and (name := class_of(self.code)):
            text += f"\nThe class is called `{name}`."  # it is known by that name where programs are kept apart
        usual = "the score that the evaluator gives" if self._template else USUAL_METRIC
        if self._has_final:
            text += f"\n{DECIDED}"
        return f"{text}\nMetric: {self.metric or usual}."

    def prompt_extras(self) -> dict[str, Any]:
        said = docstring_of(self.evaluator_file)
        sections = {"What the evaluator says of itself": fenced_data(said)} if said else {}
        if beside := self._beside():
            sections["What it imports from beside it"] = told_modules(beside)
        if self._template and self._template.source:
            scorer = self._template.asks["scorer"]
            inputs = f"`{scorer}` is called with each of: {self._inputs}; the last one's score counts."
            sections["The specification that it is a part of"] = f"{fenced_data(self._template.source)}\n{inputs}"
        told = {"program": self.code, "reply_format": self.options.reply, "sections": sections}
        return told if self.language == "python" else {**told, "language": self.language}

    @property
    def _inputs(self) -> str:
        told = json.dumps(self.options.evaluator_args.get("inputs", []))
        return clean(told if len(told) <= MOST_INPUTS else f"{told[:MOST_INPUTS]}…")

    def time_limit(self, limits: Limits) -> float | None:
        """What kills first: most evaluators call the program once."""
        return min(self.options.evaluation_timeout, limits.seconds)

    def limits(self, limits: Limits) -> Sequence[str]:
        told = [f"all calls that the evaluator makes of the program {self.options.evaluation_timeout:g} s together"]
        if self._template and "timeout" in self._template.arguments:
            seconds = self.options.evaluator_args.get("timeout", SECONDS)
            told += [f"`solve` has {seconds} s for one instance and is stopped then"]
        return told

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        from problems.block_agent import BlockAgent

        return {"*": BlockAgent(single_function=True, prompts_dir=build.prompts_dir, **build.options)}

    def baselines(self) -> Sequence[Baseline]:
        return [Baseline("initial", self.code, own=True)]

    @property
    def rules_reach(self) -> str:
        return "only changes numbers and single operators" if self.language == "python" else "only changes numbers"

    def rules(self) -> RulesWriter:
        if self.language != "python":
            return NumbersWriter()
        from problems.script.writer import ScriptWriter

        return ScriptWriter()

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        from problems.script.evaluator import ScriptEvaluator

        thresholds: Sequence[float | None] = self.options.cascade_thresholds
        if self.lower_is_better and tuple(thresholds) == USUAL_THRESHOLDS:
            thresholds = [None for _ in thresholds]
        options = {
            "thresholds": thresholds,
            "cascade": self.options.cascade,
            "metric": self.metric,
            **({"lower_is_better": True} if self.lower_is_better else {}),
            **({"arguments": self.options.evaluator_args} if self.options.evaluator_args else {}),
            **({"template": self._template.harness} if self._template else {}),
        }
        return ScriptEvaluator(
            deps,
            self.evaluator_file,
            program=self.code,
            options=options,
            isolation=self.options.isolation,
            shows=[str(user_path(path).resolve()) for path in self.options.shows],
            metric=self.metric,
            timeout=self.options.evaluation_timeout,
            lower_is_better=self.lower_is_better,
            direction_open=self._direction_open,
            has_final=self._has_final,
            file="" if self.language == "python" else self.program.name,
            beside="" if self.program.parent == self.evaluator_file.parent else str(self.program.parent),
            offers=self._template.offers if self._template else (),
            further=[user_text(path, "initial=") for path in self._initial if path.is_file()],
        )

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        out.mkdir(parents=True, exist_ok=True)
        written = [out / f"solution{'.py' if self._held else self.program.suffix}"]
        written[0].write_text(node.code, encoding="utf-8")
        for name in self._beside():  # the program imports them
            source, path = self.evaluator_file.parent / name, out / name
            if name in (written[0].name, "evaluator.py"):
                log_msg(
                    "WARNING", f"the export lacks your {name}, which the program imports: a file of ours is called so"
                )
            elif source.is_file():
                path.parent.mkdir(parents=True, exist_ok=True)
                written.append(Path(shutil.copy(source, path)))
        if self.evaluator_file.suffix == ".py":
            written.append(Path(shutil.copy(self.evaluator_file, out / "evaluator.py")))
        return written


def _title(program: Path) -> str:
    """What people call the task: its folder's name, of one that is called like what lies in it the name above."""
    folder = program.parent
    return (folder.parent.name if folder.name in _INSIDE else folder.name) or program.stem


def _take_as_given(cfg: Config) -> None:
    """The usual thresholds, where the user says them himself of a score that is minimised, bound it. In place.

    They are stored without the third, which bounds nothing, as no stage comes after it: the preset's stay apart.
    """
    options, section = cfg.problem.options, cfg.problem
    is_usual = options.get("cascade_thresholds") == [*USUAL_THRESHOLDS]
    if is_usual and _KEY in (cfg.given or ()) and is_minimised(section.direction, section.metric):
        section.options = {**options, "cascade_thresholds": [*USUAL_THRESHOLDS[:2]]}


def _take_direction(cfg: Config, template: Template) -> None:
    """The way that the score goes in the framework that the evaluator was written for, unless the user says it."""
    if cfg.problem.direction is None and template.lower_is_better is not None:
        cfg.problem.direction = "min" if template.lower_is_better else "max"


def build(cfg: Config, project_dir: Path) -> ScriptProblem:
    """The problem of a configuration: `problem.program` and `problem.evaluator`; `problem.path` was read before."""
    section = cfg.problem
    _take_as_given(cfg)
    if section.evaluator and (held := template_of(user_path(section.evaluator))) and held.kind == "reference":
        section.options = {"isolation": "together", **section.options}  # its score is a time, which the way changes
    options = checked_options(Options, section.options)
    program, evaluator = section.program, section.evaluator
    if evaluator and (template := template_of(user_path(evaluator))):
        program = program or evaluator
        _take_direction(cfg, template)
    if not program or not evaluator:
        raise ConfigError("problem.program and problem.evaluator are needed (or problem.path, a folder with both)")
    return ScriptProblem(
        user_path(program).resolve(),
        user_path(evaluator).resolve(),
        options,
        metric=section.metric,
        lower_is_better=is_minimised(section.direction, section.metric, begins=cfg.given is not None),
        direction_open=section.direction is None and cfg.given is not None,
        sent=cfg.execution.runner != "local",
        initial=cfg.initial,
    )
