"""A function as a program of its own: whatever it needs to be made and to run stands above it, or is refused."""

from __future__ import annotations

import importlib.util
import inspect
import linecache
import pickle
import subprocess
import sys
import threading
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from swarm_evo import evolve
from swarm_evo.errors import SearchError
from swarm_evo.result import Best, Result
from swarm_evo.source import pickled, program_of

ROOT = Path(__file__).parents[3]

HEAD = """
import enum
import math
from collections import defaultdict
from typing import TYPE_CHECKING, List, Optional

import numpy as np

if TYPE_CHECKING:
    from nowhere import Missing

NUMBERS = [1, 2.5, float("inf")]
LIMIT, LEAST = float("inf"), -math.inf
SHARE = np.float64(0.5)
VOWELS = {"a", "e", "i", "o", "u"}
EMPTY, ONE, NESTED = set(), (1,), {"a": ({1, 2}, None)}
STEP = 3
FOUND = defaultdict(int)

class Kind(enum.IntEnum):
    A = 1

KIND = Kind.A

def helper(x, by=STEP):
    return x * by
"""


def of_user(text: str, tmp_path: Path, name: str = "mine") -> Any:
    """The function `f` of a user's module."""
    path = tmp_path / f"{name}.py"
    path.write_text(HEAD + text)
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module.f


def run(program: str, *arguments: Any) -> Any:
    names: dict[str, Any] = {"__name__": "program"}
    exec(compile(program, "program", "exec"), names)
    return names["f"](*arguments)


@pytest.mark.parametrize(
    ("text", "arguments", "value"),
    [
        ("def f(xs: List[float], k: Optional[int] = None) -> float:\n    return sum(xs)\n", ([1, 2],), 3),
        ("def f(x: 'Missing', y: np.ndarray | None = None):\n    return x\n", (5,), 5),
        ("def f(x, by=STEP, *, most=LIMIT):\n    return min(x * by, most)\n", (2,), 6),
        ("def f(x):\n    return min(x, LIMIT), max(x, LEAST), NUMBERS\n", (1,), (1, 1, [1, 2.5, float("inf")])),
        ("def f(x):\n    return x * SHARE\n", (3,), 1.5),
        ("def f(x):\n    return helper(x)\n", (2,), 6),
        ("data = object()\ndef f(x):\n    return getattr(x, 'data', 1) if x else x.data.KIND\n", (2,), 1),
        ("def f(x):\n    class Inner:\n        by = STEP\n    return [helper(Inner.by) for _ in (x,)]\n", (2,), [9]),
        ("from math import prod as sum\ndef f(x):\n    return sum([x, x])\n", (5,), 25),
        ("def max(a, b):\n    return min(a, b)\ndef f(x, y=max(1, 2)):\n    return max(x, 7), y\n", (9,), (7, 1)),
        ("other = helper\ndef f(x):\n    return other(x) + helper(x)\n", (2,), 12),
        ("def f(x):\n    return [x, f(x - 1), __name__] if x else x\n", (1,), [1, 0, "program"]),
        ("def f(x):\n    return EMPTY, ONE, NESTED\n", (1,), (set(), (1,), {"a": ({1, 2}, None)})),
    ],
)
def test_a_program_of_a_function_runs_by_itself(tmp_path, text, arguments, value):
    """Defaults and annotations are read when the function is made, and stand in no code of it."""
    assert run(program_of(of_user(text, tmp_path))[0], *arguments) == value


@pytest.mark.parametrize(("name", "value"), [("KIND", "an enumeration's"), ("FOUND", "a table's"), ("Kind", "a class")])
def test_what_has_no_text_that_means_the_same_is_refused(tmp_path, name, value):
    with pytest.raises(SearchError, match=f"uses '{name}', which has no source text"):
        program_of(of_user(f"def f(x):\n    return {name}, x\n", tmp_path))


def test_a_set_is_the_same_text_in_every_process(tmp_path):
    """Its own order hangs on the process: equal searches would have had programs that differ."""
    program = program_of(of_user("def f(x):\n    return x in VOWELS\n", tmp_path))[0]
    assert "VOWELS = {'a', 'e', 'i', 'o', 'u'}" in program


def test_a_helper_of_a_notebook_comes_along(monkeypatch):
    """A notebook's main module has no file, and what it holds nobody else can import."""
    text = "def helper(x):\n    return x + 1\n\ndef f(x):\n    return helper(x)\n"
    linecache.cache["<cell>"] = (len(text), None, text.splitlines(keepends=True), "<cell>")
    notebook = ModuleType("__main__")
    monkeypatch.setitem(sys.modules, "__main__", notebook)
    exec(compile(text, "<cell>", "exec"), vars(notebook))
    program, _ = program_of(notebook.f)
    assert "def helper" in program and "import helper" not in program and run(program, 2) == 3


def test_a_folder_whose_name_begins_like_pythons_own_is_the_users(tmp_path, monkeypatch):
    place = tmp_path / "env-of-mine"
    place.mkdir()
    monkeypatch.setattr(sys, "prefix", str(tmp_path / "env"))
    function = of_user("def f(x):\n    return helper(x)\n", place, "mine_too")
    assert "def helper" in program_of(function)[0]


def test_a_found_program_may_hold_a_dataclass_and_late_annotations(tmp_path):
    code = (
        "from __future__ import annotations\nfrom dataclasses import dataclass\n"
        "@dataclass\nclass P:\n    x: int\ndef f(x):\n    return P(x).x\n"
    )
    assert Result("run", tmp_path, Best(code, 1.0, "n1", "verified"), {}, "f").function(3) == 3


def test_a_found_function_is_one_object_that_can_be_pickled_and_read(tmp_path):
    """Each look made another module of the same name; so did another run, whose node ids are the same by the seed."""
    codes = [f"class P:\n    pass\ndef f(x):\n    return {number}, P()\n" for number in (1, 2)]
    found = [Result(f"run-{n}", tmp_path, Best(code, 1.0, "n1", "verified"), {}, "f") for n, code in enumerate(codes)]
    first, second = (result.function for result in found)
    assert first is found[0].function and first(0)[0] == 1 and second(0)[0] == 2
    assert pickle.loads(pickle.dumps(first)) is first and type(pickle.loads(pickle.dumps(first(0)[1]))) is not type(
        second(0)[1]
    )
    assert inspect.getsource(second) == "def f(x):\n    return 2, P()\n"


def test_a_found_function_is_searched_on_and_used_by_a_score(tmp_path, monkeypatch):
    """The decorator's function went in as it was before its search; what helpers a found one has was imported from a
    module that no other process has."""
    code = "STEP = 2\ndef helper(x):\n    return x + STEP\ndef f(x):\n    return helper(x) * 3\n"
    result = Result("searched", tmp_path, Best(code, 1.0, "n1", "verified"), {}, "f")
    monkeypatch.setattr(sys.modules["swarm_evo.evolve"], "evolve", lambda *_, **__: result)
    better = evolve(score=len)(of_user("def f(x):\n    return x\n", tmp_path))
    assert better.result is result and better(1) == 9 and "* 3" in inspect.getsource(better)
    program, _ = program_of(better)
    assert "def helper" in program and "swarm_evo" not in program and run(program, 1) == 9
    sent = pickled(lambda x: better(x) + result.function(x))
    there = "import pickle, sys; print(pickle.loads(sys.stdin.buffer.read())(1))"
    assert subprocess.run([sys.executable, "-c", there], input=sent, capture_output=True, check=True).stdout == b"18\n"


def test_a_program_that_cannot_be_loaded_leaves_no_module(tmp_path):
    before = set(sys.modules)
    with pytest.raises(ZeroDivisionError):
        _ = Result("run", tmp_path, Best("1 / 0", 1.0, "n1", "verified"), {}, "f").function
    assert set(sys.modules) == before


class Slow:
    """Takes its time to be pickled."""

    begun, goes_on = threading.Event(), threading.Event()

    def __reduce__(self):
        self.begun.set()
        assert self.goes_on.wait(30)
        return int, ()


def test_two_threads_send_functions_of_one_module(tmp_path):
    """The first to end took the other's module back: that function went by name, and by a KeyError to its end."""
    module = sys.modules[
        of_user("def f(x):\n    return helper(x)\ndef g(path):\n    return slow\n", tmp_path).__module__
    ]
    module.slow = Slow()
    sent = {}
    thread = threading.Thread(target=lambda: sent.update(slow=pickled(module.g)))
    thread.start()
    assert Slow.begun.wait(30)
    other = threading.Thread(target=lambda: sent.update(quick=pickled(module.f)))
    other.start()
    other.join(0.2)
    Slow.goes_on.set()
    thread.join(30)
    other.join(30)
    del sys.modules["mine"]
    assert pickle.loads(sent["quick"])(2) == 6 and pickle.loads(sent["slow"])("") == 0, "both without their module"


def test_a_module_that_the_user_sends_by_value_stays_so(tmp_path):
    import cloudpickle

    function = of_user("def f(x):\n    return x\n", tmp_path)
    cloudpickle.register_pickle_by_value(sys.modules["mine"])
    try:
        pickled(function)
        assert "mine" in cloudpickle.list_registry_pickle_by_value()
    finally:
        cloudpickle.unregister_pickle_by_value(sys.modules["mine"])


def test_modules_of_the_user_that_a_score_uses_travel_too(tmp_path):
    """`No module named 'helpers'` where a cell imports a file beside the notebook; so did a project of two files."""
    (tmp_path / "helpers_of_mine.py").write_text("LIMIT = 5\ndef twice(x):\n    return min(LIMIT, 2 * x)\n")
    (tmp_path / "scores_of_mine.py").write_text(
        "import helpers_of_mine\nfrom helpers_of_mine import twice\n"
        "def score(x):\n    return twice(x) + helpers_of_mine.twice(1)\n"
    )
    (tmp_path / "locks_of_mine.py").write_text("import threading\nLOCK, LEAST = threading.Lock(), 3\n")
    send = (
        "import sys, helpers_of_mine, scores_of_mine, locks_of_mine\n"
        "from swarm_evo.source import pickled\n"
        "cell = lambda x: helpers_of_mine.twice(x) + scores_of_mine.score(x)\n"
        "locked = lambda x: locks_of_mine.LEAST\n"
        "sys.stdout.buffer.write(pickled(cell))\n"
        "assert b'locks_of_mine' in pickled(locked), 'by its name alone'\n"
    )
    path = {"PYTHONPATH": f"{tmp_path}:{ROOT}"}
    sent = subprocess.run([sys.executable, "-c", send], env=path, capture_output=True, check=True).stdout
    assert pickle.loads(sent)(4) == 5 + 5 + 2 and "helpers_of_mine" not in sys.modules


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("from beside import f as first\ndef f(x):\n    return first(x)\n", "f uses 'f', which means something else"),
        ("from beside import g\ndef f(x):\n    return g(x) * STEP\n", "'STEP', which means something else"),
        (
            "from beside import g as helper2, helper\ndef f(x):\n    return helper2(x) + helper(x) + STEP\n",
            "'STEP', which",
        ),
    ],
)
def test_two_modules_may_not_mean_two_things_by_one_name(tmp_path, monkeypatch, text, told):
    """The first that was met stood for both: the program scored was another than the user's, and nothing told it."""
    (tmp_path / "beside.py").write_text(
        "STEP = 10\ndef f(x):\n    return x\ndef g(x):\n    return x * STEP\ndef helper(x):\n    return STEP\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    with pytest.raises(SearchError, match=told):
        program_of(of_user(text, tmp_path))


def test_two_modules_may_mean_one_thing_by_a_name(tmp_path, monkeypatch):
    (tmp_path / "beside.py").write_text("import math\nSTEP = 3\ndef g(x):\n    return math.floor(x * STEP)\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "beside", raising=False)
    text = "from beside import g\ndef f(x):\n    return math.floor(g(x) * STEP)\n"
    assert run(program_of(of_user(text, tmp_path))[0], 2) == 18
