"""What the search added over its control draws, from stored runs."""

from __future__ import annotations

from core.state.node import Node
from core.storage.reader import RunReader
from reports.control import control_of
from utils.best_of import expected_best

SCORES = [3.0, 1.0, 2.0, 4.0, 2.5]


def drawn(write_run, scores, repeats):
    """The control of a run of these draws, and of some that write the first program again."""
    draws = [Node(id=f"d{i}", code=f"x = {i}", operator="control", metric_value=s) for i, s in enumerate(scores)]
    twins = [
        Node(id=f"t{i}", code="x = 0", operator="control", is_valid=False, duplicate_of="d0") for i in range(repeats)
    ]
    best = Node(id="best", code="x = 99", operator="improve", metric_value=5.0)
    with RunReader(write_run([*draws, *twins, best], lower_is_better=False)) as reader:
        return control_of(reader, reader.facts())


def test_a_draw_that_repeats_a_program_is_worth_what_that_is_worth(write_run):
    found = drawn(write_run, SCORES, 5)
    assert (found.draws, found.scored, found.steps) == (10, 10, 11)
    assert found.expected == expected_best([*SCORES, *[3.0] * 5], 11)[0]
    assert found.text.startswith(
        "If scores of draws are spread normally, which so few cannot show, the best of 11 steps"
    )


def test_of_draws_that_are_all_alike_nothing_is_said(write_run):
    found = drawn(write_run, [3.0], 9)
    assert (found.scored, found.gain) == (10, None) and "all the same one, which is too little to say" in found.text
