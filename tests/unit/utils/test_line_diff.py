"""Two programs compared line by line."""

from __future__ import annotations

from utils.line_diff import MOST_LINES, line_diff


def test_it_is_a_unified_diff_of_lines_as_python_counts_them():
    found = line_diff("a = 1\nb = '\x0c'\nc = 3\n", "a = 1\nb = '\x0c'\nc = 4\n", ("old", "new"), around=1)
    assert found.lines == ["--- old", "+++ new", "@@ -2,2 +2,2 @@", " b = '\x0c'", "-c = 3", "+c = 4"]
    assert found.note == "" and found.text == "\n".join(found.lines)


def test_equal_programs_differ_in_nothing():
    assert line_diff("x = 1\n", "x = 1").lines == []


def test_of_long_ones_the_beginnings_are_compared_and_that_is_said():
    long = "x = 1\n" * MOST_LINES
    found = line_diff(long + "y = 1\n", long + "y = 2\n")
    assert found.lines == [] and found.text == f"({found.note})" == "(Only the first 1500 lines are compared.)"
    assert line_diff(long, long).note == ""
