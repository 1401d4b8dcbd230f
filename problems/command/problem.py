"""The universal adapter: source files in any language, and a command that prints a metric."""

from __future__ import annotations

import math
import random
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, ValidationError

from agents.coder_agent import CoderAgent, _Found
from core.contracts import (
    Agent,
    AgentBuilder,
    AgentContext,
    Baseline,
    Bench,
    Evaluation,
    Evaluator,
    ExecutionResult,
    JobSpec,
    RulesWriter,
)
from core.evaluation.base import failed_run, refused, source_of
from core.evaluation.timing import timed_spec
from core.evaluation.tune import MOST_LITERALS, tune
from core.executor.shipping import check_shippable
from core.state.failure import FailureKind
from core.state.node import Node
from problems.command.bundle import join, numbers, read_metric, split, values, with_numbers
from problems.command.job import MOST_RUNS
from utils.diff import DiffError, apply_diff, parse_diff
from utils.errors import ConfigError
from utils.metric import Metric
from utils.response import strip_thinking

LANGUAGES = {
    ".py": "python", ".c": "c", ".h": "c", ".cc": "cpp", ".cpp": "cpp", ".rs": "rust", ".go": "go", ".js": "javascript",
    ".ts": "typescript", ".sh": "sh", ".jl": "julia", ".java": "java", ".rb": "ruby", ".pl": "perl", ".lua": "lua",
}  # fmt: skip


class Options(BaseModel):
    """`problem.options` of this problem."""

    model_config = ConfigDict(extra="forbid")

    output: str = "output.txt"
    """File that the command writes and `problem.grade` reads; relative to the folder of the sources."""
    statement: str = ""
    reply: Literal["diff", "program"] = "diff"
    timed: bool = False
    """The score is the seconds that the command takes, measured from outside on the timing lane; `problem.metric` is
    then only its name, and `problem.grade` says by its exit code whether the output is right."""


class CommandProblem:
    """Files, a command and the name of a metric; see `Problem`. `sent`: workers elsewhere get the files' folder."""

    unit = "metric"
    family: Literal["heuristic"] = "heuristic"
    preload: tuple[str, ...] = ()
    seeds_search = True
    claims_only = False
    single_function = True

    def __init__(
        self,
        sources: Sequence[Path],
        command: str,
        metric: str,
        options: Options,
        *,
        grade: str | None = None,
        lower_is_better: bool = False,
        tune_trials: int = 40,
        sent: bool = False,
    ) -> None:
        self.tune_trials, self._sent = tune_trials, sent
        self.sources, self.command, self.metric, self.grade = list(sources), command, metric, grade
        self.options, self.lower_is_better = options, lower_is_better
        self.name = f"command/{self.sources[0].stem}"
        self.unit = metric

    @property
    def folder(self) -> Path:
        return self.sources[0].parent

    @property
    def names(self) -> list[str]:
        return [path.name for path in self.sources]

    @property
    def language(self) -> str:
        kinds = {LANGUAGES.get(path.suffix, "text") for path in self.sources}
        return kinds.pop() if len(kinds) == 1 and len(self.sources) == 1 else "text"

    @property
    def code(self) -> str:
        return join({path.name: path.read_text() for path in self.sources})

    def prepare(self) -> None:
        for path in self.sources:
            if not path.is_file():
                raise ConfigError(f"problem.source={path}: no such file")
            if path.parent != self.folder:
                raise ConfigError(f"problem.source={path}: all files must lie in one folder ({self.folder})")
        if self._sent:
            check_shippable(self.folder, "source")

    def statement(self) -> str:
        goal = "lower" if self.lower_is_better else "higher"
        files = ", ".join(self.names)
        text = self.options.statement or f"Improve {files}."
        if len(self.sources) > 1:
            text += "\nThe files come one after the other, each below a line `=== name ===`; keep these lines."
        return f"{text}\nThe command `{self.command}` is run on them. Metric: {self.metric} ({goal} is better)."

    def preview(self) -> str:
        return ""

    def prompt_extras(self) -> dict[str, Any]:
        return {"program": self.code, "language": self.language, "reply_format": self.options.reply}

    def agents(self, build: AgentBuilder) -> dict[str, Agent]:
        repairs = int(build.options.get("repairs", 3))
        return {"*": FilesAgent(self.names, prompts_dir=build.prompts_dir, repairs=repairs)}

    def baselines(self) -> Sequence[Baseline]:
        return [Baseline("initial", self.code)]

    def rules(self) -> RulesWriter:
        return NumbersWriter()

    def evaluator(self, bench: Bench) -> Evaluator:
        return CommandEvaluator(self, bench)

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        out.mkdir(parents=True, exist_ok=True)
        written = []
        for name, text in (split(node.code, self.names) or {}).items():
            written.append(out / name)
            written[-1].write_text(text)
        return written


class CommandEvaluator:
    """Runs the command in the sandbox and reads the metric; the score is `verified` only where it is graded outside."""

    together = False

    def __init__(self, problem: CommandProblem, bench: Bench) -> None:
        self._problem, self._bench = problem, bench

    def check(self, node: Node) -> Evaluation | None:
        if split(node.code, self._problem.names) is None:
            message = f"exactly these files are needed, each below `=== name ===`: {', '.join(self._problem.names)}"
            return Evaluation(failure=FailureKind.REPLY_ERROR, message=message)
        return None

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        return [self._one(node) for node in nodes]

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        return [None] * len(nodes)

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        """Search better numbers for a copy of the parent, in any language, each trial scored in full."""
        problem, parent = self._problem, node.parent_ids[0] if node.parent_ids else None
        start = values(node.code)[:MOST_LITERALS]
        found, score, first = tune(
            start,
            lambda numbers: self._score(with_numbers(node.code, list(map(repr, numbers))), node_id).metric,
            trials=problem.tune_trials if start else 0,
            seed=seed,
            lower_is_better=problem.lower_is_better,
        )
        known = self._bench.journal[parent].metric_value if parent in self._bench.journal else first
        lower = problem.lower_is_better
        if score is None or (known is not None and not Metric.of(score, lower) > Metric.of(known, lower)):
            return Evaluation(duplicate_of=parent, message="no better numbers were found")
        code = with_numbers(node.code, list(map(repr, found)))
        detail = {"trials": problem.tune_trials, "start": first, "end": score}
        return self._score(code).model_copy(update={"code": code, "metadata": {"tune": detail}})

    def _one(self, node: Node) -> Evaluation:
        return self.check(node) or self._score(node.code, node.id)

    def _score(self, code: str, label: str = "") -> Evaluation:
        problem, bench = self._problem, self._bench
        payload = {
            "files": split(code, problem.names),
            "inputs": str(problem.folder),
            "command": problem.command,
            "output": problem.options.output,
            "grade": problem.grade,
            "limits": bench.limits.model_dump(mode="json"),
            "seed": bench.seed,
        }
        spec = JobSpec(entry="problems.command.job:evaluate", payload=payload)
        if problem.options.timed:
            patience = 2 * (MOST_RUNS + 1) * bench.limits.seconds + 60
            spec = timed_spec("problems.command.job:timed", payload, bench.limits)
            spec = spec.model_copy(update={"seconds": patience})
        answer = bench.jobs.run(spec.model_copy(update={"label": label}))
        return self.verdict(ExecutionResult.model_validate(answer["result"]), answer["graded"], answer.get("timing"))

    def verdict(
        self, result: ExecutionResult, graded: Mapping[str, Any] | None, timing: Mapping[str, Any] | None = None
    ) -> Evaluation:
        if result.failure is not None:
            return failed_run(result)
        output = result.term_out
        if self._problem.grade:
            assert graded is not None
            if graded["code"] != 0:
                detail = str(graded["error"]).strip().splitlines()
                message = f"grading failed: {detail[-1] if detail else 'exit code ' + str(graded['code'])}"
                return refused(result, FailureKind.EVAL_ERROR, message)
            output = graded["output"]
        source = source_of(self._bench.isolated and bool(self._problem.grade))
        if timing is not None:
            low, high = timing["interval"]
            return Evaluation(
                metric=timing["seconds"], interval=(low, high), source=source, seconds=sum(timing["samples"]),
                term_out=result.term_out, metadata={"samples": list(timing["samples"])},
            )  # fmt: skip
        value = read_metric(output, self._problem.metric)
        if value is None:
            message = f"no `{self._problem.metric}: value` in the output"
            return refused(result, FailureKind.EVAL_ERROR, message)
        if not math.isfinite(value):
            return refused(result, FailureKind.NON_FINITE, f"{self._problem.metric} is {value}")
        return Evaluation(metric=value, source=source, seconds=result.exec_time, term_out=result.term_out)


class FilesAgent(CoderAgent):
    """Reads SEARCH/REPLACE blocks over all files, or the whole text in one block."""

    def __init__(self, names: list[str], *, prompts_dir: Path | None, repairs: int) -> None:
        super().__init__(single_function=True, prompts_dir=prompts_dir, repairs=repairs)
        self._names = names

    def _read(self, context: AgentContext, reply: str) -> _Found:
        text = strip_thinking(reply)
        changes = parse_diff(text)
        if not changes:
            return super()._read(context, reply)
        base = context.parents[0].code if context.parents else str(context.extras.get("program", ""))
        plan = text[: text.index("<<<<<")].strip()
        try:
            return self._judge(context, apply_diff(base, changes), plan, whole=False)
        except DiffError as error:
            return _Found("", plan, FailureKind.REPLY_ERROR, str(error))


class NumbersWriter:
    """`provider: rules` for any language: moves numbers; with two parents of one shape, mixes theirs."""

    def write(self, context: Mapping[str, Any], rng: random.Random) -> str:
        extras = context.get("extras") or {}
        parents = [parent["code"] for parent in context.get("parents") or () if parent.get("code")]
        code = parents[0] if parents else str(extras.get("program", ""))
        places = numbers(code)
        mate = numbers(parents[1]) if len(parents) > 1 else []
        if places and len(mate) == len(places):
            new = [rng.choice((a.group(), b.group())) for a, b in zip(places, mate, strict=True)]
            plan = "Mixed the numbers of two programs."
        else:
            moved = set(rng.sample(range(len(places)), min(len(places), rng.choice((1, 1, 2)))))
            new = [_moved(m.group(), rng) if i in moved else m.group() for i, m in enumerate(places)]
            plan = "Changed numbers."
        code = with_numbers(code, new)
        return f"{plan}\n\n```{extras.get('language', '')}\n{code.rstrip()}\n```\n"


def _moved(text: str, rng: random.Random) -> str:
    """A number near that of the text, whole where that was whole."""
    if text.isdigit():
        value = int(text)
        return str(max(0, value + rng.choice((-2, -1, 1, 2)) * max(1, value // 8)))
    return f"{float(text) * 2 ** rng.gauss(0, 0.6):.5g}"


def build(cfg: Any, project_dir: Path) -> CommandProblem:
    """The problem of a configuration: `problem.source`, `problem.eval`, `problem.metric`, `problem.direction`."""
    section = cfg.problem
    for key in ("source", "eval", "metric"):
        if not getattr(section, key):
            raise ConfigError(
                f"problem.{key} is needed: --problem.source=FILE[,FILE] --problem.eval=CMD --problem.metric=NAME"
            )
    try:
        options = Options.model_validate(dict(section.options or {}))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        raise ConfigError(f"problem.options.{'.'.join(map(str, fault['loc']))}: {fault['msg']}") from error
    if options.timed and section.direction != "min":
        raise ConfigError("problem.options.timed=true: the score is a time; set problem.direction=min")
    sources = [Path(name.strip()).expanduser().resolve() for name in section.source.split(",") if name.strip()]
    return CommandProblem(
        sources,
        section.eval,
        section.metric,
        options,
        grade=section.grade,
        lower_is_better=section.direction == "min",
        tune_trials=cfg.search.tune_trials,
        sent=cfg.execution.runner != "local",
    )
