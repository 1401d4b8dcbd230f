"""`python tests/browser/screenshots.py PROJECT OUT`: every view of real runs of PROJECT, for docs/img."""

from __future__ import annotations

import os
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

from playwright.sync_api import Page, sync_playwright  # noqa: E402
from support.dashboard import CHROMIUM, serving  # noqa: E402


def find_runs(logs: Path) -> dict[str, str]:
    """The largest run of each family, and a second one of the first family to compare with."""
    wanted = ("ames", "u120", "chess_engines", "connect_four")
    found = {kind: sorted(logs.glob(f"{kind}*/run.db"), key=lambda db: -db.stat().st_size) for kind in wanted}
    lacking = [kind for kind, runs in found.items() if not runs]
    if lacking:
        raise SystemExit(f"no run of {', '.join(lacking)} below {logs}: make some with main.py first")
    names = {kind: [db.parent.name for db in stores] for kind, stores in found.items()}
    return {**{kind: runs[0] for kind, runs in names.items()}, "second": names["ames"][:2][-1]}


def shoot(page: Page, address: str, runs: dict[str, str], out: Path, theme: str, suffix: str) -> None:
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
        for run in {runs["ames"], runs["second"]}:
            page.get_by_label(f"Choose {run}").check()

    picture("runs", "/", "table", compare)
    picture("compare", f"/compare?runs={runs['ames']},{runs['second']}", ".uplot")
    picture("start", "/", "table", lambda: page.get_by_role("button", name="Start a run").click())
    run = f"/run/{runs['ames']}"
    picture("overview", f"{run}/overview", ".uplot")
    picture("graph", f"{run}/graph", "canvas", lambda: (page.locator("canvas").focus(), page.keyboard.press("b")))
    picture("nodes", f"{run}/nodes", "table")
    page.goto(f"{address}#{run}/nodes")
    page.get_by_role("button", name="Outcome").click()
    link = page.locator("tbody tr td:nth-child(2) a").first.get_attribute("href") or ""
    picture("node", link.lstrip("#"), ".code")
    picture("failures", f"/run/{runs['u120']}/failures", ".panel")
    picture("setup", f"{run}/facts", "table")
    picture("islands", f"/run/{runs['u120']}/islands", ".uplot")
    picture("graph-islands", f"/run/{runs['u120']}/graph", "canvas")
    picture("arena", f"/run/{runs['chess_engines']}/arena", ".tile")
    picture("arena-four", f"/run/{runs['connect_four']}/arena", ".tile")
    page.goto(f"{address}#/run/{runs['chess_engines']}/arena")
    game = page.get_by_test_id("featured").locator(".tile").get_attribute("href") or ""
    picture("game", game.lstrip("#"), "[data-testid=bigboard]", lambda: page.wait_for_timeout(600))
    picture("replay", f"/run/{runs['chess_engines']}/arena?speed=200", ".tile", lambda: page.wait_for_timeout(2500))


def main(project: Path, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    runs = find_runs(project / "logs")
    with sync_playwright() as playwright, serving(project) as (address, _):
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        sizes = {"": (1280, 860, "light"), "-dark": (1280, 860, "dark"), "-phone": (390, 844, "light")}
        for suffix, (width, height, theme) in sizes.items():
            page = browser.new_page(viewport={"width": width, "height": height})
            page.on("pageerror", lambda error: print("page error:", error))
            shoot(page, f"http://{address}/", runs, out, theme, suffix)
            page.close()
        browser.close()


if __name__ == "__main__":
    os.environ.setdefault("TZ", "UTC")
    main(Path(sys.argv[1]).resolve(), Path(sys.argv[2]))
