"""What a writer of trees is shown, and what is made of its reply."""

from __future__ import annotations

import os
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest

import problems.command.tree.problem as here
from core.contracts import AgentContext
from core.state.failure import FailureKind
from core.state.node import Node
from core.state.task import Task
from problems.command.tree.agent import MERGED, TreeAgent
from problems.command.tree.base import snapshot
from problems.command.tree.problem import TreeProblem
from problems.command.tree.prompt_view import map_of, relevant
from problems.command.tree.tree import Ground, Tree, read_tree
from problems.command.tree.writer import TreeWriter
from utils.prompt_text import BYTES_PER_TOKEN


def agent_of(ground, **options):
    return TreeAgent(ground, problem_prompts=[Path(here.__file__).parent / "prompts"], **options)


@pytest.fixture
def agent(ground):
    return agent_of(ground)


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


LINES = [f"def part_{i}(x):\n    return x * {i} + {i * 7919 % 1000}\n" for i in range(400)]
"""A file of some 17 KB."""


def generations(ground, count):
    """The file, and programs of which each changes one more place of it than its parent."""
    nodes, lines = [], list(LINES)
    for i in range(count):
        lines[50 * i] = f"def part_{50 * i}(x):\n    return faster_{i}(x)\n"
        text = "".join(lines)
        above = nodes[-1].id if nodes else None
        more = {"step": i, "parent_id": above, "parent_ids": (above,) if above else ()}
        nodes.append(node(ground, f"n{i}", long=text).model_copy(update=more))
    return nodes


def remembering(*remembered, operator="mutate"):
    told = "\n".join(f"[{one.step}] mutate: {one.metric_value}" for one in remembered)
    return replace(context(remembered[-1], operator=operator), remembered=remembered, memory=told)


def test_a_prompt_tells_what_each_program_changed_and_the_files_once(repository, tmp_path):
    (repository / "src/long.py").write_text("".join(LINES))
    ground = Ground(snapshot(repository, tmp_path / "others"), ("src/**",), ("src/secret.py",))
    agent = agent_of(ground)
    nodes = generations(ground, 6)
    sizes = [len(agent.prompt(remembering(*nodes[: i + 1])).user) for i in range(6)]
    user = agent.prompt(remembering(*nodes)).user
    for i in range(6):
        assert user.count(f"return faster_{i}(x)") == 2, "in the change that it is, and in the file"
    assert "Its code stands above: Code of [5]" in user and "changes of [4]:" in user
    steps = [after - before for before, after in pairwise(sizes)]
    assert max(steps) < 700 and sizes[-1] < 1.2 * sizes[0], "a prompt grows by what a step changes"


def test_of_the_base_no_change_is_told_for_there_is_none(agent, ground):
    """Its code was said to be `base 9bd5a4c759f8`, in a fence of its own."""
    base = Node(id="b", code=Tree(ground).code(), operator="baseline", metric_value=1.0)
    user = agent.prompt(remembering(base)).user
    assert base.code.strip() and base.code.strip() not in user and "Code of" not in user
    assert "src/a.py\n```python" in user, "the files as they are"


def test_a_second_program_is_told_whole(repository, tmp_path):
    (repository / "src/long.py").write_text("".join(LINES))
    ground = Ground(snapshot(repository, tmp_path / "others"), ("src/**",), ("src/secret.py",))
    first, *_, last = generations(ground, 4)
    user = agent_of(ground).prompt(context(first, last, operator="crossover")).user
    assert all(f"+    return faster_{i}(x)" in user for i in range(4))


def test_a_long_file_is_shown_to_its_end_before_what_was_tried(repository, tmp_path):
    (repository / "src/long.py").write_text("".join(LINES) * 2)
    ground = Ground(snapshot(repository, tmp_path / "others"), ("src/**",), ("src/secret.py",))
    nodes = [
        node(ground, f"n{i}", long="".join(LINES) * 2 + f"LAST_{i} = 1\n", new="y = 1\n" * 4000).model_copy(
            update={"step": i}
        )
        for i in range(3)
    ]
    user = agent_of(ground, max_tokens=25_000).prompt(remembering(*nodes)).user
    assert LINES[200] in user and "\nLAST_2 = 1\n```" in user, "whole"
    assert "Changed as well, and too long to be shown here: src/new.py." in user


def test_the_file_to_be_changed_is_shown_though_others_are_named(repository, tmp_path):
    (repository / "src/long.py").write_text("".join(LINES))
    ground = Ground(snapshot(repository, tmp_path / "others"), ("src/long.py",))
    task = replace(context(), statement="Run src/a.py and src/b.py.")
    user = agent_of(ground, max_tokens=2_000).prompt(task).user
    assert LINES[0] in user and "`READ src/long.py 200-400` shows lines of it" in user


def test_lines_of_a_file_that_is_too_long_may_be_asked_for(repository, tmp_path):
    (repository / "src/long.py").write_text("".join(LINES))
    ground = Ground(snapshot(repository, tmp_path / "others"), ("src/long.py",))
    agent, asked = agent_of(ground, max_tokens=6_000), []
    reply = "src/long.py\n<<<<<<< SEARCH\n    return x * 200 + 800\n=======\n    return 0\n>>>>>>> REPLACE\n"
    told = context(replies=["READ src/long.py 401-402", reply], asked=asked)
    prompt = agent.prompt(told)
    assert LINES[0] in prompt.user and LINES[200] not in prompt.user and LINES[-1].strip() in prompt.user
    assert "`READ src/long.py 200-400` shows lines of it" in prompt.user
    assert agent.reply(told, prompt) == reply
    assert f"src/long.py, lines 401 to 402\n```python\n{LINES[200]}```" in asked[1]


def test_a_file_may_be_asked_for_once(agent, ground):
    asked: list[str] = []
    block = "src/a.py\n<<<<<<< SEARCH\nFACTOR = 3\n=======\nFACTOR = 5\n>>>>>>> REPLACE\n"
    told = context(replies=["READ tests/test_a.py\nREAD src/secret.py\nREAD ../x", block], asked=asked)
    reply = agent.reply(told, agent.prompt(told))
    assert reply == block and len(asked) == 2
    assert "from src.a import total" in asked[1] and "KEY = 1" not in asked[1]
    assert "Not shown, or not there: src/secret.py, ../x" in asked[1]


def test_more_files_than_are_shown_at_once_are_counted(agent, ground):
    asked = []
    wanted = "".join(f"READ src/none{number}.py\n" for number in range(9))
    told = context(replies=[wanted, "No idea."], asked=asked)
    agent.reply(told, agent.prompt(told))
    assert "src/none7.py" in asked[1] and "src/none8.py" not in asked[1]
    assert "These are the first 8 of 9 that you asked for" in asked[1]


def test_logins_and_names_that_no_text_can_say_are_in_no_prompt(repository, tmp_path):
    for name in (b".env", b"src/.env.local", b"src/gr\xfc.py", b"src/two\nlines.py", b"\xff.txt"):
        Path(os.fsdecode(os.fsencode(repository) + b"/" + name)).write_text("KEY = 17\n")
    ground = Ground(snapshot(repository, tmp_path / "others"), ("src/**/*.py",))
    agent, asked = agent_of(ground), []
    told = context(replies=["READ .env\nREAD src/.env.local", "No idea."], asked=asked)
    prompt = agent.prompt(told)
    agent.reply(told, prompt)
    for text in (prompt.user, *asked, map_of(ground)):
        text.encode()
        assert "17" not in text and "two\nlines" not in text
    assert "Not shown, or not there: .env, src/.env.local" in asked[1]
    assert ground.with_odd_names() == ["src/gr\N{REPLACEMENT CHARACTER}.py", "src/two\nlines.py"]


def test_a_block_without_a_path_is_asked_for_again_and_one_beside_others_is_told(agent, ground):
    parent = node(ground, "a")
    asked: list[str] = []
    block = "```python\nx = 1\n```\n"
    told = context(parent, replies=[block, f"src/a.py\n{block}\nSo it is used:\n{block}"], asked=asked)
    reply = agent.reply(told, agent.prompt(told))
    assert "the reply changes no file: a whole file stands in a fence right below a line that is its path" in asked[1]
    found = agent.code(told, reply).node
    assert found.failure is None and found.message.startswith("1 fenced block was passed over: a whole file stands")


@pytest.mark.parametrize(
    ("reply", "failure"),
    [
        ("tests/test_a.py\n```\nx = 1\n```\n", FailureKind.TAMPERED),
        (f"src/{'x' * 300}.py\n```\nx = 1\n```\n", FailureKind.REPLY_ERROR),
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
    agent = agent_of(ground, max_tokens=1500)
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


def test_what_the_command_imports_is_shown_before_what_is_only_small(tmp_path):
    """Of a style sheet parser a module of colours that nothing ran was shown, and not the parser."""
    texts = {
        "bench.py": "from css import parse\n", "css/tiny.py": "T = 1\n",
        "css/__init__.py": "from .parser import parse\n",
        "css/parser.py": "from .tokens import (\n    scan)\n" + "# p\n" * 90, "css/tokens.py": "# t\n" * 90,
        "css/near.js": "const t = require('./far')\n", "css/far.js": "// f\n" * 9,
    }  # fmt: skip
    folder = tmp_path / "repository"
    (folder / "css").mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    tree = Tree(Ground(snapshot(folder, tmp_path / "bases"), ("css/*",)))
    python = ["css/__init__.py", "bench.py", "css/parser.py", "css/tokens.py"]
    assert relevant(tree, ["python3 bench.py"], 900) == [*python, "css/tiny.py", "css/near.js", "css/far.js"]
    assert relevant(tree, ["python3 bench.py"], 500)[:3] == python[:3]
    assert relevant(tree, ["node near.js"], 900)[:2] == ["css/near.js", "css/far.js"]
    assert relevant(tree, ["make"], 900)[0] == "css/tiny.py"
