"""What a run comes to: the winner, its final score, files beside the store."""

from __future__ import annotations

import errno
import json
import os
from contextlib import nullcontext

import pytest
from support.problems import small_config

from core.storage.reader import RunReader
from runs.ending.outcome import conclude
from runs.recorded.files import recorded
from runs.session import NOTHING_VALID, RunSession
from runs.stored.reading import run_facts
from runs.stored.run_list import run_rows
from utils.errors import FilesLackError, SwarmEvoError


def test_the_winner_lies_beside_the_store_with_its_facts(toy_config):
    with RunSession(toy_config(8)) as session:
        session.run()
        outcome = session.outcome
    folder = session.run_dir / "best_solution"
    assert set(outcome.written) == {folder / "solution.py", folder / "node.json"}
    assert (folder / "solution.py").read_text() == outcome.best.code
    assert json.loads((folder / "node.json").read_text())["metric"] == outcome.best_metric
    with RunReader(session.run_dir) as reader:
        final = reader.fact("final")
        assert final["node_id"] == outcome.best_id and final["metric"] == outcome.final["metric"]
        assert [row["final"] for row in reader.fact("baselines")] == [pytest.approx(2.001)]


def test_a_solution_that_cannot_be_written_is_told_and_a_resume_writes_it(toy_config, monkeypatch):
    """On a disk that was full at the end the run's exit code was 0, as if all were there."""

    def cut_off(problem, node, out, run_dir):
        (out / "solution.py").write_text("")
        raise OSError("disk")

    with monkeypatch.context() as patched, pytest.raises(FilesLackError, match="not written: best_solution") as told:
        patched.setattr("runs.ending.outcome.write_solution", cut_off)
        with RunSession(toy_config(3)) as session:
            session.run()
    assert told.value.exit_code == 1 and f"resume {session.facts.run}" in str(told.value)
    log = (session.run_dir / "system.log").read_text()
    assert "WARNING best_solution: disk" in log and "after the end" not in log
    with RunReader(session.run_dir) as reader:
        assert recorded(reader) == ({}, False), "nobody vouches for what is left"
        assert reader.fact("status") == "finished"
    with RunSession(toy_config(3), session.run_dir) as again:
        assert again.run() == 0
    assert (session.run_dir / "best_solution" / "solution.py").read_text() == session.outcome.best.code


@pytest.mark.parametrize("number, refused", [(errno.ENOSPC, True), (errno.ENOENT, False)])
def test_a_report_that_the_disk_refused_is_told_and_any_other_is_a_warning(toy_config, monkeypatch, number, refused):
    def undrawn(run_dir):
        raise SwarmEvoError(f"plots and report of run: OSError: {os.strerror(number)}")

    monkeypatch.setattr("reports.child.write_all", undrawn)
    with pytest.raises(FilesLackError, match="not written: plots and report") if refused else nullcontext():
        with RunSession(toy_config(3, "logging.report=true")) as session:
            assert session.run() == 0
    assert "WARNING plots and report: plots" in (session.run_dir / "system.log").read_text()


def test_a_run_without_a_valid_program_ends_in_good_order(toy_config):
    with RunSession(toy_config(2, "problem.options.refuse=-1000")) as session:
        assert session.run() == NOTHING_VALID
    assert session.outcome.best is None and session.outcome.failures["signature"] >= 1
    with RunReader(session.run_dir) as reader:
        assert reader.fact("final") == {"node_id": None} and reader.fact("status") == "finished"


def test_a_run_ends_though_its_best_program_was_stopped_while_it_was_scored_again(tmp_path, monkeypatch):
    """Its first score stood, so it led; the job of its last look was refused, and no process could end the run."""
    config = small_config("command", tmp_path, "search.max_steps=1", "logging.report=false", "search.workers=1")

    def with_the_best_stopped(search, *words):
        search.deps.jobs.refuse([search.journal.leader.id])
        return conclude(search, *words)

    monkeypatch.setattr("runs.session.conclude", with_the_best_stopped)
    with RunSession(config) as session:
        assert session.run() == 0
    with RunReader(session.run_dir) as reader:
        assert reader.fact("status") == "finished"


def test_where_no_step_was_taken_the_best_baseline_is_the_winner(toy_config):
    """Before, the same store said `no valid program` without a step and `the baseline wins` after one more."""
    with RunSession(toy_config(3, "budget.seconds=0.000001")) as session:
        assert session.run() == 0
    conclusion = session.outcome.conclusion
    assert session.outcome.best.name == "zero" and conclusion.winner.role == "baseline"
    assert "No step was taken: the run ended before the first one (budget.seconds" in conclusion.verdict.text
    assert (session.run_dir / "best_solution" / "solution.py").read_text() == "x = 0\n"


def test_a_run_that_broke_off_says_so_and_why(toy_config, tmp_path, monkeypatch):
    def fail(_):
        raise ZeroDivisionError("the table is gone")

    with pytest.raises(ZeroDivisionError), RunSession(toy_config(2)) as session:
        monkeypatch.setattr(session.search.evaluator, "evaluate", fail)
        session.run()
    with RunReader(session.run_dir) as reader:
        shown = run_facts(reader)
    assert (shown["status"], shown["verdict"]["kind"]) == ("failed", "failed")
    assert "The run failed after 0 steps: ZeroDivisionError: the table is gone." in shown["verdict"]["text"]
    (row,) = run_rows(tmp_path)
    assert (row["status"], row["verdict"]) == ("failed", "failed")
