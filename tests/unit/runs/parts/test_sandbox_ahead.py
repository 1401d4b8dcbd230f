"""The sandbox opens while the data are made ready; what then refuses the run leaves nothing of it behind."""

from __future__ import annotations

import threading
from contextlib import closing

import pytest

import runs.beginning.making_ready
import runs.parts.workers
from core.executor.early import EarlyServer
from core.executor.server import ForkServer
from runs.beginning.making_ready import made_ready
from runs.parts.workers import SandboxAhead, workspaces_dir
from runs.session import RunSession
from utils.errors import ConfigError, NoSandboxError


@pytest.fixture(autouse=True)
def opens(monkeypatch):
    """The toy's runs here open what others do."""
    monkeypatch.setattr("support.unopened.runs_nothing", lambda config, problem: False)


@pytest.fixture
def prepares(monkeypatch):
    """`prepares(function)`: what the problem does when its data are made ready."""

    def replace(function):
        def problem_of(config):
            problem = original(config)
            monkeypatch.setattr(problem, "prepare", function, raising=False)
            return problem

        monkeypatch.setattr(runs.beginning.making_ready, "problem_of", problem_of)

    original = runs.beginning.making_ready.problem_of
    return replace


def test_it_opens_before_the_data_are_ready(toy_config, monkeypatch, prepares):
    opening = threading.Event()
    original = runs.parts.workers.open_sandbox

    def opened(*args, **named):
        opening.set()
        return original(*args, **named)

    monkeypatch.setattr(runs.parts.workers, "open_sandbox", opened)
    waited = []
    prepares(lambda: waited.append(opening.wait(60)))
    with RunSession(toy_config(2)) as session:
        assert session.run() == 0
    assert waited == [True]


def test_a_run_that_is_refused_while_data_are_made_ready_leaves_nothing(toy_config, prepares):
    def refuse():
        raise ConfigError("data.dir=x: no such folder")

    prepares(refuse)
    config = toy_config(2)
    with pytest.raises(ConfigError, match="no such folder"), RunSession(config):
        pass
    assert not workspaces_dir(config).exists()


def test_a_sandbox_that_does_not_hold_is_told_to_who_takes_it(toy_config):
    config = toy_config(2, "execution.python=/no/such/python")
    problem = made_ready(toy_config(2), accept_unsandboxed=True)
    ahead = SandboxAhead(config, problem, False)
    with pytest.raises(NoSandboxError, match="/no/such/python"):
        ahead.take([])
    ahead.close()


def test_the_second_run_of_a_project_takes_the_server_that_was_begun_for_it(toy_config, monkeypatch):
    started: list[tuple[str, ...]] = []
    original = ForkServer._start

    def start(self):
        started.append(self.config.preload)
        original(self)

    monkeypatch.setattr(ForkServer, "_start", start)
    config = toy_config(2)
    for run in range(2):
        with closing(EarlyServer(workspaces_dir(config))) as early:
            begun, started[:] = list(started), []
            with RunSession(config, early=early) as session:
                assert session.run() == 0
        assert run == 0 or (len(begun) >= 1 and started == [])
