from __future__ import annotations

from utils.printed_text import without_repeats
from utils.traceback_text import alike_once, short_traceback

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


def test_a_traceback_that_comes_again_is_told_once_with_how_often():
    one = HEAD + OWN + ERROR
    assert alike_once(f"a\n{one}b\n{one}c\n{one}") == f"a\n{one}[this traceback came 3 times]\nb\nc\n"
    assert without_repeats(one * 40) == short_traceback(one * 40) == f"{one}[this traceback came 40 times]\n"


def test_what_differs_stays_other_frames_other_kinds_and_other_messages():
    keys = "".join(f"{HEAD}{OWN}KeyError: {number}\n" for number in (1, 1, 2, 3, 4, 5, 6))
    other = HEAD + OWN.replace("3", "9") + "KeyError: 1\n"
    told = f"{HEAD}{OWN}KeyError: 1\n[this traceback came 7 times: 2 times so, and with]\n"
    told += "KeyError: 2\nKeyError: 3\nKeyError: 4\nKeyError: 5\n[1 further message]\n"
    assert alike_once(keys + other) == told + other
    assert alike_once(told + other) == told + other
    assert alike_once(HEAD + OWN + "KeyError: 1\n" + HEAD + OWN + ERROR).count(HEAD) == 2


def test_exceptions_that_led_to_one_another_are_one_traceback():
    chain = HEAD + OWN + "KeyError: {n}\n\nDuring handling of the above exception, another exception occurred:\n\n"
    chain += HEAD + OWN + ERROR
    text = chain.format(n=1) + chain.format(n=2)
    assert alike_once(text) == chain.format(n=1) + "[this traceback came 2 times]\n"


def test_many_and_broken_tracebacks_take_no_long():
    chained = "\nDuring handling of the above exception, another exception occurred:\n\n"
    for text in (
        HEAD * 30_000,
        (HEAD + OWN) * 10_000,
        (HEAD + OWN + ERROR + chained) * 10_000,
        HEAD + "  x\n" * 50_000,
    ):
        assert len(alike_once(text)) <= len(text)
