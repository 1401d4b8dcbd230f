"""Numbers of lines, told as those of the file that was handed in."""

from __future__ import annotations

from utils.line_numbers import LineNumbers

RUN = "import os\nN = 3\n# START\ndef f(:\n    return 1\n# END\nprint(f())\n"


def test_a_file_without_its_top_counts_from_its_own_first_line():
    lines = LineNumbers(RUN, RUN.partition("N = 3\n")[2])
    assert lines.in_message("does not parse: line 4: invalid syntax, see line 5") == (
        "does not parse: line 2: invalid syntax, see line 3"
    )
    assert lines.in_message("line 1: import of 'os'") == "line 1 of the whole program: import of 'os'"


def test_only_the_programs_own_frames_are_told_anew():
    lines = LineNumbers(RUN, "def f(:\n    return 1\n")
    output = 'File "/workspace/solution.py", line 5, in f\nFile "<env>/lib/json.py", line 5, in g\nI read line 5\n'
    assert lines.in_output(output) == output.replace('solution.py", line 5', 'solution.py", line 2')


def test_what_is_run_as_it_was_handed_in_keeps_its_numbers():
    for handed in (RUN, RUN.replace("\n", "  \n"), "x\n" * 5000):
        assert LineNumbers(RUN, handed).in_message("line 4") == "line 4"


def test_a_line_of_thousands_of_digits_is_no_line():
    lines = LineNumbers(RUN, RUN.partition("N = 3\n")[2])
    for text in (f"line {'9' * 5000}", f'File "solution.py", line {"9" * 5000}'):
        assert lines.in_message(text) == lines.in_output(text) == text
