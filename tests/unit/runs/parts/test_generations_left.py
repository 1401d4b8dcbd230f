"""Who writes for a generation is told how many are left, as the limit was when it was proposed."""

from __future__ import annotations

from pathlib import Path

import pytest

from core.loop.attempt import RunContext
from core.state.task import Task
from problems.registry import build_problem
from runs.parts.context_history import with_earlier
from runs.parts.policies import last_generation, policy_of
from utils.config import load_config


@pytest.mark.parametrize(("policy", "first"), [("generations", 1), ("islands", 0)])
def test_the_first_of_three_generations_is_one_of_three_left(toy_config, policy, first):
    last = last_generation(policy_of(toy_config(3, f"search.policy={policy}")), 3)
    context = RunContext(statement="t", last_generation=last)
    task = Task(node_id="a", operator="draft", round=0, slot=0, seed=1, generation=first)
    assert context.generations_left(task) == 3
    assert context.generations_left(task.model_copy(update={"generation": first + 2})) == 1
    later, _ = with_earlier(context, [{"round": 0, "last_generation": first}], 5)
    assert later.as_of(4).generations_left(task) == 1, "a resume with more generations came later"


def test_without_a_limit_nothing_is_said(toy_config):
    assert last_generation(policy_of(toy_config(3, "search.policy=islands")), None) is None


@pytest.mark.parametrize(
    ("words", "categories"),
    [
        ([], ["search", "evaluation"]),
        (["arena.limit=movetime:50"], ["search", "evaluation", "time"]),
        (["arena.limit=clock:1000+10", "arena.book=own.txt"], ["search", "evaluation", "book", "time"]),
    ],
)
def test_what_openings_and_limit_make_worthless_is_no_category(tmp_path: Path, words, categories):
    config = load_config(None, ["presets.problem=connect_four", f"project.dir={tmp_path}", *words])
    assert build_problem(config).prompt_extras()["categories"] == categories
