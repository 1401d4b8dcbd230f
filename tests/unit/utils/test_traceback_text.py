from __future__ import annotations

from utils.traceback_text import short_traceback

FRAME = '  File "<env>/lib/python3.11/site-packages/pandas/io/parsers.py", line {n}, in f\n    return g()\n    ^^^^\n'
OWN = '  File "/workspace/solution.py", line 3, in <module>\n    frame = read()\n'
ERROR = "FileNotFoundError: no such file\n"
HEAD = "Traceback (most recent call last):\n"


def test_frames_of_libraries_are_left_out_but_the_last_two():
    trace = "reading\n" + HEAD + OWN + "".join(FRAME.format(n=n) for n in range(16)) + ERROR
    short = short_traceback(trace)
    assert (
        short
        == "reading\n" + HEAD + OWN + "  [14 frames of libraries]\n" + FRAME.format(n=14) + FRAME.format(n=15) + ERROR
    )
    assert short_traceback(short) == short


def test_every_traceback_of_a_chain_is_shortened_and_own_frames_stay():
    one = HEAD + FRAME.format(n=1) * 5 + OWN + ERROR
    chain = one + "\nDuring handling of the above exception, another exception occurred:\n\n" + one
    assert short_traceback(chain).count("[4 frames of libraries]") == 2 and short_traceback(chain).count(OWN) == 2


def test_other_text_stays_as_it_is():
    for text in ("", "Traceback (most recent call last):", 'x\n  File "a", line 1\n', HEAD + OWN + ERROR):
        assert short_traceback(text) == text
