from __future__ import annotations

import ast
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.state.fingerprint import ast_hash, text_hash
from utils.syntax import parse_shared

BASE = "def f(a):\n    total = 0\n    for item in a:\n        total += item\n    return total\n"

SAME = {
    "locals": "def f(a):\n    s = 0\n    for x in a:\n        s += x\n    return s\n",
    "comments": "# note\n" + BASE.replace("= 0", "= 0  # sum"),
    "layout": "def f( a ):\n  total=0\n  for item in a: total+=item\n  return ( total )\n",
    "docstring": BASE.replace("(a):", '(a):\n    """Sum."""'),
    "constants": BASE.replace("= 0", "= 2 - 2"),
}


MORE = [
    ("async def f(a):\n x = await a\n return x", "async def f(a):\n y = await a\n return y"),
    ("def f(a):\n return {x for x in a}, (x for x in a)", "def f(a):\n return {y for y in a}, (z for z in a)"),
    ("def f(a):\n if (n := len(a)) > 1: return n", "def f(a):\n if (m := len(a)) > 1: return m"),
    ("def f():\n def g():\n  x = 1\n  return x\n return g", "def f():\n def g():\n  y = 1\n  return y\n return g"),
]


@pytest.mark.parametrize(("one", "other"), MORE)
def test_locals_of_every_kind_of_scope_are_renamed(one, other):
    assert ast_hash(one) == ast_hash(other)


@pytest.mark.parametrize("name", SAME)
def test_what_makes_no_difference(name):
    assert ast_hash(SAME[name]) == ast_hash(BASE) and text_hash(SAME[name]) != text_hash(BASE)


DIFFERENT = {
    "a private name is another one inside of a class": (
        "def f():\n __x = 1\n class C:\n  def m(self): return __x\n return C().m()",
        "def f():\n y = 1\n class C:\n  def m(self): return y\n return C().m()",
    ),
    "an expression that is evaluated under another name": (
        "from numexpr import evaluate as ev\ndef f():\n a = 1\n b = 2\n return ev('a - b')",
        "from numexpr import evaluate as ev\ndef f():\n b = 1\n a = 2\n return ev('a - b')",
    ),
    "a query that names a variable": (
        "def f(x, y):\n a = x\n b = y\n return duckdb.sql('select * from a')",
        "def f(x, y):\n b = x\n a = y\n return duckdb.sql('select * from a')",
    ),
    "arguments may be named by a caller": ("def f(a): return a", "def f(b): return b"),
    "globals": ("x = 1\nprint(x)", "y = 1\nprint(y)"),
    "a closure's variable is not the inner one": (
        "def f():\n a = 1\n b = 2\n def g():\n  c = 5\n  return c + a\n return g()",
        "def f():\n a = 1\n b = 2\n def g():\n  c = 5\n  return c + c\n return g()",
    ),
    "a global that looks like a number": ("def f():\n a = 1\n return a + _0", "def f():\n a = 1\n return a + a"),
    "an outer global and an inner local of one name": (
        "def f():\n def g():\n  x = 1\n  return x\n return g() + x",
        "def f():\n def g():\n  y = 1\n  return y\n return g() + y",
    ),
    "a comprehension's variable and a global": (
        "def f(a): return [x for x in a] + [x]",
        "def f(a): return [y for y in a] + [y]",
    ),
    "class attributes": (
        "def f():\n class C:\n  x = 1\n return C.x",
        "def f():\n class C:\n  y = 1\n return C.x",
    ),
    "names that the program asks for": ("def f():\n x = 1\n return locals()", "def f():\n y = 1\n return locals()"),
    "nonlocal names": (
        "def f():\n x = 0\n y = 0\n def g():\n  nonlocal x\n  x = 1\n g()\n return x",
        "def f():\n x = 0\n y = 0\n def g():\n  nonlocal y\n  y = 1\n g()\n return x",
    ),
    "global statements": ("def f():\n global x\n x = 1", "def f():\n global y\n y = 1"),
    "a local import and its name": (
        "def f():\n import math\n math = math.sqrt\n return math(2)",
        "def f():\n import math\n x = x.sqrt\n return x(2)",
    ),
    "a walrus binds outside of its comprehension": (
        "def f(a):\n b = [x := y for y in a]\n return x",
        "def f(a):\n b = [x for y in a]\n return x",
    ),
    "the name of an exception": (
        "def f():\n try: g()\n except E as e: return e",
        "def f():\n try: g()\n except E as d: return e",
    ),
    "captures of a match": (
        "def f(a):\n match a:\n  case [x, *r]: return x\n  case {'k': v, **m}: return m",
        "def f(a):\n match a:\n  case [x, *r]: return r\n  case {'k': v, **m}: return m",
    ),
    "a lambda's argument": ("f = lambda x, y: x", "f = lambda x, y: y"),
    "a default is evaluated outside": (
        "def f(a):\n x = 1\n def g(b=x):\n  x = 2\n  return x\n return g",
        "def f(a):\n y = 1\n def g(b=x):\n  x = 2\n  return x\n return g",
    ),
    "dictionaries' keys and values": (
        "def f(a): return {x: y for x, y in a}",
        "def f(a): return {y: x for x, y in a}",
    ),
    "operands": ("def f(a):\n x = 1\n y = 2\n return x - y", "def f(a):\n x = 1\n y = 2\n return y - x"),
    "integer and float": ("x = 3", "x = 3.0"),
    "zero and minus zero": ("x = 0.0", "x = -0.0"),
    "True and one": ("x = True", "x = 1"),
    "trailing blanks in a string": ("x = '''a  \nb'''", "x = '''a\nb'''"),
    "a query that names a local": (
        "def f(t):\n x = 1\n return t.query('a > @x')",
        "def f(t):\n y = 1\n return t.query('a > @x')",
    ),
    "a docstring that is read": ('"""One."""\nprint(__doc__)', '"""Two."""\nprint(__doc__)'),
    "a comprehension within and beside": (
        "def f(a): return [x for x in a if x]",
        "def f(a): return [x for x in a] if x else 0",
    ),
    "what is folded and what is called": ("x = 2 * 3", "x = 2 ** 3"),
    "a list and its items": ("f([1, 2], 3)", "f([1], 2, 3)"),
    "a name and a text": ("x = a", "x = 'a'"),
    "an f-string that shows the name": ("def f():\n x = 1\n return f'{x=}'", "def f():\n y = 1\n return f'{y=}'"),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_may_make_a_difference(name):
    one, other = DIFFERENT[name]
    assert ast_hash(one) != ast_hash(other) and text_hash(one) != text_hash(other)


def test_blank_lines_around_and_line_ends_make_no_other_text():
    assert text_hash("\n\nx = 1\r\ny = 2\n\n") == text_hash("x = 1\ny = 2")
    assert text_hash(" x = 1") != text_hash("x = 1"), "an indented first line is a syntax error"


@pytest.mark.parametrize(
    "code",
    [
        "def (",
        "a\0b",
        "(" * 3000 + ")" * 3000,
        "x" + ".a" * 9000,
        "x = " + "*".join(["9999999999"] * 600),
        "'\ud800'",
        "",
    ],
)
def test_no_program_breaks_the_fingerprint(code):
    assert len(text_hash(code)) == 64
    normal = ast_hash(code)
    assert normal is None or len(normal) == 64


def test_a_tree_that_others_share_is_left_as_it_was():
    code = SAME["docstring"].replace("= 0", "= 2 - -2")
    before = ast.dump(parse_shared(code))
    ast_hash(code)
    assert ast.dump(parse_shared(code)) == before


def test_folding_follows_arithmetic():
    assert ast_hash("x = 2 * 3 - 1") == ast_hash("x = 5") and ast_hash("x = -1") == ast_hash("x = 0 - 1")
    assert ast_hash("x = 1 / 0") != ast_hash("x = 0") and ast_hash("x = (-1) ** 2") != ast_hash("x = -1 ** 2")


# ---------------------------------------------------------------- a law: equal fingerprints, equal behaviour

NAMES = ("a", "b", "c", "g")


def program(rng: random.Random) -> str:
    """A random program of nested functions over few names, so that shadowing and closures abound."""

    def expression(depth: int) -> str:
        kind = rng.randrange(6 if depth else 3)
        if kind < 2:
            return rng.choice(NAMES)
        if kind == 2:
            return str(rng.randrange(3))
        if kind == 3:
            return f"sum({expression(0)} for {rng.choice(NAMES)} in range({rng.randrange(1, 4)}))"
        if kind == 4:
            return f"(lambda {rng.choice(NAMES)}: {expression(0)})({expression(0)})"
        return f"({expression(depth - 1)} * 3 + {expression(depth - 1)})"

    def block(indent: int, depth: int) -> list[str]:
        pad = " " * indent
        lines = []
        for _ in range(rng.randrange(1, 4)):
            kind = rng.randrange(4)
            if kind < 2 or not depth:
                lines.append(f"{pad}{rng.choice(NAMES)} = {expression(1)}")
            elif kind == 2:
                lines += [f"{pad}def h({rng.choice(['', 'a', 'b=1'])}):", *block(indent + 1, depth - 1)]
                lines.append(f"{pad}{rng.choice(NAMES)} = h" + rng.choice(["()", "(2)"]))
            else:
                lines += [f"{pad}class C:", f"{pad} {rng.choice(NAMES)} = {expression(1)}"]
        return [*lines, f"{pad}return {expression(1)}"]

    return "\n".join(["a, b, c, g = 5, 7, 11, 13", "def main():", *block(1, 2)])


def behaviour(code: str) -> str:
    scope: dict[str, object] = {}
    try:
        exec(code, scope)  # our own generator wrote it
        return repr(scope["main"]())  # type: ignore[operator]
    except (ArithmeticError, AttributeError, NameError, TypeError, RecursionError) as error:
        return type(error).__name__


def test_programs_with_equal_fingerprints_behave_alike():
    groups: dict[str, dict[str, str]] = {}
    for seed in range(2500):
        code = program(random.Random(seed))
        ast.parse(code)
        groups.setdefault(str(ast_hash(code)), {})[code] = behaviour(code)
    shared = [group for group in groups.values() if len(group) > 1]
    assert len(shared) > 10, "the generator must make programs that differ in names alone"
    for group in shared:
        assert len(set(group.values())) == 1, "\n---\n".join(group)


@given(st.integers(0, 10**6), st.permutations(NAMES))
def test_consistent_renaming_of_fresh_locals_never_matters(seed, order):
    """Names that occur nowhere else may be exchanged for others at will."""
    rng = random.Random(seed)
    lines = [f" {rng.choice(NAMES)}_ = {rng.randrange(9)}" for _ in range(4)]
    code = "def f():\n" + "\n".join(lines) + "\n return " + lines[0].split()[0]
    renamed = code
    for old, new in zip(NAMES, order, strict=True):
        renamed = renamed.replace(f"{old}_", f"<{new}>")
    renamed = renamed.replace("<", "z").replace(">", "")
    assert ast_hash(code) == ast_hash(renamed)
