"""A program that crashes is repaired in the same step; a kill between the two programs goes on at the second."""

from __future__ import annotations

import threading

import pytest
from support.loop import Crash, DyingStore, open_loop, told
from support.plugins.toy import ToyEvaluator, ToyWriter

from core.backend.exchange import Reply
from core.contracts import Evaluation
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
from core.state.failure import FailureKind
from core.storage.reader import RunReader
from reports.conclusion import counts_of
from reports.counts import effort

STEPS = 14


class Judge(ToyEvaluator):
    """Remembers which programs it ran."""

    def __init__(self, **options):
        super().__init__(**options)
        self.ran: list[tuple[str, str]] = []

    def evaluate(self, nodes):
        self.ran += [(node.id, node.code) for node in nodes]
        return super().evaluate(nodes)


class Writer(ToyWriter):
    def __init__(self) -> None:
        self.asked: list[dict] = []

    def write(self, context, rng):
        self.asked.append(dict(context))
        return super().write(context, rng)


def loop(folder, **options):
    options = {"evaluator": Judge(), "writer": Writer(), "repair_crashes": True, **options}
    return open_loop(folder, steps=STEPS, schedule="pipeline", **options)


def test_the_first_program_stays_on_its_node_which_has_not_failed(tmp_path):
    plain = open_loop(tmp_path / "plain", steps=STEPS, schedule="pipeline")
    plain.run()
    assert any(node.failure is FailureKind.RUNTIME for node in plain.journal)
    writer, judge = Writer(), Judge()
    run = loop(tmp_path / "run", evaluator=judge, writer=writer)
    run.run()
    mended = [node for node in run.journal if node.attempts]
    assert mended and run.journal.steps == STEPS, "a repair is no step"
    for node in mended:
        (first,) = node.attempts
        assert first.failure is FailureKind.RUNTIME and "broken" in first.code and first.message
        assert "broken" not in node.code and node.failure is None
        assert (node.id, first.code) in judge.ran
    shown = [context["parents"][0] for context in writer.asked if context["operator"] == "debug"]
    assert {first["code"] for first in shown} >= {node.attempts[0].code for node in mended}
    assert run.journal.failures == {}
    with RunReader(tmp_path / "run") as reader:
        assert reader.failures() == {} and reader.repaired() == {"runtime": len(mended)}
        assert effort(counts_of(reader)).endswith(f"no programs failed, {len(mended)} repaired in its step")
        assert reader.node(mended[0].id).attempts == mended[0].attempts


def test_what_ran_out_of_time_is_repaired_with_how_far_it_came(tmp_path):
    class Slow(Judge):
        def evaluate(self, nodes):
            late = Evaluation(failure=FailureKind.TIMEOUT, message="wall clock: 3 of 6 calls had been answered")
            found = super().evaluate(nodes)
            return [late if verdict.failure is FailureKind.RUNTIME else verdict for verdict in found]

    writer = Writer()
    run = loop(tmp_path, evaluator=Slow(), writer=writer)
    run.run()
    mended = [node for node in run.journal if node.attempts]
    assert mended and {node.attempts[0].failure for node in mended} == {FailureKind.TIMEOUT}
    assert all(node.failure is None for node in mended) and run.journal.failures == {}
    assert "3 of 6 calls" in mended[0].attempts[0].message


def test_without_a_model_nothing_is_repaired_in_the_same_step(tmp_path):
    run = loop(tmp_path, repair_crashes=False)
    run.run()
    assert not any(node.attempts for node in run.journal) and run.journal.failures


def test_any_number_of_writers_repairs_alike(tmp_path):
    journals = []
    for writers in (1, 4):
        run = loop(tmp_path / str(writers), writers=writers)
        run.run()
        journals.append((told(run.journal), [node.attempts for node in run.journal]))
    assert journals[0] == journals[1]


class Stubborn(Writer):
    """Gives the same broken program again."""

    def write(self, context, rng):
        self.asked.append(dict(context))
        return "It is right.\n```python\nx = broken_1\n```\n"


def test_a_writer_that_repeats_itself_is_asked_once(tmp_path):
    run = loop(tmp_path, writer=(writer := Stubborn()))
    run.run()
    first = next(iter(run.journal))
    assert first.failure is FailureKind.RUNTIME and not first.attempts
    assert len(writer.asked) <= 2 * STEPS


@pytest.mark.parametrize("when", ["before", pytest.param("after", marks=pytest.mark.long)])
def test_after_a_crash_at_any_write_the_run_becomes_the_same(tmp_path, when):
    stores = []

    def wrap(store):
        stores.append(DyingStore(store, 10**9, "after"))
        return stores[0]

    whole = loop(tmp_path / "whole", writers=1, wrap=wrap)
    whole.run()
    expected = whole.journal.sha256, [node.attempts for node in whole.journal]
    assert any(expected[1])
    for at in range(1, len(stores[0].writes) + 1, 3):
        folder, judges = tmp_path / str(at), (Judge(), Judge())
        died = loop(folder, writers=1, evaluator=judges[0], wrap=lambda store, at=at: DyingStore(store, at, when))
        with pytest.raises(Crash):
            died.run()
        again = loop(folder, writers=1, evaluator=judges[1])
        again.run()
        assert (again.journal.sha256, [node.attempts for node in again.journal]) == expected, f"write {at}"
        twice = [program for program in judges[1].ran if program in judges[0].ran]
        assert len(twice) <= 2, f"write {at}: at most what was under way runs again: {twice}"


CHANGE = "Once more.\n<<<<<<< SEARCH\nx = x\n=======\nx = x\nx = broken\n>>>>>>> REPLACE\n"


def test_a_writer_outside_is_asked_once_for_a_program(tmp_path):
    """Its ticket told the same changes again: they were made twice in the program that had crashed."""
    asked = []

    def tell(name, request):
        asked.append(name)
        return Reply(text="```python\nx = x\n```" if len(asked) == 1 else CHANGE, finish_reason="stop")

    run = open_loop(
        tmp_path, steps=3, batch=1, policy=ThreePhasePolicy(ThreePhaseOptions(num_drafts=1, debug_prob=1.0)),
        schedule="rounds", repair_crashes=True, external=tell,
    )  # fmt: skip
    run.run()
    first, second, _ = run.journal
    assert first.failure is FailureKind.RUNTIME and second.code == "x = x\nx = broken\n"
    assert not any(node.attempts for node in run.journal) and len(asked) == len(set(asked)) == 3


class Alike(Writer):
    """Everybody writes the same broken program, and mends it by `mend`; with `last`, that task is written last."""

    def __init__(self, mend, last=None) -> None:
        super().__init__()
        self.mend, self.last, self.others = mend, last, threading.Event()

    def write(self, context, rng):
        round_, repairs = context["task"]["round"], context["operator"] == "debug"
        if round_ == self.last and not repairs:
            assert self.others.wait(60)
        if round_ == 1 and repairs:
            self.others.set()
        return f"```python\n{self.mend(round_) if repairs else BROKEN}\n```"


BROKEN = 'raise ValueError("broken")'
MENDS = {
    "to the same program": lambda round_: "x = 2.5",
    "the first cannot be": lambda round_: BROKEN if round_ == 0 else f"x = {round_}.5",
    "each to its own": lambda round_: f"x = {round_}.5",
}


@pytest.mark.parametrize("mend", MENDS.values(), ids=MENDS)
def test_equal_programs_that_are_repaired_are_the_same_run_whoever_is_first(tmp_path, mend):
    """What was compared was the repaired program if it had run by then, else the first one."""
    journals = []
    for writers, last in ((1, None), (4, 0)):
        policy = ThreePhasePolicy(ThreePhaseOptions(num_drafts=2))
        run = open_loop(
            tmp_path / str(writers), steps=2, writers=writers, schedule="pipeline", repair_crashes=True,
            policy=policy, writer=Alike(mend, last),
        )  # fmt: skip
        run.run()
        journals.append([(n.code, n.metric_value, n.failure, n.duplicate_of, n.attempts) for n in run.journal])
    assert journals[0] == journals[1]
