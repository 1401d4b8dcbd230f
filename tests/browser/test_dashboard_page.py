"""The dashboard as a person uses it: a real server, a real browser, stores of the real kind."""

from __future__ import annotations

import fcntl
import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

import pytest
from support.dashboard import AXE, serving
from support.pages import PATIENCE, expect, until
from support.synthetic_runs import SyntheticRun, arena, arena_generation, bin_packing, competition, write_all

from core.events import BaselineScored, NodeCommitted, RunStarted, Warned
from reports.sweeps.plan import Plan, sweep_folder

COMPETITION, PACKING, CHESS, FOUR = "competition-demo", "bin_packing-demo", "chess-demo", "connect_four-demo"


@pytest.fixture(scope="module")
def stored(tmp_path_factory) -> Iterator[str]:
    """The address of a server with one finished run of each family."""
    project = tmp_path_factory.mktemp("stored")
    write_all(project / "logs")
    with serving(project) as (address, _):
        yield f"http://{address}/"


@contextmanager
def live(made: SyntheticRun, pace: float, job: Any) -> Iterator[threading.Thread]:
    """Hold the run as a search does and let `job` write it at a pace, in the background."""
    stop = threading.Event()

    def work() -> None:
        for _ in job:
            if stop.wait(pace):
                return

    with (made.store.run_dir / "run.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        thread = threading.Thread(target=work)
        thread.start()
        try:
            yield thread
        finally:
            stop.set()
            thread.join()
            made.close()


def steps(made: SyntheticRun, count: int) -> Iterator[None]:
    for _ in range(count):
        made.step()
        yield


def data(page: Any, name: str) -> str:
    return page.evaluate(f"document.documentElement.dataset.{name} ?? ''")


def wait_seq(page: Any, seq: int) -> None:
    until(page, f"Number(document.documentElement.dataset.seq) >= {seq}")


CLICKS = 5
"""Tries to hit a node of a graph that may move."""
DRAWN = "Number(document.documentElement.dataset.seq) === window.swarm?.state.seq"
"""The views show what the page has been told: they are told of it a moment later."""


def stands_still(page: Any) -> int:
    """The event that the page has come to once no more came for a second."""
    shown, before = page.evaluate("window.swarm.state.seq"), -1
    while shown != before:
        page.wait_for_timeout(1000)
        shown, before = page.evaluate("window.swarm.state.seq"), shown
    return int(shown)


# ---------------------------------------------------------------- a run, from its start to a node's difference


def click_newest(page: Any) -> str:
    """Click the newest scored node that has a parent, where the graph drew it; its id.

    What comes at a run's end (its verdict, another button) moves the graph, perhaps between the look and the click.
    """
    from playwright.sync_api import TimeoutError

    for _ in range(CLICKS):
        place = page.evaluate(
            """() => { const canvas = document.querySelector('canvas'), nodes = window.swarm.state.nodes;
                 const wanted = nodes.filter(n => n.parent_ids?.length && n.metric != null).at(-1) ?? nodes.at(-1);
                 canvas.dag.fit(); const [x, y] = canvas.placeOf(wanted.node_id);
                 return { x, y, id: wanted.node_id }; }"""
        )
        page.locator("canvas").click(position={"x": place["x"], "y": place["y"]})
        selected = page.get_by_test_id("selection").get_by_role("link", name=place["id"])
        with suppress(TimeoutError):
            selected.wait_for(timeout=1000 * PATIENCE / CLICKS)
            return str(place["id"])
    raise AssertionError("no click on the graph selected its node")


@pytest.mark.long
def test_start_a_run_watch_nodes_arrive_click_one_and_see_its_diff(page, tmp_path):
    """`main.py` itself, as a child process: bin packing written by rules, a handful of steps."""
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_text("No runs yet").wait_for()
        page.get_by_role("button", name="Start a run").click()
        page.locator("select[name=problem]").select_option("bin_packing")
        page.locator("input[name=name]").fill("u120")
        page.locator("input[name=max_steps]").fill("30")
        page.locator("input[name=seed]").fill("3")
        page.get_by_text("Options of islands").click()
        page.locator("input[name='option.per_island']").fill("7")
        page.locator("select[name='option.selection']").select_option("rank")
        page.get_by_role("button", name="Start", exact=True).click()
        page.wait_for_url(re.compile(r"#/run/[^/]+/overview"))
        page.get_by_role("link", name="Graph").click()
        page.locator("canvas").wait_for()
        until(page, "window.swarm.state.nodes.length >= 3")
        first = page.evaluate("window.swarm.state.nodes.length")
        until(page, f"window.swarm.state.nodes.length > {first} || window.swarm.state.ended")
        until(page, f"window.swarm.state.ended && {DRAWN}", 2 * PATIENCE)
        clicked = click_newest(page)
        page.get_by_role("link", name="Open", exact=True).click()
        expect(page.get_by_test_id("node-id")).to_have_text(clicked)
        page.get_by_test_id("diff-head").wait_for()
        page.locator(".code .add").first.wait_for()
        assert data(page, "faults") == "0" and data(page, "gaps") == "0"
        page.get_by_role("link", name="Setup").click()
        run = page.evaluate("fetch(`/api/runs/${window.swarm.run}`).then((answer) => answer.json())")
        islands = run["config"]["search"]["islands"]
        assert (islands["per_island"], islands["selection"], islands["num_islands"]) == (7, "rank", 3)
        withstood = page.get_by_label("Attacks it withstood when the run began")
        withstood.get_by_text("✓ cannot connect over TCP").wait_for()
        expect(withstood).not_to_contain_text("✗")
        # a finished run goes on with more of what ended it
        page.get_by_role("button", name="Resume").click()
        page.get_by_label("Steps in all").fill("33")
        page.get_by_role("button", name="Go on").click()
        until(page, "window.swarm.state.nodes.some(n => n.step >= 33)")


@pytest.mark.long
def test_own_tables_are_looked_at_and_keys_are_listed(page, tmp_path):
    (tmp_path / "house").mkdir()
    (tmp_path / "house" / "train.csv").write_text("id,<b>area</b>,price\n1,80,3\n")
    (tmp_path / "house" / "test.csv").write_text("id,<b>area</b>\n2,90\n")
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_role("button", name="Start a run").click()
        page.locator("select[name=folder]").select_option("house")
        page.get_by_role("region", name="First rows of train.csv").get_by_text("<b>area</b>").wait_for()
        expect(page.locator("select[name=target]")).to_have_value("price")
        page.locator("select[name=problem]").select_option("script")
        page.get_by_text("no folder with an evaluator.py").first.wait_for()
        expect(page.get_by_role("button", name="Start", exact=True)).to_be_disabled()
        page.get_by_role("heading", name="Runs", exact=True).click()
        page.keyboard.press("?")
        page.get_by_role("dialog", name="Keys").get_by_text("go to graph").wait_for()
        page.keyboard.press("Escape")
        page.get_by_role("dialog", name="Keys").wait_for(state="hidden")


@pytest.mark.long
def test_a_refused_start_says_why(page, stored):
    page.goto(stored)
    page.get_by_role("button", name="Start a run").click()
    page.locator("select[name=problem]").wait_for()
    page.route("**/api/runs", lambda route: route.fulfill(status=409, json={"detail": "no such preset"}))
    page.get_by_role("button", name="Start", exact=True).click()
    page.get_by_role("alert").filter(has_text="no such preset").wait_for()
    page.unroute("**/api/runs")


# ---------------------------------------------------------------- the connection


@pytest.mark.long
def test_a_cut_socket_is_taken_up_again_without_a_gap(page, tmp_path):
    made = competition(tmp_path / "logs", 5, run="live")
    sockets: list[Any] = []

    def through(socket: Any) -> None:
        server = socket.connect_to_server()
        sockets.append((socket, server))

    page.route_web_socket(re.compile(r".*/ws\?.*"), through)
    with serving(tmp_path) as (address, _), live(made, 0.03, steps(made, 60)) as writer:
        page.goto(f"http://{address}/#/run/live/overview")
        wait_seq(page, 30)
        for cut in range(3):
            until(page, f"document.documentElement.dataset.reconnects === '{cut}'")
            socket, server = sockets[-1]
            server.close()
            socket.close(code=1001, reason="cut by the test")
            until(page, f"document.documentElement.dataset.reconnects === '{cut + 1}'")
            until(page, "document.documentElement.dataset.phase === 'open'")
        writer.join()
        wait_seq(page, made.store.seq)
        assert data(page, "faults") == "0", "an event came twice, or one is missing"
        assert page.evaluate("window.swarm.state.nodes.map(n => n.node_id)") == [node.id for node in made.nodes]


@pytest.mark.long
def test_a_server_that_went_away_is_said_and_found_again(page, tmp_path):
    competition(tmp_path / "logs", 5, run="live").close()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/#/run/live/overview")
        page.get_by_text("What happened").wait_for()
    page.get_by_text("nothing is lost").wait_for()


def test_an_unknown_run_says_so(page, stored):
    page.goto(f"{stored}#/run/no-such-run/overview")
    page.get_by_text("This run cannot be shown").wait_for()
    page.get_by_role("link", name="All runs").first.wait_for()


def test_a_store_that_was_cut_off_is_not_waited_for(page, tmp_path):
    made = competition(tmp_path / "logs", 20, run="cut")
    made.close()
    store = tmp_path / "logs" / "cut" / "run.db"
    store.write_bytes(store.read_bytes()[: store.stat().st_size // 2])
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/#/run/cut/overview")
        page.get_by_text("This run cannot be shown").wait_for()
        page.get_by_text("may be whole").wait_for()
        page.locator(".pill.unreadable").wait_for()
        expect(page.get_by_text("Trying again")).to_have_count(0)
        expect(page.get_by_text("Loading")).to_have_count(0)


# ---------------------------------------------------------------- a running search is told things


@pytest.mark.long
def test_notes_and_marks_reach_the_control_file_and_come_back_as_events(page, tmp_path):
    from core.events import NodeMarked, NoteAdded

    made = competition(tmp_path / "logs", 8, run="live")
    made.store.append([RunStarted(run="live", problem="competition/churn", lower_is_better=True, writer="openai/m")])
    node = made.nodes[3].id
    with serving(tmp_path) as (address, _), live(made, 0, iter(())):
        page.goto(f"http://{address}/#/run/live/overview")
        page.get_by_label("Note", exact=True).fill("try <b>trees</b>")
        page.get_by_role("button", name="Send").click()
        page.get_by_text("the note goes into the next prompt").wait_for()
        page.goto(f"http://{address}/#/run/live/node/{node}")
        page.get_by_role("button", name="Ban").click()
        page.get_by_role("button", name="Ban…").wait_for()
        lines = [json.loads(line) for line in (tmp_path / "logs/live/control.jsonl").read_text().splitlines()]
        assert lines == [{"kind": "note", "text": "try <b>trees</b>"}, {"kind": "ban", "node_id": node}]
        made.store.append([NoteAdded(text=lines[0]["text"]), NodeMarked(node_id=node, mark="banned")])
        page.get_by_role("button", name="Banned").wait_for()
        page.goto(f"http://{address}/#/run/live/overview")
        page.get_by_text("note: try <b>trees</b>").wait_for()


def test_a_run_that_does_not_run_takes_no_note(page, stored):
    page.goto(f"{stored}#/run/{COMPETITION}/overview")
    page.get_by_text("rules, which read no note").wait_for()
    expect(page.get_by_label("Note", exact=True)).to_have_count(0)


@pytest.mark.long
def test_the_tail_of_a_running_candidate_is_shown_as_text(page, tmp_path):
    made = competition(tmp_path / "logs", 3, run="live")
    node = made.propose()
    folder = tmp_path / "logs/live/live"
    folder.mkdir()
    (folder / f"{node.id}.out").write_text("epoch 1 <img src=x onerror=alert(1)>\nepoch 2\n")
    with serving(tmp_path) as (address, _), live(made, 0, iter(())):
        page.goto(f"http://{address}/#/run/live/overview")
        page.get_by_label(f"Output of {node.id}").get_by_text("onerror=alert(1)").wait_for()
        assert page.locator("img[src='x']").count() == 0, "never, not even for a moment"


# ---------------------------------------------------------------- graph, arena, replay


def test_the_graph_by_keyboard_and_search(page, stored):
    page.goto(f"{stored}#/run/{COMPETITION}/graph")
    page.locator("canvas").focus()
    page.keyboard.press("b")
    best = page.evaluate("window.swarm.state.bestId")
    selection = page.get_by_test_id("selection")
    selection.get_by_role("link", name=best).wait_for()
    parent = page.evaluate(f"window.swarm.state.byId.get('{best}').parent_ids[0]")
    page.keyboard.press("ArrowUp")
    selection.get_by_role("link", name=parent, exact=True).first.wait_for()
    page.get_by_label("Find a node").fill("7")
    seventh = page.evaluate("window.swarm.state.nodes.find(n => n.number === 7).node_id")
    opens = page.get_by_role("link", name="Open", exact=True)  # the parent's panel may name its child, too
    expect(opens).to_have_attribute("href", re.compile(f"/node/{seventh}$"))
    page.locator("canvas").focus()
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/node/{seventh}")


def test_the_graph_by_score_and_with_repetitions_folded(page, stored):
    page.goto(f"{stored}#/run/{PACKING}/graph")
    page.locator("canvas").wait_for()
    shown = "document.querySelector('canvas').dag?.scene?.nodes.length"
    folded = until(page, f"{DRAWN} && {shown}")
    page.get_by_label("fold repetitions").uncheck()
    all_nodes = page.evaluate("window.swarm.state.nodes.length + window.swarm.state.beside.length")
    until(page, f"{shown} === {all_nodes}")
    assert folded < all_nodes
    page.get_by_role("button", name="score", exact=True).click()
    until(page, "document.querySelector('canvas').dag.scene.kind === 'score'")
    unit = page.evaluate("window.swarm.state.run.unit")
    assert page.evaluate("document.querySelector('canvas').dag.scene.axis") == f"{unit}, the best on top"
    places = page.evaluate(
        """() => { const canvas = document.querySelector('canvas'), s = window.swarm.state;
             const scored = s.nodes.filter(n => n.metric != null).map(n => n.node_id);
             return [s.best.node_id, ...scored].map(id => canvas.placeOf(id)[1]); }"""
    )
    assert min(places) == places[0], "the best lies on top"
    page.get_by_label("Colour by").select_option("lines of code")
    page.get_by_text("highest sixth").wait_for()


def test_two_nodes_are_compared_side_by_side(page, stored):
    page.goto(f"{stored}#/run/{COMPETITION}/nodes")
    page.locator("tbody tr td:nth-child(2) a").first.click()
    page.get_by_label("Difference side by side").wait_for()
    page.get_by_test_id("diff-head").get_by_label("against").fill("3")
    third = page.evaluate("window.swarm.state.nodes.find(n => n.number === 3).node_id")
    asked = f"performance.getEntriesByType('resource').some(e => e.name.includes('against={third}'))"
    until(page, asked)  # what is shown before is the difference from the parent
    page.get_by_label("Difference side by side").locator(".half.add").first.wait_for()
    halves = page.evaluate(
        "[...document.querySelectorAll('.twin .half')].map(one => Math.round(one.getBoundingClientRect().left))"
    )
    assert len(set(halves)) == 2, "old and new each stand in a column of their own"
    page.get_by_role("button", name="one column").click()
    page.get_by_label("Difference", exact=True).wait_for()
    page.get_by_label("wrap").check()
    page.locator(".code.wrapped").wait_for()
    expect(page.get_by_test_id("why")).to_contain_text(".")


@pytest.mark.long
def test_a_chess_game_is_watched_move_by_move(page, tmp_path):
    made = arena(tmp_path / "logs", 1, run="chess", seed=3, plies=20)
    with serving(tmp_path) as (address, _), live(made, 0, iter(())):
        moves = arena_generation(made, 1, "chess_engines", 60)
        next(moves)  # a game begins, and two moves are played
        next(moves), next(moves)
        page.goto(f"http://{address}/#/run/chess/arena")
        page.locator(".tile.running").first.click()
        page.locator("[data-testid=bigboard] [data-square]").first.wait_for()
        board = page.get_by_test_id("bigboard")
        expect(board).to_have_attribute("data-ply", "2")
        for ply in (3, 4, 5, 6):
            next(moves)
            expect(board).to_have_attribute("data-ply", str(ply))
        expect(page.locator(".clock")).to_have_count(2)
        expect(page.locator(".clock").first).not_to_contain_text("--")
        page.get_by_role("button", name="First position").click()
        until(page, "document.querySelector('[data-testid=bigboard]').dataset.ply === '0'")
        page.get_by_role("button", name="Forward").click()
        until(page, "location.hash.includes('ply=1')")
        page.reload()
        until(page, "document.querySelector('[data-testid=bigboard]')?.dataset.ply === '1'")
        page.get_by_role("button", name="Newest position").click()
        until(page, "!location.hash.includes('ply=')")


@pytest.mark.long
def test_first_nodes_that_are_baselines_are_told_as_such(page, tmp_path):
    """An arena has no baselines beside the search: they are its first nodes."""
    made = competition(tmp_path / "logs", 0, run="seeded")
    made.store.append([NodeCommitted(node_id="ab" * 6, step=0, operator="baseline", metric=7.5, writer="baseline")])
    made.store.put_fact("baselines", [{"name": "greedy", "node_id": "ab" * 6, "metric": 7.5}])
    made.close()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/#/run/seeded/overview")
        page.get_by_test_id("stats").get_by_text("Baseline greedy").wait_for()


@pytest.mark.long
def test_a_baseline_that_is_ahead_of_the_search_is_said_while_it_runs(page, tmp_path):
    made = competition(tmp_path / "logs", 0, run="behind")
    made.store.append(
        [
            NodeCommitted(node_id="ab" * 6, step=0, operator="draft", metric=9.0, writer="rules"),
            BaselineScored(name="ridge", node_id="cd" * 6, metric=7.5),
        ]
    )
    with serving(tmp_path) as (address, _), live(made, 0, iter(())):
        page.goto(f"http://{address}/#/run/behind/overview")
        page.get_by_test_id("stats").get_by_text("on validation, ahead of the search").wait_for()


@pytest.mark.parametrize("run", [COMPETITION, FOUR])
def test_the_overview_says_the_verdict_and_the_winners_own_scores(page, stored, run):
    page.goto(f"{stored}#/run/{run}/overview")
    told = page.evaluate(f"fetch('/api/runs/{run}').then((answer) => answer.json())")
    expect(page.get_by_test_id("verdict")).to_have_text(told["conclusion"]["text"])
    stats = page.get_by_test_id("stats").inner_text()
    assert "Winner" in stats and "% better" not in stats
    expect(page.get_by_test_id("stats").locator(f"a[href*='{told['winner']['node_id']}']")).to_have_count(1)
    metric = told["winner"]["metric"]
    assert (str(round(metric)) if run == FOUR else f"{metric:.4g}"[:4]) in stats
    assert f"{told['winner']['final_metric']:.4g}"[:4] in stats
    with page.expect_download() as saved:
        page.get_by_role("link", name="Report").click()
    assert saved.value.suggested_filename == f"{run}.html" and page.url.endswith("/overview")


@pytest.mark.long
def test_a_verdict_comes_when_the_run_ends_before_our_eyes(page, tmp_path):
    made = competition(tmp_path / "logs", 12, run="ends")
    made.store.put_fact("status", "running")
    made.store.append([RunStarted(run="ends", problem="competition/churn", lower_is_better=True)])
    with serving(tmp_path) as (address, _), live(made, 0, iter(())):
        page.goto(f"http://{address}/#/run/ends/overview")
        page.get_by_test_id("stats").get_by_text("Best so far").first.wait_for()
        assert page.get_by_test_id("verdict").count() == 0, "none before its end"
        made.end()
        page.get_by_test_id("verdict").wait_for()
        page.get_by_test_id("stats").get_by_text("Winner").first.wait_for()


def test_the_list_fits_a_laptop_and_the_whole_head_of_a_column_sorts(page, stored):
    page.goto(f"{stored}#/")
    region = page.get_by_role("region", name="Table of runs")
    region.wait_for()
    assert region.evaluate("box => box.scrollWidth <= box.clientWidth"), "it scrolls sideways at 1280"
    best = page.get_by_role("columnheader", name="Best")
    best.click(position={"x": 3, "y": 4})
    expect(best).to_have_attribute("aria-sort", "descending")
    page.get_by_role("link", name=COMPETITION, exact=True).click()
    page.get_by_test_id("stats").wait_for()
    page.go_back()
    expect(best).to_have_attribute("aria-sort", "descending")  # the way back finds the list as it was left


def test_the_pointer_tells_what_a_point_of_the_curve_is(page, stored):
    page.goto(f"{stored}#/run/{COMPETITION}/overview")
    plot = page.locator(".u-over").first
    plot.wait_for()
    assert plot.evaluate("box => getComputedStyle(box).cursor") == "pointer"
    plot.hover(position={"x": 200, "y": 100})
    note = page.locator(".u-note").first
    note.get_by_text("best so far").wait_for()
    where, *rest = note.inner_text().splitlines()
    assert re.fullmatch(r"step \d+", where) and len(rest) >= 2, "it is said once"


def test_connect_four_standings_and_crosstable(page, stored):
    page.goto(f"{stored}#/run/{FOUR}/arena")
    page.get_by_role("region", name="Standings", exact=True).locator("tbody tr").first.wait_for()
    page.locator(".interval .span").nth(1).wait_for(state="attached")
    page.get_by_role("region", name="Cross-table").locator("tbody tr").nth(1).wait_for()
    ratings = page.get_by_role("region", name="Ratings of all time").locator("tbody tr")
    ratings.first.wait_for()
    elos = [int(text) for text in ratings.locator("td:nth-child(3)").all_inner_texts()]
    assert elos == sorted(elos, reverse=True) and len(elos) >= 2
    page.get_by_test_id("featured").locator("svg").wait_for()
    page.get_by_label("Games of").select_option(index=2)
    name = page.get_by_label("Games of").locator("option:checked").inner_text()
    tiles = page.get_by_test_id("wall").locator(".tile")
    expect(tiles.filter(has_not_text=name)).to_have_count(0)
    tiles.first.wait_for()
    page.locator(".tile").first.click()
    page.get_by_test_id("bigboard").locator("svg").wait_for()


@pytest.mark.long
def test_a_game_that_was_played_to_its_end_stays_where_one_steps_back_to(page, stored):
    page.goto(f"{stored}#/run/{CHESS}/game?id=g1-0")
    board = page.get_by_test_id("bigboard")
    last = int(board.get_attribute("data-ply"))  # the newest, as soon as there is a board
    page.get_by_role("button", name="Back").click()
    page.get_by_role("button", name="Play", exact=True).click()
    until(page, f"document.querySelector('[data-testid=bigboard]').dataset.ply === '{last}'")
    page.get_by_role("button", name="Back").click()
    page.wait_for_timeout(1000)
    assert board.get_attribute("data-ply") == str(last - 1), "it is not played on"
    page.get_by_role("button", name="Play", exact=True).wait_for()


@pytest.mark.long
def test_a_stored_run_is_replayed_from_the_button_to_the_end(page, stored):
    page.goto(f"{stored}#/run/{COMPETITION}/overview")
    page.get_by_test_id("stats").wait_for()
    last = int(data(page, "seq"))
    page.get_by_role("link", name="Replay").click()
    page.get_by_role("region", name="Replay").wait_for()
    assert until(page, "window.swarm.replay && window.swarm.state.nodes.length") < 60, "not all at once"
    page.get_by_role("button", name="Pause").click()
    page.get_by_role("button", name="Play").wait_for()
    assert stands_still(page) < last, "it went on to its end"
    page.get_by_label("Speed").select_option("200")
    page.get_by_role("button", name="Play").click()
    wait_seq(page, last)
    assert data(page, "faults") == "0"
    page.get_by_role("button", name="Again").click()
    until(page, f"window.swarm.state.seq < {last} && !window.swarm.replayEnded")
    wait_seq(page, last)
    assert data(page, "faults") == "0"
    assert page.title().endswith("· replay"), "the tab told the end of what is only beginning"
    page.get_by_role("link", name="Leave replay").click()
    page.get_by_role("button", name="Resume").wait_for()


@pytest.mark.long
def test_replay_serve_opens_with_the_replay(page, tmp_path):
    """`replay RUN --serve`: the page that was started for a replay shows it without a click."""
    import subprocess
    import sys

    from support.dashboard import ROOT

    made = competition(tmp_path / "logs", 6, run="old")
    made.finish()
    command = [sys.executable, str(ROOT / "main.py"), "replay", "old", "--serve", "--speed=100", "--dashboard.port=0"]
    child = subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True)
    try:
        assert child.stdout is not None
        line = child.stdout.readline()
        page.goto(f"http://{line.split('http://')[1].split()[0]}")  # with the token that it was given
        page.get_by_role("region", name="Replay").wait_for()
        wait_seq(page, made.store.seq)
        page.get_by_role("button", name="Again").wait_for()
    finally:
        child.terminate()
        child.wait(PATIENCE)
        if child.stdout:
            child.stdout.close()


@pytest.mark.long
def test_runs_are_compared_at_an_address_of_their_own(page, tmp_path):
    for run, seed in (("one", 1), ("two", 2)):
        made = competition(tmp_path / "logs", 15, run=run, seed=seed)
        made.store.put_fact("config", {"search": {"policy": "mcts"}, "project": {"seed": seed}})
        made.finish()
    bin_packing(tmp_path / "logs", 2, run="other").close()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        for run in ("one", "two"):
            page.get_by_label(f"Choose {run}").check()
        page.route("**/assets/compare-*.js", lambda route: route.abort())
        page.get_by_role("link", name="Compare").click()
        page.wait_for_url(re.compile("#/compare\\?runs=(one,two|two,one)"))
        page.get_by_role("alert").get_by_text("the server does not answer").wait_for()  # the page was white and empty
        page.get_by_role("alert").get_by_role("link", name="All runs").wait_for()
        page.unroute_all()
        page.get_by_role("button", name="Reload the page").click()
        page.locator(".uplot canvas").wait_for()
        page.get_by_label("mean ± deviation of seeds").wait_for()
        page.get_by_text(re.compile(r"2 seeds: (one, two|two, one)")).first.wait_for()
        programs = page.get_by_role("region", name="Best programs", exact=True)
        programs.get_by_label("wrap").check()
        expect(programs.locator(".code.wrapped")).to_have_count(2)
        differing = page.get_by_role("region", name="Differences of the configurations").locator("tbody tr")
        expect(differing).to_have_count(1)
        expect(differing).to_contain_text("project.seed")
        expect(page.get_by_role("region", name="Program of ")).to_have_count(2)
        expect(page.get_by_text("do not compare")).to_have_count(0)
        page.goto(f"http://{address}/#/compare?runs=one,other")
        page.get_by_text("do not compare").wait_for()


def test_nodes_are_sorted_by_a_click_on_a_column(page: Any, stored: str) -> None:
    page.goto(f"{stored}#/run/{COMPETITION}/nodes")
    ran = page.get_by_test_id("nodes").locator("tbody tr td:nth-child(1)")
    ran.first.wait_for()
    steps = [int(text) for text in ran.all_inner_texts() if text]  # a baseline beside the search has no number
    assert len(steps) > 3 and steps == sorted(steps, reverse=True)
    page.get_by_role("button", name="#").click()
    for place, text in enumerate(["", "1", "2", "3"]):
        expect(ran.nth(place)).to_have_text(text)
    page.get_by_role("button", name="Operator").click()
    expect(page.locator("th[aria-sort]")).to_contain_text("Operator")
    operators = page.get_by_test_id("nodes").locator("tbody tr td:nth-child(3)").all_inner_texts()
    assert operators == sorted(operators) and len(set(operators)) > 1


@pytest.mark.long
def test_runs_are_searched_labelled_put_away_and_removed(page, tmp_path):
    for run in ("alpha", "beta", "gamma"):
        made = competition(tmp_path / "logs", 3, run=run)
        made.finish()
    names = page.locator("table.runs td.name")
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_role("button", name="Edit beta").click()
        page.get_by_label("Title").fill("<b>first</b> try")
        page.get_by_role("textbox", name="Tags").fill("paper draft")
        page.get_by_role("textbox", name="Note").fill("kept")
        page.get_by_role("textbox", name="Tags").fill("paper !?")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("form", name="Words on beta").get_by_role("alert").wait_for()
        expect(page.get_by_role("textbox", name="Note")).to_have_value("kept")  # what is refused is not lost
        page.get_by_role("textbox", name="Tags").fill("paper draft")
        page.get_by_role("button", name="Save").click()
        page.get_by_role("link", name="<b>first</b> try").wait_for()
        page.get_by_label("Search runs").fill("tag:paper")
        expect(names).to_have_count(1)
        expect(names).to_contain_text("beta")
        page.get_by_label("Search runs").fill("")
        page.get_by_role("button", name="Run", exact=True).click()
        page.get_by_label("Choose gamma").check()
        page.get_by_role("button", name="Archive", exact=True).click()
        expect(names).to_have_count(2)
        page.get_by_label("Choose alpha").check()
        page.get_by_role("button", name="Delete…").click()
        page.get_by_role("button", name="Remove", exact=True).click()
        expect(names).to_have_count(1)
        assert not (tmp_path / "logs/alpha").exists()
        page.get_by_role("button", name="archived").click()
        page.get_by_role("link", name="gamma", exact=True).wait_for()


# ---------------------------------------------------------------- looks


def test_dark_and_light_are_kept(page, stored):
    page.goto(f"{stored}#/")
    html = page.locator("html")
    expect(html).to_have_attribute("data-theme", "light")  # as Playwright's browser prefers
    page.get_by_role("button", name=re.compile("Use the .* theme")).click()
    expect(html).to_have_attribute("data-theme", "dark")
    page.reload()
    page.locator("table").wait_for()
    expect(html).to_have_attribute("data-theme", "dark")


VIEWS = [
    ("/", "table"),
    (f"/compare?runs={COMPETITION},{PACKING}", ".uplot"),
    (f"/run/{COMPETITION}/overview", ".uplot"),
    (f"/run/{COMPETITION}/graph", "canvas"),
    (f"/run/{COMPETITION}/nodes", "table"),
    (f"/run/{COMPETITION}/failures", "table"),
    (f"/run/{COMPETITION}/facts", "table"),
    (f"/run/{COMPETITION}/analysis", ".uplot"),
    (f"/run/{PACKING}/islands", ".uplot"),
    (f"/run/{CHESS}/arena", ".tile"),
    (f"/run/{CHESS}/game?id=g1-0", "[data-testid=bigboard] [data-square]"),
    (f"/run/{FOUR}/arena", ".tile"),
    (f"/run/{COMPETITION}/writers", "table"),
    ("/sweeps", "main"),
    ("/start", "select[name=llm]"),
    (f"/run/{COMPETITION}/node/", ".code"),
]


def open_view(page: Any, stored: str, path: str, wait: str) -> None:
    if path.endswith("/node/"):
        page.goto(f"{stored}#/run/{COMPETITION}/nodes")
        page.locator("tbody tr td:nth-child(2) a").first.click()
    elif path == "/start":
        page.goto(f"{stored}#/")
        page.get_by_role("button", name="Start a run").click()
        page.locator("select[name=llm]").select_option("openai")
        page.locator("summary", has_text="Prices of openai").click()
    else:
        page.goto(f"{stored}#{path}")
    page.locator(wait).first.wait_for()


@pytest.mark.long
@pytest.mark.parametrize(("theme", "width"), [("light", 1280), ("dark", 390)])
def test_axe_finds_no_serious_fault(page, stored, theme, width):
    if not AXE.is_file():
        pytest.skip("axe-core is not installed: cd dashboard/web && npm ci")
    page.set_viewport_size({"width": width, "height": 844})
    page.add_init_script(f"localStorage.setItem('theme', '{theme}')")
    found = []
    for path, wait in VIEWS:
        open_view(page, stored, path, wait)
        page.wait_for_timeout(150)
        page.evaluate(AXE.read_text())
        result = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
        found += [
            f"{path}: {fault['id']}: {fault['nodes'][0]['html'][:160]} {fault['nodes'][0].get('failureSummary', '')}"
            for fault in result["violations"]
            if fault["impact"] in ("serious", "critical")
        ]
    assert not found, "\n".join(found)


@pytest.mark.long
def test_no_view_is_wider_than_a_phone(page, stored):
    page.set_viewport_size({"width": 390, "height": 844})
    wide = []
    for path, wait in VIEWS:
        open_view(page, stored, path, wait)
        page.wait_for_timeout(150)
        width = page.evaluate("document.documentElement.scrollWidth")
        if width > 390:
            wide.append(f"{path}: {width} px")
    assert not wide, wide


def test_the_tabs_are_one_line_on_a_phone_that_scrolls_to_where_one_is(page, stored):
    page.set_viewport_size({"width": 390, "height": 844})
    for run in (COMPETITION, PACKING, CHESS):
        for view in ("overview", "facts"):
            open_view(page, stored, f"/run/{run}/{view}", "nav.tabs a[aria-current=page]")
            expect(page.locator("nav.tabs a[aria-current=page]")).to_be_in_viewport(ratio=0.99)
            assert page.locator("header.top").bounding_box()["height"] <= 90
        assert page.locator("nav.tabs").evaluate("(bar) => bar.scrollWidth > bar.clientWidth && bar.scrollLeft > 0")


def test_an_unknown_view_becomes_the_overview_in_the_address_too(page, stored):
    page.goto(f"{stored}#/run/{COMPETITION}/nodes")
    page.locator("table").wait_for()
    page.goto(f"{stored}#/run/{COMPETITION}/nonsense")
    page.wait_for_url(f"**/#/run/{COMPETITION}/overview")
    page.locator("nav.tabs a[aria-current=page]", has_text="Overview").wait_for()
    page.go_back()
    page.wait_for_url(f"**/#/run/{COMPETITION}/nodes")


@pytest.mark.long
def test_thousands_of_long_warnings_stay_readable(page, tmp_path):
    """What a model that refuses all night leaves behind: a bounded list, newest first, no wider than the page."""
    made = competition(tmp_path / "logs", 3, run="warned")
    limit = "openai/m: HTTP 429: slow down; next try in 4.0 s"
    made.store.append([Warned(text=f"{limit} ({n})") for n in range(1999)] + [Warned(text="W" * 2000)])
    made.close()
    with serving(tmp_path) as (address, _):
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 844})
            page.goto(f"http://{address}/#/run/warned/failures")
            items = page.get_by_label("Warnings, newest first").locator("li")
            expect(items).to_have_count(200)
            expect(items.first).to_contain_text("W" * 2000)
            expect(items.nth(1)).to_contain_text("(1998)")
            for n in (0, 1, 199):
                expect(items.nth(n)).to_contain_text(re.compile(r"^\s*\d\d:\d\d:\d\d"))
            for view in ("failures", "overview"):
                page.goto(f"http://{address}/#/run/warned/{view}")
                page.locator(".feed li").first.wait_for()
                assert page.evaluate("document.documentElement.scrollWidth") <= width
                assert page.locator(".feed").first.bounding_box()["height"] <= 432


@pytest.mark.long
def test_texts_of_programs_and_models_are_never_html(page, stored):
    """Codes, plans, prompts and questions of the synthetic runs hold tags: they must be seen as written."""
    page.add_init_script("window.alert = () => { window.hacked = true }")
    open_view(page, stored, f"/run/{COMPETITION}/node/", ".code")
    page.get_by_role("button", name="code", exact=True).click()
    page.get_by_text("<script>alert(1)</script>").wait_for()
    page.get_by_text("<img src=x>").wait_for()
    page.get_by_role("button", name="prompt and reply").click()
    page.get_by_text("Predict <b>target</b>").wait_for()
    page.goto(f"{stored}#/run/{CHESS}/arena")
    page.get_by_text("<b>now</b>").first.wait_for()
    assert page.evaluate("window.hacked") is None


@pytest.mark.long
def test_a_sweep_has_a_page_with_table_mean_curves_and_runs(page, tmp_path):
    logs = tmp_path / "logs"
    settings = (("search.policy=three_phase",), ("search.policy=mcts",))
    plan = Plan(words=("--problem.name=diabetes",), settings=settings, seeds=(1, 2, 3))
    folder = sweep_folder(logs, "policies")
    plan.keep(folder)
    for number, cell in enumerate(plan.cells[:-1]):
        made = competition(logs, 12, run=f"run-{number}", seed=number)
        made.finish()
        (folder / f"{cell.name}.run").write_text(f"run-{number}")
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_role("link", name="Sweeps").click()
        page.get_by_role("link", name="policies").first.click()
        page.wait_for_url(re.compile("#/sweep\\?name=policies"))
        rows = page.get_by_role("region", name="Settings and what they came to").locator("tbody tr")
        rows.nth(1).get_by_text("too few seeds").first.wait_for()
        page.get_by_text("An interval needs 5 seeds: the same command with --name").wait_for()
        expect(rows).to_have_count(2)
        expect(rows.nth(1)).to_contain_text("policy=mcts")
        page.locator(".uplot canvas").wait_for()
        expect(page.locator(".legend .mono")).to_have_text(["policy=three_phase", "policy=mcts"])
        page.get_by_text("1 of 6 runs have not ended").wait_for()
        expect(page.get_by_role("region", name="Runs of the sweep").locator("tbody tr")).to_have_count(6)
        page.get_by_role("link", name="run-0").click()
        page.wait_for_url(re.compile("#/run/run-0"))
        page.goto(f"http://{address}/#/sweep?name=none")
        page.get_by_role("alert").get_by_text("no sweep").wait_for()
