"""What two views say of the same thing is the same: one Elo an engine, one count of improvements, one winner."""

from __future__ import annotations

import fcntl
import json
import math
import re
from collections.abc import Iterator
from typing import Any

import pytest
from support.dashboard import serving
from support.pages import expect, until
from support.synthetic_runs import arena, arena_generation, competition

from cli.terminal.show_text import print_run
from core.events import BaselineScored, RunFinished
from core.state.live_work import WORK_FILE, LiveWork
from core.storage.labels import change_labels
from core.storage.reader import RunReader
from reports.bill import unanswered
from reports.html import write_report
from reports.markdown import write_markdown
from reports.operator_worth import worth_of
from runs.stored.reading import run_facts


@pytest.fixture(scope="module")
def address(tmp_path_factory) -> Iterator[tuple[str, Any]]:
    project = tmp_path_factory.mktemp("one")
    for made in (
        arena(project / "logs", kind="connect_four", run="four", seed=4),
        competition(project / "logs", run="table"),
    ):
        made.finish()
    beaten = competition(project / "logs", 6, run="beaten")
    beaten.store.append(
        [
            BaselineScored(name="ridge", node_id="bead00000001", metric=1.0),
            RunFinished(status="finished", reason="max_steps: 6 of 6", best_node_id="bead00000001", steps=6),
        ]
    )
    beaten.close()
    with serving(project) as (host, _):
        yield f"http://{host}/", project


def elos(table: Any, column: int) -> dict[str, str]:
    """What a table says of each engine, in whole numbers."""
    rows = table.locator("tr", has=table.page.locator("a")).all()
    return {
        row.locator("a").first.inner_text(): whole(row.locator(f"td:nth-child({column})").inner_text()) for row in rows
    }


def whole(text: str) -> str:
    return str(math.floor(float(text) + 0.5)) if re.fullmatch(r"-?[\d.]+", text) else text


def texts(page: Any, selector: str) -> list[str]:
    return [text.strip() for text in page.locator(selector).all_inner_texts()]


def test_an_engine_has_one_elo_on_every_view(page, address):
    base, _ = address
    page.goto(f"{base}#/run/four/arena")
    rows = page.get_by_role("region", name="Ratings of all time").locator("tbody tr")
    rows.first.wait_for()
    told = {
        row.locator("td:nth-child(2) a").inner_text(): row.locator("td:nth-child(3)").inner_text() for row in rows.all()
    }
    champion = (
        page.get_by_role("region", name="Ratings of all time")
        .locator("tr", has_text="champion")
        .locator("a")
        .inner_text()
    )
    standings = page.get_by_role("region", name="Standings").locator("tbody tr").all()
    stand = {row.locator("a").inner_text(): row.locator("td:nth-child(2)").inner_text() for row in standings}
    assert len(told) > 3 and stand and stand.items() <= told.items()
    page.get_by_role("link", name="Overview").click()
    page.get_by_test_id("stats").get_by_text("over all its rated games").first.wait_for()
    stats = page.get_by_test_id("stats").inner_text()
    assert champion in stats and f"\n{told[champion]}\n" in stats and "over all its rated games" in stats
    page.get_by_role("link", name=re.compile("^Nodes")).click()
    page.get_by_test_id("nodes").locator("tbody tr").first.wait_for()
    listed = elos(page.get_by_test_id("nodes").locator("tbody"), 5)
    assert told.keys() <= listed.keys() and all(listed[name] == elo for name, elo in told.items())
    page.get_by_test_id("nodes").get_by_role("link", name=champion, exact=True).first.click()
    page.get_by_text(re.compile("^over all its rated games")).wait_for()
    assert whole(page.locator("dt:text-is('Metric') + dd").inner_text().split()[0]) == told[champion], (
        "in the same view"
    )


def test_improvements_are_counted_alike_everywhere(page, address):
    base, project = address
    with RunReader(project / "logs" / "table") as reader:
        expected = sum(row.improvements for row in worth_of(reader.nodes(), lower_is_better=True))
    page.goto(f"{base}#/run/table/writers")
    page.get_by_test_id("writers").locator("tbody tr").first.wait_for()
    column = texts(page, "[data-testid=writers] tbody td:nth-child(5)")
    page.get_by_role("link", name="Analysis").click()
    table = page.get_by_role("region", name="Operators")
    table.locator("tbody tr").first.wait_for()
    place = table.locator("th").all_inner_texts().index("Improvements") + 1
    operators = [int(text) for text in table.locator(f"tbody td:nth-child({place})").all_inner_texts() if text != "–"]
    page.get_by_role("link", name="Overview").click()
    page.get_by_label("Events, newest first").locator("li").first.wait_for()
    feed = sum(text.endswith("improvement") for text in texts(page, ".feed .what"))
    assert expected > 3 and [sum(map(int, column)), sum(operators), feed] == [expected] * 3


def test_what_calls_without_an_answer_may_have_cost_is_told_alike_everywhere(page, tmp_path, capsys):
    made = competition(tmp_path / "logs", 6, run="held")
    made.store.put_fact("writer", "openai/m")
    made.store.hold_call("broken", 9000, 0.09)
    made.finish()
    with RunReader(tmp_path / "logs" / "held") as reader:
        more, shown = unanswered(reader.cost()), run_facts(reader)
    assert more == "at most $0.0900 more for 1 call that was sent and has no answer here: the provider may bill it"
    print_run(shown)
    assert more in " ".join(capsys.readouterr().out.split())
    for write, name in ((write_report, "report.html"), (write_markdown, "report.md")):
        assert more in write(tmp_path / "logs" / "held", tmp_path / name).read_text()
    with serving(tmp_path) as (host, _):
        page.goto(f"http://{host}/#/run/held/overview")
        page.get_by_text(f"Beside that {more}.").wait_for()


def test_games_are_one_line_that_opens_to_its_matches(page, address):
    base, _ = address
    page.goto(f"{base}#/run/four/overview")
    line = page.locator(".feed summary", has_text="round robin of generation 2")
    expect(line).to_have_text(re.compile(r"^\s*\d+ games, round robin"))
    expect(page.locator(".feed .games")).to_have_count(3)
    line.click()
    match = page.get_by_role("list", name=re.compile("round robin of generation 2")).get_by_role("link").first
    match.click()
    page.get_by_test_id("wall").wait_for()
    page.get_by_text(re.compile("games? of .*, generation 2", re.I)).first.wait_for()


def test_a_winner_beside_the_search_is_found_in_graph_and_nodes(page, address):
    base, _ = address
    page.goto(f"{base}#/run/beaten/overview")
    page.get_by_test_id("stats").get_by_role("link", name="ridge").wait_for()
    page.goto(f"{base}#/run/beaten/nodes")
    row = page.get_by_test_id("nodes").locator("tr", has_text="ridge")
    expect(row).to_contain_text("winner")
    expect(row).to_contain_text("baseline")
    page.get_by_role("link", name="Graph").click()
    page.locator("canvas").focus()
    page.keyboard.press("b")
    chosen = page.get_by_test_id("selection")
    chosen.get_by_text("winner").wait_for()
    expect(chosen).to_contain_text("baseline")
    place = "document.querySelector('canvas').placeOf('bead00000001')"
    until(page, f"{place}[0] > 0 && {place}[0] < document.querySelector('canvas').clientWidth && {place}[1] > 0")


def test_what_goes_on_between_rounds_is_said(page, tmp_path):
    made = arena(tmp_path / "logs", 1, run="live", kind="connect_four")
    folder = made.store.run_dir
    (folder / WORK_FILE).parent.mkdir(exist_ok=True)
    said = "final part, g1.0 and the starting champion against the gauntlet: 12 of 80 games <b>"
    (folder / WORK_FILE).write_text(LiveWork(running=2, doing=said).model_dump_json())
    with serving(tmp_path) as (host, _), (folder / "run.lock").open("r+") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        page.goto(f"http://{host}/#/run/live/overview")
        expect(page.get_by_test_id("doing")).to_have_text(f"F{said[1:]}.")
        (folder / WORK_FILE).write_text(json.dumps({"running": 1}))
        next(iter(arena_generation(made, 1, "connect_four")))
        page.get_by_text("1 game is played.").wait_for()
        expect(page.get_by_text("between two rounds")).to_have_count(0)
    made.close()


def test_a_phone_has_a_low_head_and_sees_that_tables_go_on(chromium, address):
    base, project = address
    context = chromium.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    for view in ("overview", "nodes", "analysis", "arena"):
        page.goto(f"{base}#/run/four/{view}")
        page.reload()  # the arena's tab comes with the run's first events
        page.locator(".panel").first.wait_for()
        expect(page.locator(".tabs [aria-current]")).to_be_in_viewport(ratio=0.99)
        assert page.locator("header.top").bounding_box()["height"] <= 90
    ratings = page.locator(".scroll[aria-label='Ratings of all time']")
    ratings.locator("tbody tr").first.wait_for()
    assert ratings.evaluate("(box) => box.scrollWidth > box.clientWidth")
    assert "gradient" in ratings.evaluate("(box) => getComputedStyle(box).backgroundImage")
    page.goto(f"{base}#/compare?runs=table,beaten")
    page.get_by_role("region", name="Best programs side by side").wait_for()
    expect(page.locator(".sides > div")).to_have_count(2)
    boxes = [box.bounding_box() for box in page.locator(".sides > div").all()]
    assert all(box["x"] >= 0 and box["x"] + box["width"] <= 390 for box in boxes) and boxes[1]["y"] > boxes[0]["y"]
    change_labels(project / "logs" / "table", title="W" * 120)
    page.reload()
    page.locator(".legend", has_text="W" * 120).wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") == 390, "a title is wider than a phone"
    page.goto(f"{base}#/")
    page.get_by_text("W" * 120).wait_for()
    for best in page.locator(".runs tbody td.num:visible").all():
        assert best.bounding_box()["x"] + best.bounding_box()["width"] <= 390, "scores stand beside their runs"
    change_labels(project / "logs" / "table", title="")
    context.close()


def test_equal_curves_are_both_seen(page, address, tmp_path):
    for name in ("one", "two"):
        made = competition(tmp_path / "logs", 12, run=name)
        made.finish()
    with serving(tmp_path) as (host, _):
        page.goto(f"http://{host}/#/compare?runs=one,two&seeds=each")
        page.get_by_text(re.compile(r"two.*the same as one")).first.wait_for()
