"""Text of strangers: what is left of it when it is stored, printed or put into a prompt."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from utils.clean_text import clean, one_line, visible, whole, without_host

ODD = "\x00\x07\x1b\x7f\x9b\u202e\u2066\u200f\u061c\u2028\x85\ud800\U000e0041"
texts = st.text(st.sampled_from(list(ODD + "\r\n\t ab\u200dé😀")) | st.characters(), max_size=60)


def obeyed(text: str) -> list[str]:
    """Characters that a terminal obeys or that turn the direction of text."""
    return [
        char
        for char in text
        if (unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp") and char not in "\n\t")
        or unicodedata.bidirectional(char) in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")
        or char in "\u200e\u200f\u061c\U000e0041"
    ]


@given(texts)
def test_nothing_that_is_obeyed_is_left(text):
    for made in (clean(text), one_line(text), visible(text)):
        assert obeyed(made) == []
    assert clean(clean(text)) == clean(text) and visible(visible(text)) == visible(text)
    assert "\n" not in one_line(text) and one_line(one_line(text)) == one_line(text)


@given(st.text(st.characters(categories=["L", "N", "P", "S"]) | st.sampled_from(" \n\t\u200d\ufe0f\u00a0")))
def test_ordinary_text_stays_as_it_is(text):
    assert clean(text) == visible(text) == whole(text) == text


def test_every_kind_of_line_break_is_a_line_feed():
    assert clean("a\r\nb\rc\u2028d\x85e\x0bf") == "a\nb\nc\nd\ne\nf"


def test_what_is_only_shown_says_what_it_was():
    assert visible("a\x1b]52;c;eA==\x07b\u202e") == "a\\u001b]52;c;eA==\\u0007b\\u202e"


@pytest.mark.parametrize("length", [9, 10, 11, 10_000])
def test_a_line_is_bounded_and_says_so(length):
    line = one_line("x" * length, 10)
    assert len(line) == min(length, 10) and line.endswith("…") == (length > 10)


def test_the_place_of_the_interpreter_is_no_part_of_what_a_run_printed():
    trace = 'File "/home/me/p/.venv/lib/python3.11/site-packages/pandas/io.py"\n  File "/usr/lib64/python3.12/ast.py"'
    assert without_host(trace) == (
        'File "<env>/lib/python3.11/site-packages/pandas/io.py"\n  File "<env>/lib64/python3.12/ast.py"'
    )
    kept = "see https://a.b/lib/python3 and /workspace/input/lib.csv, 1/2"
    assert without_host(kept) == kept
    assert without_host(without_host(trace)) == without_host(trace)


def test_characters_without_width_are_seen():
    assert clean("ver\u200bified \ufeff\u2060\u00ad") == "ver\ufffdified \ufffd\ufffd\ufffd"
    assert clean("\u0646\u200c\u0645 \U0001f468\u200d\U0001f4bb") == "\u0646\u200c\u0645 \U0001f468\u200d\U0001f4bb"
