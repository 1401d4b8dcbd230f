from __future__ import annotations

import ast

import pytest

from core.evaluation.tune import lifted, literals, tune, tune_program, with_values

CODE = '''\
"""Text with 7."""
LIMIT = 9


def f(x, k=5):
    """Docs with 8."""
    if x > 3 and x != -2.5:
        return x[4] * 0.25 + 0
    return True
'''


def test_literals_are_numbers_inside_functions_in_source_order():
    """Not module constants, defaults, indices, zero, texts or booleans."""
    assert literals(CODE) == [3, -2.5, 0.25]
    assert literals(CODE, range(8, 9)) == [0.25]
    assert literals("x = 1\n") == []


def test_where_lines_may_change_numbers_outside_of_functions_are_meant_too():
    code = "STEP = 0.3  # of x\nclass A:\n    width: int = 8\ndef f(x, y=-2):\n    return x * 4\n"
    code += "if __name__ == '__main__':\n    f(7)\nZ = [5, 6]\n"
    assert literals(code, range(1, 8)) == [0.3, 8, -2, 4]
    assert with_values(code, [0.5, 9, 3], range(1, 5)) == code.replace("0.3", "0.5").replace("8", "9").replace(
        "-2", "3"
    )


def test_values_go_back_where_they_came_from():
    changed = with_values(CODE, [30, 2.5, -1.0])
    assert literals(changed) == [30, 2.5, -1.0]
    assert ast.dump(ast.parse(with_values(changed, literals(CODE)))) == ast.dump(ast.parse(CODE))


def test_nothing_but_the_numbers_changes():
    """Marks, comments and layout survive: a tuned script keeps its EVOLVE-BLOCK marks."""
    code = "# EVOLVE-BLOCK-START\ndef f(x):\n    é = 'ü'; return (1.5 if x > 2 else  -3)  # ü 7\n# EVOLVE-BLOCK-END\n"
    assert literals(code) == [2, 1.5, -3]
    changed = with_values(code, [20, -2.5, 4])
    assert changed == code.replace("1.5", "(-2.5)").replace("2 else  -3", "20 else  4")
    assert with_values(code, [20, -2.5, 4], lines=[1]) == code


def test_a_power_of_a_negative_value_keeps_its_meaning():
    assert ast.unparse(ast.parse(with_values("def f(x):\n    return 3 ** 2 + x\n", [-3, 2]))).endswith("(-3) ** 2 + x")


def test_numbers_of_a_formatted_string_are_left_alone():
    code = "def f(x):\n    return f'{x + 5:.3f}' + str(x + 4)\n"
    assert with_values(code, [9]) == code.replace("4", "9")


def test_a_lifted_program_reads_its_constants_from_a_list():
    names: dict = {"K__": [10, -1.5, 2.0]}
    exec(lifted("def f(x):\n    return (x > 3) + x * -2.5 + 0.5\n"), names)
    assert names["f"](11) == 1 + 11 * -1.5 + 2.0


def test_a_pattern_of_match_keeps_its_numbers():
    """Only a literal may stand in one: with a lifted constant the whole program was no program."""
    code = (
        "def f(x):\n    match x:\n        case 3 | -2.5:\n            return 4 * x\n        case [7, y] if y > 5:\n"
        "            return y\n        case _:\n            return 6.5\n"
    )
    assert literals(code) == [4, 5, 6.5]
    names: dict = {"K__": [10, 1, -1.0]}
    exec(lifted(code), names)
    assert [names["f"](x) for x in (3, [7, 2], 0)] == [30, 2, -1.0]
    tuned = tune_program(code, lambda new: float(literals(new)[0]), trials=20, seed=0, lower_is_better=False)
    assert tuned is not None and tuned.score > 4


def test_finds_a_better_value_and_starts_from_the_given_one():
    tried = []

    def objective(values):
        tried.append(tuple(values))
        return (values[0] - 12) ** 2 + (values[1] - 0.5) ** 2

    values, score, first = tune([10, 1.0], objective, trials=60, seed=1, lower_is_better=True)
    assert tried[0] == (10, 1.0) and first == 4.25
    assert score == min((a - 12) ** 2 + (b - 0.5) ** 2 for a, b in tried) < 0.5
    assert values[0] == 12 and isinstance(values[0], int)
    assert all(isinstance(a, int) and isinstance(b, float) for a, b in tried)


def test_a_program_of_many_digits_is_scored_as_it_came():
    """Coordinates are worth their last digit: rounded, the start was worse than the program it stood for."""
    code = "def f():\n    return 0.123456789012345 + -2.000000000012345\n"
    tried: list[str] = []
    tuned = tune_program(code, lambda new: tried.append(new) or -float(len(tried)), trials=4, seed=0,
                         lower_is_better=False)  # fmt: skip
    assert tuned is not None and literals(tried[0]) == literals(code) and literals(tuned.code) == literals(code)


def test_same_seed_same_search():
    runs = []
    for seed in (5, 5, 6):
        tried: list = []
        tune([3, 2.0], lambda v, t=tried: t.append(tuple(v)) or v[1], trials=25, seed=seed, lower_is_better=False)
        runs.append(tried)
    assert runs[0] == runs[1] != runs[2]


@pytest.mark.parametrize("start", [-4, -1, 1, 7, 0.125, -3.5])
def test_signs_and_kinds_stay_in_reach(start):
    seen = []
    tune([start], lambda v: seen.append(v[0]) or 0.0, trials=30, seed=0, lower_is_better=True)
    assert all(type(value) is type(start) and value * start >= 0 for value in seen)
    assert all(abs(value - start) <= max(3, 4 * abs(start)) for value in seen)


def test_failing_trials_are_passed_over():
    tuned = tune_program(
        "def f():\n    return 8\n",
        lambda code: None if "return 9" in code else float(literals(code)[0]),
        trials=30, seed=2, lower_is_better=False,
    )  # fmt: skip
    assert tuned is not None
    assert tuned.start == 8 and tuned.score > 9
    assert literals(tuned.code) == [tuned.score]


def test_nothing_to_tune_or_nothing_that_scores_is_none():
    assert tune_program("def f():\n    return x\n", lambda _: 1.0, trials=3, seed=0, lower_is_better=True) is None
    assert tune_program("def f():\n    return 5\n", lambda _: None, trials=3, seed=0, lower_is_better=True) is None
