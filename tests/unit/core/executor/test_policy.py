"""Early refusals that name the place and what is allowed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.executor.policy import SAFE_MODULES, check_program, is_import_allowed
from core.state.failure import FailureKind

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
    "import importlib\ndef f(a, b): importlib.import_module(a)": FailureKind.IMPORT_BLOCKED,
    "from . import x\ndef f(a, b): return a": FailureKind.IMPORT_BLOCKED,
    "def g(a, b): return a": FailureKind.SIGNATURE,
    "def f(a): return a": FailureKind.SIGNATURE,
    "def f(b, a): return a": FailureKind.SIGNATURE,
    "def f(a, b, c): return a": FailureKind.SIGNATURE,
    "def f(a, b, *, k): return a": FailureKind.SIGNATURE,
    "def h():\n    def f(a, b): return a": FailureKind.SIGNATURE,
}


@pytest.mark.parametrize("code", CASES)
def test_each_fault_has_its_kind(code: str) -> None:
    found = check_program(code, {"f": ["a", "b"]})
    assert found is not None and found[0] is CASES[code] and found[1]


@pytest.mark.parametrize(
    "code",
    [
        "import math, collections.abc\ndef f(a, b): return math.sqrt(a)",
        "def f(a, b, c=1, *, d=2): return a",
        "def f(*args): return 1",
        "f = lambda a, b: a",
        "from math import sqrt as f",
    ],
)
def test_what_fits_passes(code: str) -> None:
    assert check_program(code, {"f": ["a", "b"]}) is None


def test_the_message_names_the_import_and_the_list() -> None:
    found = check_program("x = 1\nimport socket")
    assert found is not None and "line 2" in found[1] and "'socket'" in found[1] and "math" in found[1]


def test_every_import_passes_without_a_list() -> None:
    assert check_program("import os, socket", allowed_modules=None) is None


def test_safe_modules_are_the_ones_that_only_compute() -> None:
    assert is_import_allowed("collections.abc") and is_import_allowed("math")
    assert not is_import_allowed("mathx") and not is_import_allowed("os.path")
    assert SAFE_MODULES.isdisjoint({"os", "sys", "subprocess", "socket", "http", "ctypes", "importlib"})


@given(st.text(max_size=300))
def test_any_text_gets_an_answer(code: str) -> None:
    found = check_program(code)
    assert found is None or isinstance(found[0], FailureKind)
