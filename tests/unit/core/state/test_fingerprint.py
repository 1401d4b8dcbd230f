from __future__ import annotations

import ast
import random
import sys

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
    ("def f(x):\n return g(x)\ndef g(a):\n x = a\n return x", "def f(x):\n return g(x)\ndef g(a):\n y = a\n return y"),
    ("def f(m):\n x = 1\n m.eval()\n return x", "def f(m):\n x = 2 - 1  # one\n m.eval()\n return x"),
    ("def f():\n x = 'the sum'\n return x", "def f():\n y = 'the sum'\n return y"),
    ("# -*- coding: utf-8 -*-\nx = 1  # type: ignore", "x = 1\n\n# target encoding: none"),
    ("from __future__ import annotations\nx = 1", "'''What it is.'''\nfrom __future__ import annotations\nx = 1"),
    ("def f():\n a: int = 1\n return a", "def f():\n b: int = 1\n return b"),
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
    assert not merged(one, other)


def merged(one: str, other: str) -> bool:
    """True if the second of two programs would not be run, as the search decides it."""
    return text_hash(one) == text_hash(other) or (ast_hash(one) is not None and ast_hash(one) == ast_hash(other))


ATTACKS = {
    "a string before an import from the future": (
        "'a'\nfrom __future__ import annotations\nr = 1",
        "'a'\n'b'\nfrom __future__ import annotations\nr = 1",
    ),
    "an annotation in brackets binds nothing": (
        "a, b = 1, 2\ndef f():\n (a): int\n return a\nr = f()",
        "a, b = 1, 2\ndef f():\n (b): int\n return b\nr = f()",
    ),
    "an annotation in brackets hides no outer variable": (
        "z = 9\ndef f():\n x = 1\n def g():\n  (x): int\n  return x\n return g()\nr = f()",
        "x = 9\ndef f():\n y = 1\n def g():\n  (x): int\n  return x\n return g()\nr = f()",
    ),
    "nonlocal after the assignment": (
        "def f():\n x = 0\n def g():\n  x = 1\n  nonlocal x\n  return x\n return g()\nr = f()",
        "def f():\n x = 0\n def g():\n  y = 1\n  nonlocal x\n  return x\n return g()\nr = f()",
    ),
    "global after the assignment": (
        "x = 5\ndef f():\n x = 1\n global x\n return x\nr = f()",
        "x = 5\ndef f():\n y = 1\n global x\n return x\nr = f()",
    ),
    "a walrus may not take the comprehension's variable": (
        "def f(a):\n return [x := y for y in a]\nr = f([1])",
        "def f(a):\n return [y := y for y in a]\nr = f([1])",
    ),
    "super is a magic name": (
        "class A:\n def m(self, s):\n  super = s\n  return super().__init__() is None\nr = A().m(super)",
        "class A:\n def m(self, s):\n  other = s\n  return other().__init__() is None\nr = A().m(super)",
    ),
    "the outside of a private name": (
        "def f():\n _C__x = 1\n class C:\n  def m(self): return __x\n return C().m()\nr = f()",
        "def f():\n _D__x = 1\n class C:\n  def m(self): return __x\n return C().m()\nr = f()",
    ),
    "a name that a library finds in a string": (
        "def f():\n x = 1\n y = 2\n return look('x + 1')\nr = f()",
        "def f():\n y = 1\n x = 2\n return look('x + 1')\nr = f()",
    ),
    "a name that a library finds among keywords": (
        "def f():\n x = 1\n y = 2\n return look(x=float)\nr = f()",
        "def f():\n y = 1\n x = 2\n return look(x=float)\nr = f()",
    ),
    "an f-string's own names": (
        "def f():\n x = 1\n return f'{x=}'\nr = f()",
        "def f():\n y = 1\n return f'{y=}'\nr = f()",
    ),
    "an f-string's own layout": (
        "def f():\n x = 1\n return f'{x=}'\nr = f()",
        "def f():\n x = 1\n return f'{x = }'\nr = f()",
    ),
    "locals": (
        "def f():\n x = 1\n return list(locals())\nr = f()",
        "def f():\n y = 1\n return list(locals())\nr = f()",
    ),
    "vars": ("def f():\n x = 1\n return str(vars())\nr = f()", "def f():\n y = 1\n return str(vars())\nr = f()"),
    "dir": ("def f():\n x = 1\n return dir()\nr = f()", "def f():\n y = 1\n return dir()\nr = f()"),
    "a name that is put together": (
        "def f():\n x1 = 1\n x2 = 2\n return eval(f'x{1}')\nr = f()",
        "def f():\n x2 = 1\n x1 = 2\n return eval(f'x{1}')\nr = f()",
    ),
    "names of globals": ("x = 1\nr = sorted(globals())", "y = 1\nr = sorted(globals())"),
    "names that the code object holds": (
        "def f():\n x = 1\nr = f.__code__.co_varnames",
        "def f():\n y = 1\nr = f.__code__.co_varnames",
    ),
    "constants that the code object holds": (
        "def f():\n 'One.'\nr = f.__code__.co_consts",
        "def f():\n 'Two.'\nr = f.__code__.co_consts",
    ),
    "names in the order of a closure": (
        "def f():\n a = 1\n b = 2\n def g(): return a, b\n return [c.cell_contents for c in g.__closure__]\nr = f()",
        "def f():\n b = 1\n a = 2\n def g(): return b, a\n return [c.cell_contents for c in g.__closure__]\nr = f()",
    ),
    "line numbers of an error": (
        "try: 1 / 0\nexcept ZeroDivisionError as e: r = e.__traceback__.tb_lineno",
        "\ntry: 1 / 0\nexcept ZeroDivisionError as e: r = e.__traceback__.tb_lineno",
    ),
    "a printed traceback": (
        "import traceback\ntry: 1 / 0\nexcept ZeroDivisionError: r = traceback.format_exc()",
        "import traceback\n\ntry: 1 / 0\nexcept ZeroDivisionError: r = traceback.format_exc()",
    ),
    "line numbers of a warning": (
        "import warnings\nwith warnings.catch_warnings(record=True) as w:\n warnings.warn('x')\n r = w[0].lineno",
        "import warnings\nwith warnings.catch_warnings(record=True) as w:\n\n warnings.warn('x')\n r = w[0].lineno",
    ),
    "the frame's line": (
        "import sys\nr = sys._getframe().f_lineno",
        "import sys  # note\n\nr = sys._getframe().f_lineno",
    ),
    "the line of a log": (
        "import io, logging\ns = io.StringIO()\nlogging.basicConfig(stream=s, format='%(lineno)d', force=True)\n"
        "logging.warning('x')\nr = s.getvalue()",
        "import io, logging\ns = io.StringIO()\n\nlogging.basicConfig(stream=s, format='%(lineno)d', force=True)\n"
        "logging.warning('x')\nr = s.getvalue()",
    ),
    "a docstring": ("def f(): 'One.'\nr = f.__doc__", "def f(): 'Two.'\nr = f.__doc__"),
    "a docstring by its name in a string": (
        "def f(): 'One.'\nr = getattr(f, '__doc__')",
        "def f(): 'Two.'\nr = getattr(f, '__doc__')",
    ),
    "a docstring through pydoc": (
        "import pydoc\ndef f(): 'One.'\nr = pydoc.render_doc(f)",
        "import pydoc\ndef f(): 'Two.'\nr = pydoc.render_doc(f)",
    ),
    "what an unbound variable is called": (
        "def f():\n try:\n  return x\n  x = 1\n except UnboundLocalError as e: return str(e)\nr = f()",
        "def f():\n try:\n  return y\n  y = 1\n except UnboundLocalError as e: return str(e)\nr = f()",
    ),
    "annotations kept as strings": (
        "from __future__ import annotations\ndef f():\n T = int\n def g(a: T): ...\n return g.__annotations__\nr = f()",
        "from __future__ import annotations\ndef f():\n S = int\n def g(a: S): ...\n return g.__annotations__\nr = f()",
    ),
    "fields of a data class": (
        "from dataclasses import dataclass\n@dataclass\nclass A:\n x: int = 1\nr = repr(A())",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n y: int = 1\nr = repr(A())",
    ),
    "names of keywords": ("r = list(dict(x=1))", "r = list(dict(y=1))"),
    "the name of a local class": (
        "def f():\n class X: pass\n return X.__name__\nr = f()",
        "def f():\n class Y: pass\n return Y.__name__\nr = f()",
    ),
    "the name of a local function": (
        "def f():\n def g(): pass\n return g.__qualname__\nr = f()",
        "def f():\n def h(): pass\n return h.__qualname__\nr = f()",
    ),
    "a continued line at the end": ("r = 1\\\n", "r = 1\\\n\n"),
    "zero's sign after folding": (
        "import math\nr = math.copysign(1, 0.0 * -1)",
        "import math\nr = math.copysign(1, 0 * -1)",
    ),
    "a NaN's sign": (
        "import math\nr = math.copysign(1, 1e999 - 1e999)",
        "import math\nr = math.copysign(1, -(1e999 - 1e999))",
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_programs_that_differ_in_what_they_do_are_not_merged(name):
    one, other = ATTACKS[name]
    assert outcome(one) != outcome(other), "the pair proves nothing"
    assert not merged(one, other)


def look(formula: str = "", **types: type) -> object:
    """A library that looks into its caller's variables, as numexpr, patsy and numba's objmode do."""
    variables = sys._getframe(1).f_locals
    return eval(formula, {}, variables) if formula else [kind(variables[name]) for name, kind in types.items()]


def outcome(code: str) -> object:
    """What the program leaves in `r`, or how it fails."""
    scope: dict[str, object] = {"__name__": "program", "look": look}
    try:
        exec(compile(code, "program", "exec", dont_inherit=True), scope)  # ours, written above
        return scope["r"]
    except Exception as error:  # noqa: BLE001 whatever it is, it is what the program does
        return type(error).__name__


READ_BY_OTHERS = [
    ("# coding: latin-1\nprint('\u00e4')", "# coding: cp437\nprint('\u00e4')"),
    ("#!/usr/bin/python\n# coding=latin-1\nprint('\u00e4')", "#!/usr/bin/python\nprint('\u00e4')"),
    ("def f(a):\n # type: (int) -> int\n return a", "def f(a):\n # type: (Tensor) -> Tensor\n return a"),
    ("print(len(open('solution.py').read()))", "print(len(open('solution.py').read()))  # longer"),
    ("print(open(__file__).read())", "print(open(__file__).read())  # longer"),
    ("import sys\nprint(open(sys.argv[0]).read())", "import sys\nprint(open(sys.argv[0]).read())  # longer"),
    ("from inspect import getsource as g\nprint(g(f))", "from inspect import getsource as g\nprint(g(f))  # longer"),
    ("def f(d):\n x = 1\n y = 2\n return ols('a ~ x', d)", "def f(d):\n y = 1\n x = 2\n return ols('a ~ x', d)"),
    (
        "def f():\n x = 1\n y = 2\n with objmode(y='f8'): y = 3\n return x",
        "def f():\n y = 1\n x = 2\n with objmode(y='f8'): x = 3\n return y",
    ),
    ("def f():\n gr\u00f6\u00dfe = 1\n return g('gr\u00f6\u00dfe')", "def f():\n x = 1\n return g('gr\u00f6\u00dfe')"),
    ("def f():\n x = 1\n return g('\u201cx\u201d')", "def f():\n y = 1\n return g('\u201cx\u201d')"),
    ("r = 1\r", "r = 1\\\r"),
]


@pytest.mark.parametrize(("one", "other"), READ_BY_OTHERS)
def test_what_a_library_or_the_file_itself_may_read_counts(one, other):
    assert not merged(one, other)


TYPE_PARAMETERS = {
    "a parameter is not the outer variable": (
        "T = 9\ndef f():\n S = 5\n def g():\n  def h[T](a: T): return a\n  return T\n return g()\nr = f()",
        "T = 9\ndef f():\n T = 5\n def g():\n  def h[T](a: T): return a\n  return T\n return g()\nr = f()",
    ),
    "a default is evaluated outside": (
        "def f():\n T = 5\n def h[T](a=T): return a\n return h()\nr = f()",
        "def f():\n S = 5\n def h[T](a=S): return a\n return str(h())\nr = f()",
    ),
    "a parameter knows its name": (
        "def f[T](a: T): return T\nr = str(f(1))",
        "def f[S](a: S): return S\nr = str(f(1))",
    ),
    "a class's parameter knows its name": (
        "class A[T]: pass\nr = str(A.__type_params__)",
        "class A[S]: pass\nr = str(A.__type_params__)",
    ),
    "a type knows its name": (
        "def f():\n type X = int\n return str(X)\nr = f()",
        "def f():\n type Y = int\n return str(Y)\nr = f()",
    ),
    "a body sees the parameter": (
        "def f():\n T = 5\n def h[S](): return T\n return str(h())\nr = f()",
        "def f():\n T = 5\n def h[T](): return T\n return str(h())\nr = f()",
    ),
}


@pytest.mark.skipif(not hasattr(ast, "TypeAlias"), reason="type parameters came with Python 3.12")
@pytest.mark.parametrize("name", TYPE_PARAMETERS)
def test_programs_with_type_parameters_are_not_merged(name):
    one, other = TYPE_PARAMETERS[name]
    assert outcome(one) != outcome(other), "the pair proves nothing"
    assert ast_hash(one) is not None and not merged(one, other)


@pytest.mark.skipif(not hasattr(ast, "TypeAlias"), reason="type parameters came with Python 3.12")
def test_locals_beside_type_parameters_are_renamed():
    for head in ("def f[T: int](a: T) -> T:", "class A[T]:\n def f(self, a):", "type X[T] = list[T]\ndef f(a):"):
        one, other = (f"{head}\n  {name} = a\n  return {name}" for name in ("x", "y"))
        assert merged(one, other)


@pytest.mark.skipif(not hasattr(ast, "TemplateStr"), reason="template strings came with Python 3.14")
def test_a_template_string_knows_its_own_text():
    assert not merged("def f():\n x = 1\n return t'{x}'", "def f():\n y = 1\n return t'{y}'")
    assert not merged("def f(x): return t'{x + 1}'", "def f(x): return t'{x+1}'")


def test_the_text_counts_as_it_is():
    assert text_hash("x = 1\n") == text_hash("x = 1\n") != text_hash("x = 1")
    assert text_hash("#!/bin/sh\r\nls\r\n") != text_hash("#!/bin/sh\nls\n"), "a shell minds; Python's tree does not"
    assert ast_hash("\n\nx = '''a\r\nb'''\r\n") == ast_hash("x = '''a\nb'''")


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


def expression(rng: random.Random, depth: int) -> str:
    kind = rng.randrange(8 if depth else 3)
    if kind < 2:
        return rng.choice(NAMES)
    if kind == 2:
        return str(rng.randrange(3))
    if kind == 3:
        return f"sum({expression(rng, 0)} for {rng.choice(NAMES)} in range({rng.randrange(1, 4)}))"
    if kind == 4:
        return f"(lambda {rng.choice(NAMES)}: {expression(rng, 0)})({expression(rng, 0)})"
    if kind == 5:
        return f"sum([({rng.choice(NAMES)} := {expression(rng, 0)}) for {rng.choice(NAMES)} in range(3)])"
    if kind == 6:
        return f"int(look({rng.choice(NAMES)!r}))"
    return f"({expression(rng, depth - 1)} * 3 + {expression(rng, depth - 1)})"


def program(rng: random.Random) -> str:
    """A random program of nested functions over few names, so that shadowing and closures abound."""

    def block(indent: int, depth: int) -> list[str]:
        pad = " " * indent
        lines = []
        for _ in range(rng.randrange(1, 4)):
            kind = rng.randrange(5)
            if kind < 2 or not depth:
                lines.append(f"{pad}{rng.choice(NAMES)} = {expression(rng, 1)}")
            elif kind == 4:
                declared = rng.choice(("global {}", "nonlocal {}", "({}): int", "{}: int", "del {}"))
                lines.append(pad + declared.format(rng.choice(NAMES)))
            elif kind == 2:
                lines += [f"{pad}def h({rng.choice(['', 'a', 'b=1'])}):", *block(indent + 1, depth - 1)]
                lines.append(f"{pad}{rng.choice(NAMES)} = h" + rng.choice(["()", "(2)"]))
            else:
                lines += [f"{pad}class C:", f"{pad} {rng.choice(NAMES)} = {expression(rng, 1)}"]
        return [*lines, f"{pad}return {expression(rng, 1)}"]

    return "\n".join(["a, b, c, g = 5, 7, 11, 13", "def main():", *block(1, 2)])


def behaviour(code: str) -> str:
    return repr(outcome(f"{code}\nr = main()"))


def test_programs_with_equal_fingerprints_behave_alike():
    groups: dict[str, dict[str, str]] = {}
    for seed in range(6000):
        code = program(random.Random(seed))
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
