import pytest

from core.state.failure import FailureKind
from problems.bin_packing.program import arity, inspect

GOOD = "def score_bin(item, remaining_capacity):\n    return -remaining_capacity\n"


@pytest.mark.parametrize(
    ("code", "failure"),
    [
        ("def score_bin(item, room:\n    pass", FailureKind.SYNTAX),
        ("\x00", FailureKind.SYNTAX),
        ("import os\n" + GOOD, FailureKind.IMPORT_BLOCKED),
        ("from subprocess import run\n" + GOOD, FailureKind.IMPORT_BLOCKED),
        (GOOD + "    import socket\n", FailureKind.IMPORT_BLOCKED),
        ("import random\n" + GOOD, FailureKind.IMPORT_BLOCKED),
        ("def other(item, room):\n    return 0\n", FailureKind.SIGNATURE),
        ("def score_bin(item):\n    return 0\n", FailureKind.SIGNATURE),
        ("def score_bin(*args):\n    return 0\n", FailureKind.SIGNATURE),
        ("class A:\n    def score_bin(item, room):\n        return 0\n", FailureKind.SIGNATURE),
    ],
)
def test_the_check_says_what_is_wrong(code, failure):
    refusal = inspect(code, "histogram")
    assert refusal is not None and refusal.failure is failure
    assert refusal.message


def test_the_check_lets_through_what_may_run():
    assert inspect("import math\n" + GOOD, "pair") is None
    three = "def score_bin(item, remaining_capacity, histogram):\n    return 0\n"
    assert inspect(three, "histogram") is None
    refusal = inspect(three, "pair")
    assert refusal is not None and refusal.failure is FailureKind.SIGNATURE


def test_the_last_definition_counts():
    assert arity(GOOD + "def score_bin(a, b, c):\n    return 0\n") == 3
