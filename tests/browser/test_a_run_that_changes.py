"""The open page while its run is killed, taken up again and ended anew, and while its server is started again."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.dashboard import serving
from support.synthetic_runs import SyntheticRun, competition

from core.events import RunStarted

pytestmark = pytest.mark.long


@contextmanager
def held(made: SyntheticRun) -> Iterator[None]:
    """As a process holds the run that it works on; the kernel lets go when it is killed."""
    with (made.store.run_dir / "run.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def take_up(made: SyntheticRun, *, resumed: bool) -> None:
    made.store.put_fact("status", "running")
    made.store.append(
        [RunStarted(run=made.run, problem=made.problem, lower_is_better=made.lower, unit="rmse", resumed=resumed)]
    )


def better(made: SyntheticRun) -> str:
    """Steps until one is better than all before; its id."""
    before = made.best
    while made.best is before:
        made.step()
    assert made.best is not None
    return made.best.id


def test_a_killed_run_is_said_to_be_interrupted_and_runs_nothing(page: Any, tmp_path: Path) -> None:
    made = competition(tmp_path / "logs", 5, run="killed")
    take_up(made, resumed=False)
    with serving(tmp_path) as (address, _):
        with held(made):
            page.goto(f"http://{address}/#/run/killed/overview")
            made.propose()
            page.get_by_role("button", name="Stop", exact=True).wait_for()
            page.get_by_label("Running now").get_by_text("runs, or waits for a worker").wait_for()
        page.locator(".pill.interrupted").wait_for(timeout=4000)
        assert page.get_by_text("runs, or waits for a worker").count() == 0
        page.goto(f"http://{address}/#/")
        page.locator("tr", has_text="killed").get_by_text("interrupted").wait_for()
    made.close()


def test_the_verdict_of_a_run_that_was_resumed_is_that_of_its_second_end(page: Any, tmp_path: Path) -> None:
    made = competition(tmp_path / "logs", 8, run="twice")
    made.end()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/#/run/twice/overview")
        page.get_by_test_id("verdict").wait_for()
        with held(made):
            take_up(made, resumed=True)
            page.locator(".pill.running").wait_for()
            winner = better(made)
            made.end()
        page.get_by_test_id("stats").locator(f"a[href*='{winner}']").wait_for()
        told = page.evaluate("fetch('/api/runs/twice').then((answer) => answer.json())")
        assert told["winner"]["node_id"] == winner
        assert page.get_by_test_id("verdict").inner_text() == told["conclusion"]["text"]
    made.close()


def test_a_page_whose_token_is_old_says_so(page: Any, tmp_path: Path) -> None:
    competition(tmp_path / "logs", 5, run="kept").close()
    with serving(tmp_path, token="first") as (address, _):
        page.goto(f"http://{address}/?token=first#/run/kept/overview")
        page.get_by_text("What happened").wait_for()
        page.context.clear_cookies()  # as after `serve` was started anew, with a token of its own
        page.evaluate("window.swarm.socket.close()")
        page.get_by_text("a token is needed").wait_for()
