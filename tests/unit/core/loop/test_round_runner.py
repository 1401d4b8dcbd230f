"""A round: what depends on other slots is decided in slot order; what the budget cut off stays open."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from support.loop import open_loop
from support.plugins.toy import ToyEvaluator, ToyWriter

from core.contracts import Proposal
from core.events import LadderCounted
from core.search.three_phase import ThreePhasePolicy
from core.state.journal import Journal
from utils.errors import BudgetExhausted


class Drafts(ThreePhasePolicy):
    """Nothing but drafts."""

    def ask(self, journal, rng, k):
        return [Proposal(operator="draft", slot=slot) for slot in range(k)]


class Script(ToyWriter):
    """Answers slot by slot, whoever asks first."""

    def __init__(self, *replies):
        self.replies = replies

    def write(self, context, rng):
        reply = self.replies[context["task"]["slot"]]
        if isinstance(reply, Exception):
            raise reply
        return f"```python\n{reply}\n```"


def played(folder, *replies, rounds=1, writer_class=Script, **options):
    writer = writer_class(*replies)
    loop = open_loop(folder, steps=len(replies) * rounds, batch=len(replies), policy=Drafts(), writer=writer, **options)
    events = []
    loop.store.sinks = [type("Sink", (), {"emit": lambda self, event: events.append(event)})()]
    reason = loop.run()
    return list(loop.journal), events, reason


def test_duplicates_in_a_round_go_by_slot_order(tmp_path):
    nodes, events, _ = played(tmp_path, "x = 1.0", "x = 3", "x = 1.0", "x = (3)", "x=3  # again")
    first, second, third, fourth, fifth = nodes
    assert first.is_scored and second.is_scored
    assert third.duplicate_of == first.id and third.rung == "text"
    assert fourth.duplicate_of == fifth.duplicate_of == second.id and fifth.rung == "ast"
    for node in (third, fourth, fifth):
        assert not node.is_valid and node.failure is None and node.metric_value is None and not node.is_buggy
    (counted,) = [event for event in events if isinstance(event, LadderCounted)]
    assert counted.counts == {"text": 1, "ast": 2}


def test_a_program_of_an_earlier_round_is_not_judged_again(tmp_path):
    class Counting(ToyEvaluator):
        judged = 0

        def evaluate(self, nodes):
            self.judged += len(nodes)
            return super().evaluate(nodes)

    judge = Counting()
    nodes, _, _ = played(tmp_path, "x = 1", "x = 5", rounds=3, evaluator=judge)
    assert len(nodes) == 6 and judge.judged == 2
    assert [node.duplicate_of for node in nodes[2:]] == [nodes[0].id, nodes[1].id] * 2


def test_what_is_refused_is_not_judged(tmp_path):
    class Strict(ToyEvaluator):
        def evaluate(self, nodes):
            assert all("7" not in node.code for node in nodes)
            return super().evaluate(nodes)

    nodes, events, _ = played(tmp_path, "x = 1", "x = 7", evaluator=Strict(refuse=6))
    assert nodes[1].failure == "signature" and nodes[1].refused_by == "check"
    (rejected,) = [event for event in events if event.type == "candidate.rejected"]
    assert rejected.node_id == nodes[1].id and rejected.reason == "x is not below 6"


@pytest.mark.parametrize("together", [False, True])
def test_the_budget_ends_the_run_and_leaves_open_what_it_did_not_reach(tmp_path, together):
    exhausted = BudgetExhausted("budget.tokens: 10 of 10 tokens")
    nodes, _, reason = played(tmp_path, "x = 1", exhausted, "x = 5", evaluator=ToyEvaluator(together=together))
    assert reason == "budget.tokens: 10 of 10 tokens"
    assert [node.code for node in nodes] == ["x = 1\n", "x = 5\n"] and all(node.is_scored for node in nodes)
    again = open_loop(tmp_path, steps=3, batch=3, policy=Drafts(), writer=Script("", "x = 4", ""))
    (task,) = again.store.open_tasks()
    assert task.slot == 1
    again.run()
    assert [node.code for node in again.journal] == ["x = 1\n", "x = 5\n", "x = 4\n"]


@pytest.mark.parametrize("schedule", ["rounds", "pipeline", "async"])
def test_a_repair_that_the_budget_does_not_pay_for_is_no_node(tmp_path, schedule):
    """It was stored as a failed program with the budget's words as its reply."""

    class Repairing(ThreePhasePolicy):
        def ask(self, journal, rng, k):
            return [Proposal(operator="draft", slot=slot, repairs=1) for slot in range(k)]

    class Once(ToyWriter):
        def write(self, context, rng):
            if context["operator"] == "debug":
                raise BudgetExhausted("budget.tokens: 10 of 10 tokens")
            return "```python\nx = 7\n```"

    loop = open_loop(
        tmp_path,
        steps=4,
        batch=1,
        policy=Repairing(),
        writer=Once(),
        evaluator=ToyEvaluator(refuse=6),
        schedule=schedule,
    )
    assert loop.run() == "budget.tokens: 10 of 10 tokens"
    (node,) = loop.journal
    assert node.refused_by == "check" and node.code == "x = 7\n"


def test_replies_without_code_are_nodes_too(tmp_path):
    nodes, _, _ = played(tmp_path, "x = 1", "")
    assert nodes[1].failure == "no_code" and nodes[1].is_buggy and nodes[1].code == ""


def test_a_stored_verdict_of_the_batch_is_not_reached_again(tmp_path):
    class Once(ToyEvaluator):
        calls = 0

        def evaluate(self, nodes):
            self.calls += 1
            return super().evaluate(nodes)

    judge = Once(together=True)
    loop = open_loop(tmp_path, policy=Drafts(), evaluator=judge, writer=Script("x = 1", "x = 2"))
    loop.orchestrator.restore()
    tasks = loop.orchestrator.open_round(loop.orchestrator.ask(2))
    runner, attempts = loop.orchestrator._search.runner, [loop.orchestrator.begin(task) for task in tasks]
    with ThreadPoolExecutor(2) as pool:
        runner.judge(runner.write(attempts, pool), pool)
        fresh = runner.write([loop.orchestrator.begin(task) for task in tasks], pool)
        runner.judge(fresh, pool)
    assert judge.calls == 1
    assert [attempt.verdict for attempt in fresh] == [attempt.verdict for attempt in attempts]
    loop.close()


def test_an_evaluator_of_whole_rounds_begins_with_what_is_written(tmp_path):
    """The last reply waits until the other program was looked at; it is told whose round that is before."""
    looked = threading.Event()

    class Last(Script):
        def write(self, context, rng):
            assert context["task"]["slot"] == 0 or looked.wait(60), "nobody looks at what is written"
            return super().write(context, rng)

    class Ahead(ToyEvaluator):
        expected, seen = (), ()

        def expect(self, tasks):
            self.expected = (*self.expected, [task.slot for task in tasks])

        def look_ahead(self, node):
            assert self.expected
            self.seen = (*self.seen, node.slot)
            looked.set()
            raise BudgetExhausted("as evaluate would say")

    judge = Ahead(together=True)
    nodes, _, _ = played(tmp_path, "x = 1", "x = 2", evaluator=judge, writer_class=Last)
    assert judge.expected == ([0, 1],) and judge.seen == (0, 1) and all(node.is_scored for node in nodes)


def test_fingerprints_are_looked_up_before_they_are_appended():
    journal = Journal()
    assert journal.find_duplicate("x = 1") is None
    text, normal = journal.fingerprint("def f(a):\n    b = a\n    return b\n")
    other, same = journal.fingerprint("def f(a):\n    c = a\n    return c\n")
    assert text != other and normal == same != ""
    assert journal.fingerprint("def f(:")[1] == ""
