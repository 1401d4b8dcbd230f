"""The open page while its run is killed, taken up again and ended anew, and while its server is started again."""

from __future__ import annotations

import fcntl
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from support.dashboard import serving
from support.pages import expect
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
        page.locator(".pill.interrupted").wait_for()
        expect(page.get_by_text("runs, or waits for a worker")).to_have_count(0)
        page.goto(f"http://{address}/#/")
        page.locator("tr", has_text="killed").get_by_text("interrupted").wait_for()
    made.close()


def test_a_run_that_was_removed_elsewhere_is_no_longer_shown_as_one(page: Any, tmp_path: Path) -> None:
    """By `rm`, or from another page: what is shown can neither be resumed nor opened again."""
    made = competition(tmp_path / "logs", 5, run="gone")
    made.close()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/#/run/gone/overview")
        page.get_by_text("What happened").wait_for()
        shutil.rmtree(tmp_path / "logs" / "gone")
        page.get_by_text("no run 'gone' in this project").wait_for()
        page.locator(".pill.unreadable").wait_for()


def test_a_double_click_stops_a_run_once(page: Any, tmp_path: Path) -> None:
    """Asked a second time, a run stops at once, without finishing what is in flight."""
    made = competition(tmp_path / "logs", 30, run="kept")
    take_up(made, resumed=False)
    asked: list[str] = []
    with serving(tmp_path) as (address, _), held(made):
        page.route("**/stop", lambda route: (asked.append(route.request.url), route.fulfill(json={"accepted": True})))
        page.goto(f"http://{address}/#/run/kept/overview")
        page.get_by_role("button", name="Stop", exact=True).dblclick()
        page.get_by_role("button", name="Stopping… stop now").wait_for()
        page.wait_for_timeout(300)
        assert len(asked) == 1
        with page.expect_request("**/stop"):
            page.get_by_role("button", name="Stopping… stop now").click(delay=20)
        page.wait_for_timeout(300)
        assert len(asked) == 2
    made.close()


def test_the_stretch_of_a_chart_that_was_chosen_outlives_a_step(page: Any, tmp_path: Path) -> None:
    made = competition(tmp_path / "logs", 30, run="long")
    take_up(made, resumed=False)
    with serving(tmp_path) as (address, _), held(made):
        page.goto(f"http://{address}/#/run/long/overview")
        chart = page.locator(".u-over").bounding_box()

        def step_at(place: float) -> int:
            page.mouse.move(chart["x"] + 30, chart["y"] + 40)
            page.mouse.move(chart["x"] + chart["width"] * place, chart["y"] + 40)
            return int(page.locator(".u-note").inner_text().split(",")[0].split("\n")[0].removeprefix("step "))

        page.mouse.move(chart["x"] + chart["width"] * 0.5, chart["y"] + 40)
        page.mouse.down()
        page.mouse.move(chart["x"] + chart["width"] * 0.7, chart["y"] + 40, steps=5)
        page.mouse.up()
        page.wait_for_timeout(200)
        chosen = step_at(0.02), step_at(0.98)
        assert 10 < chosen[0] < chosen[1] < 25
        better(made)
        page.locator(f"html[data-seq='{made.store.seq}']").wait_for()
        page.wait_for_timeout(200)
        assert (step_at(0.02), step_at(0.98)) == chosen
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
        expect(page.get_by_test_id("verdict")).to_have_text(told["conclusion"]["text"])
    made.close()


def test_a_page_whose_token_is_old_says_so(page: Any, tmp_path: Path) -> None:
    competition(tmp_path / "logs", 5, run="kept").close()
    with serving(tmp_path, token="first") as (address, _):
        page.goto(f"http://{address}/?token=first#/run/kept/overview")
        page.get_by_text("What happened").wait_for()
        page.context.clear_cookies()  # as after `serve` was started anew, with a token of its own
        page.evaluate("window.swarm.socket.close()")
        page.get_by_text("a token is needed").wait_for()
