"""Tasks in the forms of AlphaEvolve on Google Cloud, written here: an evaluator is handed a program's text."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.command_line import Cli

import swarm_evo
from problems.evaluator_forms import template_of

pytestmark = pytest.mark.usefixtures("forked_children")

PROGRAM = '''
# EVOLVE-BLOCK-START
def marks(length):
    return [0, 1, 3]


# EVOLVE-BLOCK-END


def evaluate(eval_inputs):
    """How many distances a ruler measures."""
    found = marks(eval_inputs["length"])
    print("marks at", found)
    return {"distances": float(len({b - a for a in found for b in found if b > a}))}
'''
LONGER = PROGRAM.replace("[0, 1, 3]", "[0, 1, 4, 6]")
RAISES = PROGRAM.replace("[0, 1, 3]", "[0, 1, None]")
LIBRARY = """
import os

from alpha_evolve.models import (
    AlphaEvolveEvaluationInsight,
    AlphaEvolveEvaluationInsights,
    AlphaEvolveEvaluationScore,
    AlphaEvolveEvaluationScores,
    AlphaEvolveProgramEvaluation,
)
from .ruler import LENGTH

RULER_EVALUATION_METRIC = "distances"
with open(os.path.join(os.path.dirname(__file__), "program.py")) as file:
    INITIAL = file.read()


def save(candidate, folder="programs"):
    return candidate.get("content"), folder


def ruler_evaluation(program_candidate):
    insights, score = [], None
    try:
        scope = {}
        exec(program_candidate["content"]["files"][0]["content"], scope)
        score = scope["evaluate"]({"length": LENGTH})[RULER_EVALUATION_METRIC]
    except Exception as error:
        insights.append(AlphaEvolveEvaluationInsight(label="Runtime Error", text=f"the ruler broke: {error}"))
    scores = [AlphaEvolveEvaluationScore(metric="length", score=float(LENGTH))]
    scores.append(AlphaEvolveEvaluationScore(metric=RULER_EVALUATION_METRIC, score=score))
    told = AlphaEvolveProgramEvaluation(
        scores=AlphaEvolveEvaluationScores(scores=scores),
        insights=AlphaEvolveEvaluationInsights(insights=insights),
    )
    return told.model_dump()
"""
STARTED = """
import os

from alpha_evolve.experiment import AlphaEvolveExperiment

MAX_PROGRAMS_GENERATED = int(os.getenv("MAX_PROGRAMS_GENERATED", "7"))
CONCURRENCY = 4
CONFIG = {"title": "Ruler", "problem_description": "Measure many distances with few marks."}
"""
CLI = """
import argparse
import contextlib
import io
import json
import os
import sys
import traceback

EVALUATION_METRIC = "distances"


def evaluate_program(code, timeout_seconds=30):
    said = io.StringIO()
    try:
        scope = {}
        with contextlib.redirect_stdout(said):
            exec(code, scope)
            score = scope["evaluate"]({"length": 6})[EVALUATION_METRIC]
    except Exception as error:
        told = [{"label": "stdout", "text": said.getvalue()}, {"label": "error", "text": f"the ruler broke: {error}"}]
        return {"score": None, "insights": [*told, {"label": "error", "text": traceback.format_exc()}]}
    return {"score": score, "insights": [{"label": "stdout", "text": said.getvalue()}]}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--output-file", required=True)
    parser.add_argument("--program-dir", required=True)
    args = parser.parse_args()
    sys.path.insert(0, args.program_dir)
    with open(os.path.join(args.program_dir, "initial_program.py")) as file:
        result = evaluate_program(file.read())
    with open(args.output_file, "w") as file:
        json.dump(result, file)


if __name__ == "__main__":
    main()
"""


def library_task(folder: Path) -> Path:
    """As an example of their library lies: a package, and what starts a search in it."""
    for package in ("ruler", "ruler/src"):
        (folder / package).mkdir()
        (folder / package / "__init__.py").write_text('raise RuntimeError("of another machine")\n')
    (folder / "ruler" / "src" / "program.py").write_text(PROGRAM)
    (folder / "ruler" / "src" / "evaluate.py").write_text(LIBRARY)
    (folder / "ruler" / "src" / "ruler.py").write_text("LENGTH = 6\n")
    (folder / "ruler" / "src" / "run_evolution.py").write_text(STARTED)
    return folder / "ruler"


def cli_task(folder: Path) -> Path:
    task = folder / "golomb"
    task.mkdir()
    (task / "initial_program.py").write_text(PROGRAM)
    (task / "evaluator.py").write_text(CLI)
    (task / "problem_description.md").write_text("# Golomb\n\nMeasure many distances with few marks.\n")
    return task


@pytest.mark.parametrize("task", [library_task, cli_task])
def test_scores_are_the_evaluators_and_its_insights_reach_the_next_writer(tmp_path: Path, task):
    settings = {"problem__path": str(task(tmp_path)), "search__repeats": 0, "logging__report": False}
    with swarm_evo.open(problem="script", budget={"steps": 3}, project_dir=tmp_path, **settings) as run:
        broken = run.tell(run.ask(), code=RAISES)
        better = run.tell(run.ask(), code=LONGER)
        prompt = str(run.ask())
        start = run.nodes()[0]
    assert (start["metric"], better["metric"], better["metric_source"]) == (3, 6, "unisolated")
    assert broken["failure"] == "eval_error" and "no metric 'distances'" in broken["message"]
    assert "the ruler broke: " in broken["message"], "what went wrong is the evaluator's to say"
    assert "Measure many distances with few marks." in prompt


def test_the_folder_says_what_steers_and_how_long(cli: Cli):
    ended = cli.here("run", "--problem", "script", f"problem.path={library_task(cli.folder)}", "logging.report=false")
    assert ended.code == 0, ended.err
    assert "MAX_PROGRAMS_GENERATED → search.max_steps" in ended.out and "not read: CONCURRENCY" in ended.err
    shown = cli.show()
    section, search = shown["config"]["problem"], shown["config"]["search"]
    assert (section["metric"], section["direction"], search["max_steps"]) == ("distances", "max", 7)


def test_a_command_line_that_writes_nothing_is_told(cli: Cli):
    task = cli_task(cli.folder)
    (task / "evaluator.py").write_text(CLI.replace("json.dump(result, file)", "pass").replace('"w"', '"r"'))
    ended = cli.here("run", "--problem", "script", f"problem.path={task}", "search.max_steps=1")
    assert ended.code == 2 and "cannot be scored" in ended.err and "scores.json" in ended.err
    assert "initial_program.py scores itself outside of its marks: --problem.path=" in ended.err


def test_an_evaluator_of_openevolves_is_none_of_theirs(tmp_path: Path):
    task = cli_task(tmp_path)
    found = template_of(task / "evaluator.py")
    assert found is not None and found.kind == "candidate"
    assert found.asks == {"run": "--program-dir", "file": "initial_program.py"}
    (task / "evaluator.py").write_text(CLI + "\n\ndef evaluate(program_path):\n    return 1\n")
    assert template_of(task / "evaluator.py") is None
    (task / "initial_program.py").unlink()
    (task / "evaluator.py").write_text(CLI)
    assert template_of(task / "evaluator.py") is None, "there is no program beside it"
