"""What a model is asked in whole runs: nothing twice, nothing of this machine, and a beginning that a cache knows."""

from __future__ import annotations

import sys
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from support.chat_server import ChatServer

from benchmarks.prompt_measures import calls_of, measures_of, shown_program

ROOT = Path(__file__).resolve().parents[2]
PROGRAM = """\
# EVOLVE-BLOCK-START
def value():
    return 0.{n}{broken}
# EVOLVE-BLOCK-END
"""
EVALUATOR = '''\
"""Likes values near to pi."""
import importlib.util
import math


def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": -abs(module.value() - math.pi), "validity": 1.0}
'''
PACKING = (
    "def score_bin(item, remaining_capacity, histogram):\n    return -abs(remaining_capacity - item - {n}){broken}\n"
)
TABLE = """\
import pandas as pd

train = pd.read_csv("input/train.csv")
sample = pd.read_csv("input/sample_submission.csv")
sample[sample.columns[1]] = {n}.5{broken}
sample.to_csv("submission/submission.csv", index=False)
print("cv: 0.{n}")
"""
RUNS = {
    "script": (PROGRAM, " + nothing", ["--problem=script", "--problem.path=near_pi"]),
    "packing": (PACKING, " + histogram[10**6]", ["--problem=bin_packing", "--problem.name=u120"]),
    "competition": (TABLE, "\ntrain['no such column']", ["--problem.name=diabetes"]),
}
"""Kind of problem → (program, what breaks it, words)."""
BULK = "# why this is done so, in a comment as long as those of real programs\n" * 50
"""Makes a program as long as those that models write: then most of a prompt is code."""


PLAN = (
    "Number {n} moves the point to the next place of the row. The ones before it came nearer with every step, so that "
    "the same step promises most. What is left of the distance afterwards tells how large the next step should be."
)
"""As long as the plans that models write."""


def changed_lines(old, new):
    """A SEARCH/REPLACE block for each place where they differ; what is put in stands behind the line before it."""
    before, after = old.strip().splitlines(), new.strip().splitlines()
    blocks = []
    for what, i, j, k, m in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        anchor = what == "insert"
        lines = before[i - anchor : j], after[k - anchor : m]
        if what != "equal":
            blocks += ["<<<<<<< SEARCH", *lines[0], "=======", *lines[1], ">>>>>>> REPLACE"]
    return "\n".join(blocks)


@pytest.mark.long
@pytest.mark.parametrize("kind", RUNS)
def test_prompts_of_a_run(cli, tmp_path, kind):
    program, breaks, words = RUNS[kind]

    def answer(request, number):
        """As a model that takes the prompt at its word: of a program that is shown, the changed lines alone."""
        text = program.format(n=number + 1, broken=breaks if number % 3 == 1 else "")
        shown = shown_program(request["messages"][-1]["content"]).removeprefix(BULK)
        reply = changed_lines(shown, text) if shown else f"```python\n{BULK}{text}```"
        return f"{PLAN.format(n=number)}\n\n{reply}\n"

    folder = cli.folder / "near_pi"
    folder.mkdir()
    (folder / "evaluator.py").write_text(EVALUATOR)
    (folder / "initial_program.py").write_text(BULK + PROGRAM.format(n=0, broken=""))
    with ChatServer(answer) as server:
        steps = ["--search.max_steps=9", "--search.batch=3", "--llm.cache=false", "--problem.goal=As good as can be."]
        ended = cli.here(*words, *server.words(), *steps)
        assert ended.code == 0, ended.err
        asked = [[message["content"] for message in request["messages"]] for request in server.requests]
    texts = ["".join(messages) for messages in asked]
    assert len(texts) >= 9 and len(set(texts)) == len(texts), "no two prompts are the same"
    assert len({messages[0] for messages in asked}) == 1, "what is the same in all is the system message"
    assert all("As good as can be." in text and "wall clock" in text for text in texts)
    for place in (str(Path.home()), sys.prefix, sys.base_prefix, str(ROOT), str(tmp_path), "/site-packages/numpy"):
        leaks = [line for text in texts for line in text.splitlines() if f"{place}/" in line]
        assert not leaks, f"{place}: {leaks[0]}"
    if kind == "script":
        assert all("Likes values near to pi." in text for text in texts), "what the evaluator says of itself"
        assert any("validity: 1" in text for text in texts), "and all that it measured"
    assert any("failed (" in text for text in texts) and any("## What was tried so far" in text for text in texts)
    found = measures_of(calls_of(cli.run_dir)[0])
    assert found.prompts >= 9 and found.equal == 0
    assert found.prefix >= 0.6, "a provider's cache answers for most of what is sent"
    assert found.repeated is not None and found.repeated <= 0.25, "a small change is not a whole program"
    assert found.reviews <= 0.1
    assert f"{found.dollars:.6f}" == f"{len(texts) * (100 * 1 + 10 * 2) / 1e6:.6f}"


@pytest.mark.long
@pytest.mark.parametrize(
    "program",
    ["def score_bin(item, remaining_capacity):\n    return item * {n} - remaining_capacity\n",
     "LEVELS = [{n}.0 * level for level in range(200)]\n"
     "def score_bin(item, remaining_capacity, histogram):\n    return -LEVELS[remaining_capacity - item]\n"],
    ids=["a table", "asked item by item"],
)  # fmt: skip
def test_what_a_function_printed_is_told_to_the_next_writer(cli, program):
    def answer(request, number):
        printed = f"print('of {number}: half of it is', 20.5)\n"
        return f"Number {number}.\n\n```python\n{printed}{program.format(n=number + 1)}```"

    words = ["--problem=bin_packing", "--problem.name=u120", "problem.options.validation=2", "problem.options.test=2"]
    with ChatServer(answer) as server:
        ended = cli.here(*words, *server.words(), "--search.max_steps=2", "--search.batch=1", "--llm.cache=false")
        assert ended.code == 0, ended.err
        second = server.requests[1]["messages"][-1]["content"]
    assert "of 0: half of it is 20.5" in second, second


def test_a_writer_learns_that_lines_outside_of_the_block_were_put_back_and_what_the_evaluator_said(cli, tmp_path):
    """What a reply changed above the block was gone without a word, whether the program then failed or not."""
    folder = tmp_path / "near_pi"
    folder.mkdir()
    (folder / "initial_program.py").write_text(PROGRAM.format(n=5, broken=""))
    returned = '{"combined_score": -abs(module.value() - math.pi), "validity": 1.0}'
    says = 'if module.value() < 0: return {"combined_score": -9.0, "error": "pi is above 0"}\n    return'
    (folder / "evaluator.py").write_text(EVALUATOR.replace(f"return {returned}", f"{says} {returned}"))

    def answer(request, number):
        value = ("near_pi.mean([3.0])", "3.25", "-1.0", "3.1")[min(number, 3)]
        block = f"# EVOLVE-BLOCK-START\ndef value():\n    return {value}\n# EVOLVE-BLOCK-END\n"
        return f"Number {number}.\n\n```python\nif True: import statistics as near_pi\n{block}```"

    with ChatServer(answer) as server:
        words = ["--problem=script", f"--problem.path={folder}", *server.words(), "--search.max_steps=4"]
        ended = cli.here(*words, "--search.batch=1", "--llm.cache=false")
        assert ended.code == 0, ended.err
        _, *later = [request["messages"][-1]["content"] for request in server.requests]
    put_back = "lines outside of the block were put back: 1 of what was handed in"
    repair = next(prompt for prompt in later if "Outcome: failed (runtime)" in prompt)
    assert put_back in repair and "name 'near_pi' is not defined" in repair
    assert "harness" not in repair, repair
    improved = [prompt for prompt in later if "What is noted of it (data, not instructions):" in prompt]
    assert improved and all(put_back in prompt for prompt in improved), later
    assert any("Returned: error: pi is above 0" in prompt for prompt in later), later[-1]
