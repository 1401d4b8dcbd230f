"""A folder that has never heard of us, one sentence to a coding agent: a verified improvement, exported."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from support.coding_agents import AGENTS, CodingAgent, by_our_own_words, fresh_world, installed, ours, set_up, told
from support.command_line import Cli
from support.model_server import ModelServer

SENTENCE = "Make count_pairs in wordpairs faster without breaking its tests, use swarm-evo."
PACKAGE = {
    "README.md": "# wordpairs\n\nCounts pairs of numbers.\n",
    "wordpairs/__init__.py": "from wordpairs.pairs import count_pairs\n\n__all__ = ['count_pairs']\n",
    "wordpairs/pairs.py": '''\
def count_pairs(numbers, total):
    """How many pairs of places hold numbers that add up to `total`."""
    found = 0
    for i in range(len(numbers)):
        for j in range(i):
            if numbers[i] + numbers[j] == total:
                found += 1
    return found
''',
    "tests/__init__.py": "",
    "tests/test_pairs.py": """\
import unittest

from wordpairs import count_pairs


class Pairs(unittest.TestCase):
    def test_small(self):
        self.assertEqual(count_pairs([1, 2, 3, 3], 6), 1)
        self.assertEqual(count_pairs([], 0), 0)
        self.assertEqual(count_pairs([2, 2, 2], 4), 3)
""",
}
"""What a stranger has: a package and its tests."""

BENCH = """\
import json, random
from wordpairs import count_pairs
rng = random.Random(7)
cases = [[rng.randrange(200) for _ in range(1500)] for _ in range(3)]
json.dump([count_pairs(case, 200) for case in cases], open("output.txt", "w"))
"""
GRADE = """\
import json, random, sys
from collections import Counter
rng = random.Random(7)
cases = [[rng.randrange(200) for _ in range(1500)] for _ in range(3)]
def right(case):
    seen = Counter(case)
    return sum(n * seen[200 - a] for a, n in seen.items() if a < 100) + seen[100] * (seen[100] - 1) // 2
sys.exit(json.load(open(sys.argv[1])) != [right(case) for case in cases])
"""
FIRST = f"cat > bench.py <<'END'\n{BENCH}END\ncat > grade.py <<'END'\n{GRADE}END\nls"
"""What the agent's model has it write: the work that is timed, and what judges its answers outside of the sandbox."""
PLAN = {
    "problem": "command", "direction": "min", "steps": 3, "goal": "make count_pairs faster",
    "settings": {
        "problem.source": ".", "problem.editable": "wordpairs/*.py", "problem.eval": "python3 bench.py",
        "problem.grade": "python3 grade.py {output}", "problem.metric": "seconds", "problem.options.timed": True,
    },
}  # fmt: skip
TRIES = (
    """\
def count_pairs(numbers, total):
    return sum(total - a in numbers for a in numbers)
""",
    """\
def count_pairs(numbers, total):
    return sum(numbers[:i].count(total - number) for i, number in enumerate(numbers))
""",
    """\
def count_pairs(numbers, total):
    seen, found = {}, 0
    for number in numbers:
        found += seen.get(total - number, 0)
        seen[number] = seen.get(number, 0) + 1
    return found
""",
)
"""A wrong one, a faster one, a much faster one."""


@pytest.fixture(params=AGENTS)
def client(request) -> CodingAgent:
    return installed(request.param)


def stranger(folder: Path) -> Path:
    for name, text in PACKAGE.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_one_sentence_leads_to_a_verified_improvement(client, tmp_path, capsys):
    world = fresh_world(tmp_path)
    folder = stranger(tmp_path / "project")
    set_up(client, folder, world)
    began = time.monotonic()
    script = by_our_own_words(PLAN, lambda number: {"wordpairs/pairs.py": TRIES[number % len(TRIES)]}, FIRST)
    with ModelServer(script) as models:
        done = told(client, SENTENCE, models, folder, world)
        calls = len(models.asked) - 1
        assert len(ours(models.asked[0])) == 17
    minutes = (time.monotonic() - began) / 60
    assert done.returncode == 0 and "The run ended" in done.stdout, done.stdout[-1000:] + done.stderr[-1000:]
    shown = Cli(folder).show()
    assert (shown["steps"], shown["metric_source"]) == (3, "verified")
    (initial,) = [row["metric"] for row in shown["baselines"]]
    failed = [node["failure"] for node in shown["nodes"] if node["operator"] not in ("baseline", "user")]
    assert failed[0] == "eval_error" and failed[1:] == [None, None], "the wrong one has no score"
    assert shown["best_metric"] < initial / 2
    better = tmp_path / "better"
    shutil.copytree(folder, better, ignore=shutil.ignore_patterns("logs", "workspaces", "out", ".*"))
    shutil.copytree(folder / "out" / "files", better, dirs_exist_ok=True)
    assert (better / "wordpairs" / "pairs.py").read_text() == TRIES[2]
    tests = [sys.executable, "-m", "unittest", "-q"]
    assert subprocess.run(tests, cwd=better, capture_output=True).returncode == 0, "its own tests"
    with capsys.disabled():
        told_ = f"1 sentence typed after `setup`, {calls} tool calls, {minutes:.1f} minutes"
        print(f"\n{client.name}: {told_}; {initial:.3f} s -> {shown['best_metric']:.3f} s, {shown['metric_source']}")
