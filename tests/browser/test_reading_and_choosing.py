"""What a person reads and ticks on the page: prompts as formatted text, and runs that are acted on together."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.dashboard import serving
from support.pages import expect, until
from support.synthetic_runs import competition


@pytest.mark.long
def test_fenced_blocks_are_readable_and_only_runs_that_are_seen_are_chosen(page: Any, tmp_path: Any) -> None:
    for name in ("alpha", "beta"):
        made = competition(tmp_path / "logs", 6, run=name)
        made.finish()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_label("Choose alpha").check()
        page.get_by_label("Choose beta").check()
        chosen = page.get_by_role("region", name="Chosen runs")
        expect(chosen).to_contain_text("2 chosen: ")
        page.get_by_label("Search runs").fill("beta")
        chosen.get_by_text("1 chosen: beta").wait_for()
        chosen.get_by_role("button", name="Delete…").click()
        expect(chosen.get_by_role("alert")).to_contain_text("Remove beta, with all files?")
        page.get_by_label("Search runs").fill("")
        expect(page.get_by_label("Choose alpha")).not_to_be_checked()
        menu = page.locator("details.menu")
        menu.locator("summary").click()
        page.keyboard.press("Escape")
        until(page, "!document.querySelector('details.menu').open")
        page.goto(f"http://{address}/#/run/alpha/nodes")
        page.get_by_test_id("nodes").locator("tbody a").first.click()
        page.get_by_role("button", name="prompt and reply").click()
        fenced = page.locator(".fenced").first
        fenced.wait_for()
        line = fenced.locator(".line").first
        assert fenced.bounding_box()["height"] >= line.bounding_box()["height"] > 12


@pytest.mark.long
def test_what_is_shown_stands_in_the_address(page: Any, tmp_path: Any) -> None:
    """A reload, and the address in another browser, show what one saw."""
    for name in ("alpha", "beta", "gamma"):
        made = competition(tmp_path / "logs", 6, run=name)
        made.finish()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_label("Choose alpha").check()
        page.get_by_label("Search runs").fill("a")  # in the names of all three
        page.get_by_role("button", name="Best", exact=True).click()
        page.locator("details.menu summary").click()
        page.get_by_label("Problem", exact=True).uncheck()
        page.wait_for_url("**columns=**")
        other = page.context.browser.new_page()
        other.goto(page.url)
        other.get_by_text("1 chosen: alpha").wait_for()
        expect(other.get_by_label("Search runs")).to_have_value("a")
        expect(other.locator("th[aria-sort]")).to_have_text(re.compile("^Best"))
        expect(other.get_by_role("columnheader", name="Problem")).to_have_count(0)
        other.context.close()

        page.goto(f"http://{address}/#/run/alpha/nodes")
        page.get_by_role("button", name="scored", exact=True).click()
        page.get_by_role("button", name="Operator", exact=True).click()
        page.wait_for_url("**sort=operator**")
        page.reload()
        page.get_by_role("button", name="scored", pressed=True).wait_for()
        expect(page.locator("th[aria-sort]")).to_have_text(re.compile("^Operator"))
        page.get_by_role("link", name="Overview").click()
        page.get_by_role("link", name="Nodes").click()
        page.wait_for_url("**show=scored**")  # as it was left
        expect(page).to_have_title("diabetes · finished")

        page.goto(f"http://{address}/#/run/alpha/graph")
        page.locator("canvas").focus()
        page.keyboard.press("b")
        page.wait_for_url("**node=**")
        best = page.evaluate("window.swarm.state.bestId")
        page.goto(f"http://{address}/#/run/alpha/node/{best}?part=diff")
        page.get_by_label("against").fill("1")
        page.wait_for_url("**against=1")
        page.keyboard.press("Tab")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press("g")
        page.keyboard.press("a")
        page.get_by_role("status").get_by_text("arena: this run has no games").wait_for()
