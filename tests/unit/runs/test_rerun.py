"""`replay --verify`: the first difference is named."""

from __future__ import annotations

import pytest

from core.state.journal import Journal
from core.state.node import Node
from runs.rerun import compared


def journal(*codes, **more):
    made = Journal()
    for number, code in enumerate(codes):
        made.append(Node(id=f"n{number}", code=code, metric_value=float(number), **more))
    return made


def test_equal_journals_are_equal_by_their_hash():
    stored = journal("x = 1", "x = 2")
    found = compared(stored, journal("x = 1", "x = 2", exec_time=3.0))
    assert found.equal and found.text.startswith(f"equal: 2 nodes, journal {stored.sha256}")


def test_the_first_field_that_differs_is_named():
    found = compared(journal("x = 1", "x = 2"), journal("x = 1", "x = 3"))
    assert not found.equal and found.text == "replay differs at step 2 in code: 'x = 2' became 'x = 3'"


def test_a_node_too_few_is_a_difference():
    assert compared(journal("x = 1", "x = 2"), journal("x = 1")).text == "replay differs: 2 nodes became 1"


@pytest.mark.parametrize(
    ("name", "before", "now"), [("metric_source", "verified", "claimed"), ("interval", (0.0, 1.0), None)]
)
def test_what_no_hash_of_the_journal_holds_is_compared(name, before, now):
    stored, again = journal("x = 1", **{name: before}), journal("x = 1", **{name: now})
    assert stored.sha256 == again.sha256
    assert compared(stored, again).text == f"replay differs at step 1 in {name}: {before!r} became {now!r}"
