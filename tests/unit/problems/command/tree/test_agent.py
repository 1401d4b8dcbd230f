"""What a writer of trees is shown, and what is made of its reply."""

from __future__ import annotations

from dataclasses import replace

import pytest

from core.contracts import AgentContext
from core.state.failure import FailureKind
from core.state.node import Node
from core.state.task import Task
from problems.command.tree.agent import MERGED, TreeAgent
from problems.command.tree.problem import TreeProblem
from problems.command.tree.prompt_view import map_of, relevant
from problems.command.tree.tree import Tree, read_tree
from problems.command.tree.writer import TreeWriter
from utils.prompt_builder import BYTES_PER_TOKEN


@pytest.fixture
def agent(ground):
    from pathlib import Path

    import problems.command.tree.problem as here

    return TreeAgent(ground, problem_prompts=[Path(here.__file__).parent / "prompts"])


def node(ground, name, **files):
    tree = Tree(ground)
    for path, text in files.items():
        tree = tree.with_file(f"src/{path}.py", text)
    return Node(id=name, code=tree.code(), metric_value=1.0, step=1)


def context(*parents, operator="mutate", replies=(), asked=None):
    answers = iter(replies)

    def query(system, user, **more):
        if asked is not None:
            asked.append(user)
        return next(answers)

    task = Task(node_id="n", operator=operator, round=0, slot=0, seed=1, parent_ids=tuple(p.id for p in parents))
    return AgentContext(task=task, statement="Make total() better.", parents=parents, query=query)


def test_a_prompt_shows_the_diff_and_the_files_that_matter(agent, ground):
    parent = node(ground, "p", a="FACTOR = 7\n")
    parent = parent.model_copy(update={"term_out": 'File "/workspace/src/b.py", line 3', "message": ""})
    user = agent.prompt(context(parent)).user
    assert "+FACTOR = 7" in user and "src/a.py\n```python\nFACTOR = 7\n```" in user
    assert "src/b.py\n```python\nOFFSET = 10" in user
    assert "KEY = 1" not in user, "what is protected is not shown"
    system = agent.prompt(context(parent)).system
    assert "DELETE src/example.py" in system


def test_the_map_names_what_may_change_and_counts_the_rest(ground):
    text = map_of(ground)
    assert "src/a.py (5 lines): total" in text and "tests" in text
    assert "KEY" not in text


def test_files_keep_within_their_room(ground):
    tree = Tree(ground)
    assert relevant(tree, ["see src/b.py"], 70) == ["src/b.py"]
    assert relevant(tree, [], 0) == []


def test_a_file_may_be_asked_for_once(agent, ground):
    asked: list[str] = []
    block = "src/a.py\n<<<<<<< SEARCH\nFACTOR = 3\n=======\nFACTOR = 5\n>>>>>>> REPLACE\n"
    told = context(replies=["READ tests/test_a.py\nREAD src/secret.py\nREAD ../x", block], asked=asked)
    reply = agent.reply(told, agent.prompt(told))
    assert reply == block and len(asked) == 2
    assert "from src.a import total" in asked[1] and "KEY = 1" not in asked[1]
    assert "Not shown, or not there: src/secret.py, ../x" in asked[1]


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        ("tests/test_a.py\n```\nx = 1\n```\n", FailureKind.TAMPERED),
        ("src/a.py\n```\ndef (\n```\n", FailureKind.SYNTAX),
        ("No idea.", FailureKind.NO_CODE),
        ("src/a.py\n<<<<<<< SEARCH\nnone\n=======\nx\n>>>>>>> REPLACE\n", FailureKind.REPLY_ERROR),
    ],
)
def test_replies_that_are_none(agent, ground, reply, failure):
    assert agent.code(context(), reply).failure is failure


def test_disjoint_parents_are_merged_without_asking(agent, ground):
    first, second = node(ground, "p", a="FACTOR = 7\n"), node(ground, "q", b="OFFSET = 1\n")
    told = context(first, second, operator="crossover")
    reply = agent.reply(told, agent.prompt(told))
    made = agent.code(told, reply).node
    assert reply.startswith(MERGED) and made.writer == "merge"
    assert read_tree(ground, made.code).changes == {"src/a.py": "FACTOR = 7\n", "src/b.py": "OFFSET = 1\n"}
    again = replace(told, refusal="it was refused")
    with pytest.raises(StopIteration):
        agent.reply(again, agent.prompt(again))


def test_what_contradicts_is_asked_for(agent, ground):
    asked: list[str] = []
    first, second = node(ground, "p", a="FACTOR = 7\n"), node(ground, "q", a="FACTOR = 8\n")
    told = context(first, second, operator="crossover", replies=["src/a.py\n```\nFACTOR = 9\n```\n"], asked=asked)
    reply = agent.reply(told, agent.prompt(told))
    assert agent.code(told, reply).node.writer == "" and len(asked) == 1


def test_a_long_prompt_keeps_to_its_budget(ground):
    from pathlib import Path

    import problems.command.tree.problem as here

    agent = TreeAgent(ground, problem_prompts=[Path(here.__file__).parent / "prompts"], max_tokens=1500)
    parent = node(ground, "p", long="x = 1\n" * 5000)
    prompt = agent.prompt(context(parent))
    assert len((prompt.system + prompt.user).encode()) <= 1500 * BYTES_PER_TOKEN


def test_rules_moves_numbers_and_says_so(agent, ground):
    import random

    writer = TreeWriter(ground)
    assert "only changes numbers" in TreeProblem.rules_reach
    for seed in range(20):
        reply = writer.write({"parents": []}, random.Random(seed))
        tree = read_tree(ground, agent.code(context(), reply).node.code)
        assert set(tree.changes) <= {"src/a.py", "src/b.py"}
        assert reply == writer.write({"parents": []}, random.Random(seed))
