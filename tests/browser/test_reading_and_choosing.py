"""What a person reads and ticks on the page: prompts as formatted text, and runs that are acted on together."""

from __future__ import annotations

from typing import Any

import pytest
from support.dashboard import serving
from support.synthetic_runs import competition


@pytest.mark.long
def test_fenced_blocks_are_readable_and_only_runs_that_are_seen_are_chosen(page: Any, tmp_path: Any) -> None:
    for name in ("alpha", "beta"):
        made = competition(tmp_path / "logs", 6, run=name)
        made.end()
        made.close()
    with serving(tmp_path) as (address, _):
        page.goto(f"http://{address}/")
        page.get_by_label("Choose alpha").check()
        page.get_by_label("Choose beta").check()
        chosen = page.get_by_role("region", name="Chosen runs")
        assert "2 chosen: " in chosen.inner_text()
        page.get_by_label("Search runs").fill("beta")
        chosen.get_by_text("1 chosen: beta").wait_for()
        chosen.get_by_role("button", name="Delete…").click()
        assert "Remove beta, with all files?" in chosen.get_by_role("alert").inner_text()
        page.get_by_label("Search runs").fill("")
        assert not page.get_by_label("Choose alpha").is_checked()
        menu = page.locator("details.menu")
        menu.locator("summary").click()
        page.keyboard.press("Escape")
        assert not menu.evaluate("it => it.open")
        page.goto(f"http://{address}/#/run/alpha/nodes")
        page.get_by_test_id("nodes").locator("tbody a").first.click()
        page.get_by_role("button", name="prompt and reply").click()
        fenced = page.locator(".fenced").first
        fenced.wait_for()
        line = fenced.locator(".line").first
        assert fenced.bounding_box()["height"] >= line.bounding_box()["height"] > 12
