"""An evaluator's process that judges several candidates: only where none can tell that there was another before it."""

from __future__ import annotations

import os

import pytest
from support.sandboxes import opened_tier

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart
from problems.script.job import write_harness

LOAD = """
import importlib.util, os
def load(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
"""
SCORED = "    return {'combined_score': load(path).f(1), 'process': os.getpid(), 'seen': seen()}\n"
CLEAN = f"{LOAD}\ndef seen():\n    return 0\ndef evaluate(path):\n{SCORED}"


@pytest.fixture(scope="module")
def sandbox(tmp_path_factory):
    with opened_tier("warm", tmp_path_factory.mktemp("sandbox") / "state") as opened:
        yield opened


@pytest.fixture
def judged(sandbox, tmp_path):
    """Metrics of candidates that answer 0, 1, 2, …, judged one after the other by that evaluator."""

    def judge(evaluator: str, *programs: str, count: int = 4) -> list[dict]:
        (tmp_path / "evaluator.py").write_text(evaluator)
        options = {"thresholds": [], "cascade": True, "metric": None}
        apart = Apart(write_harness(tmp_path / "harness", str(tmp_path / "evaluator.py"), options), classes=[])
        texts = programs or tuple(f"def f(x): return {number} * x" for number in range(count))
        runs = [apart.run(sandbox, text, limits=Limits(seconds=20)) for text in texts]
        assert not any(run.error or run.program or run.refused for run in runs), runs
        return [run.value["metrics"] for run in runs]

    return judge


def test_a_clean_evaluator_judges_all_in_one_process(judged):
    found = judged(CLEAN)
    assert [one["combined_score"] for one in found] == [0, 1, 2, 3]
    assert len({one["process"] for one in found}) == 1


@pytest.mark.parametrize(
    "seen",
    [
        "COUNT = []\ndef seen():\n    COUNT.append(0)\n    return len(COUNT)",
        "class Judge:\n    count = 0\ndef seen():\n    Judge.count += 1\n    return Judge.count",
        "import functools\nCALLS = []\n@functools.lru_cache\ndef once(): CALLS.append(0)\n"
        "def seen():\n    once()\n    return len(CALLS)",
        "import random\nDRAWS = random.Random(7)\ndef seen():\n    return DRAWS.random()",
        "import numpy.random\ndef seen():\n    return float(numpy.random.random())",
        "import numpy\nDRAWS = numpy.random.default_rng(7)\ndef seen():\n    return float(DRAWS.random())",
        "def seen(calls=[]):\n    calls.append(0)\n    return len(calls)",
    ],
    ids=["list", "class", "cache", "generator", "numpy", "numpy_generator", "default"],
)
def test_what_an_evaluator_keeps_for_itself_is_as_for_the_first(judged, seen):
    """Loaded anew: a count that went on would make a score a matter of how many workers there are."""
    found = judged(CLEAN.replace("def seen():\n    return 0", seen))
    assert len({one["seen"] for one in found}) == 1 == len({one["process"] for one in found}), found


@pytest.mark.parametrize(
    "seen",
    [
        "def seen():\n    os.environ['SEEN'] = os.environ.get('SEEN', '') + 'x'\n    return len(os.environ['SEEN'])",
        "import sys\ndef seen():\n    sys.path.insert(0, '/nowhere')\n    return sys.path.count('/nowhere')",
        "import math\ndef seen():\n    math.seen = getattr(math, 'seen', 0) + 1\n    return math.seen",
        "def seen():\n    return os.open('/dev/null', os.O_RDONLY)",
        "import threading, time\ndef seen():\n"
        "    threading.Thread(target=time.sleep, args=(9,), daemon=True).start()\n    return threading.active_count()",
        "import atexit\ndef seen():\n    atexit.register(int)\n    return atexit._ncallbacks()",
        "def seen():\n    import helper\n    helper.count += 1\n    return helper.count",
    ],
    ids=["environment", "path", "module", "file", "thread", "exit", "helper"],
)
def test_what_is_left_elsewhere_ends_the_process(judged, seen, tmp_path):
    (tmp_path / "helper.py").write_text("count = 0\n")
    found = judged(CLEAN.replace("def seen():\n    return 0", seen))
    assert len({one["seen"] for one in found}) == 1, found
    assert len({one["process"] for one in found}) == len(found)


def test_each_import_by_name_gives_the_candidate_at_hand(judged):
    """The stand-in of the one before lay in `sys.modules`."""
    by_name = CLEAN.replace("load(path).f(1)", "importlib.import_module('candidate').f(1)").replace(
        "import importlib.util", "import importlib, importlib.util"
    )
    found = judged(by_name)
    assert [one["combined_score"] for one in found] == [0, 1, 2, 3]
    assert len({one["process"] for one in found}) == 1


def test_draws_of_chance_stay_of_chance(judged):
    """A fork draws other numbers than the one before, and so does an evaluator that is loaded anew."""
    found = judged(CLEAN.replace("def seen():\n    return 0", "import random\ndef seen():\n    return random.random()"))
    assert len({one["seen"] for one in found}) == len(found)


def test_an_evaluator_that_is_slow_to_load_is_forked(judged):
    slow = "import time\nEND = time.process_time() + 0.02\nwhile time.process_time() < END: pass\n"
    found = judged(slow + CLEAN)
    assert len({one["process"] for one in found}) == len(found)


def test_one_that_was_killed_while_it_waited_is_replaced(judged, sandbox, tmp_path):
    found = judged(CLEAN, count=2)
    os.kill(found[0]["process"], 9)
    again = judged(CLEAN, count=2)
    assert [one["combined_score"] for one in again] == [0, 1]
    assert again[0]["process"] != found[0]["process"]
