"""A problem of one function: what crosses to the sandbox, how answers are judged, and what has a default."""

from __future__ import annotations

import importlib.util
import math
import random
from contextlib import redirect_stdout
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.contracts import CaseScore, ExecutionResult, JobContext, Limits, SessionFailure
from core.evaluation import function_calls, function_problem
from core.evaluation.function_calls import answer_calls
from core.evaluation.function_problem import FunctionEvaluator, FunctionProblem
from core.evaluation.function_rules import FunctionWriter
from core.evaluation.signature import Signature
from core.state.failure import FailureKind
from core.state.journal import Journal
from core.state.node import Node
from utils.allowance import Allowance
from utils.errors import JobLost
from utils.response import parse_response

KNAPSACK = Path(__file__).resolve().parents[4] / "examples" / "problems" / "knapsack.py"


def knapsack() -> FunctionProblem:
    spec = importlib.util.spec_from_file_location("knapsack_example", KNAPSACK)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.build(None, None)


class Squares(FunctionProblem):
    """Find f with f(x) = x * x."""

    name, unit = "squares", "distance"
    signature = "f(x: float) -> float"
    start = "def f(x):\n    return 2.0 * x\n"

    def cases(self, part):
        return [1, 2, 3] if part == "validation" else [10, 11, 12, 13, 14]

    def calls(self, case):
        return [(case,), (-case,)]

    def score(self, case, answers):
        if max(answers) > 10**6:
            raise ValueError("too large to be true")
        return sum(abs(answer - case * case) for answer in answers) / len(answers)


class Here:
    """Jobs whose programs run in this process: the answers are what is tested, not the sandbox."""

    tier, slots, away = "none", 1, 0.0

    def run(self, spec):
        self.payload = spec.payload
        return answer_calls(spec.payload, JobContext(sandbox=self, folder=Path(".")))

    def session(self, code, *, limits, seed, prelude):
        self.names: dict = {}
        self.printed = StringIO()
        with redirect_stdout(self.printed):
            exec(prelude + code, self.names)  # the test's own text
        return self

    def call_many(self, function, batch, *, timeout):
        try:
            return [self.names[function](*arguments) for arguments in batch]
        except Exception as error:
            raise SessionFailure(ExecutionResult(failure=FailureKind.RUNTIME, message=repr(error))) from error

    def leave(self):
        pass

    def close(self):
        return ExecutionResult(term_out=self.printed.getvalue())


def evaluator(problem, *, isolated=True, trials=20) -> FunctionEvaluator:
    deps = SimpleNamespace(
        jobs=Here(), limits=Limits(seconds=5), seed=3, isolated=isolated, journal=Journal(lower_is_better=True),
        tune_trials=trials, doing=print, allowance=Allowance(),
    )  # fmt: skip
    return FunctionEvaluator(problem, deps)


def node(code, **fields) -> Node:
    return Node(id="n", code=code, **fields)


def test_the_metric_is_the_mean_over_the_cases_and_the_signature_holds_each():
    (verdict,) = evaluator(Squares()).evaluate([node("def f(x):\n    return x\n")])
    assert verdict.signature == (1.0, 4.0, 9.0) and verdict.metric == pytest.approx(14 / 3)
    assert verdict.source == "verified" and verdict.failure is None
    (verdict,) = evaluator(Squares(), isolated=False).evaluate([node("def f(x):\n    return x * x\n")])
    assert verdict.metric == 0 and verdict.source == "unisolated"


def test_what_a_problem_measures_beside_the_score_is_told_of_the_cases_that_steer():
    class Measured(Squares):
        def case_name(self, case, number):
            return f"x = {case}"

        def measures(self, case, answers):
            odd = {"odd": math.inf} if case == 2 else {"odd": 1}
            return {"left of 0": abs(answers[1] - case * case), **odd, **({"of one": 7} if case == 1 else {})}

    judge, code = evaluator(Measured()), "def f(x):\n    return x\n"
    (verdict,) = judge.evaluate([node(code)])
    assert verdict.metrics == {"distance": verdict.metric, "left of 0": pytest.approx(20 / 3), "of one": 7}
    assert judge.final([node(code)])[0].metrics == {}, "the test part is nobody's to learn from"
    assert Measured().prompt_extras()["cases"] == {"unit": "distance", "names": ["x = 1", "x = 2", "x = 3"]}


def test_the_final_part_is_its_own_and_has_an_interval():
    found, perfect = evaluator(Squares()).final([node("def f(x):\n    return x\n"), node("def f(x): return x * x")])
    assert found.metric == pytest.approx((100 + 121 + 144 + 169 + 196) / 5)
    assert found.interval[0] < found.metric < found.interval[1]
    assert perfect.metric == 0 and perfect.interval is None, "cases that do not differ give no interval"


def test_a_worker_that_is_lost_on_the_final_part_is_that_programs_failure():
    class Lost(Here):
        def run(self, spec):
            if "gone" in spec.payload["code"]:
                raise JobLost("the worker was lost 3 times")
            return super().run(spec)

    judge = evaluator(Squares())
    judge._deps.jobs = Lost()
    found, lost = judge.final([node("def f(x):\n    return x * x\n"), node("def f(x):\n    return gone\n")])
    assert found.metric == 0 and (lost.metric, lost.failure) == (None, FailureKind.LOST_WORKER)


def test_without_a_test_part_there_is_no_final_score():
    class Open(Squares):
        def cases(self, part):
            return [1] if part == "validation" else ()

    assert evaluator(Open()).final([node(Open.start)]) == [None]


@pytest.mark.parametrize(
    ("code", "failure", "said"),
    [
        ("def f(x):\n    return '9'\n", FailureKind.SIGNATURE, "f(1) is '9', not of type float"),
        ("def f(x):\n    return [x]\n", FailureKind.SIGNATURE, "not of type float"),
        ("def f(x):\n    return True\n", FailureKind.SIGNATURE, "not of type float"),
        ("def f(x):\n    return 1 / 0\n", FailureKind.RUNTIME, "ZeroDivisionError"),
        ("def f(x):\n    return 10 ** 9\n", FailureKind.EVAL_ERROR, "case 1: too large to be true"),
        ("def f(x):\n    return -1e308 * 10\n", FailureKind.NON_FINITE, "case 1"),
        ("import numpy\ndef f(x):\n    return x\n", FailureKind.IMPORT_BLOCKED, "allowed: math"),
        ("def f(x, y):\n    return x\n", FailureKind.SIGNATURE, "called with 1 argument"),
        ("def g(x):\n    return x\n", FailureKind.SIGNATURE, "f is not defined"),
        ("def f(x:\n", FailureKind.SYNTAX, "line 1"),
    ],
)
def test_what_cannot_be_scored_says_why(code, failure, said):
    (verdict,) = evaluator(Squares()).evaluate([node(code)])
    assert (verdict.failure, verdict.metric) == (failure, None) and said in verdict.message


def test_whatever_answers_make_the_problems_code_raise_is_the_candidates_failure():
    class Trusting(Squares):
        signature = "f(x)"

        def case_name(self, case, number):
            return "the least"

    (verdict,) = evaluator(Trusting()).evaluate([node("def f(x):\n    return {}\n")])
    assert verdict.failure is FailureKind.EVAL_ERROR and "case 1 (the least): TypeError" in verdict.message

    class Slipped(Squares):
        def measures(self, case, answers):
            return {"third": answers[2]}

    (verdict,) = evaluator(Slipped()).evaluate([node(Squares.start)])
    assert verdict.message == "measures of case 1: IndexError('list index out of range')"


def test_a_score_that_does_not_repeat_is_told_once(monkeypatch):
    told: list[str] = []
    monkeypatch.setattr(function_problem, "log_msg", lambda level, text: told.append(text))

    class Drawn(Squares):
        def score(self, case, answers):
            answers.sort()
            return super().score(case, answers) + random.random()

    for problem, count in ((Drawn(), 1), (Squares(), 0)):
        told.clear()
        judge = evaluator(problem)
        judge.evaluate([node("def f(x):\n    return x\n")])
        judge.evaluate([node("def f(x):\n    return x * x\n")])
        assert [("for the same answers: it has to repeat" in text) for text in told] == [True] * count


def test_a_score_that_ends_the_process_is_a_failure_and_ends_nothing():
    class Ends(Squares):
        def score(self, case, answers):
            raise SystemExit("no such case")

    (verdict,) = evaluator(Ends()).evaluate([node("def f(x):\n    return x\n")])
    assert verdict.failure is FailureKind.EVAL_ERROR and "case 1: SystemExit('no such case')" in verdict.message


@pytest.mark.parametrize(
    "told",
    [
        lambda case: {}["of a case that nobody named"],
        lambda case: CaseScore(case="x", value=math.nan),
        lambda case: ("x", 1.0),
        lambda case: CaseScore(case="x", value=1.0, bound=0.0, gap=math.inf),
    ],
)
def test_a_row_that_the_problem_cannot_tell_ends_no_run_that_is_over(told):
    class Slipped(Squares):
        def case_score(self, case, number, score):
            return told(case) if case == 12 else CaseScore(case=f"x = {case}", value=score)

    (verdict,) = evaluator(Slipped()).final([node("def f(x):\n    return x * x\n")])
    assert [row.case for row in verdict.table] == ["x = 10", "x = 11", "case 3", "x = 13", "x = 14"]


def test_a_whole_number_where_a_float_is_promised_is_one():
    """The squares of large errors were below zero for a problem that counts with numpy: no program was better."""

    class Wrapping(Squares):
        def score(self, case, answers):
            return float((numpy.subtract(answers, case * case) ** 2).sum())

    assert evaluator(Wrapping()).score("def f(x):\n    return 3037000540\n", "validation").metric > 9e18


def test_calls_that_depend_on_earlier_answers_are_made_by_a_driver():
    class Walk(Squares):
        signature = "f(x) -> float"
        driver = (
            "def drive(x):\n    path = [x]\n    for _ in range(3):\n        path.append(f(path[-1]))\n    return path\n"
        )

        def calls(self, case):
            return [(case,)]

        def score(self, case, answers):
            (path,) = answers
            return path[-1]

    judge = evaluator(Walk())
    (verdict,) = judge.evaluate([node("def f(x):\n    return x + 1\n")])
    assert verdict.signature == (4, 5, 6) and judge._deps.jobs.payload["function"] == "drive"


def test_many_calls_cross_in_several_frames(monkeypatch):
    monkeypatch.setattr(function_calls, "CALLS_A_FRAME", 4)
    (verdict,) = evaluator(Squares()).evaluate([node("def f(x):\n    return x\n")])
    assert verdict.signature == (1.0, 4.0, 9.0)


@pytest.mark.parametrize(("calls", "answered"), [(6, 3), (1, None)])
def test_of_a_program_that_is_stopped_it_is_told_how_far_it_came(monkeypatch, calls, answered):
    class Slow:
        """Answers a call in a second, and none in the fourth."""

        now, away = 0, 0.0

        def call_many(self, function, batch, *, timeout):
            Slow.now += len(batch)
            if Slow.now > 3 or calls == 1:
                result = ExecutionResult(failure=FailureKind.TIMEOUT, message="wall clock: no answer within 1 s")
                raise SessionFailure(result)
            return [0.0] * len(batch)

    monkeypatch.setattr(function_calls.time, "monotonic", lambda: Slow.now)
    with pytest.raises(SessionFailure) as stopped:
        function_calls._answers(Slow(), "f", [[1]] * calls, 10.0)
    told = "wall clock: 10 s for all calls together were over; 3 of 6 calls had been answered"
    each = "".join(f"; call {number} took 10 to 25 % of its time" for number in (1, 2, 3))
    assert stopped.value.result.message == (told + each if answered else "wall clock: no answer within 1 s")


def test_a_program_has_as_much_time_for_each_case_at_the_end():
    class Many(Squares):
        def cases(self, part):
            return range(3) if part == "validation" else range(30)

    judge = evaluator(Many())
    judge.evaluate([node(Many.start)])
    assert judge._deps.jobs.payload["limits"]["seconds"] == 5
    judge.final([node(Many.start)])
    assert judge._deps.jobs.payload["limits"]["seconds"] == 50
    assert "as much each" in Many().limits(Limits(seconds=5))[0]


def test_tuning_betters_the_parent():
    code = "def f(x):\n    return 3.0 * abs(x) + 0.5\n"
    judge = evaluator(Squares())
    (before,) = judge.evaluate([node(code)])
    tuned = judge.tune(node(code, operator="tune", parent_ids=("p",)), "c", 1)
    assert tuned.metric < before.metric and tuned.code != code
    again = judge.tune(node("def f(x):\n    return x * x\n", operator="tune", parent_ids=("p",)), "c", 1)
    assert again.duplicate_of == "p"


def test_a_problem_is_told_with_what_it_says():
    problem = Squares()
    assert "f(x: float) -> float" in problem.statement() and "distance" in problem.statement()
    assert problem.statement().endswith("once, at the end, on cases of this kind that no step has seen.")
    told = {"signature": Squares.signature, "allowed_imports": ["math"]}
    assert problem.limits(Limits(seconds=5)) == [
        "the calls of all 3 cases 5 s together: they are one run; cases at the end have as much each"
    ]
    assert problem.prompt_extras() == {**told, "cases": {"unit": "distance", "names": []}}
    assert [baseline.code for baseline in problem.baselines()] == [Squares.start]


def test_the_solution_holds_the_driver_too(tmp_path):
    class Driven(Squares):
        driver = "def drive(x):\n    return f(x)\n"

    (path,) = Driven().export(node(Squares.start), tmp_path, tmp_path)
    names: dict = {}
    exec(path.read_text(), names)  # the test's own text
    assert names["drive"](4) == 8


@pytest.mark.parametrize("text", ["f(x", "x", "f(*, y)", "f(*args)", "", "f(x) ->"])
def test_a_signature_that_is_none_is_refused(text):
    with pytest.raises(ValueError, match=r"signature|positional"):
        Signature.read(text)


def test_the_types_of_a_signature_are_kept():
    form = Signature.read("f(x, y: int, z: list[float] = ()) -> int")
    assert (form.name, form.parameters, form.numbers()) == ("f", ("x", "y", "z"), ["x", "y"])
    assert form.fits(3) and not form.fits(3.5) and not form.fits(True) and not form.fits("3")


# ---------------------------------------------------------------- what `rules` write


@given(st.sampled_from(["generate", "draft", "mutate", "improve", "crossover", "debug"]), st.integers(0, 10**9))
def test_rules_write_sound_functions(operator, seed):
    problem = knapsack()
    rng, parents = random.Random(seed), [problem.start]
    for _ in range(4):
        context = {"operator": operator, "parents": [{"code": code} for code in parents[-2:]]}
        code, plan = parse_response(problem.rules().write(context, rng))
        assert plan and evaluator(problem).check(node(code)) is None
        names: dict = {}
        exec(code, names)  # the writer's own text
        parents.append(code)
        try:
            answer = names["priority"](7, 30, 900)
        except ArithmeticError:  # a pole at just this point is a candidate's failure, not the writer's fault
            continue
        assert isinstance(answer, int | float | complex)  # so is a root of what happens to be negative


def test_rules_know_the_scale_of_what_the_function_is_given():
    values = knapsack().seen_values()
    assert set(values) == {"weight", "value", "room"}
    assert min(values["weight"]) >= 1 and max(values["weight"]) <= 100 and min(values["room"]) > 500


def test_rules_only_move_constants_where_nothing_is_known_to_be_a_number():
    writer = FunctionWriter(Signature.read("f(words: list)"), "def f(words):\n    return len(words) * 5.0\n", {})
    codes = {parse_response(writer.write({"operator": "generate"}, random.Random(seed)))[0] for seed in range(5)}
    assert len(codes) > 3 and all("len(words) * " in code for code in codes)


def test_where_the_results_of_the_first_program_cannot_be_seen_a_fresh_one_is_its_parent_changed():
    """It returns inside of a `match`: half of the draws ended the run with an IndexError of ours."""
    start = "def f(x):\n    match x:\n        case _:\n            return x * 2.0\n"
    writer = FunctionWriter(Signature.read("f(x)"), start, {"x": (1.0,)})
    context = {"operator": "restart", "parents": [{"code": "def f(x):\n    return x * 3.0\n"}]}
    for seed in range(4):
        assert "def f(x)" in parse_response(writer.write(context, random.Random(seed)))[0]


def test_a_parent_with_names_of_its_own_has_its_constants_moved():
    """A model may have written `def f(a)`: terms over `x` would not run there."""
    writer = FunctionWriter(Signature.read("f(x)"), Squares.start, {"x": (1.0,)})
    context = {"operator": "mutate", "parents": [{"code": "def f(a): return a * 3.0"}]}
    code, _ = parse_response(writer.write(context, random.Random(1)))
    assert "x" in code or "a * " in code
    names: dict = {}
    exec(code, names)  # the writer's own text
    assert isinstance(names["f"](2.0), float)
