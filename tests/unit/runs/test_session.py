"""One process's work on one run: what it leaves behind, however it ends."""

from __future__ import annotations

import errno
import os
import threading
import time
from contextlib import closing

import pytest
from support.plugins.toy import ToyProblem
from support.stops import stopped_before_its_block

from core.events import NodeCommitted, NodeProposed, Warned
from core.loop.orchestrator import Orchestrator
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from reports.conclusion import why_ended
from runs.beginning.selftest import SelfTest
from runs.beside.sinks import TimeSink
from runs.ending.outcome import Outcome
from runs.proof.verification import verify_run
from runs.session import RunSession
from runs.view import SilentView
from utils.errors import ConfigError, FilesLackError, Interrupted, NoSandboxError, RunBusyError, StoreError


def facts(session):
    with RunReader(session.run_dir) as reader:
        return reader.facts()


class Watching(SilentView):
    """Keeps what it was told; does something at the first node."""

    def __init__(self, at_first_node=lambda: None):
        self.told = []
        self.nodes = 0
        self._at_first_node = at_first_node

    def start(self, facts, progress):
        self.told.append("start")

    def emit(self, event):
        if isinstance(event, NodeCommitted):
            self.nodes += 1
            if self.nodes == 1:
                self._at_first_node()

    def conclude(self, outcome):
        self.told.append("conclude")

    def interrupted(self):
        self.told.append("interrupted")

    def close(self):
        self.told.append("close")


def test_the_clock_of_a_search_begins_with_it(toy_config, monkeypatch):
    """What is made ready before takes nothing of a short budget."""
    taken = []

    def slow(self):
        if not taken:
            time.sleep(1.5)
        taken.append(1)
        return ready(self)

    ready = SelfTest.wait
    monkeypatch.setattr(SelfTest, "wait", slow)
    began = time.monotonic()
    with RunSession(toy_config(3)) as session:
        assert session.run() == 0
    assert taken and 0 < session.active_seconds() < time.monotonic() - began - 1.5


def test_a_run_is_told_from_its_start_to_its_end(toy_config):
    view = Watching()
    with RunSession(toy_config(5), view=view) as session:
        assert session.run() == 0
    assert view.told == ["start", "conclude", "close"] and view.nodes == 5
    assert session.outcome.best_id == session.outcome.final["node_id"]
    assert facts(session)["status"] == "finished"


def test_the_end_says_what_it_is_at(toy_config):
    told = []
    view = Watching()
    view.doing = told.append
    with RunSession(toy_config(3), view=view) as session:
        session.run()
    order = ["the winner is chosen", "the final part is opened", "the verdict is reached", "the winner is written"]
    places = [next(i for i, text in enumerate(told) if begin in text) for begin in order]
    assert places == sorted(places)


def test_a_blend_takes_nothing_of_what_the_choice_of_the_winner_may_take(toy_config, monkeypatch):
    """It ran before the second looks and the final scores: after a minute of it all but the winner's were left out."""
    seconds, left = [0.0], []

    def blend(self, doing):
        seconds[0] += 60

    monkeypatch.setattr(Orchestrator, "add_ensemble", blend)
    view = Watching()
    with RunSession(toy_config(3, "search.ensemble=true"), view=view) as session:
        allowance = session.search.deps.allowance
        allowance._clock = lambda: seconds[0]
        view.doing = lambda text: left.append(allowance.left) if "the final part is opened" in text else None
        assert session.run() == 0
    assert seconds == [60] and left == [30]


def test_an_interrupted_run_can_be_taken_up(toy_config):
    def stop():
        session.interrupts.finish.set()

    view = Watching(at_first_node=stop)
    with RunSession(toy_config(30, "search.batch=1"), view=view) as session:
        assert session.run() == 130
    assert view.told == ["start", "interrupted", "close"] and session.outcome is None
    assert facts(session)["status"] == "interrupted"
    with RunSession(toy_config(30), session.run_dir) as again:
        assert again.search.journal.steps == view.nodes and again.facts.resumed
        assert again.run() == 0
    assert again.search.journal.steps == 30


def test_what_an_earlier_process_began_is_told_to_who_watches(toy_config):
    with RunSession(toy_config(2)) as session:
        session.run()
    with RunSession(toy_config(4), session.run_dir) as again:
        orchestrator = again.search.orchestrator
        (task,) = orchestrator.open_round(orchestrator.ask(1))
    told = []
    view = Watching()
    view.emit = told.append
    with RunSession(toy_config(4), session.run_dir, view=view) as third:
        third.run()
    proposed = [event.node_id for event in told if isinstance(event, NodeProposed)]
    assert proposed[0] == task.node_id and proposed.count(task.node_id) == 1
    assert proposed == [event.node_id for event in told if isinstance(event, NodeCommitted)]


def test_seconds_of_all_processes_are_added_up(toy_config):
    with RunSession(toy_config(2)) as session:
        session.run()
    before = facts(session)["active_seconds"]
    with RunSession(toy_config(4), session.run_dir) as again:
        assert again.active_seconds() >= before
        again.run()
    assert facts(session)["active_seconds"] > before


def test_the_seconds_so_far_are_stored_while_it_runs(toy_config, monkeypatch):
    stored = []
    monkeypatch.setattr(TimeSink, "EVERY_SECONDS", 0.0)
    view = Watching(lambda: stored.append(facts(session).get("active_seconds")))
    with RunSession(toy_config(2), view=view) as session:
        session.run()
    assert 0 < stored[0] <= facts(session)["active_seconds"], "a kill at the first node would have taken them"


def test_the_seconds_so_far_are_stored_while_nothing_happens(toy_config, monkeypatch):
    """A kill took all of them where a program runs for hours: a run that is killed now and then had no end."""
    monkeypatch.setattr(TimeSink, "EVERY_SECONDS", 1e9)
    monkeypatch.setattr(TimeSink, "QUIET_SECONDS", 0.05)
    config = toy_config(1, "problem.options.seconds=1.5")
    stored = []

    def look(session):
        begun = time.monotonic()
        while not (stored or time.monotonic() - begun > 60):
            stored.extend([facts(session)["active_seconds"]] if "active_seconds" in facts(session) else [])
            time.sleep(0.05)

    with RunSession(config) as session:
        watching = threading.Thread(target=look, args=(session,))
        watching.start()
        session.run()
        told = session.store.journal_head
    watching.join()
    assert 0 < stored[0] < facts(session)["active_seconds"]
    with RunReader(session.run_dir) as reader:
        assert reader.journal_head() == told, "nothing is stored behind the end"


def test_who_stops_the_writing_of_files_has_a_finished_run(toy_config, monkeypatch):
    def stop(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(Outcome, "write_files", stop)
    with pytest.raises(KeyboardInterrupt), RunSession(toy_config(3)) as session:
        session.run()
    assert facts(session)["status"] == "finished" and facts(session)["final"]["node_id"]


def test_a_fault_of_ours_leaves_a_run_that_can_be_taken_up(toy_config):
    def fail():
        raise RuntimeError("a view of ours is broken")

    with pytest.raises(RuntimeError), RunSession(toy_config(9), view=Watching(fail)) as session:
        session.run()
    assert facts(session)["status"] == "failed"
    assert "ERROR   RuntimeError: a view of ours is broken" in (session.run_dir / "system.log").read_text()
    with RunSession(toy_config(9), session.run_dir) as again:
        assert again.run() == 0


def test_what_is_open_is_closed_though_the_failure_cannot_be_told(toy_config, monkeypatch):
    def broken(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("runs.opened_run.record_failure", broken)
    view = Watching()
    with pytest.raises(OSError, match="No space"), RunSession(toy_config(3), view=view):
        raise RuntimeError("a fault of ours")
    assert view.told == ["close"]


def test_a_reader_who_leaves_at_the_end_changes_nothing(toy_config):
    view = Watching(lambda: None)
    view.conclude = lambda outcome: os.write(*closed_pipe())
    with pytest.raises(BrokenPipeError), RunSession(toy_config(3), view=view) as session:
        session.run()
    assert facts(session)["status"] == "finished"
    assert verify_run(session.run_dir).verdict == "consistent"


def closed_pipe() -> tuple[int, bytes]:
    reading, writing = os.pipe()
    os.close(reading)
    return writing, b"verdict"


def test_what_cannot_be_put_together_leaves_nothing(toy_config, tmp_path, monkeypatch):
    """Parts that were opened are closed again, the folder and the links to it are gone."""
    before = set(threading.enumerate())

    def evaluator(self, deps):
        raise ConfigError("problem.options.x=1: not allowed")

    config = toy_config(5)
    monkeypatch.setattr("runs.beginning.making_ready.problem_of", lambda _: broken)
    broken = type("Broken", (ToyProblem,), {"evaluator": evaluator, "language": "python", "note": ""})({})
    from core.contracts import ProblemDefaults, with_defaults

    broken = with_defaults(broken, ProblemDefaults)
    with pytest.raises(ConfigError, match="not allowed"):
        RunSession(config).__enter__()
    assert list((tmp_path / "logs").iterdir()) == []
    assert {thread for thread in threading.enumerate() if not thread.daemon} <= before


@pytest.mark.parametrize(("part", "status"), [("RunStore", None), ("MetricsSink", "failed")])
def test_what_breaks_while_a_run_is_opened_leaves_nothing_or_says_why(toy_config, tmp_path, monkeypatch, part, status):
    """On a full disk: a folder that was no run and yet `latest`; one that had begun said of itself that it was running,
    and everybody took it for one that somebody had stopped."""

    def full(*_, **__):
        raise StoreError("database or disk is full")

    monkeypatch.setattr(f"runs.opened_run.{part}", full)
    with pytest.raises(StoreError, match="full"):
        RunSession(toy_config(5)).__enter__()
    found = [path for path in (tmp_path / "logs").iterdir() if path.is_dir()]
    assert len(found) == (status is not None)
    for run in found:
        with RunReader(run) as reader:
            assert (reader.fact("status"), why_ended(reader)) == (status, "database or disk is full")


def test_a_warning_behind_the_end_is_told_where_the_store_cannot_take_it(toy_config, tmp_path, monkeypatch):
    """On a disk that filled up while the winner was written, and in a folder that was removed, nobody heard of it."""
    told = []

    class Listening(SilentView):
        def emit(self, event):
            told.append(event)

    def refused(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    def full(self, events):
        if any(isinstance(event, Warned) for event in events):
            raise StoreError("database or disk is full")
        return append(self, events)

    append = RunStore.append
    monkeypatch.setattr(Outcome, "_export", refused)
    monkeypatch.setattr(RunStore, "append", full)
    with pytest.raises(FilesLackError), RunSession(toy_config(3), view=Listening()) as session:
        session.run()
    (warning,) = [event.text for event in told if isinstance(event, Warned)]
    assert "best_solution" in warning and "No space left" in warning
    assert warning in (session.run_dir / "system.log").read_text()


def test_no_sandbox_needs_the_users_word(toy_config, tmp_path):
    with pytest.raises(NoSandboxError, match="--i-accept-unsandboxed"):
        RunSession(toy_config(5, "execution.sandbox=none")).__enter__()
    assert not (tmp_path / "logs").exists()


def test_a_run_that_another_holds_is_refused(toy_config):
    with RunSession(toy_config(2)) as session:
        with pytest.raises(RunBusyError, match="pid"):
            RunSession(toy_config(2), session.run_dir).__enter__()
        assert session.run() == 0, "who holds it goes on"
    late = RunSession(toy_config(4), session.run_dir)
    with closing(RunStore(session.run_dir)) as other:  # it took the run up and ended while this one was made ready
        other.put_fact("config", {**other.get_fact("config"), "plugins": ["x"]})
    with pytest.raises(RunBusyError, match="with other keys; call it again"):
        late.__enter__()
    assert facts(session)["config"]["plugins"] == ["x"] and facts(session)["status"] == "finished"


def test_a_second_ctrl_c_inside_of_the_store_ends_the_run(toy_config):
    """Its status was not stored, and its end could wait for ever: the store's lock was held by who was stopped."""
    with pytest.raises(KeyboardInterrupt), RunSession(toy_config(200)) as session:
        with stopped_before_its_block("_store", 9):
            session.run()
    assert facts(session)["status"] == "interrupted"


def test_a_second_ctrl_c_while_programs_are_scored_that_were_given(toy_config):
    programs = [(f"own{number}", f"x = {number}\n") for number in range(3)]
    with pytest.raises(KeyboardInterrupt), RunSession(toy_config(200), programs=programs) as session:
        with stopped_before_its_block("_store", 3):
            session.run()
    assert facts(session)["status"] == "interrupted"


def test_what_a_baseline_shows_to_be_wrong_is_told_though_it_interrupted_the_seeds(toy_config, tmp_path, monkeypatch):
    """It was told as a stop by the user, exit 130, and the reason was lost."""
    (tmp_path / "mine.py").write_text("x = 3\n")
    config = toy_config(3, f"initial={tmp_path / 'mine.py'}")
    with pytest.raises(ConfigError, match="my metric raises"), RunSession(config) as session:
        finish = session.interrupts.finish

        def evaluate(nodes):
            if nodes[0].operator == "baseline":
                raise ConfigError("my metric raises")
            raise Interrupted("interrupted") if finish.is_set() else AssertionError("scored first")  # as a JobPool

        monkeypatch.setattr(session.search.evaluator, "evaluate", evaluate)
        monkeypatch.setattr("runs.session.uses_models", lambda config: True)
        session.run()
    assert not session.run_dir.exists(), "nothing was scored: it leaves nothing behind"
