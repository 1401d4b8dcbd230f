"""The pipeline: nobody waits for a slow member, and the clock still decides nothing."""

from __future__ import annotations

import threading
import time
import weakref

import pytest
from support.loop import open_loop, told
from support.plugins.toy import ToyEvaluator, ToyWriter

from core.contracts import Review
from core.loop import pipeline_schedule
from core.search.mcts import MCTSOptions, MCTSPolicy
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
from core.state.task import node_id
from core.storage.reader import RunReader
from utils.errors import BudgetExhausted

SLOWEST = 0.02


def dither(text: str, seed: int) -> None:
    """Take a time that differs from run to run."""
    time.sleep(hash((text, seed)) % 7 / 7 * SLOWEST)


class UnevenWriter(ToyWriter):
    """As the toy's, each reply after a time of its own."""

    def __init__(self, seed: int) -> None:
        self.seed = seed

    def write(self, context, rng):
        dither(str(context["task"]), self.seed)
        return super().write(context, rng)


class UnevenEvaluator(ToyEvaluator):
    def __init__(self, seed: int, **options) -> None:
        super().__init__(**options)
        self.seed = seed

    def evaluate(self, nodes):
        for node in nodes:
            dither(node.id, self.seed)
        return super().evaluate(nodes)


class OpinionatedReviewer:
    """Reviews whatever it is asked to, and remembers what."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def review(self, context, node):
        self.asked.append(node.id)
        return Review(
            is_bug=node.is_buggy, has_csv_submission=False, summary=f"of {len(node.code)} characters", metric=None
        )


def open_uneven(folder, seed, writers, *, together=False, policy=None, reviewer=None):
    return open_loop(
        folder, steps=40, batch=4, writers=writers, schedule="pipeline", reviewer=reviewer, review="always",
        policy=policy or ThreePhasePolicy(ThreePhaseOptions(num_drafts=3)),
        evaluator=UnevenEvaluator(seed, together=together), writer=UnevenWriter(seed),
    )  # fmt: skip


@pytest.mark.parametrize("together", [pytest.param(False, marks=pytest.mark.long), True], ids=["alone", "together"])
@pytest.mark.parametrize(
    "policy",
    [lambda: ThreePhasePolicy(ThreePhaseOptions(num_drafts=3)), lambda: MCTSPolicy(MCTSOptions(num_drafts=3))],
    ids=["three_phase", "mcts"],
)
def test_any_number_of_threads_makes_the_same_journal(tmp_path, together, policy):
    journals = []
    for number, writers in enumerate((1, 2, 4, 16)):
        loop = open_uneven(tmp_path / str(writers), number, writers, together=together, policy=policy())
        assert loop.run() == "max_steps: 40 of 40 steps"
        journals.append(loop.journal)
    assert any(node.duplicate_of for node in journals[0]), "nothing was a duplicate, so nothing is compared"
    for journal in journals[1:]:
        assert told(journal) == told(journals[0])
        assert journal.sha256 == journals[0].sha256


def test_reviews_are_the_same_for_any_number_of_threads(tmp_path):
    asked = []
    for number, writers in enumerate((1, 3, 16)):
        reviewer = OpinionatedReviewer()
        loop = open_uneven(tmp_path / str(writers), number, writers, reviewer=reviewer)
        loop.run()
        asked.append(sorted(reviewer.asked))
        assert not {node.id for node in loop.journal if node.duplicate_of} & set(reviewer.asked), (
            "a repetition was paid for"
        )
    assert asked[0] and asked[0] == asked[1] == asked[2]


def test_a_slow_reply_holds_nobody_up_while_the_lag_allows(tmp_path):
    """The first reply waits until six others are written: with a round of four it would wait for ever."""
    others = threading.Semaphore(0)

    class Waiting(ToyWriter):
        def write(self, context, rng):
            if context["task"]["round"] == 0:
                for _ in range(6):
                    assert others.acquire(timeout=60), "the others wait for the first"
            else:
                others.release()
            return super().write(context, rng)

    loop = open_loop(tmp_path, steps=12, batch=4, writers=8, schedule="pipeline", writer=Waiting())
    assert loop.run() == "max_steps: 12 of 12 steps"
    assert [node.step for node in loop.journal] == list(range(12))


def test_a_proposal_knows_the_commits_up_to_its_lag(tmp_path):
    loop = open_loop(tmp_path, steps=12, batch=2, writers=4, schedule="pipeline")
    loop.run()
    with RunReader(tmp_path) as reader:
        tasks = sorted(reader.tasks().values(), key=lambda task: task.round)
    assert [task.seen for task in tasks] == [0, 0, 0, 0, *range(1, 9)]
    assert [task.steps_left for task in tasks] == list(range(12, 0, -1))


def test_a_program_that_was_run_before_its_twin_was_known_is_a_duplicate_all_the_same(tmp_path):
    """The second slot's program is judged while the first, which is the same, is not even written."""
    judged = threading.Event()

    class Twins(ToyWriter):
        def write(self, context, rng):
            if context["task"]["round"] == 0:
                assert judged.wait(60)
            return "```python\nx = 5.0\n```" if context["task"]["round"] < 2 else super().write(context, rng)

    class Judge(ToyEvaluator):
        def evaluate(self, nodes):
            judged.set()
            return super().evaluate(nodes)

    loop = open_loop(tmp_path, steps=4, batch=2, writers=4, schedule="pipeline", writer=Twins(), evaluator=Judge())
    loop.run()
    first, second, *_ = list(loop.journal)
    assert first.is_scored and second.duplicate_of == first.id
    assert second.metric_value is None and second.failure is None and not second.is_valid


def test_what_the_budget_refused_stays_open_and_what_was_paid_for_is_committed(tmp_path):
    class Refused(ToyWriter):
        def write(self, context, rng):
            if context["task"]["round"] == 5:
                raise BudgetExhausted("tokens: all spent")
            return super().write(context, rng)

    loop = open_loop(tmp_path, steps=30, batch=2, writers=4, schedule="pipeline", writer=Refused())
    assert loop.run() == "tokens: all spent"
    again = open_loop(tmp_path, steps=30, batch=2, writers=4, schedule="pipeline")
    (open_task,) = again.store.open_tasks()
    assert open_task.round == 5
    assert {node.id for node in again.store.nodes()} >= {node_id(1, 6, 0), node_id(1, 7, 0)}
    again.run()
    assert again.journal.steps == 30
    assert open_task.node_id in again.journal


@pytest.mark.parametrize("over", [False, True])
def test_a_failed_evaluation_of_a_skipped_twin_is_made_good(tmp_path, over):
    """Its twin never came, because the budget refused it: then the program is run after all, unless all is over by
    then, which ends the run in good order and leaves both open."""

    class Judge(ToyEvaluator):
        def evaluate(self, nodes):
            if nodes[0].id == node_id(1, 0, 0) or (over and nodes[0].id == node_id(1, 1, 0)):
                raise BudgetExhausted("seconds: all spent")
            return super().evaluate(nodes)

    class Twins(ToyWriter):
        def write(self, context, rng):
            if context["task"]["round"] == 0:
                return "```python\nx = 5.0\n```"
            if context["task"]["round"] == 1:
                time.sleep(0.2)
                return "```python\nx = 5.0\n```"
            return super().write(context, rng)

    loop = open_loop(tmp_path, steps=4, batch=2, writers=4, schedule="pipeline", writer=Twins(), evaluator=Judge())
    assert loop.run() == "seconds: all spent"
    scores = [node.metric_value for node in loop.journal if node.code.strip() == "x = 5.0"]
    assert scores == ([] if over else [3.0])


class Reader:
    """Finds a score in everything."""

    def review(self, context, node):
        return Review(is_bug=False, has_csv_submission=False, summary="read", metric=1.0)


class BlindEvaluator(ToyEvaluator):
    """Runs programs and has no score for them."""

    def evaluate(self, nodes):
        return [verdict.model_copy(update={"metric": None}) for verdict in super().evaluate(nodes)]


@pytest.mark.parametrize("slow", [0, 1], ids=["before it", "after it"])
@pytest.mark.parametrize("claims_only", [True, False])
def test_a_twin_of_a_program_that_was_repaired_is_reviewed_too(tmp_path, claims_only, slow):
    """Two wrote what crashes. The first was given another program, so that the second repeats nothing that came: it was
    committed unread, and where the reading is the score, as a failure of its own."""

    class Twins(ToyWriter):
        def write(self, context, rng):
            if context["operator"] == "debug":
                return f"```python\nx = {5.0 + context['task']['round']}\n```"
            if context["task"]["round"] == slow:
                time.sleep(0.2)
            return "```python\nx = broken\n```"

    loop = open_loop(
        tmp_path, steps=2, batch=2, writers=4, schedule="pipeline", writer=Twins(), reviewer=Reader(),
        evaluator=BlindEvaluator() if claims_only else ToyEvaluator(), claims_only=claims_only, review="always",
        repair_crashes=True,
    )  # fmt: skip
    loop.run()
    nodes = list(loop.journal)
    assert [node.code.strip() for node in nodes] == ["x = 5.0", "x = 6.0"] and all(node.attempts for node in nodes)
    assert [(node.failure, node.review and node.review.summary) for node in nodes] == [(None, "read")] * 2


class LookingAhead(ToyEvaluator):
    """Remembers which programs it saw before their round."""

    def __init__(self, others: threading.Semaphore) -> None:
        super().__init__(together=True)
        self.others, self.seen, self.judged = others, [], []

    def look_ahead(self, node):
        self.seen.append(node.id)
        self.others.release()

    def evaluate(self, nodes):
        assert {node.id for node in nodes} <= set(self.seen)
        self.judged += [node.id for node in nodes]
        return super().evaluate(nodes)


def test_a_program_is_looked_at_while_its_round_is_still_written(tmp_path):
    """The last reply of the first round waits until the others' programs were looked at."""
    others = threading.Semaphore(0)

    class Last(ToyWriter):
        def write(self, context, rng):
            if context["task"]["round"] == 0 and context["task"]["slot"] == 3:
                for _ in range(3):
                    assert others.acquire(timeout=60), "nobody looks at what is written"
            return super().write(context, rng)

    evaluator = LookingAhead(others)
    loop = open_loop(tmp_path, steps=16, batch=4, writers=8, schedule="pipeline", evaluator=evaluator, writer=Last())
    loop.run()
    assert len(evaluator.seen) == len(set(evaluator.seen)), "a program was looked at twice"
    assert not {node.id for node in loop.journal if node.duplicate_of} & set(evaluator.judged)


def test_what_has_landed_is_let_go_of(tmp_path, monkeypatch):
    """Each held on to those before it: a search of a hundred thousand programs kept all their prompts."""
    begun, alive = [], []

    class Flight(pipeline_schedule._Flight):
        __slots__ = ("__weakref__",)

        def __init__(self, *args, **named) -> None:
            super().__init__(*args, **named)
            begun.append(weakref.ref(self))
            alive.append(sum(flight() is not None for flight in begun))

    monkeypatch.setattr(pipeline_schedule, "_Flight", Flight)
    assert open_uneven(tmp_path, 0, 4).run() == "max_steps: 40 of 40 steps"
    assert len(begun) == 40 and max(alive) < 20
