"""Early refusals that name the place and what is allowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.evaluation.static_check import Imports, check_program
from core.state.failure import FailureKind

SAFE = Imports.only("math", "collections", "random")
CASES = {
    "": FailureKind.NO_CODE,
    "x = (": FailureKind.SYNTAX,
    "(" * 5000: FailureKind.SYNTAX,
    "-" * 100_000 + "1": FailureKind.SYNTAX,
    "\0": FailureKind.SYNTAX,
    "# " + "x" * 300_000: FailureKind.SYNTAX,
    "import os\ndef f(a, b): return a": FailureKind.IMPORT_BLOCKED,
    "def f(a, b):\n    from subprocess import run": FailureKind.IMPORT_BLOCKED,
    "__import__('os')\ndef f(a, b): return a": FailureKind.IMPORT_BLOCKED,
    "import math\ndef f(a, b): math.import_module(a)": FailureKind.IMPORT_BLOCKED,
    "from . import x\ndef f(a, b): return a": FailureKind.IMPORT_BLOCKED,
    "import mathx\ndef f(a, b): return a": FailureKind.IMPORT_BLOCKED,
    "def g(a, b): return a": FailureKind.SIGNATURE,
    "def f(a): return a": FailureKind.SIGNATURE,
    "def f(a, b, c): return a": FailureKind.SIGNATURE,
    "def f(a, b, *, k): return a": FailureKind.SIGNATURE,
    "def h():\n    def f(a, b): return a": FailureKind.SIGNATURE,
}


@pytest.mark.parametrize("code", CASES)
def test_each_fault_has_its_kind(code):
    found = check_program(code, SAFE, function="f", arguments=2)
    assert found is not None and found.failure is CASES[code]
    assert found.message and "\n" not in found.message and found.metric is None


@pytest.mark.parametrize(
    "code",
    [
        "from __future__ import annotations\nimport math, collections.abc\ndef f(a, b): return math.sqrt(a)",
        "def f(a, b, c=1, *, d=2): return a",
        "def f(*args): return 1",
        "def f(x, y): return x",
        "f = lambda a, b: a",
        "g, f = 1, lambda a, b: a",
        "try:\n    def f(a, b): return 1\nexcept NameError:\n    pass",
        "from math import sqrt as f",
        "for f in [max]:\n    pass",
        "if (f := max):\n    pass",
    ],
)
def test_what_fits_passes(code):
    assert check_program(code, SAFE, function="f", arguments=2) is None


def test_the_message_names_the_import_and_the_list():
    message = check_program("x = 1\nimport socket", SAFE).message
    assert "line 2" in message and "'socket'" in message and "collections, math, random" in message
    beside = Imports(frozenset({"numpy"}), standard=True, without=frozenset({"ctypes"}))
    assert "without ctypes, and packages: numpy" in check_program("import torch", beside).message


def test_the_standard_library_can_be_allowed_but_for_some():
    beside = Imports(frozenset({"numpy"}), standard=True, without=frozenset({"ctypes"}))
    for module in ("json", "os.path", "numpy.linalg"):
        assert check_program(f"import {module}", beside) is None, module
    for module in ("ctypes.util", "scipy", "numpyx"):
        assert check_program(f"import {module}", beside).failure is FailureKind.IMPORT_BLOCKED, module


def test_every_import_passes_without_a_list():
    assert check_program("import os, socket") is None


@given(st.text(max_size=300))
def test_any_text_gets_an_answer(code):
    found = check_program(code, SAFE, function="f", arguments=1)
    assert found is not None and isinstance(found.failure, FailureKind)
