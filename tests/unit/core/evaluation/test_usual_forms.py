"""Answers in a form that an evaluator was not written for: each of these was the best program there can be."""

from __future__ import annotations

import math
from pathlib import Path

import numpy
import pytest
from support.sandboxes import opened_tier

from core.contracts import Limits
from core.evaluation.isolation.apart import Apart, program_failure
from core.evaluation.isolation.evaluator import EvaluatorRun
from core.evaluation.isolation.usual_forms import MOST_MARKS, forms_of, in_form, known_of

EVALUATOR = """import importlib.util
import math

import numpy


def tour(module):
    found, away = module.tour(9), [[abs(i - j) for j in range(9)] for i in range(9)]
    if len(found) != 9 or sorted(found) != list(range(9)):
        return -1000.0
    return -sum(away[found[i]][found[i - 1]] for i in range(9))


def fields(module):
    class Plan:
        tour = staticmethod(lambda n: module.plan(n)["tour"])
    return tour(Plan)


def parts(module):
    class Pair:
        tour = staticmethod(lambda n: module.pair(n)[0])
    return tour(Pair)


def chosen(module):
    taken = numpy.asarray(module.choose(30))
    if taken.shape != (30,) or (taken[:-1] + taken[1:] > 1).any():
        return -1000.0
    return float(taken.sum())


def errors(module):
    return -float(numpy.sum([(module.f(x) - x) ** 2 for x in numpy.linspace(0, 1, 9)]))


def hits(module):
    return float(sum(numpy.sum(module.f(x) == x) for x in numpy.arange(9.0)))


def product(module):
    sides = module.sides(4)
    return -1e99 if any(side < 2 for side in sides) else -float(sides[0] * sides[1] * sides[2] * sides[3])


def volume(module):
    sides = numpy.array([module.side(n) for n in range(4)] if module.ONE_BY_ONE else module.sides(4))
    return -1e99 if (sides < 2).any() else -float(numpy.prod(sides))


def ratio(module):
    used, there = module.ratio()
    try:
        part = used / there
    except ZeroDivisionError:
        return 0.0
    return -1.0 if part > 1.0 else min(1.0, part)


def evaluate(path):
    spec = importlib.util.spec_from_file_location("candidate", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {"combined_score": globals()[module.KIND](module)}
"""
FORGED = {
    "a tour that is a mapping": (
        "tour",
        "def tour(n): return list(range(n))",
        "def tour(n): return {i: 0 for i in range(n)}",
    ),
    "a field that is one": (
        "fields",
        "def plan(n): return {'tour': list(range(n)), 'cost': 1.5}",
        "def plan(n): return {'tour': {i: 0 for i in range(n)}, 'more': {}}",
    ),
    "a part that is one": (
        "parts",
        "def pair(n): return list(range(n)), {'cost': 1.5}",
        "def pair(n): return {i: 0 for i in range(n)}, {}",
    ),
    "truths": ("chosen", "def choose(n): return [1, 0] * (n // 2)", "def choose(n): return [True] * n"),
    "truths in an array": (
        "chosen",
        "import numpy\ndef choose(n): return numpy.arange(n) % 2",
        "import numpy\ndef choose(n): return numpy.ones(n, bool)",
    ),
    "no number in a list": ("errors", "def f(x): return 0.5", "def f(x): return []"),
    "no number in an array": ("errors", "def f(x): return 0.5", "import numpy\ndef f(x): return numpy.zeros(0)"),
    "many numbers": ("hits", "def f(x): return x if x < 5 else 0", "def f(x): return list(range(9)) * 9"),
    "numbers that wrap round": (
        "product",
        "def sides(n): return [2] * n",
        "import numpy\ndef sides(n): return numpy.array([8388607, 8388607, 8388607, 2])",
    ),
    "items that wrap round": (
        "product",
        "def sides(n): return [2] * n",
        "import numpy\ndef sides(n): return [numpy.int64(8388607)] * 3 + [numpy.int64(2)]",
    ),
    "whole numbers that numpy makes wrap round": (
        "volume",
        "ONE_BY_ONE = False\ndef sides(n): return [2.5] * n",
        "ONE_BY_ONE = False\ndef sides(n): return [8388607] * 3 + [2]",
    ),
    "whole numbers in an array": (
        "volume",
        "import numpy\nONE_BY_ONE = False\ndef sides(n): return numpy.full(n, 2.5)",
        "import numpy\nONE_BY_ONE = False\ndef sides(n): return numpy.array([8388607] * 3 + [2])",
    ),
    "whole numbers one by one": (
        "volume",
        "ONE_BY_ONE = True\ndef side(n): return 2.5",
        "ONE_BY_ONE = True\ndef side(n): return 8388607 if n else 2",
    ),
    "nothing by nothing": (
        "ratio", "def ratio(): return 0.5, 1.0", "import numpy\ndef ratio(): return numpy.zeros(2)"
    ),
}  # fmt: skip


@pytest.fixture(scope="module")
def scored(tmp_path_factory):
    folder = tmp_path_factory.mktemp("forms")
    evaluator: Path = folder / "evaluator.py"
    evaluator.write_text(EVALUATOR)
    with opened_tier("warm", folder / "state") as sandbox:

        def score(kind: str, code: str, classes: tuple[str, ...] | None) -> EvaluatorRun:
            how = Apart(evaluator, classes=classes, timeout=30)
            return how.run(sandbox, f"KIND = {kind!r}\n{code}", limits=Limits(seconds=20))

        yield score


@pytest.mark.parametrize("name", FORGED)
def test_no_form_makes_a_score_that_no_honest_answer_has(scored, name):
    kind, honest, forged = FORGED[name]
    own = scored(kind, honest, None)
    assert scored(kind, honest, own.classes).value == own.value, "what the user's own program does is done"
    found = scored(kind, forged, own.classes)
    assert program_failure(found) is None, "a matter of this answer alone"
    if found.value is None:
        assert found.raised and found.line.startswith("TypeError") and "where the initial program has a" in found.line
    else:
        assert found.value["combined_score"] < own.value["combined_score"]
    alone = scored(kind, forged, None)
    assert alone.value is None or alone.value["combined_score"] != found.value, "a user's own program may"


HELD = {
    "truth": (3, True, 1),
    "truth of numpy's": (3, numpy.bool_(True), 1),
    "number of numpy's": (3, numpy.int64(5), 5),
    "array": ([1, 2], numpy.array([5]), [5]),
    "narrow array": ([1.5], numpy.array([0.5], "f4"), [0.5]),
    "rows": ([[1], [2]], numpy.ones((2, 2), bool), [[1, 1], [1, 1]]),
    "rows of arrays": ([[1], [2]], [numpy.array([3])], [[3]]),
    "mapping": ({"a": [1]}, {"a": [True], "b": [True]}, {"a": [1], "b": [True]}),
    "mapping of data": ({n: 1 for n in range(3)}, {7: True}, {7: 1}),
    "whole in a tuple of floats": ((0.5, 1.5), (1, 2), (1.0, 2.0)),
    "parts": (([1], True), ([True], True), ([1], True)),
    "parts in a list": (([1], True), [[True], True], [[1], True]),
    "row for an array": (numpy.ones(3), [0.5, 2], [0.5, 2.0]),
    "nothing": ([1], None, None),
    "text for a number": (1, "x", "x"),
    "number for a row": ([1], 2.5, 2.5),
    "whole for a float": (1.5, 2, 2.0),
    "truth for a float": (1.5, True, 1.0),
    "whole in rows of floats": ([[0.5, 1.5]], [[1, 2.5], [3.5]], [[1.0, 2.5], [3.5]]),
    "whole where both are": ([0.5, 1], [1, 2], [1, 2]),
    "never filled": ([], [[True]], [[True]]),
    "tree": (["+", ["-", 3], 2], ["+", ["-", ["*", [1, "x"], True]]], ["+", ["-", ["*", [1, "x"], True]]]),
    "tree of tuples": (("+", ("-", 3), 2), ("+", 2, ("-", ("-", 1))), ("+", 2, ("-", ("-", 1)))),
}


@pytest.mark.parametrize("name", HELD)
def test_answers_cross_in_the_form_of_the_users_program(name):
    own, answer, wanted = HELD[name]
    found = in_form(answer, "f", known_of(forms_of(own, "f")))
    assert found == wanted and repr(found) == repr(wanted), "a truth equals the number 1"


@pytest.mark.parametrize("name", HELD)
def test_the_users_own_answer_stays_what_it_is(name):
    own, _, _ = HELD[name]
    known = forms_of(own, "f")
    assert in_form(own, "f", known_of(known)) is own or repr(in_form(own, "f", known_of(known))) == repr(own)
    assert not any(mark.isidentifier() for mark in known)


REFUSED = {
    "list for a number": (1, []),
    "array for a number": (1.5, numpy.zeros(3)),
    "array for a truth": (True, numpy.zeros(1, bool)),
    "mapping for a list": ([1], {0: 1}),
    "list for a mapping": ({"a": 1}, [1]),
    "list for a text": ("x", ["x"]),
    "text for a list": (["x"], "x"),
    "mapping in a list": ([[1]], [{0: 1}]),
    "list in a mapping": ({"a": 1}, {"a": [1]}),
    "list in a mapping of data": (dict.fromkeys(range(9), 1), {3: []}),
    "list in place of a part": (([1], 1), ([1], [])),
    "rows in place of a row": ([1], numpy.ones((2, 2))),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_the_users_program_has_none_of_is_an_exception_of_the_programs(name):
    own, answer = REFUSED[name]
    with pytest.raises(TypeError, match=r"where the initial program has (a|text)"):
        in_form(answer, "f", known_of(forms_of(own, "f")))


def test_of_an_answer_without_end_some_marks_are_kept():
    wide = {f"a{n}": {f"b{m}": [math.pi] for m in range(60)} for n in range(60)}
    assert len(forms_of(wide, "f")) <= MOST_MARKS + 4
