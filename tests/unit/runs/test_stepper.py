"""One step by hand: what is done, as it is done, whoever shows it."""

from __future__ import annotations

import pytest

from core.events import NodeCommitted
from runs.session import RunSession
from runs.stepper import StageShown, StepBegun, Stepper
from utils.errors import ConfigError


@pytest.fixture
def session(toy_config):
    with RunSession(toy_config(9)) as session:
        yield session


def step(session, node=None, operator=None, since=None, until=None):
    return list(Stepper(session).step(node, operator, since, until))


def test_a_whole_step_is_a_node(session):
    begun, committed = step(session)
    assert isinstance(begun, StepBegun) and isinstance(committed, NodeCommitted)
    assert begun.task.node_id == committed.node_id and begun.steps == 0
    assert session.search.journal.steps == 1


def test_stages_go_on_where_the_last_step_ended(session):
    first = step(session, until="reply")
    assert [part.stage for part in first if isinstance(part, StageShown)] == ["prompt", "reply"]
    again = step(session, until="execute")
    stages = {part.stage: part.stored_before for part in again if isinstance(part, StageShown)}
    assert stages == {"prompt": True, "reply": True, "code": False, "execute": False}
    assert again[0].task == first[0].task and session.search.journal.steps == 0


def test_a_step_that_nobody_reads_to_its_end_is_saved(session):
    """The consumer goes away after the first word, as `| head -1` does."""
    shown = Stepper(session).step(None, None, None, None)
    next(shown)
    next(shown)
    shown.close()
    assert session.search.journal.steps == 1 and session.store.get_fact("status") == "interrupted"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ({"operator": "improve"}, "has no node to start from"),
        ({"since": "execute"}, "has no node yet"),
        ({"node": "beef"}, "--node beef: 0 nodes"),
    ],
)
def test_what_cannot_be_begun_says_why(session, words, said):
    with pytest.raises(ConfigError, match=said):
        step(session, **words)


def test_a_merge_needs_two_good_nodes(session):
    while not session.search.journal.top(1):
        step(session)
    with pytest.raises(ConfigError, match="no second good node"):
        step(session, operator="merge")
    while len(session.search.journal.top(2)) < 2:
        step(session)
    begun, *_ = step(session, operator="merge")
    assert begun.task.operator == "merge" and len(begun.task.parent_ids) == 2
