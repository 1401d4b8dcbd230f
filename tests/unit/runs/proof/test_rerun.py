"""`replay --verify`: the first difference is named."""

from __future__ import annotations

import json
import os
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from core.state.journal import Journal
from core.state.node import Node
from core.storage.reader import RunReader
from core.storage.repository import RunStore
from runs.control import CONTROL
from runs.proof.replayed import compared
from runs.proof.rerun import verify
from runs.recorded.rules_version import FACT as RULES_VERSION
from runs.run_folder import all_runs
from runs.session import RunSession
from runs.stepper import Stepper
from runs.view import SilentView


def journal(*codes, **more):
    made = Journal()
    for number, code in enumerate(codes):
        made.append(Node(id=f"n{number}", code=code, metric_value=float(number), **more))
    return made


def test_equal_journals_are_equal_by_their_hash():
    stored = journal("x = 1", "x = 2")
    found = compared(stored, journal("x = 1", "x = 2", exec_time=3.0))
    assert found.equal and found.text.startswith(f"equal: 2 nodes, journal {stored.sha256}")


def test_the_first_field_that_differs_is_named():
    found = compared(journal("x = 1", "x = 2"), journal("x = 1", "x = 3"))
    assert not found.equal and found.text == "replay differs at step 2 in code: 'x = 2' became 'x = 3'"


def test_a_node_too_few_is_a_difference():
    assert compared(journal("x = 1", "x = 2"), journal("x = 1")).text == "replay differs: 2 nodes became 1"


@pytest.mark.parametrize(
    ("name", "before", "now"), [("metric_source", "verified", "claimed"), ("interval", (0.0, 1.0), None)]
)
def test_what_no_hash_of_the_journal_holds_is_compared(name, before, now):
    stored, again = journal("x = 1", **{name: before}), journal("x = 1", **{name: now})
    assert stored.sha256 == again.sha256
    assert compared(stored, again).text == f"replay differs at step 1 in {name}: {before!r} became {now!r}"


WRITER = """import hashlib, sys
print(f"```python\\nx = {int(hashlib.sha256(sys.stdin.read().encode()).hexdigest()[:4], 16) / 1000}\\n```")
"""


@pytest.fixture
def writer(tmp_path):
    """Words for a command that answers each prompt with a number of its own."""
    (tmp_path / "writer.py").write_text(WRITER)
    command = f"llm.code.command={sys.executable} {tmp_path / 'writer.py'}"
    return "llm.code.provider=command", command, "llm.code.model=m1"


@pytest.mark.parametrize("schedule", ["pipeline", pytest.param("rounds", marks=pytest.mark.long)])
def test_what_the_user_said_is_said_again(toy_config, tmp_path, writer, schedule):
    """Pins and bans lead the choices, notes stand in the prompts: without them the replay of a run that was led by its
    user differed at the first step that followed."""
    words = (*writer, f"search.schedule={schedule}", "search.batch=2", "search.lag=3")
    with RunSession(toy_config(4, *words)) as session:
        session.run()
        best = session.search.journal.leader.id
    lines: list[dict[str, str]] = [{"kind": "ban", "node_id": best}, {"kind": "note", "text": "try less"}]
    (session.run_dir / CONTROL).write_text("".join(json.dumps(line) + "\n" for line in lines))
    with RunSession(toy_config(12, *words), session.run_dir) as session:
        session.run()
        assert session.search.journal.marks == {best: "banned"}
    seen: list[Path] = []
    killed, own = tmp_path / "logs" / ".verify-killed", tmp_path / "logs" / ".verify-mine"
    for hidden, origin in ((killed, {"verifies": "a"}), (own, {"words": []})):
        store = RunStore(hidden)
        store.put_fact("origin", origin)
        store.close()
        (hidden / "started").touch()
        os.utime(hidden / "started", (1, 1))

    class Looking(SilentView):
        def start(self, facts, progress):
            seen.extend(all_runs(tmp_path))

    found = verify(session.run_dir, str(tmp_path), trusted=True, watched_by=lambda nodes: Looking())
    assert seen == [session.run_dir], "what verifies a run is none itself"
    assert own.is_dir() and not killed.exists(), "one that the user has hidden is his"
    assert found.equal, found.text
    assert "proposals, prompts, programs, scores and final scores came out again" in found.text


@pytest.mark.long
def test_a_resume_with_more_writers_at_once_comes_out_again(toy_config, tmp_path, writer):
    """They are told that they are several; who wrote alone was told nothing, and is told nothing again."""
    with RunSession(toy_config(4, *writer, "search.batch=1")) as session:
        session.run()
    with RunSession(toy_config(10, *writer, "search.batch=3"), session.run_dir) as session:
        session.run()
    found = verify(session.run_dir, str(tmp_path), trusted=True)
    assert found.equal, found.text


@pytest.mark.parametrize("since", ["reply", "code", "execute"])
def test_a_step_from_a_stage_comes_out_again(toy_config, tmp_path, since):
    """`rules` had no facts to write from, and a replay did not know what the step had taken over."""
    with RunSession(toy_config(8)) as session:
        session.run()
        again = next(node for node in session.search.journal if node.operator == "improve")
    with RunSession(toy_config(8), session.run_dir, by_hand=True) as session:
        *_, told = Stepper(session).step(again.id, None, since, None)
        made = session.search.journal[told.node_id]
    assert (made.operator, made.parent_ids) == (again.operator, again.parent_ids)
    assert since == "reply" or made.code == again.code
    found = verify(session.run_dir, str(tmp_path), trusted=True)
    assert found.equal, found.text


@pytest.fixture
def other_rules(monkeypatch):
    """`other_rules(told)`: from now on `rules` of the toy write other programs, which their sources say, or do not."""

    def change(told: bool = True) -> None:
        for toy in [module for module in list(sys.modules.values()) if hasattr(module, "ToyWriter")]:
            monkeypatch.setattr(toy.ToyWriter, "write", otherwise(toy.ToyWriter.write))
        if told:
            monkeypatch.setattr("runs.recorded.rules_version.sources_digest", lambda module: "sha256:other")

    return change


def otherwise(write):
    return lambda self, *given: write(self, *given).replace("x = ", "# other\nx = ")


def run_of(config, run_dir=None):
    with RunSession(config, run_dir) as session:
        session.run()
    return session.run_dir


def test_a_run_of_other_rules_comes_out_again_and_says_which_steps_they_wrote(toy_config, tmp_path, other_rules):
    """Each program that `rules` write otherwise since sounded like a forgery."""
    run_dir = run_of(toy_config(3))
    other_rules()
    run_of(toy_config(7), run_dir)
    with RunReader(run_dir) as reader:
        assert [entry["rules"] for entry in reader.fact(RULES_VERSION)][1:] == ["sha256:other"]
    found = verify(run_dir, str(tmp_path), trusted=True)
    assert found.equal, found.text
    assert "; steps 1…3 were written by another version of `rules`, which would write " in found.text
    assert "programs and scores are checked, the writer's choices are not" in found.text


def test_what_the_same_rules_write_otherwise_is_no_other_version(toy_config, tmp_path, other_rules):
    run_dir = run_of(toy_config(3))
    other_rules(told=False)
    found = verify(run_dir, str(tmp_path), trusted=True)
    assert not found.equal and "replay differs at step 1 in code" in found.text and "version" not in found.text


def test_a_forged_program_of_other_rules_is_one(toy_config, tmp_path, other_rules):
    """What a reply says has to be what was run."""
    run_dir = run_of(toy_config(3))
    other_rules()
    forge(run_dir, "code = (SELECT code FROM nodes WHERE id = :first)")
    found = verify(run_dir, str(tmp_path), trusted=True)
    assert not found.equal and "replay differs at step 2 in code: " in found.text
    assert "written by another version of `rules`" in found.text


def test_a_forged_score_of_other_rules_is_one(toy_config, tmp_path, other_rules):
    run_dir = run_of(toy_config(3))
    other_rules()
    forge(run_dir, "metric_value = 0.123")
    found = verify(run_dir, str(tmp_path), trusted=True)
    assert not found.equal and "replay differs at step 2 in metric: 0.123 became" in found.text


def test_a_run_of_before_says_that_it_does_not_know_who_wrote(toy_config, tmp_path, other_rules):
    run_dir = run_of(toy_config(3))
    other_rules()
    with closing(sqlite3.connect(run_dir / "run.db")) as store, store:
        store.execute("DELETE FROM facts WHERE key = ?", [RULES_VERSION])
    found = verify(run_dir, str(tmp_path), trusted=True)
    assert not found.equal and "replay differs at step 1 in code" in found.text
    assert "the run does not say which version of `rules` wrote" in found.text


def forge(run_dir: Path, change: str) -> None:
    """The second node is told otherwise than it was."""
    with RunReader(run_dir) as reader:
        first, second = list(reader.journal())[:2]
    with closing(sqlite3.connect(run_dir / "run.db")) as store, store:
        store.execute(f"UPDATE nodes SET {change} WHERE id = :second", {"first": first.id, "second": second.id})
