"""Lines of two texts matched: as difflib does it, in a time that no text can stretch."""

from __future__ import annotations

import time
from difflib import SequenceMatcher

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.state.node import Node
from dashboard.server.nodes import diff
from problems.blocks import put_back
from problems.command.tree.merging import _texts
from utils.line_matching import MOST_PAIRS, line_matcher
from utils.line_numbers import LineNumbers
from utils.patch import apply_patch, read_patch, write_patch

LINES = st.lists(st.sampled_from("abcdefgh"), max_size=40)
OLD, NEW = "x\ny\n" * 450, "y\nx\nx\n" * 450
"""Programs of lines that all recur: 900 and 1,350 of them took difflib 6 CPU seconds, twice as many a minute."""


def told(old: list[str], new: list[str]) -> list[str]:
    """`new`, made of the equal lines of `old` and the others of `new`."""
    found = line_matcher(old, new).get_opcodes()
    return [line for tag, i, k, m, n in found for line in (old[i:k] if tag == "equal" else new[m:n])]


@given(LINES, LINES, st.integers(1, 400))
def test_the_second_text_follows_from_the_first(old, new, times):
    assert told(old, new) == new and told(old * times, new * 3) == new * 3
    assert line_matcher(old, new).get_opcodes() == SequenceMatcher(None, old, new, autojunk=False).get_opcodes()


def test_lines_that_recur_too_often_are_the_same_beside_others_that_are():
    same = ["first", *["    0,"] * 400, "last"]
    assert MOST_PAIRS < 400 * 400
    changed = [*same[:-1], "end"]
    (equal, other) = line_matcher(same, changed).get_opcodes()
    assert equal == ("equal", 0, 401, 0, 401) and other == ("replace", 401, 402, 401, 402)


@pytest.mark.parametrize(
    "compares",
    [
        lambda: diff(Node(id="b", code=NEW), Node(id="a", code=OLD)).added,
        lambda: write_patch({"a": (OLD, NEW)}),
        lambda: LineNumbers(OLD, NEW),
        lambda: put_back(*(f"# EVOLVE-BLOCK-START\n{text}# EVOLVE-BLOCK-END\n" for text in (OLD, NEW))),
        lambda: _texts(OLD, NEW, f"{NEW}z\n"),
    ],
    ids=["page", "patch", "line numbers", "block", "merge"],
)
def test_no_program_holds_up_who_compares_it(compares):
    began = time.process_time()
    assert compares() is not False
    assert time.process_time() - began < 2


def test_a_patch_of_lines_that_recur_is_read_back():
    (patch,) = read_patch(write_patch({"a": (OLD, NEW)}))
    assert apply_patch(patch, OLD) == NEW
