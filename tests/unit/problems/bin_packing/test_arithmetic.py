"""Arithmetic means what it means in Python: compared with Python itself on random expressions."""

from __future__ import annotations

import math
import random
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from problems.bin_packing.arithmetic import translate
from problems.bin_packing.grammar import Grammar
from problems.bin_packing.machine import arrays, run
from problems.bin_packing.writer import random_rule

CAPACITY = 30


def by_machine(code: str, item: int, rooms: list[int], histogram: list[int]) -> list[float] | None:
    """The scores, or None where the machine gives up."""
    program = translate(code)
    assert program is not None, code
    ops, constants, result = arrays(program)
    registers = np.empty((len(ops), len(rooms)))
    ok = run(ops, constants, item, np.array(rooms), len(rooms), np.array(histogram), sum(histogram), registers)
    return registers[result].tolist() if ok else None


def by_python(code: str, item: int, rooms: list[int], histogram: list[int]) -> list[float] | None:
    names: dict[str, object] = {}
    exec(code, names)
    try:
        return [float(names["score_bin"](item, room, histogram)) for room in rooms]
    except (ArithmeticError, ValueError, IndexError, TypeError, NameError):
        return None


def same(a: list[float] | None, b: list[float] | None) -> bool:
    """Equal, or the machine gave up, which it may only where Python fails, overflows or leaves exact integers."""
    if a is None or b is None:
        return a is None
    return all(x == y or math.isclose(x, y, rel_tol=1e-15) for x, y in zip(a, b, strict=True))


@given(st.integers(0, 10**9))
def test_rules_of_the_grammar_score_as_in_python(seed):
    rng = random.Random(seed)
    code = random_rule(Grammar(CAPACITY, True, rng))
    histogram = [rng.randint(0, 6) for _ in range(CAPACITY + 1)]
    item = rng.randint(1, CAPACITY)
    rooms = list(range(item, CAPACITY + 1))
    found, wanted = by_machine(code, item, rooms, histogram), by_python(code, item, rooms, histogram)
    assert same(found, wanted), code
    if wanted is not None and all(abs(x) < 1e12 for x in wanted):
        assert found is not None, code


class Programs:
    """Writes rules of all kinds of statements at random; many use a name before it is bound."""

    def __init__(self, seed: int) -> None:
        self.rng = random.Random(seed)

    def rule(self) -> str:
        head = self.some("import math\n") + self.some("K = 3\n") + self.some("L = -0.5\n")
        begin = self.some("    x = room - item\n") + self.some("    y = 1\n")
        body = "\n".join(self.block(2, "    "))
        return f"{head}def score_bin(item, room, h):\n{begin}{body}\n    return {self.number(3)}\n"

    def some(self, text: str) -> str:
        return text if self.rng.random() < 0.6 else ""

    def block(self, depth: int, indent: str) -> list[str]:
        lines = []
        for _ in range(self.rng.randint(1, 3)):
            kind, name = self.rng.randrange(6), self.rng.choice(("x", "y", "K", "L", "item", "room", "h"))
            if kind < 2 or not depth:
                lines.append(f"{indent}{name} = {self.number(2)}")
            elif kind == 2:
                lines.append(
                    f"{indent}{name} {self.rng.choice(('+', '-', '*', '/', '//', '%', '**'))}= {self.number(1)}"
                )
            else:
                inner = (
                    [f"{indent}    return {self.number(2)}"] if kind == 3 else self.block(depth - 1, indent + "    ")
                )
                other = [f"{indent}else:", *self.block(depth - 1, indent + "    ")] if kind == 4 else []
                lines += [f"{indent}if {self.test(1)}:", *inner, *other]
        return lines

    def number(self, depth: int) -> str:
        if not depth or self.rng.random() < 0.2:
            return self.rng.choice(("item", "room", "x", "y", "K", "L", "2", "0.5", "-1", "h[-1]", "h[item]", "sum(h)"))
        a, b = self.number(depth - 1), self.number(depth - 1)
        forms = [f"({a} {operator} {b})" for operator in ("+", "-", "*", "/", "//", "%", "**")]
        forms += [f"({a} if {self.test(depth - 1)} else {b})", f"max({a}, {b})", f"min({a}, {b}, 1)", f"abs({a})"]
        forms += [f"int({a})", f"math.exp({a})", f"math.floor({a})", f"h[int({a})]", f"sum(h[int({a}):])", f"(-{a})"]
        return self.rng.choice([*forms, f"({self.test(depth - 1)})"])

    def test(self, depth: int) -> str:
        a, b = self.number(depth), self.number(depth)
        if depth and self.rng.random() < 0.4:
            return self.rng.choice((f"not {a}", f"{a} < {b} <= 3", f"{self.test(0)} and {self.test(0)}"))
        return f"{a} {self.rng.choice(('<', '<=', '>', '>=', '==', '!='))} {b}"


@settings(max_examples=300)
@given(st.integers(0, 10**9))
def test_statements_of_all_kinds_score_as_in_python_or_not_at_all(seed):
    code, item, rooms = Programs(seed).rule(), 3, list(range(3, 12))
    histogram = [random.Random(seed).randrange(4) for _ in range(12)]
    if translate(code) is not None:
        assert same(by_machine(code, item, rooms, histogram), by_python(code, item, rooms, histogram)), code


HEAD = "import math\nK = 3\nL = -0.5\n\ndef score_bin(item, room, h):\n"
BODIES = [
    "    x = room - item\n    if x < 5:\n        return x * 2\n    elif x % 2 == 0:\n        x += 1\n"
    "    else:\n        x = -x\n    return x // K",
    "    y = 1\n    if item > 4 and room > 9 or not room:\n        y = 2\n        if room == 20:\n"
    "            return L\n    return y ** 2 + item",
    "    return (room - 12) // -5 + (room - 12) % -5 + (room - 7.5) % 2 + (room - 7.5) // 2",
    "    return 1 if 3 < room - item <= 9 else h[-1] + h[room - item - 3]",
    "    return sum(h[2:room]) - sum(h[:-3]) + sum(h) + max(h[0], 2, item) - min(room, 3.5)",
    "    return math.exp(-room / 9) + math.sqrt(item) + math.log(room + 1) + math.floor(room / 4) + int(-2.7 * item)",
    "    return 1 / (room - 15) if room != 15 else 0",
    "    a: float = abs(item - 20)\n    a *= 1.5\n    return a if a else float(room)",
    "    if room - item > 3:\n        return 1\n    if room - item > 1:\n        return 0.5\n"
    "    return 10 * (room - item)",
]


@pytest.mark.parametrize("body", BODIES)
def test_statements_score_as_in_python(body):
    code = HEAD + body + "\n"
    assert translate(code) is not None, "it is not left to the sandbox"
    rng = random.Random(1)
    for _ in range(40):
        histogram = [rng.randint(0, 4) for _ in range(CAPACITY + 1)]
        item = rng.randint(1, CAPACITY)
        rooms = list(range(item, CAPACITY + 1))
        found, wanted = by_machine(code, item, rooms, histogram), by_python(code, item, rooms, histogram)
        assert found == wanted or same(found, wanted)
        assert (found is None) == (wanted is None)


@pytest.mark.parametrize(
    "body",
    [
        "    return open('/etc/passwd')", "    return h.index(0)", "    return [x for x in h][0]", "    return q",
        "    while True:\n        pass", "    return h[room / 2]", "    return lambda: 0", "    return 'a' < 'b'",
        "    import os\n    return 1", "    return room.__class__", "    return score_bin(item, room, h)",
        "    h[0] = 1\n    return 1", "    return __import__('os')", "    if room > 3:\n        return 1",
        "    z = True\n    return room", "    return 10 ** (room - item)",
    ],
)  # fmt: skip
def test_more_than_arithmetic_is_left_to_the_sandbox(body):
    assert translate(HEAD + body + "\n") is None


NO_RULES = {
    "a type that nobody imported": "def score_bin(item: int, room: int, h: List[int]) -> float:\n    return room",
    "a type of what it returns": "def score_bin(item, room, h) -> np.ndarray:\n    return room",
    "a constant that is the function's own": "K = 3\ndef score_bin(item, room, h):\n    K = K + room\n    return K",
    "one in a branch": "K = 3\ndef score_bin(item, room, h):\n    if room > 5:\n        K = 2\n    return K",
    "another histogram": "def score_bin(item, room, h):\n    h = 3\n    return h[0]",
    "a histogram that is a number": "def score_bin(item, room, h):\n    h = h[0]\n    return sum(h)",
    "a name that was the function's": "def score_bin(item, room, h):\n    return room\nscore_bin = 3",
    "another math": "import math\nmath = 3\ndef score_bin(item, room, h):\n    return math.exp(-room)",
    "a parameter math": "import math\ndef score_bin(item, math, h):\n    return math.exp(-item)",
    "its own math": "import math\ndef score_bin(item, room, h):\n    x = math.exp(1)\n    math = x\n    return x",
    "math later": "import math\ndef score_bin(item, room, h):\n    x = math.exp(1)\n    import math\n    return x",
    "a function of its own, later": "def score_bin(item, room, h):\n    x = abs(item)\n    abs = x\n    return x",
    "a parameter sum": "def score_bin(item, room, sum):\n    return sum(sum)",
    "a generator": "def score_bin(item, room, h):\n    return room\n    yield item",
}


@pytest.mark.parametrize("case", NO_RULES)
def test_what_python_cannot_run_is_left_to_the_sandbox(case):
    """Such a program had a score, called verified, that it could never have had: it ends in an exception."""
    code = NO_RULES[case] + "\n"
    names: dict[str, object] = {}
    assert translate(code) is None
    if sys.version_info < (3, 14) or "type" not in case:  # from then on types are read when somebody asks for them
        with pytest.raises((NameError, TypeError, AttributeError)):
            exec(compile(code, "rule", "exec", dont_inherit=True), names)
            float(names["score_bin"](3, 4, [1] * 9))


def test_types_that_every_python_knows_are_read_over():
    code = "def score_bin(item: int, room: 'int', h: list[int]) -> float:\n    x: Unknown = room\n    return x - item\n"
    assert by_machine(code, 3, [4, 5], [0] * 31) == by_python(code, 3, [4, 5], [0] * 31) == [1, 2]


def test_math_is_there_where_python_has_it():
    head, body = "def score_bin(item, room, h):\n", "    return math.exp(-room / 9)\n"
    assert translate(head + body) is None, "the sandbox tells that the name is not defined"
    assert translate(f"{head}{body}\nimport math\n") is not None
    assert translate(f"{head}    import math\n{body}") is not None
    assert translate(f"{head}    if room > 3:\n        import math\n{body}") is None


def test_a_branch_not_taken_does_no_harm_and_one_taken_does():
    safe = HEAD + "    return 1 / (room - 5) if room != 5 else 7\n"
    assert by_machine(safe, 5, [5, 6], [0] * 31) == [7, 1]
    assert by_machine(HEAD + "    x = 1 / (room - 5)\n    return 3\n", 5, [5, 6], [0] * 31) is None
    assert by_machine(HEAD + "    return item ** 60\n", 30, [30], [0] * 31) is None
