"""A task in ReEvo's form, written here: a script imports the program as `gpt` and prints what it is worth."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.command_line import Cli

import swarm_evo
from problems.evaluator_forms import template_of

pytestmark = pytest.mark.usefixtures("forked_children")

EVAL = """
import sys
from os import path

import numpy as np
from utils.names import heuristic_of

import gpt
from pool import draw

heuristic = heuristic_of(gpt)

if __name__ == "__main__":
    print("[*] Running ...")
    size, root, mood = int(sys.argv[1]), sys.argv[2], sys.argv[3]
    assert mood in ["train", "val"] and path.isdir(path.join(root, "prompts"))
    lost = []
    for number, items in enumerate(draw(size)):
        taken = items[int(np.argmax(heuristic(items)))]
        lost.append(max(items) - taken)
        print(f"[*] Instance {number}: {lost[-1]}")
    print("[*] Average:")
    print(np.mean(lost))
"""
POOL = """
import numpy as np


def draw(size):
    rng = np.random.default_rng(7)
    return [rng.random(size) for _ in range(4)]
"""
NAMES = """
def heuristic_of(module):
    return next(getattr(module, name) for name in ("choice", "choice_v1", "choice_v2") if hasattr(module, name))
"""
SEED = 'def choice_v1(items: np.ndarray) -> np.ndarray:\n    """Which item."""\n    return -items\n'
BEST = "def choice_v2(items):\n    return items\n"
RAISES = "def choice_v2(items):\n    raise ValueError('no idea')\n"


def checkout(folder: Path, way: str = "min") -> Path:
    texts = {
        "problems/pick/eval.py": EVAL,
        "problems/pick/pool.py": POOL,
        "utils/names.py": NAMES,
        "cfg/problem/pick.yaml": f"problem_name: pick\nproblem_type: online\nobj_type: {way}\nproblem_size: 6 # items\n"
        "func_name: choice\ndescription: Picking one of several items.\n",
        "prompts/pick/seed_func.txt": SEED,
        "prompts/pick/func_desc.txt": "The item of the highest priority is taken.",
    }
    for name, text in texts.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder / "problems" / "pick"


def worst_of_all() -> float:
    """What the seed, which takes the least item, loses."""
    rng = np.random.default_rng(7)
    drawn = [rng.random(6) for _ in range(4)]
    return float(np.mean([max(items) - min(items) for items in drawn]))


def test_the_seed_is_the_first_program_and_the_checkout_says_the_rest(tmp_path: Path):
    found = template_of(checkout(tmp_path) / "eval.py")
    assert found is not None and (found.kind, found.asks) == ("printed", {"size": 6})
    assert found.program.startswith("import numpy as np\n\n\ndef choice_v2(") and found.lower_is_better is True
    assert found.about == "Picking one of several items.\n\nThe item of the highest priority is taken."
    other = checkout(tmp_path / "other", way="max")
    assert (one := template_of(other / "eval.py")) is not None and one.lower_is_better is False
    (other.parents[1] / "cfg" / "problem" / "pick.yaml").write_text("func_name: [\n")
    assert template_of(other / "eval.py") is None
    (other / "eval.py").write_text(EVAL.replace("import gpt", "import json as gpt"))
    assert template_of(other / "eval.py") is None


def test_what_the_script_prints_last_is_the_score(tmp_path: Path):
    settings = {"problem__path": str(checkout(tmp_path)), "search__repeats": 0, "logging__report": False}
    with swarm_evo.open(problem="script", budget={"steps": 3}, project_dir=tmp_path, **settings) as run:
        best, broken = (run.tell(run.ask(), code=code) for code in (BEST, RAISES))
        prompt = str(run.ask())
        start = run.nodes()[0]
    assert start["metric"] == pytest.approx(worst_of_all()) and best["metric"] == 0
    assert best["metric_source"] == "verified", "the function alone runs where programs do"
    assert broken["failure"] == "runtime" and "no idea" in broken["message"]
    assert "The item of the highest priority is taken." in prompt and "Instance 3:" in prompt


def test_its_direction_and_size_are_the_checkouts_and_a_script_without_a_number_is_told(cli: Cli):
    folder = checkout(cli.folder, way="max")
    words = ["run", "--problem", "script", f"problem.path={folder}", "search.max_steps=1", "logging.report=false"]
    assert cli.here(*words, "problem.options.evaluator_args.problem_size=2").code == 0
    assert cli.show()["config"]["problem"]["direction"] == "max"
    refused = cli.here(*words, "problem.options.evaluator_args.size=2")
    assert refused.code == 2 and "allowed: problem_size" in refused.line
    (folder / "eval.py").write_text(EVAL.replace("print(np.mean(lost))", "print('done')"))
    ended = cli.here(*words)
    assert ended.code == 2 and "eval.py ends with 'done', and not with a number" in ended.line
