"""What goes on right now, from the events and from what the run's process tells live."""

from __future__ import annotations

from cli.terminal.open_work import OpenWork
from core.contracts import Progress
from core.events import LLMCalled, NodeProposed, RunFinished, StageDone, TicketClosed, TicketLeased
from core.state.failure import FailureKind
from core.state.live_work import LiveWork, NodeWork, WorkState


def test_who_is_asked_what_runs_and_for_how_long(committed):
    now = [100.0]
    work = OpenWork("openai/gpt-5-mini", lambda: now[0])
    call = {"call_id": 1, "provider": "openai", "model": "gpt-5-mini"}
    work.learn(NodeProposed(node_id="aaaaaaaa", round=0, slot=0, operator="draft"))
    now[0] += 5
    work.learn(NodeProposed(node_id="bbbbbbbb", round=0, slot=1, operator="improve"))
    now[0] += 7
    assert work.lines() == ["aaaaaa draft asks openai/gpt-5-mini, 12 s", "bbbbbb improve asks openai/gpt-5-mini, 7 s"]
    assert work.lines({"bbbbbbbb": 340})[1].endswith("7 s, some 340 tokens so far")
    work.learn(LLMCalled(node_id="aaaaaaaa", role="code", **call))
    now[0] += 3
    assert work.lines()[1] == "aaaaaa draft waits for its turn, 3 s"
    work.learn(LLMCalled(node_id="aaaaaaaa", role="feedback", **call))
    work.learn(StageDone(node_id="bbbbbbbb", stage="execute"))
    assert [line.split(", ")[0] for line in work.lines()] == ["aaaaaa draft is reviewed", "bbbbbb improve is scored"]
    summary = work.summary(Progress(steps=4, seconds=15.2, tokens=1234, usd=0.5))
    assert summary.startswith("… 15 s; 4 steps; aaaaaa draft is reviewed, 0 s")
    assert summary.endswith("2 calls; 1,234 tokens, $0.5000")


def test_a_verdict_closes_a_program_and_failures_are_counted(committed):
    work = OpenWork("rules", lambda: 0.0)
    for number in range(3):
        work.learn(NodeProposed(node_id=f"{number:012d}", round=0, slot=number, operator="mutate"))
        work.learn(committed(number, failure=FailureKind.TIMEOUT, is_buggy=True))
    assert work.lines() == [] and work.spent(Progress()) == ["3 failed: timeout 3"]
    work.learn(NodeProposed(node_id="cccccccc", round=1, slot=0, operator="tune"))
    assert work.lines() == ["cccccc tune is run, 0 s"], "no writer is asked for it"
    work.learn(RunFinished(status="finished", reason="max_steps"))
    assert work.lines() == [] and "nothing is open" in work.summary(Progress())


def test_a_ticket_is_shown_with_its_holder_until_it_is_told_or_given_up():
    work = OpenWork("external/client", lambda: 0.0)
    for node in ("aaaaaaaa", "bbbbbbbb"):
        work.learn(NodeProposed(node_id=node, round=0, slot=0, operator="draft"))
    assert work.lines()[0] == "aaaaaa draft waits for a writer to ask, 0 s"
    work.learn(TicketLeased(node_id="aaaaaaaa", holder="cur\x1bsor", expires_at=9.0))
    assert work.lines()[0].startswith("aaaaaa draft is with cur") and "\x1b" not in work.lines()[0]
    work.learn(TicketClosed(node_id="aaaaaaaa", state="given_up"))
    assert [line[:6] for line in work.lines()] == ["bbbbbb"]
    work.learn(LLMCalled(node_id="bbbbbbbb", role="code", call_id=1, provider="external", model="client"))
    assert work.lines() == ["bbbbbb draft waits for its turn, 0 s"]


def test_what_each_waits_for_is_told_live():
    work = OpenWork("openai/gpt-5-mini", lambda: 100.0, lambda: 5_000.0)
    states: list[WorkState] = ["waits_writer", "written", "waits_worker", "runs", "scored"]
    for place, state in enumerate(states):
        work.learn(NodeProposed(node_id=f"{state:_<12}", round=0, slot=place, operator="draft"))
    told = {f"{state:_<12}": NodeWork(state=state, since=4_990.0 - n) for n, state in enumerate(states)}
    lines = [line.partition(" draft ")[2] for line in work.lines(work=LiveWork(nodes=told))]
    assert lines == ["is scored, 14 s", "runs, 13 s", "waits for a worker, 12 s",
                     "asks openai/gpt-5-mini, 11 s", "waits for a writer, 10 s"]  # fmt: skip
    rules = OpenWork("rules")
    rules.learn(NodeProposed(node_id="aaaaaaaaaaaa", round=0, slot=0, operator="draft"))
    waits = LiveWork(nodes={"aaaaaaaaaaaa": NodeWork(state="waits_writer", since=0.0)})
    assert rules.lines(work=waits)[0].startswith("aaaaaa draft is written by rules"), "nobody is waited for"


def test_a_writer_that_is_asked_again_after_a_reply_of_no_use_does_not_wait_for_its_turn():
    work = OpenWork("openai/gpt-5-mini", lambda: 100.0, lambda: 5_000.0)
    work.learn(NodeProposed(node_id="aaaaaaaaaaaa", round=0, slot=0, operator="draft"))
    work.learn(LLMCalled(node_id="aaaaaaaaaaaa", role="code", call_id=1, provider="openai", model="gpt-5-mini"))
    told = {"aaaaaaaaaaaa": NodeWork(state="written", since=4_990.0)}
    assert work.lines(work=LiveWork(nodes=told)) == ["aaaaaa draft asks openai/gpt-5-mini, 10 s"]


def test_who_waits_past_the_seconds_is_told_what_for():
    work = OpenWork("openai/gpt-5-mini", lambda: 0.0)
    work.learn(NodeProposed(node_id="aaaaaaaaaaaa", round=0, slot=0, operator="draft"))
    past = "past budget.seconds=15: nothing more is begun, what is under way is waited for"
    assert past in work.summary(Progress(seconds=21), most=15) and past not in work.summary(
        Progress(seconds=9), most=15
    )
    assert "past" not in work.summary(Progress(seconds=21))
    work.learn(RunFinished(status="finished", reason="budget.seconds"))
    assert "past" not in work.summary(Progress(seconds=21), most=15), "nothing is waited for"
