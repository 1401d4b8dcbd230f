from __future__ import annotations

import pytest

from utils.printed_text import without_repeats, without_warnings

WARNING = "/workspace/solution.py:25: FutureWarning: dayofweek is deprecated.\n  f[x] = when.dayofweek\n"
LONG = (
    "<env>/linear_model/_logistic.py:458: sklearn.exceptions.ConvergenceWarning: lbfgs failed to converge:\n"
    "STOP: TOTAL NO. OF ITERATIONS REACHED LIMIT.\n\nPlease also refer to:\n    https://example.org\n  n = check(\n"
)


def test_a_warning_is_told_once_however_often_it_came_and_whatever_stands_between():
    printed = WARNING * 70 + "fold 1: 0.3\n" + LONG + "fold 2: 0.4\n" + LONG + WARNING + "cv: 0.35\n"
    told = without_repeats(printed)
    assert told == (
        WARNING + "[this warning came 71 times]\nfold 1: 0.3\n" + LONG + "[this warning came 2 times]\n"
        "fold 2: 0.4\ncv: 0.35\n"
    )
    assert without_repeats(told) == told
    assert without_warnings(printed) == "fold 1: 0.3\nfold 2: 0.4\ncv: 0.35\n"


def test_blocks_of_lines_behind_each_other_are_told_once():
    told = without_repeats("begin\n" + "no split, gain: -inf\n" * 500 + "a\nb\n" * 3 + "end")
    assert told == "begin\nno split, gain: -inf\n[the line above: 500 times]\na\nb\n[the 2 lines above: 3 times]\nend"


def test_of_a_bar_of_progress_the_last_is_told():
    drawn = "".join(f"fold 1:  {n}%|{'#' * (n // 10):10}| {n}/100 [00:02<00:03]\n" for n in range(101))
    assert without_repeats(f"begin\n{drawn}cv: 0.3\n{drawn}") == (
        "begin\nfold 1:  100%|##########| 100/100 [00:02<00:03]\ncv: 0.3\n"
        "fold 1:  100%|##########| 100/100 [00:02<00:03]\n"
    )
    assert without_warnings(f"begin\n{drawn}cv: 0.3") == "begin\ncv: 0.3"


@pytest.mark.parametrize(
    "text",
    ["", "\n\n\n\n", "a\na\nb", "1 0\n0 1\n1 0\n0 1", "x.py:3: note\n  code", "Warning: mean\ncv: 1\ncv: 2"],
)
def test_other_text_stays_as_it_is(text):
    assert without_repeats(text) == without_warnings(text) == text


def test_many_lines_take_no_quadratic_time():
    for text in ("a\n" * 30_000, "\n" * 30_000, WARNING * 1_000, "a\na\nb\n" * 10_000):
        assert len(without_repeats(text)) < 40_000
