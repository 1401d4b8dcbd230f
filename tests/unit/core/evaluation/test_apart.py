"""An evaluator's process that serves many candidates: what becomes of them when it is gone."""

from __future__ import annotations

import ast
import errno
import math
import os
import signal
import subprocess
import tempfile
import time
from contextlib import closing
from pathlib import Path
from unittest.mock import Mock

import numpy
import pytest
from support.sandboxes import opened_tier

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart, program_failure
from core.evaluation.isolation.evaluator import EvaluatorRun, EvaluatorServer
from core.evaluation.isolation.usual_numbers import usual
from utils.errors import JobLost

EVALUATOR = """import importlib.util


def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return float(module.f(4))
"""


@pytest.fixture
def sandbox(tmp_path):
    with opened_tier("warm", tmp_path / "state") as opened:
        yield opened


@pytest.fixture
def apart(tmp_path):
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(EVALUATOR)
    return Apart(evaluator, timeout=30)


def test_the_next_candidate_gets_a_new_one(sandbox, apart):
    """One that was killed, for its memory say, was asked again and again: all programs that came were lost with it."""

    def score() -> object:
        return apart.run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20)).value

    assert score() == 8.0
    (server,) = [thing for thing in sandbox.resources._things.values() if isinstance(thing, EvaluatorServer)]
    os.kill(server._process.pid, signal.SIGKILL)
    with pytest.raises(JobLost, match="the evaluator's process is gone"):
        score()
    assert score() == 8.0


def test_the_longest_of_several_calls_is_known(sandbox, apart):
    found = apart.run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    assert found.calls and 0 < found.longest_call <= found.call_seconds < found.seconds


COMES_BACK = """
import importlib.util, os


def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    try:
        return said_by_a_child(module.f(4))
    except Exception:
        return 100.0


def said_by_a_child(answer):
    read, write = os.pipe()
    pid = os.fork()
    if not pid:
        os.write(write, b"%d" % answer)
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    return float(os.read(read, 99) or b"-1")
"""


@pytest.mark.parametrize(("answer", "score"), [("8", 8.0), ("'odd'", -1.0)])
def test_a_child_of_the_evaluator_that_comes_back_out_of_it_reports_nothing(sandbox, tmp_path, answer, score):
    """It was heard before the evaluator: a program that breaks the child had the score that only the child came to."""
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(COMES_BACK)
    found = Apart(evaluator, timeout=30).run(sandbox, f"def f(x): return {answer}", limits=Limits(seconds=20))
    assert found.value == score, found


WITH_ALARMS = """import importlib.util, signal


class Late(Exception):
    pass


def ring(*_):
    raise Late


def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    signal.signal(signal.SIGALRM, ring)
    found = []
    for seconds, x in ((0.2, 1), (20, 2), (20, 3)):
        signal.setitimer(signal.ITIMER_REAL, seconds)
        try:
            found.append(module.f(x))
        except Late:
            found.append(None)
    return {"combined_score": 1.0, "found": found}
"""


def test_a_call_that_the_evaluator_ends_by_an_alarm_leaves_the_others_their_own_answers(sandbox, tmp_path):
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(WITH_ALARMS)
    program = "import time\n\n\ndef f(x):\n    time.sleep(0.6 if x == 1 else 0)\n    return 100 + x\n"
    run = Apart(evaluator, timeout=30).run(sandbox, program, limits=Limits(seconds=20))
    assert run.value["found"] == [None, 102, 103] and run.isolated, run


def test_one_that_cannot_be_started_leaves_no_folder(apart, tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "scratch"))
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(subprocess, "Popen", Mock(side_effect=OSError(errno.EAGAIN, "no room for a process")))
    before = len(os.listdir("/proc/self/fd"))
    with pytest.raises(OSError, match="no room for a process"):
        EvaluatorServer(apart.evaluator, "evaluate", "python3")
    assert not list((tmp_path / "scratch").iterdir()) and len(os.listdir("/proc/self/fd")) == before


def test_two_that_lose_it_at_once_lose_one(sandbox, apart):
    """Who comes late must not take the new one away from those that have it."""
    apart.run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    (key,) = [key for key, thing in sandbox.resources._things.items() if isinstance(thing, EvaluatorServer)]
    lost = sandbox.resources._things[key]
    sandbox.resources.drop(key, lost)
    apart.run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    new = sandbox.resources._things[key]
    sandbox.resources.drop(key, lost)
    assert sandbox.resources._things[key] is new is not lost
    with (
        closing(lost.begin({"serves": False, "odd": False}, 0, "candidate.py", None)) as judging,
        pytest.raises(JobLost),
    ):
        judging.name({}, time.monotonic() + 5.0)


def test_a_candidate_that_was_judged_when_it_went_is_lost_and_not_at_fault(sandbox, tmp_path):
    """Its evaluator's fork dies with it: that passed for an evaluator that ended for what the candidate did."""
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text("import os, time\n\n\ndef evaluate(path):\n    os.kill(os.getppid(), 9)\n    time.sleep(20)\n")
    with pytest.raises(JobLost, match="the evaluator's process is gone"):
        Apart(evaluator, timeout=30).run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))


def test_an_evaluator_that_ends_by_itself_is_no_lost_worker(sandbox, tmp_path):
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text("import os\n\n\ndef evaluate(path):\n    os._exit(0)\n")
    run = Apart(evaluator, timeout=30).run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    assert run.line == "the evaluator ended by itself"


@pytest.mark.parametrize(
    ("returned", "told"),
    [("['x' * 50_000] * 1400", "66 MB; at most 64 MB"), ("[',' * 80_000] * 26", "2,080,039 values; at most 2,000,000")],
)
def test_what_an_evaluator_returns_is_bounded(sandbox, tmp_path, returned, told):
    """It may hand on all that its program answered: who hears it shares its process with other programs."""
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(f"def evaluate(path):\n    return {{'all': {returned}}}\n")
    run = Apart(evaluator, timeout=30).run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20))
    assert run.line == f"the evaluator returned {told} are read" and run.value is None


def test_each_candidate_has_a_folder_of_its_own_that_goes_with_it(sandbox, tmp_path):
    """An evaluator may keep what it found by the path, or leave files beside the candidate."""
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text(
        "import os\n\n\ndef evaluate(path):\n"
        "    os.makedirs(os.path.join(os.path.dirname(path), 'left', 'here'))\n"
        "    return {'path': path, 'beside': os.listdir(os.path.dirname(path))}\n"
    )
    apart = Apart(evaluator, timeout=30)
    seen = [apart.run(sandbox, "def f(x): return x", limits=Limits(seconds=20)).value for _ in range(3)]
    folders = [Path(one["path"]).parent for one in seen]
    assert len({folder.name for folder in folders}) == 3
    assert all(sorted(one["beside"]) == ["candidate.py", "left"] for one in seen)
    assert not folders[0].exists() and folders[0].parent.exists()
    sandbox.close()
    assert not folders[2].parent.exists()


def test_a_program_that_does_not_load_ends_the_evaluator_that_waits_for_it(sandbox, apart):
    run = apart.run(sandbox, "raise ValueError('no')", limits=Limits(seconds=20))
    assert run.program is not None and "no" in run.program.message and run.value is None
    assert apart.run(sandbox, "def f(x): return 2 * x", limits=Limits(seconds=20)).value == 8.0


def test_what_it_prints_at_exit_is_heard(sandbox, tmp_path, monkeypatch):
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)  # users have none: what is not flushed is lost
    evaluator = tmp_path / "evaluator.py"
    evaluator.write_text("import atexit\n\n\ndef evaluate(path):\n    atexit.register(print, 'bye')\n    return 1.0\n")
    run = Apart(evaluator, timeout=30).run(sandbox, "x = 1", limits=Limits(seconds=20))
    assert run.value == 1.0 and "bye" in run.output


ERRORS = """import importlib.util


def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    told = [module.f(x) for x in (1.0, 2.0)] if module.SCALE else []
    told = [number for answer in told for number in (answer if isinstance(answer, (list, tuple)) else [answer])]
    return {"combined_score": -sum((number * module.SCALE - 1) ** 2 for number in told)}
"""
REAL = "SCALE = 1\ndef f(x): return 0.5 * x"
IMAGINARY = {
    "number": "SCALE = 1\ndef f(x): return 1 + 1000j",
    "list": "SCALE = 1\ndef f(x): return [x, (1 + 1000j,)[0]]",
    "array": "import numpy\nSCALE = 1\ndef f(x): return numpy.full((), 1 + 1000j)",
    "name": "SCALE = 1000j\ndef f(x): return 1.0",
}


@pytest.mark.parametrize("kind", IMAGINARY)
def test_no_answer_has_an_imaginary_error_where_the_users_program_has_none(sandbox, tmp_path, kind):
    """The square of an imaginary error is negative: such a program was better than one that makes none."""
    (tmp_path / "evaluator.py").write_text(ERRORS)

    def scored(code: str, classes: tuple[str, ...] | None) -> EvaluatorRun:
        how = Apart(tmp_path / "evaluator.py", classes=classes, timeout=30)
        return how.run(sandbox, code, limits=Limits(seconds=20))

    honest = scored(REAL, None)
    known = ("SCALE 0", "SCALE int", "f 0", "f float", "import:SCALE", "import:f")
    assert honest.value == {"combined_score": -0.25} and honest.classes == known
    found = scored(IMAGINARY[kind], honest.classes)
    failed = program_failure(found)
    assert found.value is None and found.line.startswith("TypeError") and failed is None
    if kind != "name":  # which the evaluator may leave alone
        assert found.raised and found.line.startswith("TypeError: f answered with a complex number"), (
            "its own exception"
        )
    own = scored(IMAGINARY[kind], None)
    kinds = {mark for mark in own.classes if " " not in mark and ":" not in mark}
    assert not own.refused and kinds in [{"1j"}, {"1j", "[]"}], (
        "a user's own program may have them, and others then too"
    )
    assert isinstance(own.value["combined_score"], str), "and even so such a number is no score"
    assert scored(IMAGINARY[kind], own.classes).value == own.value


ODD = {
    "nan": (math.nan, ValueError, {"0/0"}),
    "nan in an array": (numpy.array([1.0, math.nan]), ValueError, {"0/0", "[]"}),
    "nan in a list": ([1.0, math.nan], ValueError, {"0/0", "[]"}),
    "nan in a mapping": ({"a": {"b": (1, math.nan)}}, ValueError, {"0/0", "[]"}),
    "nan as text": (" -NaN ", ValueError, {"0/0"}),
    "nan as bytes": (["x", b"nan"], ValueError, {"0/0"}),
    "no rows": (numpy.zeros((0, 1)), ValueError, {"[[]]"}),
    "imaginary": ([[1j]], TypeError, {"1j", "[]", "[][]"}),
    "beyond floats": (2**60, OverflowError, {"2**24"}),
    "beyond floats in an array": (numpy.array([1, -(2**63)]), OverflowError, {"2**24", "[]"}),
    "whole": (3037000540, 3037000540.0, {"2**24"}),
    "whole in a list": ([1, 3037000540], [1, 3037000540.0], {"2**24", "[]"}),
    "whole in an array": (numpy.array([1, 3037000540]), [1.0, 3037000540.0], {"2**24", "[]"}),
    "narrow": (numpy.float16(0.1), 0.0999755859375, {"<f2"}),
    "narrow and whole": (numpy.array([100, 100], "i1"), [100, 100], {"|i1", "[]"}),
    "wide": (numpy.longdouble(0.5), 0.5, {numpy.longdouble().dtype.str}),
    "without a sign": (numpy.uint64(3), 3, {"<u8"}),
}


@pytest.mark.parametrize("kind", ODD)
def test_numbers_cross_as_the_users_program_has_them(kind):
    """Centres that are NaN overlapped nothing, and the squares of large whole errors were below zero: both were the
    best program there can be."""
    answer, wanted, kinds = ODD[kind]
    own: set[str] = set()
    assert usual(answer, lambda kind: not own.add(kind)) is answer or isinstance(answer, dict | list)
    assert own == kinds, "a user's own program may have them, and others then too"
    if isinstance(wanted, type):
        with pytest.raises(wanted):
            usual(answer, lambda kind: False)
        return
    found = usual(answer, lambda kind: False)
    assert numpy.array_equal(found, wanted) and type(found) in (float, list, numpy.ndarray, numpy.float64, numpy.int64)
    assert getattr(found, "dtype", numpy.dtype(float)) in ("f8", "i8"), "as wide as Python's"


@pytest.mark.parametrize("answer", [1, 0.5, "nancy", "inf", math.inf, None, [], [[]], {"a": [(1, 2.5)]}, {1, 2}, b"x"])
def test_usual_answers_stay_what_they_are(answer):
    assert usual(answer, lambda kind: False) == answer


RIGHT = """import importlib.util

import numpy

TRUE = numpy.arange(60) % 3


def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": float((module.f(60) == TRUE).sum() / 60)}
"""


def test_a_column_is_no_row(sandbox, tmp_path):
    """One number in a column was compared with every row, as often as there are rows: 20 of 1 were right."""
    (tmp_path / "evaluator.py").write_text(RIGHT)

    def scored(answer: str, classes: tuple[str, ...] | None) -> EvaluatorRun:
        how = Apart(tmp_path / "evaluator.py", classes=classes, timeout=30)
        return how.run(sandbox, f"import numpy\ndef f(n): return {answer}", limits=Limits(seconds=20))

    row = scored("numpy.zeros(n, int)", None)
    assert "[]" in row.classes and row.value == {"combined_score": pytest.approx(1 / 3)}
    assert scored("[[0]] * n", None).value == {"combined_score": 20.0}, "a user's own program may"
    for column in ("[[0]] * n", "[numpy.zeros(1)] * n"):
        found = scored(column, row.classes)
        assert found.raised and found.line.startswith("ValueError: f answered with numbers in more dimensions")
    assert scored("[0] * n", row.classes).value == row.value
    assert scored("[float('nan')] * n", row.classes).line.startswith("ValueError: f answered with NaN, where")


@pytest.mark.parametrize("own", ["[[1], [2, 3]]", "[[], [1, 2]]", "{'groups': [(1,), (2, 3)]}"])
def test_groups_that_are_all_as_long_by_chance_are_groups(own):
    known: set[str] = set()
    usual(ast.literal_eval(own), lambda kind: known.add(kind) or True)
    for alike in ([[1, 2], [3, 4]], {"groups": [(1, 2), (3, 4)]}, {"groups": [[1], [2]], "cost": 0.5}):
        assert usual(alike, known.__contains__) == alike
    with pytest.raises(ValueError, match="more dimensions"):
        usual([[[1], [2]], [[3], [4]]], known.__contains__)


def test_what_an_evaluator_writes_for_a_moment_is_nothing_to_be_shown(sandbox, tmp_path):
    """A sandbox that showed everybody's temporary files broke when one of them went."""
    evaluator, kept = tmp_path / "evaluator.py", tmp_path.parent / f"{tmp_path.name}-kept.txt"
    kept.write_text("3")
    reads = f"""    import os, tempfile
    with tempfile.TemporaryDirectory() as folder:
        open(os.path.join(folder, "gone"), "w").write("1")
    os.close(os.open(tempfile.gettempdir(), os.O_RDONLY))
    assert open({str(kept)!r}).read() == "3"
    return float"""
    evaluator.write_text(EVALUATOR.replace("    return float", reads))
    run = Apart(evaluator, timeout=30).run(sandbox, "def f(x): return x", limits=Limits(seconds=20), watch=True)
    assert run.value == 4.0, run.error
    assert run.opened == (str(kept),)
