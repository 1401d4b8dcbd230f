"""One step by hand: what is done, as it is done, whoever shows it."""

from __future__ import annotations

from contextlib import suppress

import pytest

from core.backend.records import reply_fields
from core.events import NodeCommitted
from core.loop.stages import IN_ORDER
from core.storage.reader import RunReader
from core.storage.ticket_store import Ticket
from dashboard.server.control import send_line
from runs.dry_run import dry_run
from runs.session import RunSession
from runs.stepper import StageShown, StepBegun, Stepper
from runs.stored.reading import run_facts
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


@pytest.mark.parametrize("found", ["finished", "failed"])
def test_a_word_that_a_step_refuses_leaves_the_run_as_it_was(toy_config, found):
    """Of a run that had ended a typo made one that had failed, and its verdict and final score were gone."""
    with suppress(RuntimeError), RunSession(toy_config(2, "logging.report=false")) as session:
        session.run() if found == "finished" else step(session)
        if found == "failed":
            raise RuntimeError("a fault of ours")
    before = run_of(session)
    with pytest.raises(ConfigError), RunSession(toy_config(2), session.run_dir, by_hand=True) as again:
        step(again, node="beef")
    assert before["status"] == found and run_of(session) == before


def run_of(session):
    with RunReader(session.run_dir) as reader:
        facts = run_facts(reader)
    return {name: facts[name] for name in ("status", "verdict", "final_metric", "best_node_id")}


def test_a_step_that_nobody_reads_to_its_end_is_saved(session):
    """The consumer goes away after the first word, as `| head -1` does."""
    shown = Stepper(session).step(None, None, None, None)
    next(shown)
    next(shown)
    shown.close()
    assert session.search.journal.steps == 1 and session.store.get_fact("status") == "waiting"


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


@pytest.mark.parametrize(("since", "left"), [("code", []), ("execute", ["code"]), ("review", [*IN_ORDER[3:7]])])
def test_from_a_stage_nothing_is_left_of_what_follows_it(session, since, left):
    """The mean of several scores of the program before was taken for that of the new one."""
    (begun, *_) = step(session, until="execute")
    node_id = begun.task.node_id
    for stage in ("execute again", "confirm", "review"):
        session.store.save_stage(node_id, stage, {"metric": -1.0})
    session.store.drop_stages(node_id, ["prompt", "reply"])
    next(Stepper(session).step(None, None, since, "execute" if since != "review" else "review"))
    assert sorted(session.store.stages(node_id)) == sorted(left)


def in_turn(toy_config, *untils, **words):
    """One step, a process for each of its commands; the node."""
    config, run_dir = toy_config(9), words.pop("run_dir", None)
    for until in untils:
        with RunSession(config, run_dir, by_hand=True) as session:
            told = step(session, until=until, **words)
            words = {}
            run_dir = session.run_dir
            if isinstance(told[-1], NodeCommitted):
                return run_dir, session.search.journal[told[-1].node_id], session.store.calls(told[-1].node_id)
    raise AssertionError("no node")


@pytest.mark.parametrize("untils", [("reply", None), ("reply", "code", "execute", None)])
def test_a_node_that_took_several_commands_has_its_writer_and_what_it_cost(toy_config, monkeypatch, untils):
    """Where a reply was stored none was asked, and only what this process had asked was counted."""
    monkeypatch.setattr("core.backend.call_pipeline.reply_fields", priced)
    _, node, calls = in_turn(toy_config, *untils)
    assert len(calls) == 1
    assert (node.writer, node.prompt_tokens, node.completion_tokens, node.cost_usd) == ("rules", 70, 7, 0.5)


@pytest.mark.parametrize("since", ["code", "execute"])
def test_a_node_from_a_stage_of_another_has_its_writer_and_cost_nothing(toy_config, monkeypatch, since):
    monkeypatch.setattr("core.backend.call_pipeline.reply_fields", priced)
    run_dir, first, _ = in_turn(toy_config, None)
    for untils in ((None,), (since, None)):
        _, node, calls = in_turn(toy_config, *untils, run_dir=run_dir, node=first.id, since=since)
        assert (node.code, node.writer, node.cost_usd, calls) == (first.code, "rules", None, []), untils


def priced(reply):
    return {**reply_fields(reply), "prompt_tokens": 70, "completion_tokens": 7, "cost_usd": 0.5}


@pytest.mark.parametrize("heard", [True, False])
def test_a_dry_run_names_the_parent_of_the_step_that_follows(toy_config, heard):
    """What the user had banned or pinned was left out of its choice."""
    config = toy_config(20, "search.three_phase.num_drafts=2", "search.batch=1")
    with RunSession(config) as session:
        while len(session.search.journal.top(3)) < 3:
            step(session)
        run_dir, best = session.run_dir, session.search.journal.leader.id
        if heard:
            send_line(run_dir, {"kind": "ban", "node_id": best})
            step(session, operator="draft")
    before = dry_run(config, run_dir, None, None)["proposals"][0]["parents"]
    if not heard:
        send_line(run_dir, {"kind": "ban", "node_id": best})
    told = dry_run(config, run_dir, None, None)["proposals"][0]["parents"]
    with RunSession(config, run_dir, by_hand=True) as session:
        begun, *_ = step(session, until="prompt")
    assert tuple(told) == begun.task.parent_ids and best not in told and (heard or best in before)


def test_a_dry_run_does_not_go_on_with_what_was_given_up(toy_config):
    """No step does: the policy is asked."""
    config = toy_config(4)
    with RunSession(config) as session:
        session.run()
        number = session.store.rounds()
        (task,) = session.search.orchestrator.open_round(session.search.orchestrator.ask(1), by_hand=True)
        session.store.lease(Ticket(task.node_id, "a" * 64, "open", 1e9, "", 0))
        assert dry_run(config, session.run_dir, None, None)["goes_on_with"] == {task.node_id: ["select"]}
        session.store.close_ticket(task.node_id, "given_up")
    told = dry_run(config, session.run_dir, None, None)["proposals"]
    with RunSession(config, session.run_dir, by_hand=True) as session:
        begun, *_ = step(session, until="prompt")
    assert begun.task.round == number + 1
    assert [(begun.task.operator, list(begun.task.parent_ids))] == [(one["operator"], one["parents"]) for one in told]
