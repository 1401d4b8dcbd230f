"""A slip in a problem of one's own is one line before anything runs."""

import sys
from random import random

import pytest
from numpy import int64

from core.contracts import Limits
from core.evaluation.function_problem import FunctionProblem, _Prepared
from utils.errors import ConfigError


class Sound(FunctionProblem):
    name, unit = "sound", "distance"
    signature = "f(x: float, y: float) -> float"
    start = "def f(x, y=1.0):\n    return x\n"

    def cases(self, part):
        return [1, 2]

    def calls(self, case):
        return [(case, 2), (case,)]

    def score(self, case, answers):
        return 0.0


def test_a_sound_problem_passes():
    Sound().prepare()


@pytest.mark.parametrize(
    ("slip", "told"),
    [
        ({"signature": "f(x:"}, "signature: 'f\\(x:' is no signature"),
        ({"start": "def f(x\n"}, "start is no Python"),
        ({"start": "def g(x, y):\n    return x\n"}, "start has no function f"),
        ({"start": "def f(x, y):\n    return x\n"}, "calls gives 1 argument,"),
        ({"signature": "f(x, y, index)"}, "start, which is to be as signature .* it takes 1 to 2"),
        ({"start": "def f(x, *, y):\n    return x\n"}, "start, which is to be as signature"),
        ({"start": "import os\ndef f(x, y=1.0):\n    return x\n"}, "start, .*import of 'os' is not allowed"),
        ({"calls": lambda self, case: [(1, 2, 3)]}, "calls gives 3 arguments, but f.* takes 2"),
        ({"cases": lambda self, part: []}, "cases\\('validation'\\) is empty"),
        ({"cases": lambda self, part: None}, "cases\\('validation'\\) is None, not a list"),
        ({"cases": lambda self, part: {}[part]}, f"cases\\(.*\\) raises KeyError: .* \\(line .* of {__file__}"),
        ({"cases": lambda self, part: (1 / n for n in (1, 0))}, "cases\\('validation'\\) raises ZeroDivisionError"),
        ({"cases": lambda self, part: [1, 2] if part == "validation" else 1 / 0}, "cases\\('test'\\) raises Zero"),
        ({"cases": lambda self, part: [random()]}, "cases\\('validation'\\) are others at each call"),
        (
            {"cases": lambda self, part: [1, 2] if part == "validation" else [random()]},
            "cases\\('test'\\) are others at each call",
        ),
        ({"cases": lambda self, part: sys.exit("no data")}, "cases\\('validation'\\) raises SystemExit: no data"),
        ({"imports": ("math")}, "imports is the text 'math'; a tuple is needed: \\('math',\\)"),
        ({"calls": lambda self, case: 5}, "calls\\(case 1\\) is 5, not a list"),
        ({"calls": lambda self, case: [5]}, "a call of case 1 is 5, not a list"),
        ({"calls": lambda self, case: [(int64(1), 2)]}, "calls\\(case 1\\) gives '1', of type numpy.int64; arguments"),
        ({"case_name": lambda self, case, number: number}, "case_name gives 1, not a text"),
        ({"case_name": lambda self, case, number: "ab"[case]}, "case_name raises IndexError"),
        ({"case_name": lambda self, case, number: None}, "case_name gives None, not a text"),
        ({"case_score": lambda self, case, number, score: ("a", 1)}, "case_score returns tuple, not core.contracts"),
    ],
)  # fmt: skip
def test_a_slip_is_one_line(slip, told):
    with pytest.raises(ConfigError, match=f"problem sound: {told}") as caught:
        type("Slipped", (Sound,), slip)().prepare()
    assert "\n" not in str(caught.value)


def test_what_a_later_case_raises_is_one_line_too(tmp_path):
    class Late(Sound):
        def calls(self, case):
            return [(case, 1 / (2 - case))]

    problem = Late()
    problem.prepare()
    with pytest.raises(ConfigError, match=r"problem sound: calls\(case 2\) raises ZeroDivisionError"):
        _ = _Prepared(problem, "test").calls


def test_a_case_score_may_refuse_a_score_that_no_program_has():
    def refuses(self, case, number, score):
        raise ValueError("no program scores 1")

    type("Strict", (Sound,), {"case_score": refuses})().prepare()


def test_cases_are_made_once_and_once_more_to_see_that_they_are_the_same():
    """They may be read from a large file: eight times before the first program was."""
    asked = []

    class Read(Sound):
        def cases(self, part):
            asked.append(part)
            return [1, 2] if part == "validation" else [3]

    problem = Read()
    problem.prepare()
    told = problem.statement(), problem.limits(Limits()), problem.rules(), problem.cautions, problem.prompt_extras()
    assert told and [*_Prepared(problem, "validation").cases, *_Prepared(problem, "test").cases] == [1, 2, 3]
    assert sorted(asked) == ["test", "test", "validation", "validation"]


@pytest.mark.parametrize(
    ("cases", "told"),
    [
        (lambda part: [{"x": 1}, {"x": 2}], "of the 2 cases of the test part 2 are validation cases as well"),
        (lambda part: [1, 2] if part == "validation" else [2, 3, 4], "of the 3 cases of the test part 1 are"),
        (lambda part: [part, 1.5] if part == "validation" else [part], ""),
        (lambda part: [lambda: part], ""),
        (lambda part: [1, 2] if part == "validation" else (), ""),
    ],
)
def test_a_test_part_that_the_search_has_seen_is_told_beside_the_verdict(cases, told):
    problem = type("Slipped", (Sound,), {"cases": lambda self, part: cases(part)})()
    assert (len(problem.cautions), all(told in text for text in problem.cautions)) == (bool(told), True)
