"""`python tests/browser/screenshots.py OUT`: every view of synthetic runs, for docs/img."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "browser")]

from harness import CHROMIUM, serving  # noqa: E402
from playwright.sync_api import Page, sync_playwright  # noqa: E402
from synthetic_runs import arena, arena_generation, bin_packing, competition  # noqa: E402


def make_runs(logs: Path) -> None:
    for made in (
        competition(logs, 140, run="diabetes-rules", seed=11),
        competition(logs, 60, run="diabetes-second", seed=5),
        bin_packing(logs, 14, run="weibull-islands", seed=2),
        arena(logs, 5, run="chess-arena", seed=3, plies=70),
    ):
        made.end()
        made.close()
    made = arena(logs, 3, run="four-arena", kind="connect_four", seed=6)
    for told, event in enumerate(arena_generation(made, 3, "connect_four")):
        if told > 70 and event.type == "game.move":
            break
    made.close()


def shoot(page: Page, address: str, out: Path, theme: str, suffix: str) -> None:
    page.add_init_script(f"localStorage.setItem('theme', '{theme}')")

    def picture(name: str, path: str, wait: str, action: object = None, full: bool = False) -> None:
        page.goto(f"{address}#{path}")
        page.reload()
        page.wait_for_selector(wait, timeout=10_000)
        if callable(action):
            action()
        page.wait_for_timeout(700)
        page.screenshot(path=str(out / f"{name}{suffix}.png"), full_page=full)

    def compare() -> None:
        for run in ("diabetes-rules", "diabetes-second"):
            page.get_by_label(f"Compare {run}").check()
        page.wait_for_selector(".uplot")

    picture("runs", "/", "table", compare)
    picture("start", "/", "table", lambda: page.get_by_role("button", name="Start a run").click())
    run = "/run/diabetes-rules"
    picture("overview", f"{run}/overview", ".uplot")
    picture("graph", f"{run}/graph", "canvas", lambda: (page.locator("canvas").focus(), page.keyboard.press("b")))
    picture("nodes", f"{run}/nodes", "table")
    page.goto(f"{address}#{run}/nodes")
    page.get_by_role("button", name="best", exact=True).click()
    link = page.locator("tbody tr td:nth-child(2) a").first.get_attribute("href") or ""
    picture("node", link.lstrip("#"), ".code")
    picture("failures", f"{run}/failures", "table")
    picture("setup", f"{run}/facts", "table")
    picture("islands", "/run/weibull-islands/islands", ".uplot")
    picture("graph-islands", "/run/weibull-islands/graph", "canvas")
    picture("arena", "/run/chess-arena/arena", ".tile")
    picture("arena-four", "/run/four-arena/arena", ".tile")
    page.goto(f"{address}#/run/chess-arena/arena")
    page.get_by_role("button", name="latest").click()
    game = page.locator(".tile").first.get_attribute("href") or ""
    picture("game", game.lstrip("#"), "[data-testid=bigboard]", lambda: page.wait_for_timeout(600))
    picture("replay", "/run/chess-arena/arena?speed=200", ".tile", lambda: page.wait_for_timeout(2500))


def main(out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        make_runs(Path(folder) / "logs")
        with serving(Path(folder)) as (address, _):
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            sizes = {"": (1280, 860, "light"), "-dark": (1280, 860, "dark"), "-phone": (390, 844, "light")}
            for suffix, (width, height, theme) in sizes.items():
                page = browser.new_page(viewport={"width": width, "height": height})
                page.on("pageerror", lambda error: print("page error:", error))
                page.on("console", lambda message: print("console:", message.text) if message.type == "error" else None)
                shoot(page, f"http://{address}/", out, theme, suffix)
                page.close()
            browser.close()


if __name__ == "__main__":
    os.environ.setdefault("TZ", "UTC")
    main(Path(sys.argv[1]))
