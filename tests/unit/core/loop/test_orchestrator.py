"""The loop: the same journal for any number of threads, and the end of a run by each of its limits."""

from __future__ import annotations

import threading
import time

import pytest
from support.loop import open_loop, told
from support.plugins.toy import ToyEvaluator, ToyWriter
from support.processes import eventually

from core.backend.usage import Amount
from core.contracts import Evaluation, Progress, Proposal
from core.loop.plan import Control
from core.search.mcts import MCTSOptions, MCTSPolicy
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy


def test_a_run_ends_at_its_steps_and_every_node_has_a_verdict(tmp_path):
    loop = open_loop(tmp_path, steps=9)
    assert loop.run() == "max_steps: 9 of 9 steps"
    nodes = list(loop.journal)
    assert len(nodes) == 9
    assert [node.step for node in nodes] == list(range(9))
    for node in nodes:
        assert node.is_buggy == (node.failure is not None)
        assert node.is_scored or node.is_buggy or node.duplicate_of
    best = min(node.metric_value for node in nodes if node.is_scored)
    assert loop.journal.get_best_node().metric_value == best


@pytest.mark.parametrize("writers", [1, 2, 8])
@pytest.mark.parametrize("together", [False, True])
def test_any_number_of_threads_makes_the_same_journal(tmp_path, writers, together):
    class Uneven(ToyEvaluator):
        def evaluate(self, nodes):
            for node in nodes:
                time.sleep((int(node.id, 16) % 5) / 1000)
            return super().evaluate(nodes)

    one = open_loop(tmp_path / "one", steps=14, batch=4, writers=1, evaluator=Uneven(together=together))
    many = open_loop(tmp_path / "many", steps=14, batch=4, writers=writers, evaluator=Uneven(together=together))
    one.run(), many.run()
    assert told(one.journal) == told(many.journal)
    assert one.journal.sha256 == many.journal.sha256


def test_another_seed_makes_another_journal(tmp_path):
    one, two = open_loop(tmp_path / "1", seed=1), open_loop(tmp_path / "2", seed=2)
    one.run(), two.run()
    assert one.journal.sha256 != two.journal.sha256
    assert not {n.id for n in one.journal} & {n.id for n in two.journal}


def test_the_last_round_is_no_larger_than_the_steps_left(tmp_path):
    loop = open_loop(tmp_path, steps=5, batch=4)
    loop.run()
    assert loop.journal.steps == 5


def test_a_second_run_in_the_folder_goes_on_where_the_first_ended(tmp_path):
    whole = open_loop(tmp_path / "whole", steps=12)
    whole.run()
    open_loop(tmp_path / "halves", steps=12, stop=lambda p: "half" if p.steps >= 6 else None).run()
    rest = open_loop(tmp_path / "halves", steps=12)
    rest.run()
    assert rest.journal.sha256 == whole.journal.sha256


def test_stateful_policies_are_told_the_stored_nodes(tmp_path):
    def policy():
        return MCTSPolicy(MCTSOptions(num_drafts=3))

    whole = open_loop(tmp_path / "whole", steps=14, policy=policy())
    whole.run()
    open_loop(tmp_path / "halves", steps=14, policy=policy(), stop=lambda p: "half" if p.steps >= 6 else None).run()
    rest = open_loop(tmp_path / "halves", steps=14, policy=policy())
    rest.run()
    assert rest.journal.sha256 == whole.journal.sha256
    assert [n.visits for n in rest.journal] == [n.visits for n in whole.journal]


def test_an_evaluator_that_loses_its_worker_fails_the_node_not_the_run(tmp_path):
    from utils.errors import JobLost

    class Losing(ToyEvaluator):
        def evaluate(self, nodes):
            raise JobLost("the worker was cut off")

    loop = open_loop(tmp_path, steps=3, evaluator=Losing())
    loop.run()
    assert set(loop.journal.failures) <= {"lost_worker"} and loop.journal.failures["lost_worker"] >= 2


@pytest.mark.parametrize("metric", [float("nan"), float("inf"), -float("inf")])
def test_a_score_that_is_no_number_never_becomes_best(tmp_path, metric):
    class Odd(ToyEvaluator):
        def evaluate(self, nodes):
            return [Evaluation(metric=metric) for _ in nodes]

    loop = open_loop(tmp_path, steps=4, evaluator=Odd())
    loop.run()
    assert loop.journal.get_best_node() is None
    assert loop.journal.failures.get("non_finite", 0) >= 2


def test_integers_are_numbers(tmp_path):
    class Whole(ToyEvaluator):
        def evaluate(self, nodes):
            return [Evaluation(metric=7) for _ in nodes]

    loop = open_loop(tmp_path, steps=3, evaluator=Whole())
    loop.run()
    assert loop.journal.get_best_node().metric_value == 7.0


def test_the_orchestrators_own_fault_stops_the_run(tmp_path):
    class Broken(ToyEvaluator):
        def evaluate(self, nodes):
            raise RuntimeError("our own mistake")

    with pytest.raises(RuntimeError, match="our own mistake"):
        open_loop(tmp_path, evaluator=Broken()).run()


def test_a_policy_with_nothing_to_propose_ends_the_search(tmp_path):
    class Silent(ThreePhasePolicy):
        def ask(self, journal, rng, k):
            return super().ask(journal, rng, k) if len(journal) < 4 else []

    loop = open_loop(tmp_path, policy=Silent(ThreePhaseOptions(num_drafts=3)))
    assert "nothing more to propose" in loop.run()
    assert len(loop.journal) == 4


def test_progress_counts_what_the_stoppers_read(tmp_path):
    seen: list[Progress] = []

    def stop(progress):
        seen.append(progress)
        return "enough" if progress.steps >= 8 else None

    loop = open_loop(tmp_path, steps=None, stop=stop)
    assert loop.run() == "enough"
    assert [p.steps for p in seen] == [0, 2, 4, 6, 8]
    last, best = seen[-1], loop.journal.get_best_node()
    assert last.best_metric == best.metric_value
    assert last.steps_since_best == 8 - (best.step + 1)


def test_stagnation_counts_alike_in_a_resumed_run(tmp_path):
    whole: list[int] = []
    halves: list[int] = []

    def recording(into, end):
        def stop(progress):
            into.append(progress.steps_since_best)
            return "end" if progress.steps >= end else None

        return stop

    open_loop(tmp_path / "whole", steps=None, batch=3, stop=recording(whole, 12)).run()
    open_loop(tmp_path / "halves", steps=None, batch=3, stop=recording([], 6)).run()
    open_loop(tmp_path / "halves", steps=None, batch=3, stop=recording(halves, 12)).run()
    assert halves == whole[-len(halves) :]


def test_an_interrupt_finishes_the_round_in_flight(tmp_path):
    interrupted = threading.Event()

    class Interrupting(ToyEvaluator):
        def evaluate(self, nodes):
            interrupted.set()
            return super().evaluate(nodes)

    control = Control(interrupted=interrupted)
    loop = open_loop(tmp_path, steps=10, evaluator=Interrupting(), control=control)
    assert loop.run() == "interrupted"
    assert 1 <= len(loop.journal) <= 4
    rest = open_loop(tmp_path, steps=10)
    rest.run()
    whole = open_loop(tmp_path / "whole", steps=10)
    whole.run()
    assert rest.journal.sha256 == whole.journal.sha256


def test_notes_reach_the_prompts_of_the_next_round_only(tmp_path):
    notes = [["be brave"], []]
    control = Control(poll=lambda journal: notes.pop(0) if notes else [])
    prompts: list[tuple[int, str]] = []

    from support.plugins.toy import ToyWriter

    class Listening(ToyWriter):
        def write(self, context, rng):
            prompts.append((context["task"]["round"], " ".join(context["notes"])))
            return super().write(context, rng)

    open_loop(tmp_path, steps=6, control=control, writer=Listening()).run()
    assert {text for number, text in prompts if number == 0} == {"be brave"}
    assert {text for number, text in prompts if number > 0} == {""}


def test_repairs_are_nodes_of_their_own(tmp_path):
    class Repairing(ThreePhasePolicy):
        def ask(self, journal, rng, k):
            return [Proposal(operator="draft", slot=slot, repairs=2) for slot in range(k)]

    loop = open_loop(tmp_path, steps=12, policy=Repairing(), evaluator=ToyEvaluator(refuse=0))
    loop.run()
    repaired = [node for node in loop.journal if node.operator == "debug"]
    assert repaired
    for node in repaired:
        parent = loop.journal[node.parent_id]
        assert parent.refused_by == "check" and node.refusal == "x is not below 0"
        assert node.slot == parent.slot and node.step == parent.step + 1


@pytest.mark.parametrize("schedule", ["rounds", "pipeline"])
def test_a_repair_remembers_what_the_refused_attempt_did(tmp_path, schedule):
    """Its parent is in no journal yet: with `agent.memory=related` the first refused engine ended the run."""
    asked = []

    class Repairing(ThreePhasePolicy):
        def ask(self, journal, rng, k):
            return [proposal.model_copy(update={"repairs": 2}) for proposal in super().ask(journal, rng, k)]

    loop = open_loop(
        tmp_path, steps=20, schedule=schedule, policy=Repairing(ThreePhaseOptions(num_drafts=3)),
        evaluator=ToyEvaluator(refuse=0), remembers="related",
    )  # fmt: skip
    begin = loop.orchestrator._stages.begin

    def noted(task, *words, **more):
        attempt = begin(task, *words, **more)
        asked.append((task.round, task.slot, task.attempt, attempt.context.memory))
        return attempt

    loop.orchestrator._stages.begin = noted
    assert loop.run().startswith("max_steps")
    first = {(round_, slot): memory for round_, slot, attempt, memory in asked if attempt == 0}
    repairs = [one for one in asked if one[2]]
    assert any(memory for *_, memory in repairs)
    assert all(memory == first[round_, slot] for round_, slot, _, memory in repairs)


# ---------------------------------------------------------------- async


def test_async_commits_a_fast_candidate_before_a_slow_one(tmp_path):
    class OneSlow(ToyEvaluator):
        def evaluate(self, nodes):
            if nodes[0].id == first:
                eventually(lambda: len(loop.journal) >= 2)
            return super().evaluate(nodes)

    probe = open_loop(tmp_path / "probe", steps=2)
    probe.run()
    first = next(iter(probe.journal)).id
    loop = open_loop(tmp_path / "run", steps=8, schedule="async", evaluator=OneSlow())
    loop.run()
    assert len(loop.journal) == 8
    order = [node.id for node in loop.journal]
    assert order.index(first) >= 2


def test_async_run_goes_on_after_an_end(tmp_path):
    open_loop(tmp_path, steps=10, schedule="async", stop=lambda p: "half" if p.steps >= 5 else None).run()
    rest = open_loop(tmp_path, steps=10, schedule="async")
    rest.run()
    assert rest.journal.steps == 10
    assert len({node.id for node in rest.journal}) == 10


def test_people_are_told_what_was_paid_for_while_a_program_is_scored_and_limits_count_what_is_committed(tmp_path):
    people: list[int] = []
    limits: list[int] = []

    class Judge(ToyEvaluator):
        def evaluate(self, nodes):
            people.append(loop.orchestrator.progress().tokens)
            return super().evaluate(nodes)

    class Writer(ToyWriter):
        def write(self, context, rng):
            loop.model_client.ledger.settle(Amount(), Amount(100, 0.01))
            return super().write(context, rng)

    def stop(progress):
        limits.append(progress.tokens)
        return "enough" if progress.steps >= 2 else None

    loop = open_loop(
        tmp_path, steps=2, batch=1, writers=1, schedule="pipeline", evaluator=Judge(), writer=Writer(), stop=stop
    )
    loop.run()
    assert people[0] == 100 and max(people) <= 200
    assert limits == [0, 100, 200]
