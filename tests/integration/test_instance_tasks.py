"""Tasks whose instances lie in files, in the forms of CO-Bench, FrontierCO and HeuriGym; all of them written here."""

from __future__ import annotations

import json
import math
import textwrap
from pathlib import Path
from typing import Any

import pytest
from support.command_line import Cli, Ended
from support.mcp_client import McpClient

pytestmark = pytest.mark.usefixtures("forked_children")

LARGEST = '''
"""Largest numbers, in CO-Bench's form."""
import time
import statistics

DESCRIPTION = "Name the largest of some numbers."


def solve(**kwargs):
    """Returns {'largest': number}."""
    numbers = kwargs["numbers"]
    if len(numbers) == 3:
        while True:
            time.sleep(0.05)
    if len(numbers) == 4:
        raise ValueError("four are too many")
    return {"largest": statistics.median_high(numbers)}


def load_data(path):
    with open(path) as file:
        return [{"numbers": [int(word) for word in line.split()]} for line in file]


def eval_func(numbers, largest):
    if largest not in numbers:
        raise ValueError(f"{largest} is none of them")
    return largest


def norm_score(results):
    best = {"a.txt": [5, 9, 9, 4], "b.txt": [8, 8]}
    return {
        case: ([one if isinstance(one, str) else one / best[case][at] for at, one in enumerate(scores)], error)
        for case, (scores, error) in results.items()
        if case in best
    }
'''
DEV = '\n\ndef get_dev():\n    return {"a.txt": [0, 1, 2], "b.txt": []}\n'
YIELDS = """
DESCRIPTION = "Count as high as you can; 3 is the best that is known."


def solve(**kwargs):
    while True:
        for found in range(1, kwargs["bound"] + 1):
            yield {"count": found}
        while True:
            yield {"count": kwargs["bound"]}


def load_data(path):
    with open(path) as file:
        return [{"bound": int(file.read())}]


def eval_func(**kwargs):
    return kwargs["count"]
"""
VERIFIER = """
from words import read


def verify(input_file, output_file):
    given, written = read(input_file), read(output_file)
    return (set(given) == set(written), f"the words are {len(given)}, not {len(written)}")
"""
EVALUATOR = """
from words import read


def evaluate(input_file, output_file):
    print("this is for people")
    written = read(output_file)
    return sum(a > b for a, b in zip(written, written[1:])) + 1
"""
SOLVER = """
def solve(input_file, solution_file):
    with open(input_file) as file:
        words = file.read().split()
    if len(words) == 1:
        return
    with open(solution_file, "w") as file:
        file.write(" ".join(words[: 4]))
"""


def search(cli: Cli, folder: Path, *more: str) -> Ended:
    words = ["run", "--json", "--problem", "script", f"problem.path={folder}", "search.max_steps=1", "search.batch=1"]
    return cli.here(*words, "search.repeats=0", "logging.report=false", *more)


def ours(found: dict[str, Any]) -> dict[str, Any]:
    return next(row for row in found["baselines"] if row["own"])


def instances_told(cli: Cli) -> str:
    """What the next writer hears of the first program's instances."""
    return cli.here("show", "latest", "[0]", "--json").json["artifacts"]["instances"]


def filled(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


def test_co_benchs_task_is_scored_as_there_and_its_other_instances_only_at_the_end(cli: Cli):
    """One instance is solved, one in time by nobody, one not at all; a README is none."""
    data = {"a.txt": "5 1\n9 1 2\n9 8 7 6\n3 1 4 2 3\n", "b.txt": "7 8\n8 1\n", "README.md": "no numbers\n"}
    folder = filled(cli.folder / "Largest numbers", {"config.py": LARGEST + DEV, **data})
    ended = search(cli, folder, "problem.options.evaluator_args.timeout=0.5")
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["metric_source"] == "verified"
    dev, rest = ((1 + 0 + 0) / 3 + 1) / 2, (3 / 4 + 1) / 2
    assert ours(found)["metric"] == pytest.approx(dev) and ours(found)["final"] == pytest.approx(rest)
    told = instances_told(cli)
    of_a = "a.txt -> 1.000, Exception: Timeout (0.5s), Exception: four are too many"
    assert told.splitlines() == [of_a, "b.txt -> 1.000"]


def test_a_program_that_fails_alike_on_many_instances_is_told_of_it_once(cli: Cli):
    data = {f"{name}.txt": "1 2 3\n3 1 2 5 4\n3 1 2 5 4 6\n9 8 7 6\n" for name in "abcdef"}
    text = LARGEST.replace('    return {"largest"', '    numbers[len(numbers)]\n    return {"largest"')
    folder = filled(cli.folder / "theirs", {"config.py": text[: text.index("def norm_score")], **data})
    ended = search(cli, folder, "problem.options.evaluator_args.timeout=0.3", "execution.timeout=2")
    assert ended.code == 0, ended.err
    shown = cli.here("show", "latest", "[0]").out
    prompt = cli.here("step", "latest", "--until", "prompt").out
    with McpClient(cli.folder) as client:
        output = client.call("node", node="[0]", part="output")["text"]
    assert output.count("Traceback") == 3 and "[this traceback came 12 times]" in output
    assert "took over" not in prompt, "all instances together are no call that may take two seconds"
    for told in (shown, prompt):
        assert "on 6 of 24, first a.txt: Exception: Timeout (0.3s)" in told
        assert "on 6 of 24, first a.txt: Exception: four are too many" in told
        assert told.count("IndexError: list index out of range\n[this traceback came 12 times]") == 1
        assert told.count("ValueError: four are too many\n[this traceback came 6 times]") == 1
        assert told.count("Traceback") == 3, "of the third kind, too late, there is one as well"
        assert "f.txt -> failed as [1], failed as [2], failed as [2], failed as [3]" in told


def test_what_is_yielded_last_in_time_counts_and_only_the_instances_for_a_search_steer(cli: Cli):
    data = {
        "valid_instances/a.txt": "3",
        "valid_instances/b.txt": "5",
        "hard_test_instances/c.txt": "7",
        "a_sol/x": "?",
    }
    folder = filled(cli.folder / "COUNT", {"config.py": YIELDS, **data})
    ended = search(cli, folder, "problem.options.evaluator_args.timeout=0.3")
    assert ended.code == 0, ended.err
    assert (ours(json.loads(ended.out))["metric"], ours(json.loads(ended.out))["final"]) == (4, 7)
    skips = search(cli, folder, "problem.options.evaluator_args={timeout: 0.3, filter_key: [_test_, b.txt]}")
    assert (ours(json.loads(skips.out))["metric"], ours(json.loads(skips.out))["final"]) == (3, None)


@pytest.mark.parametrize("parts", [True, False])
def test_heurigyms_task_is_scored_by_verifier_evaluator_and_what_experts_need(cli: Cli, parts: bool):
    here, there = ("demo/", "eval/") if parts else ("", "")
    texts = {
        f"{here}one.txt": "b a",
        f"{here}two.txt": "a",
        f"{there}three.txt": "c b a",
        f"{there}four.txt": "e d c b a",
    }
    files = {f"dataset/{name}": text for name, text in texts.items()} | {"dataset/README.md": "words"}
    files |= {"program/evaluator.py": EVALUATOR, "program/verifier.py": VERIFIER, "program/solver.py": SOLVER}
    files |= {"program/words.py": "def read(path):\n    with open(path) as file:\n        return file.read().split()\n"}
    files |= {"baseline/baseline.json": '{"one": 1, "two": 1, "three": 3, "four": 1}', "README.md": "# Sort words\n"}
    ended = search(cli, filled(cli.folder / "sorting", files))
    assert ended.code == 0, ended.err
    found = json.loads(ended.out)
    assert found["metric_source"] == "verified"

    def index(qualities: list[float], instances: int) -> float:
        quality, share = math.prod(qualities) ** (1 / len(qualities)), len(qualities) / instances
        return 2 * quality * share / (quality + share)

    if parts:
        assert ours(found)["metric"] == pytest.approx(index([1 / 2], 2)) and ours(found)["final"] == pytest.approx(
            index([1], 2)
        )
    else:
        assert ours(found)["metric"] == pytest.approx(index([1 / 2, 1], 4)) and ours(found)["final"] is None
    told = instances_told(cli)
    assert "one -> valid, cost 2.0" in told and "two -> no solution file was written, or an empty one" in told
    assert parts or "four -> Verification failed: the words are 5, not 4" in told


def test_an_instance_may_lie_in_several_files_of_one_name(cli: Cli):
    """As in HeuriGym's global routing, where they are called for what they hold."""
    evaluator = "def evaluate(cap_file, net_file, solution_file):\n    return float(open(solution_file).read())\n"
    verifier = "def verify(cap_file, net_file, output_file, strict=False):\n    return cap_file.endswith('.cap'), ''\n"
    solver = (
        "def solve(cap, net, out):\n    words = open(cap).read() + open(net).read()\n    open(out, 'w').write(words)\n"
    )
    files = {"dataset/a.net": "2", "dataset/a.cap": "1", "dataset/b.cap": "3", "dataset/b.net": "4"}
    files |= {"program/evaluator.py": evaluator, "program/verifier.py": verifier, "program/solver.py": solver}
    ended = search(cli, filled(cli.folder / "routing", files))
    assert ended.code == 0 and ours(json.loads(ended.out))["metric"] == (12 + 34) / 2, ended.err


def test_without_experts_the_mean_cost_is_minimised_and_each_instance_needs_a_solution(cli: Cli):
    files = {"dataset/one.txt": "b a", "dataset/three.txt": "c b a", "program/evaluator.py": EVALUATOR}
    files |= {"program/words.py": "def read(path):\n    with open(path) as file:\n        return file.read().split()\n"}
    folder = filled(cli.folder / "sorting", {**files, "program/verifier.py": VERIFIER, "program/solver.py": SOLVER})
    ended = search(cli, folder)
    assert ended.code == 0, ended.err
    assert ours(json.loads(ended.out))["metric"] == 2.5 and cli.show()["config"]["problem"]["direction"] == "min"
    (folder / "program" / "solver.py").unlink()
    ended = search(cli, folder)
    failed = "a task without a first solver begins with one that is still to be written"
    assert ended.code == 3 and ours(json.loads(ended.out))["failure"] == "runtime", failed


@pytest.mark.parametrize(
    ("files", "says"),
    [
        ({"config.py": LARGEST + DEV, "other.txt": "1 2"}, "no file beside config.py is one of get_dev()'s"),
        ({"config.py": LARGEST, "a.txt": "one two"}, "a.txt: load_data: invalid literal for int()"),
        ({"program/evaluator.py": "from os import getpid\n" + EVALUATOR.replace("from words import read", ""),
          "program/verifier.py": "def verify(input_file, output_file):\n    return True, ''\n"},
         "no instance: the files of HeuriGym's data set belong there"),
    ],
)  # fmt: skip
def test_a_folder_without_its_instances_is_told_in_one_line(cli: Cli, files: dict[str, str], says: str):
    ended = search(cli, filled(cli.folder / "theirs", files))
    assert ended.code == 2 and says in ended.line and "Traceback" not in ended.err


def test_an_argument_that_the_form_has_no_use_for_is_refused(cli: Cli):
    folder = filled(cli.folder / "theirs", {"config.py": LARGEST, "a.txt": "1 2"})
    ended = search(cli, folder, "problem.options.evaluator_args.seconds=3")
    assert ended.code == 2 and "evaluator_args.seconds" in ended.line and "allowed: filter_key, timeout" in ended.line


def test_a_writer_is_told_how_long_an_instance_may_take_and_that_others_decide(cli: Cli):
    folder = filled(
        cli.folder / "theirs", {"config.py": LARGEST + DEV, "a.txt": textwrap.dedent("5 1\n1 2\n9 8\n1 1\n")}
    )
    assert search(cli, folder).code == 0
    prompt = cli.here("step", "latest", "--until", "prompt").out
    assert "`solve` has 10.0 s for one instance" in prompt or "`solve` has 10 s for one instance" in prompt
    assert "scored once, at the end" in prompt and "counts 0" in prompt
