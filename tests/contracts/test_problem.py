"""What every problem must do, with its writer, its agents and its evaluator: all of the registry, real sandboxes."""

from __future__ import annotations

import inspect
import json
import math
import random
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest
from support.problems import small_config

from core.contracts import (
    Agent,
    AgentContext,
    AgentDefaults,
    Evaluation,
    Evaluator,
    EvaluatorDefaults,
    EvaluatorDeps,
    Problem,
    ProblemDefaults,
    SearchPolicy,
    with_defaults,
)
from core.state.failure import FailureKind
from core.state.findings import Findings
from core.state.journal import Journal
from core.state.node import Node
from core.state.operators import BUILTIN
from core.state.task import Task
from core.storage.repository import RunStore
from problems.registry import PROBLEMS, build_problem
from runs.composition import open_jobs
from runs.parts.policies import policy_of
from runs.parts.writing import agents_of
from utils.config import check_config
from utils.config_schema import Config
from utils.direction import Direction
from utils.strategies import POLICIES

BROKEN = {"": "no program", "def (:\n": "no Python", "raise RuntimeError('boom')\n": "a crash", "pass\n": "no answer"}


@dataclass
class Stand:
    """A problem, built small, with its evaluator on a real sandbox and its baselines as nodes that have a verdict."""

    config: Config
    problem: Problem
    evaluator: Evaluator
    baselines: list[Node]
    verdicts: list[Evaluation]
    folder: Path

    @property
    def agent(self) -> Agent:
        return agents_of(self.config, self.problem)["*"]

    def context(self, operator: str, parents: int) -> AgentContext:
        best = sorted(self.baselines, key=lambda node: node.fitness or -math.inf, reverse=True)
        task = Task(
            node_id="abc", operator=operator, parent_ids=tuple(n.id for n in best[:parents]), seed=1, round=0, slot=0
        )
        return AgentContext(
            task=task,
            statement=self.problem.statement(),
            parents=tuple(best[:parents]),
            query=None,  # type: ignore[arg-type]
            preview=self.problem.preview(),
            lower_is_better=self.problem.lower_is_better,
            extras=self.problem.prompt_extras(),
        )

    def judged(self, programs: list[str]) -> list[Evaluation]:
        """As the loop does it: what `check` refuses is not evaluated."""
        nodes = [Node(id=f"p{number}", code=code) for number, code in enumerate(programs)]
        refused = [self.evaluator.check(node) for node in nodes]
        left = [node for node, refusal in zip(nodes, refused, strict=True) if refusal is None]
        told = iter(evaluated(self.evaluator, left))
        return [refusal or next(told) for refusal in refused]


def functions_of(contract: type) -> dict[str, Any]:
    """Name → function of a contract, its defaults included."""
    found = {name: f for base in reversed(contract.__mro__) for name, f in vars(base).items()}
    return {name: f for name, f in found.items() if inspect.isfunction(f) and not name.startswith("_")}


def assert_keeps(ours: type, contract: type) -> None:
    assert contract in ours.__mro__
    for name, wanted in functions_of(contract).items():
        given = list(inspect.signature(getattr(ours, name)).parameters.values())
        asked = list(inspect.signature(wanted).parameters)
        assert [parameter.name for parameter in given[: len(asked)]] == asked, (ours, name)
        assert all(parameter.default is not parameter.empty for parameter in given[len(asked) :]), (ours, name)


def told_of(node: Node, verdict: Evaluation) -> Node:
    """The node with what was found, as the loop commits it."""
    found = {name: getattr(verdict, name) for name in Findings.model_fields}
    return node.model_copy(update={**found, "metric_value": verdict.metric})


def evaluated(evaluator: Evaluator, nodes: list[Node]) -> list[Evaluation]:
    if evaluator.together:
        return evaluator.evaluate(nodes) if nodes else []
    return [verdict for node in nodes for verdict in evaluator.evaluate([node])]


@pytest.fixture(scope="module", params=PROBLEMS.names())
def stand(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    folder = tmp_path_factory.mktemp(request.param)
    config = small_config(request.param, folder)
    problem = build_problem(config)
    problem.prepare()
    run_dir = folder / "logs" / "run"
    run_dir.mkdir(parents=True)
    store = RunStore(run_dir)
    journal = Journal(lower_is_better=problem.lower_is_better)
    with open_jobs(config, problem, run_dir) as (jobs, limits):
        deps = EvaluatorDeps(
            jobs=jobs, limits=limits, run_dir=run_dir, work_dir=folder / "work", seed=1, journal=journal, games=store,
            append=lambda events: None, isolated=True, tune_trials=3,
        )  # fmt: skip
        evaluator = with_defaults(problem.evaluator(deps), EvaluatorDefaults)
        nodes = [Node(id=f"b{i}", code=b.code, operator="baseline") for i, b in enumerate(problem.baselines())]
        verdicts = evaluated(evaluator, nodes)
        told = [journal.append(told_of(node, verdict)) for node, verdict in zip(nodes, verdicts, strict=True)]
        yield Stand(config, problem, evaluator, told, verdicts, folder)
        evaluator.close()
    store.close()


# ---------------------------------------------------------------- the contracts' form


def test_classes_inherit_their_contract_and_take_its_arguments(stand):
    for part, contract in ((stand.problem, Problem), (stand.evaluator, Evaluator), (stand.agent, Agent)):
        assert_keeps(type(part), contract)


@pytest.mark.parametrize("name", POLICIES.names())
def test_policies_inherit_theirs(name):
    assert_keeps(type(policy_of(check_config({"search": {"policy": name}}))), SearchPolicy)


def test_only_what_has_a_default_is_left_out(stand):
    for part, contract, defaults in (
        (stand.problem, Problem, ProblemDefaults),
        (stand.evaluator, Evaluator, EvaluatorDefaults),
        (stand.agent, Agent, AgentDefaults),
    ):
        needed = functions_of(contract).keys() - functions_of(defaults).keys()
        mro = type(part).__mro__
        assert needed <= {name for base in mro[: mro.index(contract)] for name in vars(base)}, type(part)


def test_agents_take_what_the_configuration_says(stand):
    config = small_config(stand.config.presets.problem, stand.folder, "agent.repairs=1", "agent.prompt_tokens=3210")
    for agent in agents_of(config, build_problem(config)).values():
        assert (agent.repairs, agent.builder.max_tokens) == (1, 3210)


# ---------------------------------------------------------------- the problem


def test_has_every_fact(stand, request):
    problem = stand.problem
    for name in Problem.__annotations__:
        assert hasattr(problem, name), name
    assert problem.family in ("competition", "heuristic", "arena")
    assert problem.name.split("/")[0] == (stand.config.problem.kind or stand.config.presets.problem)
    extras = problem.prompt_extras()
    assert json.loads(json.dumps(extras)) == extras, "plain JSON"
    assert problem.family == "heuristic" or "cases" not in extras, "a case's score is one of hidden rows, or of games"


def test_is_the_same_when_it_is_built_again(stand):
    again = build_problem(stand.config)
    again.prepare()
    assert again.statement() == stand.problem.statement() and again.baselines() == stand.problem.baselines()
    assert again.prompt_extras() == stand.problem.prompt_extras() and again.preview() == stand.problem.preview()


def test_a_writer_is_told_once_which_way_is_better(stand):
    system = stand.agent.prompt(stand.context("draft", 0)).system
    said = re.findall(r"(lower|higher) +is\s+better", system)
    assert said == [Direction(stand.problem.lower_is_better).word]


def test_exports_a_program_below_the_folder_it_is_given(stand, tmp_path):
    written = stand.problem.export(stand.baselines[0], tmp_path / "out", stand.folder / "logs" / "run")
    assert written and all(path.is_file() and path.is_relative_to(tmp_path / "out") for path in written)


# ---------------------------------------------------------------- the evaluator


def test_baselines_have_a_finite_score(stand):
    assert stand.baselines
    for node, verdict in zip(stand.baselines, stand.verdicts, strict=True):
        assert verdict.failure is None and math.isfinite(verdict.metric), (node.code[:200], verdict)
        assert all(round(value, 12) == value for value in verdict.signature)


def test_the_same_program_has_the_same_score_again(stand):
    if stand.evaluator.together:
        pytest.skip("scores are relative to the round")
    (again,) = stand.evaluator.evaluate([stand.baselines[0].model_copy(update={"id": "again"})])
    assert (again.metric, again.signature) == (stand.verdicts[0].metric, stand.verdicts[0].signature)


def test_a_failure_is_a_verdict_and_harms_no_other(stand):
    """One round: broken programs round a sound one, which is scored all the same."""
    programs = [*BROKEN, stand.baselines[0].code]
    verdicts = stand.judged(programs)
    for code, verdict in zip(BROKEN, verdicts, strict=False):
        assert isinstance(verdict.failure, FailureKind) and verdict.metric is None, (BROKEN[code], verdict)
        assert verdict.message, BROKEN[code]
    assert verdicts[-1].failure is None or verdicts[-1].duplicate_of


def test_tuning_is_a_verdict(stand):
    """A better program, a duplicate of the parent, or a failure: never an exception, and no worse program."""
    parent = stand.baselines[0]
    child = Node(id="t", code=parent.code, operator="tune", parent_ids=(parent.id,))
    verdict = stand.evaluator.tune(child, "t", 1)
    better = Direction(stand.problem.lower_is_better).better
    if verdict.failure is None and verdict.duplicate_of is None:
        assert verdict.code and better(verdict.metric, parent.metric_value)
    else:
        assert verdict.failure is not None or verdict.duplicate_of == parent.id


def test_the_final_part_is_scored_once_a_node(stand):
    told = stand.evaluator.final(stand.baselines[:2])
    if any(told) and stand.problem.family != "arena":  # an engine plays whoever comes
        prompt = stand.agent.prompt(stand.context("draft", 0))
        assert "once, at the end" in prompt.system, "who does not know it writes for what is shown"
    assert len(told) == len(stand.baselines[:2])
    for final in told:
        assert final is None or final.failure is not None or math.isfinite(final.metric)


# ---------------------------------------------------------------- prompts, rules, replies


def written_by_the_policy(config: Config) -> list[str]:
    names = POLICIES.get(config.search.policy).operators
    return [name for name in dict.fromkeys([*names, "draft", "debug", "improve", "merge"]) if BUILTIN[name].rules]


def test_every_operator_has_a_prompt_that_rules_can_answer(stand):
    """prompt → rules → code, for each operator: a program of Python's grammar, the same for the same seed."""
    agent, writer = stand.agent, stand.problem.rules()
    for operator in written_by_the_policy(stand.config):
        context = stand.context(operator, min(BUILTIN[operator].parents, len(stand.baselines)))
        prompt = agent.prompt(context)
        assert prompt == agent.prompt(context), "a function of the context"
        assert prompt.user.strip() and prompt.system.strip() and "${" not in prompt.user + prompt.system
        assert str(stand.folder) not in prompt.user + prompt.system, "no path of this machine"
        facts: dict[str, Any] = json.loads(json.dumps(dict(prompt.context)))
        replies = [writer.write(facts, random.Random(seed)) for seed in (1, 1, 2, 3)]
        assert replies[0] == replies[1]
        for reply in replies:
            result = agent.code(context, reply)
            assert result.success and result.node is not None and result.node.code.strip(), (operator, result.error)
            assert result.node.operator == operator


def test_a_reply_without_a_program_is_a_failure_not_an_exception(stand):
    context = stand.context("improve", 1)
    for reply in ("", "I am sorry.", "```python\n```", "```python\ndef (:\n```", "\x00\ud800"):
        result = stand.agent.code(context, reply)
        assert not result.success or result.node.code.strip(), reply
        assert result.success or isinstance(result.failure, FailureKind), reply


def test_a_refusal_and_notes_reach_the_prompt(stand):
    context = replace(stand.context("debug", 1), refusal="no such move", notes=("keep it short",))
    prompt = stand.agent.prompt(context)
    assert "no such move" in prompt.user and "keep it short" in prompt.user
