"""A run that ended, was given more and is replayed: what it added at its end stands where it stood."""

from __future__ import annotations

import pytest
from support.loop import open_loop, told
from support.plugins.toy import ToyEvaluator

from core.storage.reader import RunReader
from runs.proof.rerun import first_of_rounds


class BlendingEvaluator(ToyEvaluator):
    def ensemble(self, nodes):
        return f"members = {len(nodes)}, {nodes[-1].step}\nx = 2.5\n", list(nodes), "a blend"


@pytest.mark.parametrize("schedule", ["pipeline", "rounds"])
def test_a_replay_adds_the_blend_before_the_run_goes_on(tmp_path, schedule):
    words = {"batch": 4, "schedule": schedule, "evaluator": BlendingEvaluator()}
    stored = []
    for steps in (6, 15):
        loop = open_loop(tmp_path / "run", steps=steps, **words)
        loop.orchestrator.restore()
        loop.orchestrator.run()
        loop.orchestrator.add_ensemble()
        stored = told(loop.journal)
        loop.close()
    with RunReader(tmp_path / "run") as reader:
        asked = first_of_rounds(reader.tasks().values())
    again = open_loop(tmp_path / "again", steps=15, asked=asked, **words)
    again.orchestrator.run(lambda: again.orchestrator.add_ensemble())
    again.orchestrator.add_ensemble()
    found = told(again.journal)
    again.close()
    assert [row[1] for row in stored].count("ensemble") == 2 and stored[6][1] == "ensemble"
    assert found == stored


def test_a_blend_that_runs_is_told_as_what_goes_on(tmp_path):
    """What was told before it, that the choice takes 30 s at most, is not so while it runs."""
    loop = open_loop(tmp_path / "run", steps=6, batch=2, evaluator=BlendingEvaluator())
    loop.orchestrator.restore()
    loop.orchestrator.run()
    doing: list[str] = []
    loop.orchestrator.add_ensemble(doing.append)
    (line,) = doing
    assert line.startswith("the search is over; a blend of ") and line.endswith(
        " of the best runs, and the winner is chosen"
    )
    loop.orchestrator.add_ensemble(doing.append)  # it is there already
    assert doing == [line]
    loop.close()


def test_a_replay_that_cannot_go_on_as_recorded_ends(tmp_path):
    loop = open_loop(tmp_path / "run", steps=6)
    loop.run()
    with RunReader(tmp_path / "run") as reader:
        asked = first_of_rounds(reader.tasks().values())
    last = max(asked)
    never = {**asked, last: asked[last].model_copy(update={"seen": 99})}
    again = open_loop(tmp_path / "again", steps=6, schedule="pipeline", asked=never)
    again.run()
    assert len(again.journal) < 6
