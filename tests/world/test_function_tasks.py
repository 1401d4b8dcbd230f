"""Tasks of EoH, LLM4AD, FunSearch, SkyDiscover and CodeEvolve, unmodified, each by one command line.

They are looked for in the folder that `NEIGHBOURS` names, each checkout under its repository's name, else fetched from
GitHub. The first program's score is the one that their own code computes. Nothing of theirs is kept.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

MAIN = Path(__file__).resolve().parent.parent.parent / "main.py"
TASKS = [
    ("FeiLiu36/EoH", "examples/tsp_construct_class", 6.607879, "verified"),
    ("FeiLiu36/EoH", "examples/admissible_set", 1017, "verified"),
    ("Optima-CityU/LLM4AD", "llm4ad/task/optimization/qap_construct", -0.9666535, "verified"),
    ("Optima-CityU/LLM4AD", "llm4ad/task/optimization/set_cover_construct", -13.8125, "verified"),
    ("google-deepmind/funsearch", "implementation", 56, "verified"),
    ("skydiscover-ai/skydiscover", "benchmarks/math/heilbronn_convex/13", 0.010423104, "verified"),
    ("inter-co/science-codeevolve", "benchmarks/minimizing_max_min_dist/2", 0.0197911, "verified"),
]
INPUTS = {"implementation": "--problem.options.evaluator_args.inputs=[[8,5]]"}


@pytest.fixture(scope="module")
def checkouts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return Path(os.environ.get("NEIGHBOURS") or tmp_path_factory.mktemp("neighbours"))


def fetched(checkouts: Path, repository: str) -> Path:
    folder, source = checkouts / repository.rpartition("/")[2], f"https://github.com/{repository}"
    if not folder.is_dir():
        try:
            words = ["git", "clone", "-q", "--depth=1", source, str(folder)]
            subprocess.run(words, check=True, capture_output=True, timeout=300)
        except (OSError, subprocess.SubprocessError):
            pytest.skip(f"{source} cannot be fetched here; name a folder with its checkout in NEIGHBOURS")
    return folder


@pytest.mark.parametrize(("repository", "task", "score", "source"), TASKS)
def test_a_neighbours_task_begins_with_the_score_that_its_own_code_computes(
    checkouts: Path, tmp_path: Path, repository: str, task: str, score: float, source: str
):
    folder = fetched(checkouts, repository) / task
    words = ["run", "--json", "--problem", "script", f"--problem.path={folder}", "--search.max_steps=1"]
    words += ["--search.batch=1", "--search.repeats=0", "--logging.report=false", *filter(None, [INPUTS.get(task)])]
    ended = subprocess.run(
        [sys.executable, str(MAIN), *words], cwd=tmp_path, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found = json.loads(ended.stdout)
    assert found["baselines"][0]["metric"] == pytest.approx(score, rel=1e-4)
    assert found["metric_source"] == source
