"""What goes on right now, from the events alone."""

from __future__ import annotations

from cli.terminal.open_work import OpenWork
from core.contracts import Progress
from core.events import LLMCalled, NodeProposed, RunFinished, StageDone
from core.state.failure import FailureKind


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
    assert work.lines()[1] == "aaaaaa draft is run, 3 s"
    work.learn(LLMCalled(node_id="aaaaaaaa", role="feedback", **call))
    work.learn(StageDone(node_id="bbbbbbbb", stage="execute"))
    assert [line.split(", ")[0] for line in work.lines()] == ["aaaaaa draft is reviewed", "bbbbbb improve is judged"]
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
