"""The process may end before or after any write: the resumed run becomes the run that was not interrupted.

Every second write of a short run is tried, in this process (every sixth in `make test`);
`tests/integration/test_crash.py` does it with real kills.
"""

from __future__ import annotations

import time
from contextlib import suppress

import pytest
from support.loop import Crash, DyingStore, open_loop, told
from support.plugins.toy import ToyEvaluator, ToyWriter

from core.contracts import Proposal
from core.events import BaselineScored, NodeCommitted, NodeProposed, Warned
from core.loop.plan import Control
from core.search.three_phase import ThreePhaseOptions, ThreePhasePolicy
from core.state.findings import TournamentResult
from core.storage.reader import RunReader

STEPS = 8


class Counting(ToyEvaluator):
    """Remembers what it judged."""

    def __init__(self, **options):
        super().__init__(**options)
        self.judged: list[str] = []

    def evaluate(self, nodes):
        self.judged += [node.id for node in nodes]
        found = super().evaluate(nodes)
        if not self.together:
            return found
        played = TournamentResult(promoted=tuple(node.id for node in nodes))
        return [verdict.model_copy(update={"tournament": played}) for verdict in found]


class Repairing(ThreePhasePolicy):
    """Every proposal may be repaired once."""

    def ask(self, journal, rng, k):
        proposals = super().ask(journal, rng, k)
        return [Proposal.model_validate({**p.model_dump(), "repairs": 1}) for p in proposals]


class CountingWriter(ToyWriter):
    def __init__(self) -> None:
        self.written = 0

    def write(self, context, rng):
        self.written += 1
        return super().write(context, rng)


def loop(folder, **options):
    options.setdefault("evaluator", Counting(refuse=6))
    return open_loop(folder, steps=STEPS, policy=Repairing(ThreePhaseOptions(num_drafts=3)), writers=1, **options)


def ends_of(folder):
    with RunReader(folder) as reader:
        return [event.promoted for event in reader.events(types=["generation.finished"])]


WAYS = {
    "alone": {"together": False}, "together": {"together": True},
    "pipeline": {"together": False, "schedule": "pipeline"},
    "pipeline_together": {"together": True, "schedule": "pipeline"},
}  # fmt: skip
"""How a search is led: `together` is the evaluator's, the schedule the search's."""


@pytest.fixture(scope="module", params=WAYS)
def reference(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("whole")
    made = []

    def wrap(store):
        made.append(DyingStore(store, 10**9, "after"))
        return made[0]

    way = dict(WAYS[request.param])
    judge = Counting(refuse=6, together=way.pop("together"))
    whole = loop(folder, evaluator=judge, wrap=wrap, **way)
    whole.run()
    assert any(node.operator == "debug" for node in whole.journal)
    assert bool(ends_of(folder)) == judge.together
    return WAYS[request.param], told(whole.journal), whole.journal.sha256, len(made[0].writes), folder


@pytest.mark.parametrize(("when", "every"), [("before", 6), pytest.param("after", 2, marks=pytest.mark.long)])
def test_after_a_crash_at_any_write_the_run_becomes_the_same(tmp_path, reference, when, every):
    way, nodes, sha256, writes, whole = reference
    schedule = way.get("schedule", "rounds")
    together = way["together"]
    assert writes >= 20
    for at in range(1, writes + 1, every):
        folder = tmp_path / str(at)
        first, writer = Counting(refuse=6, together=together), CountingWriter()
        died = loop(
            folder,
            evaluator=first,
            writer=writer,
            schedule=schedule,
            wrap=lambda store, at=at: DyingStore(store, at, when),
        )
        with pytest.raises(Crash):
            died.run()
        stored = open_loop(folder)
        known = {node.id for node in stored.store.nodes()}
        known |= {task.node_id for task in stored.store.open_tasks() if "execute" in stored.store.stages(task.node_id)}
        answered = len(stored.store.calls())
        stored.close()

        second, writer = Counting(refuse=6, together=together), CountingWriter()
        again = loop(folder, evaluator=second, writer=writer, schedule=schedule)
        again.run()
        assert again.journal.sha256 == sha256, f"write {at}: {told(again.journal)} instead of {nodes}"
        assert not known & set(second.judged), f"write {at}: judged once more"
        total = open_loop(folder)
        assert writer.written == len(total.store.calls()) - answered, f"write {at}: an answered call was asked again"
        numbers = [event.seq for event in total.store.committed_events()]
        assert numbers == sorted(set(numbers)) and len(numbers) == len(nodes)
        total.close()
        assert ends_of(folder) == ends_of(whole), f"write {at}: the end of a tournament is told once"


@pytest.mark.parametrize("every", [pytest.param(7, marks=pytest.mark.sample), pytest.param(3, marks=pytest.mark.long)])
def test_what_waited_when_it_died_is_made_again(tmp_path, reference, every):
    """A store that lets all it may wait for the next transaction, and is killed: the run becomes the same."""
    way, nodes, sha256, writes, _ = reference
    options = {"schedule": way.get("schedule", "rounds")}
    for at in range(1, writes + 1, every):
        folder = tmp_path / str(at)
        first = Counting(refuse=6, together=way["together"])
        died = loop(
            folder, evaluator=first, wrap=lambda store, at=at: DyingStore(store, at, "after"), delay=3600, **options
        )
        with pytest.raises(Crash):
            died.run()
        died.close()
        with RunReader(folder) as reader:
            stored = {node.id for node in reader.nodes()}
        second = Counting(refuse=6, together=way["together"])
        again = loop(folder, evaluator=second, delay=3600, **options)
        again.run()
        again.close()
        assert again.journal.sha256 == sha256, f"write {at}: {told(again.journal)} instead of {nodes}"
        assert not stored & set(second.judged), f"write {at}: judged once more"
        with RunReader(folder) as reader:
            assert [node.id for node in reader.nodes()] == [node.id for node in again.journal]
            assert len({event.seq for event in reader.events()}) == len(reader.events())


def test_what_waits_is_stored_soon_and_whatever_is_asked_finds_it(tmp_path):
    waiting = loop(tmp_path / "asked", delay=3600)
    waiting.orchestrator.run()
    assert [node.id for node in waiting.store.nodes()] == [node.id for node in waiting.journal]
    waiting.close()
    quick = loop(tmp_path / "soon", delay=0.01)
    quick.orchestrator.run()
    ends = time.monotonic() + 60
    while time.monotonic() < ends:
        with RunReader(tmp_path / "soon") as reader:
            if len(reader.nodes()) == len(quick.journal):
                break
        time.sleep(0.01)
    else:
        raise AssertionError("nobody stored what waited")
    quick.close()


GIVEN = [("zero", "x = 0.0"), ("far", "x = 9.0"), ("wrong", "x = 'no number'")]


@pytest.mark.parametrize("when", ["before", "after"])
def test_given_programs_are_told_once_and_by_their_names(tmp_path, when):
    """A page that is open while a run begins, dies and goes on: each baseline taken up once, scored once, named."""
    for at in range(1, 8):
        died = loop(tmp_path / str(at), wrap=lambda store, at=at: DyingStore(store, at, when))
        try:
            died.orchestrator.seed_with(GIVEN, "baseline")
        except Crash:
            pass
        died.close()
        again = loop(tmp_path / str(at))
        again.orchestrator.restore()
        again.orchestrator.seed_with(GIVEN, "baseline")
        with RunReader(tmp_path / str(at)) as reader:
            events = reader.events()
        again.close()
        assert len([event for event in events if isinstance(event, NodeProposed)]) == len(GIVEN)
        scored = {event.node_id: event for event in events if isinstance(event, BaselineScored)}
        assert [event.name for event in scored.values()] == [name for name, _ in GIVEN]
        committed = [event for event in events if isinstance(event, NodeCommitted)]
        assert [(node.node_id, node.metric) for node in committed] == [(id_, e.metric) for id_, e in scored.items()]


class DiesOpening(DyingStore):
    """Dies before its first round is stored."""

    WRITES = ("open_round",)


def test_a_note_is_told_once_after_a_crash_before_its_round(tmp_path):
    """The note was stored before the round: who went on had it from there, and from the user once more."""

    def said():
        notes = [["be brave"]]
        return Control(poll=lambda journal: notes.pop() if notes else [])

    died = loop(tmp_path, control=said(), wrap=lambda store: DiesOpening(store, 1, "before"))
    with pytest.raises(Crash):
        died.run()
    loop(tmp_path, control=said()).run()
    with RunReader(tmp_path) as reader:
        assert reader.fact("round/0/notes") == ["be brave"]


def test_a_step_by_hand_that_died_before_its_round_leaves_the_searchs_own_round_alone(tmp_path):
    """`by hand` was stored before the round: the search's first round had that name, and no resume finished it."""
    died = loop(tmp_path, wrap=lambda store: DiesOpening(store, 1, "before"))
    died.orchestrator.restore()
    with pytest.raises(Crash):
        died.orchestrator.open_round(died.orchestrator.ask(1), by_hand=True)
    died.close()

    class Killed(Counting):
        def evaluate(self, nodes):
            raise Crash

    with pytest.raises(Crash):
        loop(tmp_path, evaluator=Killed()).run()
    loop(tmp_path).run()
    with RunReader(tmp_path) as reader:
        assert not reader.open_stages()


class Telling(ThreePhasePolicy):
    """Says something of each node that it is told, as islands do of those that migrate."""

    def __init__(self):
        super().__init__(ThreePhaseOptions(num_drafts=3))
        self._said = []

    def tell(self, journal, node):
        super().tell(journal, node)
        self._said.append(Warned(text=f"told of {node.id}"))

    def drain_events(self):
        said, self._said = self._said, []
        return said


def test_what_a_policy_says_of_a_node_is_stored_with_it(tmp_path):
    """Killed between the two nobody ever heard that nodes had migrated: a resume passes over what was told already."""
    for at in range(2, 8):
        folder = tmp_path / str(at)
        with suppress(Crash):
            dying = open_loop(
                folder, steps=2, batch=1, policy=Telling(), wrap=lambda store, at=at: DyingStore(store, at, "before")
            )
            dying.run()
        again = open_loop(folder, steps=2, batch=1, policy=Telling())
        again.run()
        with RunReader(folder) as reader:
            said = [event.text for event in reader.events(types=["warning"])]
        assert said == [f"told of {node.id}" for node in again.journal], f"write {at}"
