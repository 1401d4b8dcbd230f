"""Travelling salesman: search the rule that picks the next city. A small problem to copy for one of your own."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from core.contracts import (
    Baseline,
    Evaluation,
    Evaluator,
    EvaluatorDeps,
    ExecutionResult,
    JobSpec,
    Problem,
    RulesWriter,
)
from core.evaluation.base import failed_run, nothing_better, signature_of, source_of, syntax_refusal
from core.evaluation.tune import tune_program
from core.state.failure import FailureKind
from core.state.node import Node
from problems.options import checked_options
from problems.tsp.instances import Point, excess, generate
from problems.tsp.job import PRELUDE
from problems.tsp.writer import NEAREST, TourWriter
from utils.config_schema import Config

MAIN = """\
if __name__ == "__main__":
    held_out = generate(100, {cities}, "tsp/test")
    print(f"test excess: {{sum(excess(points, tour__(points)) for points in held_out) / len(held_out):.6f}}")
"""
"""Ends `best_solution/solution.py`: run by itself, the rule prints its score on the held-out instances."""


class Options(BaseModel):
    """`problem.options` of this problem."""

    model_config = ConfigDict(extra="forbid")

    cities: int = Field(60, ge=3)
    instances: int = Field(10, ge=1)


class TourProblem(Problem):
    """`score_city` on random instances; see `Problem`."""

    name = "tsp/euclidean"
    lower_is_better = True
    unit = "excess over the expected shortest tour"
    family: Literal["heuristic"] = "heuristic"
    preload: tuple[str, ...] = ("math",)
    seeds_search = True
    claims_only = False
    single_function = True

    def __init__(self, options: Options, *, tune_trials: int = 40) -> None:
        self.cities, self.instances, self.tune_trials = options.cities, options.instances, tune_trials

    def statement(self) -> str:
        return (
            f"Build short round trips through {self.cities} random points of the unit square, city by city. Write\n\n"
            "    score_city(distance, home, spread, left)\n\n"
            "the unvisited city of highest score is next. `distance`: from here; `home`: from the start;\n"
            "`spread`: mean distance to the other unvisited cities; `left`: share of cities unvisited.\n"
            "Metric: tour length over 0.7124·√n, minus 1, mean over instances; lower is better."
        )

    def prompt_extras(self) -> dict[str, Any]:
        return {"signature": "score_city(distance, home, spread, left) -> float", "allowed_imports": ["math"]}

    def baselines(self) -> Sequence[Baseline]:
        return [Baseline("nearest_neighbour", NEAREST)]

    def rules(self) -> RulesWriter:
        return TourWriter()

    def evaluator(self, deps: EvaluatorDeps) -> Evaluator:
        return TourEvaluator(self, deps)

    def export(self, node: Node, out: Path, run_dir: Path) -> list[Path]:
        out.mkdir(parents=True, exist_ok=True)
        measuring = Path(__file__).with_name("instances.py").read_text().partition("annotations\n")[2].strip()
        parts = ["from __future__ import annotations", node.code, measuring, PRELUDE, MAIN.format(cities=self.cities)]
        (out / "solution.py").write_text("\n\n\n".join(part.strip() for part in parts) + "\n")
        return [out / "solution.py"]


class TourEvaluator(Evaluator):
    """Tours come from the sandbox; they are checked and measured here."""

    together = False

    def __init__(self, problem: TourProblem, deps: EvaluatorDeps) -> None:
        self._problem, self._deps = problem, deps
        self._validation = generate(problem.instances, problem.cities, "tsp/validation")
        self._test = generate(100, problem.cities, "tsp/test")

    def check(self, node: Node) -> Evaluation | None:
        return syntax_refusal(node)

    def evaluate(self, nodes: Sequence[Node]) -> list[Evaluation]:
        return [self.score(node.code, self._validation, node.id) for node in nodes]

    def final(self, nodes: Sequence[Node]) -> list[Evaluation | None]:
        return [self.score(node.code, self._test) for node in nodes]

    def tune(self, node: Node, node_id: str, seed: int) -> Evaluation:
        tuned = tune_program(
            node.code, lambda code: self.score(code, self._validation, node_id).metric,
            trials=self._problem.tune_trials, seed=seed, lower_is_better=True,
        )  # fmt: skip
        if tuned is None or tuned.score >= tuned.start:
            return nothing_better(node)
        return self.score(tuned.code, self._validation).model_copy(update={"code": tuned.code})

    def score(self, code: str, instances: Sequence[Sequence[Point]], label: str = "") -> Evaluation:
        """Mean excess; every tour is checked to be one. `label`: the node it is for."""
        limits = self._deps.limits.model_dump(mode="json")
        payload = {"code": code, "instances": [list(map(list, p)) for p in instances], "limits": limits}
        spec = JobSpec(entry="problems.tsp.job:tours", payload={**payload, "seed": self._deps.seed}, label=label)
        answer = self._deps.jobs.run(spec)
        if "tours" not in answer:
            return failed_run(ExecutionResult.model_validate(answer))
        try:
            each = [excess(points, tour) for points, tour in zip(instances, answer["tours"], strict=True)]
        except (TypeError, ValueError) as error:
            return Evaluation(failure=FailureKind.EVAL_ERROR, message=str(error))
        source = source_of(self._deps.isolated)
        return Evaluation(metric=sum(each) / len(each), source=source, signature=signature_of(each))


def build(cfg: Config, project_dir: Path) -> TourProblem:
    """The problem of a configuration; `problem.options` as in Options."""
    options = checked_options(Options, cfg.problem.options)
    return TourProblem(options, tune_trials=cfg.search.tune_trials)
