"""What an evaluator leaves behind, by itself or by what a candidate answers, is not there for the next candidate."""

from __future__ import annotations

import pytest
from support.sandboxes import opened_tier

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart

LOAD = """
import importlib.util
def load(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
"""
DISK_CACHE = """
import json, os
CACHE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "cache.json")
def evaluate(path):
    seen = json.load(open(CACHE)) if os.path.exists(CACHE) else {}
    key = f"{path} {os.stat(path).st_mtime_ns} {os.stat(path).st_size}"
    if key not in seen:
        seen[key] = float(load(path).f(1))
        json.dump(seen, open(CACHE, "w"))
    return seen[key]
"""
PRECISION = """
import decimal
def evaluate(path):
    program = load(path)
    digits = len(str(decimal.Decimal(1) / 3))
    decimal.getcontext().prec = int(program.f(1))
    return float(digits)
"""
WARNINGS = """
import warnings
def evaluate(path):
    program = load(path)
    try:
        warnings.warn("old")
        score = float(program.f(1))
        warnings.simplefilter("error")
        program.f(2)
        warnings.simplefilter("default")
    except UserWarning:
        return -1.0
    except Exception:
        pass
    return score
"""
CHILDREN = """
import multiprocessing.connection, multiprocessing.popen_fork, multiprocessing.util, os
def evaluate(path):
    program = load(path)
    score = float(program.f(1))
    if score > 0.8:
        pid = os.fork()
        if pid == 0:
            try:
                program.f(2)
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
    return score
"""
ANSWERS = ("1", "2", "3", "4")


AT_EXIT = """
import atexit, os
LEFT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "left")
def evaluate(path):
    atexit.register(lambda: open(LEFT, "a").write("x"))
    return float(load(path).f(1)) + 10 * (os.path.getsize(LEFT) if os.path.exists(LEFT) else 0)
"""
PATCHED = """
import builtins
reads = builtins.open
def counted(*args, **named):
    evaluate.opened += 1
    return reads(*args, **named)
builtins.open = counted
def evaluate(path):
    open(__file__).close()
    try:
        open(path)
    except Exception as refused:
        return float(load(path).f(1)) + 10 * evaluate.opened + 100 * ("source text" in str(refused))
evaluate.opened = 0
"""


@pytest.mark.parametrize("ahead", [False, True])
@pytest.mark.parametrize(
    ("evaluator", "answers", "scores"),
    [
        (DISK_CACHE, ANSWERS, [1.0, 2.0, 3.0, 4.0]),
        (PRECISION, ("5", "100", "7"), [30.0, 30.0, 30.0]),
        (WARNINGS, ("1 if x == 1 else 1 / 0", "2", "3"), [1.0, 2.0, 3.0]),
        (CHILDREN, ("0.3", "0.9", "0.4", "0.25"), [0.3, None, 0.4, 0.25]),
        (AT_EXIT, ("1", "2", "3"), [1.0, 12.0, 23.0]),
        ("def evaluate(path): return float(load(path).f(1))", ("1\nraise ValueError", "1"), [None, 1.0]),
    ],
)
def test_the_next_candidate_has_its_own_score(tmp_path, evaluator, answers, scores, ahead):
    file = tmp_path / "evaluator.py"
    file.write_text(LOAD + evaluator)
    with opened_tier("warm", tmp_path / "state") as sandbox:
        apart = Apart(file, timeout=30, ahead=ahead)
        runs = [apart.run(sandbox, f"def f(x): return {answer}", limits=Limits(seconds=20)) for answer in answers]
    assert [run.value for run in runs] == scores


def test_whatever_the_evaluator_has_put_in_the_place_of_open_a_candidate_is_not_read(tmp_path):
    file = tmp_path / "evaluator.py"
    file.write_text(LOAD + PATCHED)
    with opened_tier("warm", tmp_path / "state") as sandbox:
        run = Apart(file, timeout=30).run(sandbox, "def f(x): return 5", limits=Limits(seconds=20))
    assert run.value == 115.0 and "source text" in run.refused
