"""Everything from the start of a run to its stop without a pointer, and one always sees where one is."""

from __future__ import annotations

import re
from typing import Any

import pytest
from support.dashboard import serving
from support.pages import expect, until
from support.synthetic_runs import SyntheticRun, competition

AT = """() => { const at = document.activeElement, style = getComputedStyle(at);
  return { tag: at.tagName, name: (at.getAttribute('aria-label') ?? at.getAttribute('name') ?? at.innerText).trim(),
           seen: style.outlineStyle !== 'none' && parseFloat(style.outlineWidth) > 0 }; }"""


def tab_to(page: Any, tag: str, name: str) -> None:
    """Press Tab until the element of that name has the focus, which must be visible."""
    passed = []
    for _ in range(120):
        page.keyboard.press("Tab")
        at = page.evaluate(AT)
        if at["tag"] == tag and re.fullmatch(name, at["name"]):
            assert at["seen"], f"{name} has the focus, and one does not see it"
            return
        passed.append(at["name"][:30])
    raise AssertionError(f"no Tab leads to {tag} {name}: {passed}")


@pytest.mark.long
def test_start_node_difference_and_stop_by_the_keys_alone(page: Any, tmp_path: Any) -> None:
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_text("No runs yet").wait_for()
        tab_to(page, "BUTTON", "Start a run")
        page.keyboard.press("Enter")
        page.locator("select[name=problem]").wait_for()
        tab_to(page, "SELECT", "problem")
        page.keyboard.type("tsp")
        expect(page.locator("select[name=problem]")).to_have_value("tsp")
        tab_to(page, "INPUT", "max_steps")
        page.keyboard.type("100000")
        tab_to(page, "BUTTON", "Start")
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"#/run/[^/]+/overview"))
        page.get_by_role("link", name="Graph").wait_for()
        page.keyboard.press("g")
        page.keyboard.press("g")
        page.wait_for_url(re.compile(r"#/run/[^/]+/graph"))
        until(page, "window.swarm.state.nodes.some(n => n.parent_ids?.length && n.metric != null)")
        tab_to(page, "BUTTON", "Skip to the content")
        page.keyboard.press("Enter")
        tab_to(page, "INPUT", "Find a node.*")
        child = page.evaluate("window.swarm.state.nodes.find(n => n.parent_ids?.length && n.metric != null).node_id")
        page.keyboard.type(child)
        tab_to(page, "CANVAS", "Graph of .*")
        page.get_by_test_id("selection").get_by_role("link", name=child).wait_for()
        page.keyboard.press("ArrowUp")
        parent = page.evaluate(f"window.swarm.state.byId.get('{child}').parent_ids[0]")
        page.get_by_test_id("selection").get_by_role("link", name=parent, exact=True).wait_for()
        page.keyboard.press("ArrowDown")
        first = page.evaluate(f"window.swarm.state.children.get('{parent}')[0]")
        page.get_by_test_id("selection").get_by_role("link", name=first, exact=True).wait_for()
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile("#/run/[^/]+/node/"))
        page.get_by_test_id("diff-head").wait_for()
        tab_to(page, "BUTTON", "one column")
        page.keyboard.press("Enter")
        page.get_by_label("Difference", exact=True).wait_for()
        tab_to(page, "BUTTON", "Stop")
        page.keyboard.press("Enter")
        page.get_by_role("button", name="Resume").wait_for()


@pytest.mark.long
def test_the_points_of_a_curve_are_walked_by_keys_and_its_axis_may_be_logarithmic(
    page: Any, tmp_path: Any, monkeypatch: Any
) -> None:
    """Who has no pointer had the tables alone; very bad and very good scores were not seen on one axis."""
    monkeypatch.setattr(SyntheticRun, "_verdict", lambda run, node: (1000 / 2 ** len(run.nodes), None))
    made = competition(tmp_path / "logs", 8, run="alpha")
    made.finish()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/#/run/alpha/overview")
        chart = page.get_by_role("slider", name=re.compile("Metric by step"))
        page.locator(".u-over").first.wait_for()
        tab_to(page, "DIV", "Metric by step.*")
        page.keyboard.press("Home")
        first = chart.get_attribute("aria-valuetext")
        assert first and re.match(r"step 0, mean, baseline: \d", first)
        told = re.compile(re.escape(first).replace(r",\ ", r",?\s+"))
        expect(page.locator(".u-note").first).to_have_text(told, use_inner_text=True)
        page.keyboard.press("End")
        expect(chart).not_to_have_attribute("aria-valuetext", first)
        expect(chart).to_have_attribute("aria-valuenow", str(chart.get_attribute("aria-valuemax")))
        page.keyboard.press("Enter")
        page.wait_for_url(re.compile(r"#/run/alpha/node/"))
        page.go_back()
        logs = page.get_by_role("group", name="Scale").get_by_role("button", name="log")
        logs.click()
        page.wait_for_url("**scale=log**")
        expect(logs).to_have_attribute("aria-pressed", "true")
        page.locator(".u-over").first.wait_for()
