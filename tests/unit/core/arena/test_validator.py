"""The static check: what it refuses, with which kind and words."""

from __future__ import annotations

import pytest
from arena_support import FIRST, engine

from core.arena.validator import engine_name, shadowed, static_refusal
from core.state.failure import FailureKind


@pytest.mark.parametrize(
    ("code", "failure", "word"),
    [
        ("def (", FailureKind.SYNTAX, "line 1"),
        ("x = 1", FailureKind.SIGNATURE, "engine"),
        ("engine = 1", FailureKind.SIGNATURE, "select_move"),
        ("E.engine = 1", FailureKind.SIGNATURE, "bind the name"),
        ("engine: int\n[engine for engine in ()]", FailureKind.SIGNATURE, "bind the name"),
        ("class E:\n    def select_move(self, position): ...\nengine = E()", FailureKind.SIGNATURE, "line 2"),
        ("import chess\n" + FIRST, FailureKind.IMPORT_BLOCKED, "'chess'"),
        ("import math\nfrom torch.nn import x\n" + FIRST, FailureKind.IMPORT_BLOCKED, "line 2"),
        ("def f():\n    import subprocess\n" + FIRST, FailureKind.IMPORT_BLOCKED, "subprocess"),
        ("from . import x\n" + FIRST, FailureKind.IMPORT_BLOCKED, "'.'"),
        ("#" * 200_001 + "\n" + FIRST, FailureKind.SYNTAX, "200000"),
        ("\x00" + FIRST, FailureKind.SYNTAX, ""),
    ],
)
def test_refused(code, failure, word):
    refusal = static_refusal(code, {"rust_chess"})
    assert refusal is not None and refusal.failure is failure and word in refusal.message
    assert "\n" not in refusal.message


@pytest.mark.parametrize(
    "code",
    [
        FIRST,
        "import math, random, time\nimport rust_chess\n" + FIRST,
        "try:\n    engine = E()\nexcept NameError:\n    pass\n" + FIRST,
        "class engine:\n    name = 'x'\n    @staticmethod\n    def select_move(position, time_left_ms): ...",
        "class E:\n    def select_move(self, *a): ...\nengine: object = E()",
        "class E:\n    def select_move(self, *a): ...\nengine, book = E(), {}",
        "class E:\n    def select_move(self, *a): ...\nwhile True:\n    engine = E()\n    break",
    ],
)
def test_accepted(code):
    assert static_refusal(code, {"rust_chess"}) is None


def test_names_that_the_game_uses_too_are_told_and_no_empty_one():
    """Of two assignments to tuples the writer heard that "the file binds ``"."""
    assert shadowed("A, B = 1, 2\nimport math", "C, D = 3, 4\nimport math") == ""
    assert "`Position`" in shadowed("A, Position = 1, 2", "class Position: ...")


def test_name_is_the_first_constant():
    assert engine_name(engine("pass", "Deep\n  Thought")) == "Deep Thought"
    assert engine_name("class Engine:\n    name: str = 'Typed'\n    other: str\n") == "Typed"
    assert engine_name("x = 1") == "" and engine_name("def (") == ""
    assert len(engine_name(f"name = {'x' * 500!r}")) == 60
    assert engine_name(r"name = 'a\ud800b\x1b'") == "a\ufffdb\ufffd", "what no text can hold ended a run"
