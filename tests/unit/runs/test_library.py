"""A whole run from Python: the same search as the command line's, in the caller's own process."""

from __future__ import annotations

import pytest
from support.command_line import toy_words

from core import Orchestrator
from core.storage.reader import RunReader
from runs.view import SilentView
from utils.config import load_config
from utils.errors import ConfigError


@pytest.fixture
def config(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return load_config(None, [*toy_words(99), "logging.report=false", f"project.dir={tmp_path}"])


def test_the_best_node_of_so_many_steps(config, cli):
    search = Orchestrator.of(config)
    best = search.run(max_steps=8)
    assert best.metric_value == min(node.metric_value for node in search.journal if node.is_scored)
    assert search.journal.steps == 8 and search.outcome.reason.startswith("max_steps: 8")
    assert search.outcome.final["node_id"] == best.id
    ended = cli.here(*toy_words(8), "project.name=typed")
    assert ended.code == 0, ended.err
    typed = next(run for run in cli.runs if run.name.startswith("typed"))
    assert cli.show(typed.name)["journal_sha256"] == search.journal.sha256


def test_the_same_run_goes_on(config, cli):
    search = Orchestrator.of(config)
    first = search.run(max_steps=3)
    where = search.run_dir
    second = search.run(max_steps=7)
    assert search.run_dir == where == cli.run_dir
    assert search.journal.steps == 7 and second.metric_value <= first.metric_value
    with RunReader(where) as reader:
        assert reader.fact("status") == "finished"


def test_it_goes_on_with_the_search_that_was_fitted_to_its_first_steps(tmp_path, monkeypatch):
    """Where a model writes, batch, lag, islands and control draws follow from the steps, once."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("runs.beginning.fitting.uses_models", lambda config: True)
    words = ["search.policy=islands", "logging.report=false", f"project.dir={tmp_path}"]
    search = Orchestrator.of(load_config(None, [*toy_words(99), *words]))

    def stored():
        with RunReader(search.run_dir) as reader:
            return reader.fact("config")["search"]

    search.run(max_steps=6)
    fitted = stored()
    assert fitted["batch"] == 1 and fitted["islands"]["num_islands"] == 1, "else this test shows nothing"
    search.run(max_steps=8)
    assert stored() == {**fitted, "max_steps": 8}


def test_whoever_watches_is_told(config):
    class Counting(SilentView):
        events, ended, closed = 0, None, 0

        def emit(self, event):
            self.events += event.type == "node.committed"

        def conclude(self, outcome):
            self.ended = outcome

        def close(self):
            self.closed += 1

    view = Counting()
    search = Orchestrator.of(config, view=view)
    search.run(max_steps=4)
    assert view.events == 4 and view.ended is search.outcome and view.closed == 1


def test_what_is_wrong_is_said_before_anything_is_made(config, tmp_path):
    config.initial = ["nowhere.py"]
    search = Orchestrator.of(config)
    with pytest.raises(ConfigError, match=r"initial=nowhere\.py: no such file"):
        search.run(max_steps=2)
    assert search.run_dir is None and not (tmp_path / "logs").exists()
