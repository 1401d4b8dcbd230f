"""Tasks in the forms of ShinkaEvolve and CodeEvolve, written here: a function writes what a program is worth."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.command_line import ROOT, Cli

from problems.evaluator_forms import template_of
from problems.script.job import write_harness

SHINKAS = """
import importlib.util, json, os

def main(program_path: str, results_dir: str):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    found, error = {}, None
    try:
        found = {"combined_score": program.worth(4), "public": {"asked": 4}, "private": {"hidden": 77}}
        found |= {"text_feedback": "larger is better", "errors": []}
    except Exception as failed:
        error = str(failed)
    for name, told in (("metrics", found), ("correct", {"correct": not error, "error": error})):
        with open(os.path.join(results_dir, f"{name}.json"), "w") as file:
            json.dump(told, file)
    return found
"""
CODEEVOLVES = """
from importlib import __import__
import json, os, sys, time

def evaluate(program_path: str, results_path: str = None) -> None:
    folder = os.path.dirname(os.path.abspath(program_path))
    sys.path.insert(0, folder)
    began = time.time()
    value = __import__(os.path.splitext(os.path.basename(program_path))[0]).worth(4)
    if value > 1000:
        raise ValueError("too large")
    with open(results_path, "w") as file:
        json.dump({"value": float(value), "ratio": value / 8, "eval_time": time.time() - began}, file)

if __name__ == "__main__":
    evaluate(sys.argv[1], sys.argv[2])
"""
PROGRAM = "def worth(number):\n    return number * 3\n"
BEST = "def worth(number):\n    return number * 200\n"


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str, str], dict[str, Any]]:
    """What the harness makes of what an evaluator's file writes of a program."""

    def ask(evaluator: str, program: str) -> dict[str, Any]:
        path = tmp_path / "judge.py"
        path.write_text(evaluator)
        (tmp_path / "candidate.py").write_text(program)
        template = template_of(path)
        assert template is not None and template.kind == "written"
        options = {"thresholds": [], "cascade": True, "metric": None, "template": template.harness}
        spec = importlib.util.spec_from_file_location("made", write_harness(tmp_path / "made", str(path), options))
        assert spec is not None and spec.loader is not None
        harness = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(harness)
        monkeypatch.setattr(sys, "path", [*sys.path])
        monkeypatch.chdir(tmp_path)
        found: dict[str, Any] = harness.evaluate(str(tmp_path / "candidate.py"))
        assert sorted(one.name for one in tmp_path.iterdir() if one.name.startswith("tmp")) == [], "nothing is left"
        return found

    return ask


def test_what_shinkas_function_leaves_is_read_but_for_what_is_private(asked):
    assert asked(SHINKAS, PROGRAM) == {
        "metrics": {"combined_score": 12, "asked": 4},
        "artifacts": {"text_feedback": "larger is better"},
    }
    refused = asked(SHINKAS, "def worth(number):\n    raise ValueError('it is tired')\n")
    assert refused == {"metrics": {}, "artifacts": {}, "refused": "it is tired"}


@pytest.mark.parametrize(
    ("files", "told"),
    [
        ({}, "it wrote no correct.json that can be read: FileNotFoundError"),
        ({"correct.json": "["}, "it wrote no correct.json that can be read: JSONDecodeError"),
        ({"correct.json": "[1]"}, "correct.json holds list, and no object"),
        ({"correct.json": '{"correct": true}'}, "it wrote no metrics.json that can be read: FileNotFoundError"),
    ],
)
def test_a_function_that_writes_something_else_is_told(asked, files: dict[str, str], told: str):
    body = f"for name, text in {files}.items():\n        pathlib.Path(results_dir, name).write_text(text)\n"
    with pytest.raises(RuntimeError, match=told):
        asked(f"import pathlib\n\ndef main(program_path, results_dir):\n    {body}", PROGRAM)


@pytest.fixture
def codeevolves(cli: Cli) -> Path:
    folder = cli.folder / "theirs"
    (folder / "input/src").mkdir(parents=True)
    (folder / "configs").mkdir()
    (folder / "input/evaluate.py").write_text(CODEEVOLVES)
    (folder / "input/src/init_program.py").write_text(PROGRAM)
    (folder / "configs/config.yaml").write_text(
        "SYS_MSG: Make it worth much.\nEVAL_TIMEOUT: 30\nEVOLVE_CONFIG: {fitness_key: ratio, num_epochs: 2}\n"
    )
    return folder


def test_codeevolves_task_is_kept_apart_from_its_programs(cli: Cli, codeevolves: Path):
    (cli.folder / "better.py").write_text(BEST)
    (cli.folder / "too_large.py").write_text(BEST.replace("200", "3000"))
    words = ["run", "--problem", "script", f"problem.path={codeevolves}", "logging.report=false"]
    ended = cli.here(*words, "search.batch=1", "initial=better.py,too_large.py")
    assert ended.code == 0, ended.err
    found = cli.show()
    assert found["metric_source"] == "verified" and found["best_metric"] == 100
    assert next(row for row in found["baselines"] if row["own"])["metric"] == 1.5
    failed = [cli.node(node["node_id"]) for node in found["nodes"] if node["failure"]]
    assert any("ValueError: too large" in node["message"] for node in failed), failed


def test_a_function_that_writes_can_be_named_with_its_program(cli: Cli):
    (cli.folder / "judge.py").write_text(SHINKAS)
    (cli.folder / "first.py").write_text(PROGRAM)
    words = ["run", "--problem", "script", "problem.evaluator=judge.py", "search.max_steps=1", "logging.report=false"]
    lacking = cli.here(*words)
    assert lacking.code == 2 and "--problem.program=FILE names one" in lacking.line
    ended = cli.here(*words, "problem.program=first.py")
    assert ended.code == 0, ended.err
    assert cli.show()["metric_source"] == "verified"


@pytest.mark.long
def test_it_can_be_attacked_with_its_program_beside_it(cli: Cli):
    ended = cli("doctor", "--evaluator", str(ROOT / "examples/shinka/coins/evaluate.py"))
    assert ended.code == 0 and ended.out.endswith("in a run none of them wins.\n"), ended.out
