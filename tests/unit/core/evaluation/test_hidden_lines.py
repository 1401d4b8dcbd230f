"""Of what an evaluator's processes print nothing is told that a traceback quotes of the user's files."""

from __future__ import annotations

import traceback
from concurrent.futures.process import _ExceptionWithTraceback

import pytest

from core.evaluation.isolation.hidden_lines import without_lines


def raised() -> BaseException:
    try:
        raise RuntimeError("told")  # hidden
    except RuntimeError as error:
        return error


def told_by_a_group() -> str:
    group = ExceptionGroup("several", [raised(), ValueError("no")])
    return "".join(traceback.format_exception(group))


def told_by_a_pool() -> str:
    error, cause = _ExceptionWithTraceback(raised(), raised().__traceback__).__reduce__()[1]
    error.__cause__ = ValueError(cause)
    return "".join(traceback.format_exception(error))


@pytest.mark.parametrize("told", [told_by_a_group, told_by_a_pool])
def test_lines_of_the_users_files_are_taken_out_and_nothing_else(told):
    text = told()
    left = without_lines({"artifacts": [text]})["artifacts"][0]
    assert "# hidden" in text and "# hidden" not in left
    assert "RuntimeError: told" in left and f'File "{__file__}", line ' in left
    assert set(left.splitlines()) <= set(text.splitlines()) and "^^^" not in left


@pytest.mark.parametrize(
    "text",
    [
        '  File "candidate.py", line 3, in solve\n    return 1 / 0\n           ~~^~~\nZeroDivisionError\n',
        '  File "/usr/lib/python3.11/json/decoder.py", line 3, in decode\n    raise ValueError\n',
        "    what is indented\nand what is not, line 3\n",
        'a text without a break: File "x", line 3',
    ],
)
def test_lines_of_the_program_and_of_libraries_stay(text):
    assert without_lines(text) == text and without_lines([{"a": text, "b": 1.5}]) == [{"a": text, "b": 1.5}]


def test_no_nesting_is_too_deep():
    deep: list = []
    for _ in range(5000):
        deep = [deep]
    assert without_lines(deep)[0]
