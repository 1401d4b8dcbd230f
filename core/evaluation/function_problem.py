"""FunctionProblem: search one function that is called on fixed cases and scored by you; all else has a default."""

from __future__ import annotations

import pickle
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from copy import deepcopy
from itertools import islice
from pathlib import Path
from typing import Any, ClassVar, Literal

from core.contracts import (
    Baseline,
    CaseScore,
    Evaluation,
    Evaluator,
    EvaluatorDeps,
    ExecutionResult,
    FinalEvaluation,
    JobSpec,
    Limits,
    Problem,
    RulesWriter,
)
from core.evaluation.base import (
    as_time_allows,
    failed_run,
    nothing_better,
    or_lost,
    signature_of,
    source_of,
    told_cases,
)
from core.evaluation.function_check import calls_of, cases_of, check_function_problem, names_of
from core.evaluation.function_rules import FunctionWriter
from core.evaluation.signature import Signature
from core.evaluation.static_check import Imports, check_program
from core.evaluation.tune import tune_program
from core.state.failure import FailureKind
from core.state.node import Node
from utils.counts import counted
from utils.direction import LARGEST, as_score, finite
from utils.logger_system import log_msg
from utils.shared_property import shared_property
from utils.stats import proper_interval, student_interval
from utils.syntax import without_future
from utils.unread_keys import OF_COMPETITIONS, OF_REPEATS, OF_RUNGS

Part = Literal["validation", "test"]
"""The search is steered by the first and never sees the second, which is opened once, at the end."""
DECIDED = "The program that is handed in is scored once, at the end, on cases of this kind that no step has seen."
"""Whoever does not know it writes for the cases that steer the search."""
SEEN = 200
"""Calls whose arguments tell `rules` on which scale a parameter lies."""


class FunctionProblem(Problem):
    """One function, called on cases of yours. Write a subclass with the texts below, `cases`, `calls` and `score`.

    The function runs in the sandbox; cases, calls and scores are made here, out of its reach. The metric is the mean of
    the cases' scores. See docs/heuristics.md.
    """

    family: Literal["heuristic"] = "heuristic"
    preload: tuple[str, ...] = ("math",)
    lower_is_better = True
    seeds_search = True
    claims_only = False
    single_function = True
    unread: Mapping[str, str] = {**OF_COMPETITIONS, **OF_REPEATS, **OF_RUNGS}

    signature: ClassVar[str]
    """What is searched: `priority(weight, value, room) -> float`. Answers of another type are refused."""
    start: ClassVar[str]
    """The first program: a sound function of that signature."""
    about: ClassVar[str] = ""
    """For the prompt: what the function is for, what its arguments mean, what happens with its answer."""
    imports: ClassVar[tuple[str, ...]] = ("math",)
    """Modules that a program may import."""
    driver: ClassVar[str] = ""
    """Source of a function `drive` that runs beside the program in the sandbox and calls it, where a call depends on
    earlier answers and there are many. `calls` then gives the arguments of `drive`, `score` gets what that returned.
    The program can reach it: `score` must check what comes."""

    @abstractmethod
    def cases(self, part: Part) -> Sequence[Any]:
        """The problem's instances, the same at each call. () for the test part: there is no final score."""

    @abstractmethod
    def calls(self, case: Any) -> Sequence[Sequence[Any]]:
        """The arguments of each call that the case needs: plain data."""

    @abstractmethod
    def score(self, case: Any, answers: list[Any]) -> float:
        """How good the answers are, one a call in the order of `calls`. Raise ValueError where they are not usable."""

    def case_name(self, case: Any, number: int) -> str:
        """What prompts call a validation case, where they tell what a program scored on it; '' for `case 3`.

        Args:
            number: of the case, from 1.
        """
        return ""

    def measures(self, case: Any, answers: list[Any]) -> Mapping[str, float]:
        """Further numbers of the answers to a validation case, which `score` has taken: what the score is made of,
        where it is lost. Their means stand beside the score in prompts and wherever people look; they never steer.
        """
        return {}

    def case_score(self, case: Any, number: int, score: float) -> CaseScore:
        """A row of the final table: what people call the case, and its value in a unit that they know.

        Args:
            number: of the case in its part, from 1.
            score: what `score` gave.
        """
        return CaseScore(case=f"case {number}", value=score)

    # ------------------------------------------------------------ defaults

    @shared_property
    def form(self) -> Signature:
        return Signature.read(self.signature)

    def known_cases(self, part: Part) -> list[Any]:
        """A part's cases, which may take a while to make. ConfigError: what `cases` raised instead, and where."""
        return self._validation_cases if part == "validation" else self._test_cases

    @shared_property
    def _validation_cases(self) -> list[Any]:
        return cases_of(self, "validation")

    @shared_property
    def _test_cases(self) -> list[Any]:
        return cases_of(self, "test")

    def prepare(self) -> None:
        """Look at what the problem says of itself. ConfigError: the first thing that cannot work."""
        check_function_problem(self)

    @property
    def cautions(self) -> tuple[str, ...]:
        """Where `cases` gives the same for both parts: the commonest slip is not to look at `part`."""
        seen = {_content(case) for case in self.known_cases("validation")} - {None}
        test = self.known_cases("test")
        again = sum(_content(case) in seen for case in test)
        said = f"of the {counted(len(test), 'case')} of the test part {again} are validation cases as well"
        return (f"{said}: of these the final score says nothing new",) if again else ()

    def statement(self) -> str:
        metric = f"Metric: {self.unit}, mean over all cases.{self.decided}"
        return f"{self.about.strip()}\n\nWrite the function\n\n    {self.signature}\n\n{metric}"

    @shared_property
    def decided(self) -> str:
        """For the prompt: that other cases decide in the end, where some are held out; else ''."""
        return f" {DECIDED}" if self.known_cases("test") else ""

    def prompt_extras(self) -> dict[str, Any]:
        told = {"signature": self.signature, "allowed_imports": sorted(self.imports)}
        return {**told, "cases": told_cases(self.unit, self.case_names)}

    @shared_property
    def case_names(self) -> list[str]:
        """Of the validation cases, which may take a while to make; '' where one has none."""
        return names_of(self, self.known_cases("validation"))

    def limits(self, limits: Limits) -> Sequence[str]:
        cases = counted(len(self.case_names), "case")
        end = "; cases at the end have as much each" if self.known_cases("test") else ""
        return [f"the calls of all {cases} {limits.seconds:g} s together: they are one run{end}"]

    def baselines(self) -> Sequence[Baseline]:
        return [Baseline("start", self.start)]

    def rules(self) -> RulesWriter:
        return FunctionWriter(self.form, self.start, self.seen_values())

    def seen_values(self) -> Mapping[str, Sequence[float]]:
        """Parameter → numbers that it takes in the first cases.

        Left out are parameters that are no numbers, and those that no call gives: a default never varies.
        """
        names = self.form.numbers()
        if self.driver:
            return {name: () for name in names}
        calls = list(islice((call for case in self.known_cases("validation") for call in self.calls(case)), SEEN))
        given = [dict(zip(self.form.parameters, call, strict=False)) for call in calls]  # a call may leave out the last
        columns = {name: [call[name] for call in given if name in call] for name in names}
        return {name: found for name, found in columns.items() if found and None not in map(finite, found)}

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        return FunctionEvaluator(self, deps)

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        """`solution.py`: the program, after the driver that calls it where there is one."""
        out.mkdir(parents=True, exist_ok=True)
        future, program = without_future(node.code)
        parts = [part.strip() for part in (future, self.driver, program) if part.strip()]
        (out / "solution.py").write_text("\n\n\n".join(parts) + "\n", encoding="utf-8")
        return [out / "solution.py"]


class FunctionEvaluator(Evaluator):
    """Has the calls answered in the sandbox, and scores the answers here."""

    together = False

    def __init__(self, problem: FunctionProblem, deps: EvaluatorDeps) -> None:
        self._problem, self._deps = problem, deps
        self._trials = deps.tune_trials
        self._is_repeated = False
        """Whether the problem's score was asked for twice, of one case."""
        self._parts = {part: _Prepared(problem, part) for part in ("validation", "test")}

    def check(self, node: Node) -> Evaluation | None:
        form = self._problem.form
        imports = Imports.only(*self._problem.imports)
        return check_program(node.code, imports, function=form.name, arguments=len(form.parameters))

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        """Founders are checked here too: what a writer wrote was checked before."""
        return [self.check(node) or self.score(node.code, "validation", node.id) for node in nodes]

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        if not self._parts["test"].cases:
            return [None for _ in nodes]
        return as_time_allows(self._deps, "final part: programs scored", nodes, self._final)

    def _final(self, node: Node) -> Evaluation:
        return self._with_cases(or_lost(lambda: self.score(node.code, "test")))

    def _with_cases(self, verdict: Evaluation) -> Evaluation:
        """The verdict with its cases, and a 95 % interval of the mean over its cases, where they are enough to say."""
        found, cases = student_interval(verdict.signature), self._parts["test"].cases
        scored = zip(cases, verdict.signature, strict=True) if verdict.signature else ()
        rows = tuple(self._row(case, number, value) for number, (case, value) in enumerate(scored, 1))
        return FinalEvaluation(
            **{**dict(verdict), "interval": proper_interval(found[1:]) if found else None, "table": rows}
        )

    def _row(self, case: Any, number: int, score: float) -> CaseScore:
        """The problem's own; the plain one where that raises: by now the search is over and paid for."""
        try:
            row = self._problem.case_score(case, number, score)
            if not isinstance(row, CaseScore):
                raise TypeError(f"it returns {type(row).__name__}, not core.contracts.CaseScore")
            return row
        except (Exception, SystemExit) as error:  # noqa: BLE001 - a third party's code
            log_msg("WARNING", f"case_score of case {number} raises {type(error).__name__}: {error}; its score is told")
            return FunctionProblem.case_score(self._problem, case, number, score)

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        tuned = tune_program(
            node.code,
            lambda code: self.score(code, "validation", node_id).metric,
            trials=self._trials,
            seed=seed,
            lower_is_better=self._problem.lower_is_better,
        )
        if tuned is None or tuned.score == tuned.start:
            return nothing_better(node)
        return self.score(tuned.code, "validation").model_copy(update={"code": tuned.code})

    def score(self, code: str, part: Part, label: str = "") -> Evaluation:
        """Mean score over the part's cases; `label`: the node it is for."""
        prepared = self._parts[part]
        payload = {
            "code": code,
            "function": "drive" if self._problem.driver else self._problem.form.name,
            "calls": prepared.calls,
            "driver": self._problem.driver,
            "limits": self._limits(part).model_dump(mode="json"),
            "seed": self._deps.seed,
        }
        entry = "core.evaluation.function_calls:answer_calls"
        found = self._deps.jobs.run(JobSpec(entry=entry, payload=payload, label=label))
        if "answers" not in found:
            return failed_run(ExecutionResult.model_validate(found))
        verdict = self._judged(prepared, found["answers"], tells=part == "validation")
        return Evaluation(**{**dict(verdict), "term_out": found["output"], "seconds": found["seconds"]})

    def _limits(self, part: Part) -> Limits:
        """The final part may have more cases than the search: a program has as much time for each as it had there."""
        limits, asked, usual = self._deps.limits, len(self._parts[part].calls), len(self._parts["validation"].calls)
        longer = max(1.0, asked / max(1, usual))
        cpu = None if limits.cpu_seconds is None else limits.cpu_seconds * longer
        return limits.model_copy(update={"seconds": limits.seconds * longer, "cpu_seconds": cpu})

    def _judged(self, prepared: _Prepared, answers: list[Any], *, tells: bool) -> Evaluation:
        """The verdict on what came back, which may be anything that is plain; `tells`: with its measures."""
        problem, each = self._problem, []
        measured: list[Mapping[str, float]] = []
        if not problem.driver:
            wrong = next((i for i, answer in enumerate(answers) if not problem.form.fits(answer)), None)
            if wrong is not None:
                call = f"{problem.form.name}({', '.join(map(repr, prepared.calls[wrong]))})"[:200]
                message = f"{call} is {answers[wrong]!r}"[:300] + f", not of type {problem.form.returns}"
                return Evaluation(failure=FailureKind.SIGNATURE, message=message)
            answers = [*map(problem.form.as_promised, answers)]
        for number, (case, own) in enumerate(zip(prepared.cases, prepared.split(answers), strict=True), 1):
            at = self._called(number, tells=tells)
            try:
                copied = None if self._is_repeated else deepcopy(own)
                told = problem.score(case, own)
                if copied is not None:
                    self._score_again(case, copied, told)
                if tells:
                    at = f"measures of {at}"
                    measured.append(dict(problem.measures(case, own)))
            except (Exception, SystemExit) as error:  # noqa: BLE001 - answers may make a problem's code raise anything
                said = f"{error}" if isinstance(error, ValueError) else f"{error!r}"
                return Evaluation(failure=FailureKind.EVAL_ERROR, message=f"{at}: {said}"[:500])
            value = as_score(told)
            if value is None:
                at = self._called(number, tells=tells)
                message = f"the score of {at} is {told!r}"[:300] + f", not a finite number up to {LARGEST:g}"
                return Evaluation(failure=FailureKind.NON_FINITE, message=message)
            each.append(value)
        source, metric = source_of(self._deps.isolated), sum(each) / len(each)
        means = _means(measured)
        metrics = {problem.unit: metric, **means} if means else {}
        return Evaluation(metric=metric, source=source, signature=signature_of(each), metrics=metrics)

    def _score_again(self, case: Any, answers: list[Any], told: Any) -> None:
        """Once a process: a score that is drawn by chance ranks programs by chance."""
        self._is_repeated = True
        again = self._problem.score(case, answers)
        if as_score(again) != as_score(told):
            drawn = "where it draws numbers, by random.Random of a fixed seed"
            log_msg(
                "WARNING", f"score gives {told!r:.40} and {again!r:.40} for the same answers: it has to repeat; {drawn}"
            )

    def _called(self, number: int, *, tells: bool) -> str:
        """`case 3 (Rome)`; a case of the test part has no name for a message."""
        name = self._problem.case_names[number - 1] if tells else ""
        return f"case {number}{f' ({name})' if name else ''}"


def _content(case: Any) -> bytes | None:
    """Equal for equal cases; None for one that is no plain data."""
    try:
        return pickle.dumps(case)
    except Exception:  # noqa: BLE001 - an object of the problem's own may raise anything
        return None


def _means(measured: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """Name → mean over the cases that tell it; left out where one of them tells what is no number."""
    names = dict.fromkeys(name for case in measured for name in case)
    columns = {str(name): [as_score(case[name]) for case in measured if name in case] for name in names}
    known = {name: [value for value in column if value is not None] for name, column in columns.items()}
    return {name: sum(known[name]) / len(column) for name, column in columns.items() if len(known[name]) == len(column)}


class _Prepared:
    """A part's cases, with all their calls in one list; made when they are first asked for."""

    def __init__(self, problem: FunctionProblem, part: Part) -> None:
        self._problem, self._part = problem, part

    @shared_property
    def cases(self) -> list[Any]:
        return self._problem.known_cases(self._part)

    @shared_property
    def _by_case(self) -> list[list[list[Any]]]:
        return [calls_of(self._problem, case, number) for number, case in enumerate(self.cases, 1)]

    @shared_property
    def calls(self) -> list[list[Any]]:
        return [call for calls in self._by_case for call in calls]

    def split(self, answers: list[Any]) -> list[list[Any]]:
        """The answers of each case."""
        left = iter(answers)
        return [list(islice(left, len(calls))) for calls in self._by_case]
