"""`swarm_evo.evolve`, handles, interrupts and what a notebook shows, as a user writes it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import pytest
from support.command_line import PLUGINS, ROOT

import swarm_evo
from swarm_evo.result import Best, Result
from swarm_evo.words import BUDGET
from utils.config_search import BudgetConfig

pytestmark = pytest.mark.usefixtures("forked_children")

TOY = {"problem__kind": "toy", "problem__plugins": str(PLUGINS), "logging__report": False}


def run_script(folder: Path, text: str, timeout: float = 120) -> str:
    """Standard output of a program of the user."""
    path = folder / "mine.py"
    path.write_text(textwrap.dedent(text))
    done = subprocess.run(
        [sys.executable, str(path)], cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True, text=True, timeout=timeout,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.long
def test_a_function_with_its_helpers_goes_in_and_a_better_one_comes_out(tmp_path):
    said = run_script(
        tmp_path,
        """
        import math
        import swarm_evo

        SCALE = 2.0

        def twice(x):
            return x * SCALE

        def f(x):
            a = 1.5
            return twice(a) + math.floor(x) * 3

        def score(g):
            print("asked for", g(2))
            return {"combined_score": -abs(g(2) - 20), "value": g(2)}

        seen = []
        result = swarm_evo.evolve(f, score, budget={"steps": 6}, seed=1, on_step=seen.append, logging__report=False)
        assert result.best.metric > -11, "better than the function that went in"
        assert -abs(result.function(2) - 20) == result.best.metric
        assert len(seen) == 7 and max(step.metric for step in seen if step.metric is not None) == result.best.metric
        table = result.nodes()
        assert len(table) == 7 and set(table["operator"]) > {"baseline"} and "metrics.value" in table
        print(repr(result), result.verdict, sep="\\n")

        @swarm_evo.evolve(score=score, budget={"steps": 2}, logging__report=False)
        def other(x):
            return x + 1

        print("decorated", other(2), other.result.run)
        """,
    )
    assert "asked for 9.0" in said, "what the user's function prints is seen"
    assert "Result('f-" in said and "your program" in said and "decorated" in said and "other-" in said


def test_a_source_text_is_as_good_as_a_function(tmp_path):
    result = swarm_evo.evolve(
        "def g(x):\n    return 2 * x\n", lambda g: -abs(g(3) - 20), project_dir=tmp_path, budget={"steps": 3},
        logging__report=False,
    )  # fmt: skip
    assert -abs(result.function(3) - 20) == pytest.approx(result.best.metric)
    assert result.best.code.startswith("# EVOLVE-BLOCK-START\ndef g(x)")
    again = swarm_evo.load(result.run, project_dir=tmp_path)
    assert again.function is result.function, "another kernel has no other way to it"


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ("x = 1", "defines no function"),
        ("def f(:", "does not parse"),
        (len, "a function of Python or a source text"),
        (lambda x: x, "made by `def`"),
    ],
)
def test_what_cannot_be_searched_is_one_clear_error(tmp_path, given, words):
    with pytest.raises(swarm_evo.SearchError, match=words):
        swarm_evo.evolve(given, lambda f: 0.0, project_dir=tmp_path)


def no_number(f):
    return None


@pytest.mark.long
def test_a_score_that_is_no_number_is_one_clear_error(tmp_path):
    with pytest.raises(swarm_evo.SearchError, match="score returned NoneType, not a number"):
        swarm_evo.evolve("def f(x):\n    return x\n", no_number, project_dir=tmp_path, budget={"steps": 2})
    assert swarm_evo.runs(project_dir=tmp_path) == [], "what was refused before its first step leaves nothing behind"


@pytest.mark.parametrize(
    ("budget", "words"),
    [
        ({"stepz": 5}, "did you mean 'steps'"),
        ({"dollars": 5}, "allowed: steps, seconds,"),
        (3, r"budget=3 \(int\): a mapping such as"),
    ],
)
def test_a_word_that_no_budget_has_is_refused_with_the_nearest(tmp_path, budget, words):
    with pytest.raises(swarm_evo.SearchError, match=words):
        swarm_evo.search(budget=budget, project_dir=tmp_path, **TOY)
    assert not list(tmp_path.iterdir())


def test_every_key_of_the_budget_is_a_word_of_pythons():
    assert set(BUDGET) == {"steps", *BudgetConfig.model_fields}


def test_a_score_that_is_no_function_is_refused_before_anything_starts(tmp_path):
    with pytest.raises(swarm_evo.SearchError, match=r"needs score=: a function .*, not 42"):
        swarm_evo.evolve("def f(x):\n    return x\n", 42, project_dir=tmp_path)
    assert not list(tmp_path.iterdir())


def test_what_a_function_uses_without_a_source_is_named(tmp_path):
    lock = object()

    def closed(x):
        return (x, lock)

    with pytest.raises(swarm_evo.SearchError, match="variables of the function around it: lock"):
        swarm_evo.evolve(closed, lambda f: 0.0, project_dir=tmp_path)


@pytest.mark.long
def test_a_handle_is_followed_awaited_loaded_and_resumed(tmp_path):
    run = swarm_evo.start(budget={"steps": 4}, project_dir=tmp_path, seed=3, **TOY)
    assert [step.step for step in run] == [1, 2, 3, 4]
    result = asyncio.run(_awaited(run))
    assert result.status == "finished" and "ended" in repr(run)
    again = swarm_evo.load(result.run, project_dir=tmp_path)
    assert again.best == result.best and again.verdict == result.verdict
    longer = swarm_evo.resume(result.run, budget={"steps": 5}, project_dir=tmp_path)
    assert longer.run == result.run and longer.facts["steps"] == 5
    more = swarm_evo.start(run="latest", budget={"steps": 6}, project_dir=tmp_path)
    assert [step.step for step in more] == [6] and more.wait().run == result.run
    assert [row["run"] for row in swarm_evo.runs(project_dir=tmp_path)] == [result.run]


def test_a_loop_that_stops_the_run_still_gets_every_step(tmp_path):
    run = swarm_evo.start(
        budget={"steps": 400}, project_dir=tmp_path, seed=3, problem__options__seconds=0.05, search__lag=16, **TOY
    )
    seen, result = [], None
    for step in run:
        seen.append(step.node_id)
        if len(seen) == 3:
            result = run.stop()
    assert result.status == "interrupted" and 3 < len(seen) < 400
    assert seen == [row["node_id"] for row in result.facts["nodes"]] and list(run) == []


def test_a_function_that_should_not_be_used_warns(tmp_path):
    """`evolve` hands over a function that is worse than the one that it was given: in one line."""
    told = {"kind": "worse", "text": "Worse than your program: do not use it, keep your program."}
    best = Best("def f(x):\n    return x\n", 1.0, "n1", "verified")
    worse = Result("run", tmp_path, best, {"verdict": told}, "f")
    with pytest.warns(UserWarning, match="do not use it"):
        assert worse.function(3) == 3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Result("run", tmp_path, best, {"verdict": {**told, "kind": "better"}}, "f").function(4) == 4


async def _awaited(run: swarm_evo.Run) -> swarm_evo.Result:
    return await run


@pytest.mark.long
def test_an_interrupt_returns_what_there_is(tmp_path):
    """Ctrl-C in a script or the stop button of a notebook: the signal reaches us alone, and the search ends well."""
    script = textwrap.dedent(f"""
        import json, signal, swarm_evo
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job is born deaf to it
        result = swarm_evo.search(
            budget={{"steps": 5000}}, project_dir={str(tmp_path)!r}, problem__kind="toy", logging__report=False,
            problem__plugins={str(PLUGINS)!r}, problem__options__seconds=0.05,
            on_step=lambda step: print(step.step, flush=True),
        )
        print(json.dumps([result.status, result.facts["steps"], result.best is not None, repr(result)]))
    """)
    child = subprocess.Popen(
        [sys.executable, "-c", script], env={**os.environ, "PYTHONPATH": str(ROOT)}, stdout=subprocess.PIPE, text=True
    )
    for line in child.stdout:
        if line.strip() == "5":
            break
    child.send_signal(signal.SIGINT)
    told = child.communicate(timeout=240)[0].strip().splitlines()[-1]
    status, steps, found, text = json.loads(told)
    assert child.returncode == 0 and status == "interrupted" and 5 <= steps < 5000 and found and "interrupted" in text


@pytest.mark.long
def test_a_step_that_raises_ends_the_run_and_is_raised(tmp_path):
    def stop(step):
        raise KeyError("enough")

    began = time.monotonic()
    with pytest.raises(KeyError, match="enough"):
        swarm_evo.search(
            budget={"steps": 500}, project_dir=tmp_path, on_step=stop, problem__options__seconds=0.05, **TOY
        )
    assert time.monotonic() - began < 120 and swarm_evo.runs(project_dir=tmp_path)[0]["status"] == "interrupted"


@pytest.mark.long
def test_a_result_is_shown_as_verdict_curve_program_and_link(tmp_path):
    result = swarm_evo.search(budget={"steps": 6}, project_dir=tmp_path, seed=3, **{**TOY, "logging__report": True})
    page = result._repr_html_()
    assert result.verdict in page and "<svg" in page and result.best.code.strip() in page and "report.html" in page
    assert len(repr(result)) < 200 and result.run in repr(result)
    axes = result.plot()
    assert len(axes.get_lines()) == 2 and "lower is better" in axes.get_ylabel()
    axes.figure.savefig(tmp_path / "curve.png")
    assert (tmp_path / "curve.png").stat().st_size > 2000


def test_the_package_says_that_it_is_typed():
    assert (Path(swarm_evo.__file__).parent / "py.typed").is_file()
