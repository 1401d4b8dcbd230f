"""The page: frames a second of the graph, time to place and draw it, and the weight of the first load.

    python -m benchmarks.dashboard_page [--sizes 500,5000,20000] [--seconds 3]

Needs Chromium and the built page. The graph is moved a little in every frame (panned all the time, then zoomed in and
out): a frame counts when the browser asked for it and the graph was drawn. Headless Chromium draws by software and asks
60 times a second at most. Weight is what travels, gzipped, on the first visit to a run; the chart and the large chess
board are files of their own that only the views with them load.
"""

from __future__ import annotations

import argparse
import gzip
import random
import statistics
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

MOVE = """async ([kind, seconds]) => {
  const dag = document.querySelector('canvas').dag;
  const until = performance.now() + seconds * 1000;
  let frames = 0, last = performance.now(), longest = 0, way = 1;
  const start = last, drawn = dag.frames;
  await new Promise(done => {
    const next = () => {
      const now = performance.now();
      longest = Math.max(longest, now - last); last = now; frames += 1;
      if (frames % 90 === 0) way = -way;
      if (kind === 'pan') dag.pan(4 * way, 2 * way); else dag.zoom(way > 0 ? 1.012 : 1 / 1.012);
      now < until ? requestAnimationFrame(next) : done();
    };
    requestAnimationFrame(next);
  });
  const took = (performance.now() - start) / 1000;
  return { fps: (dag.frames - drawn) / took, asked: frames / took, longest };
}"""


def write_run(logs: Path, size: int) -> None:
    """A run of `size` committed nodes, told by events alone: all that the page reads."""
    from core.events import NodeCommitted, RunStarted
    from core.storage.repository import RunStore

    rng = random.Random(size)
    store = RunStore(logs / f"nodes-{size}")
    events: list[Any] = [RunStarted(run=f"nodes-{size}", problem="bench", lower_is_better=True)]
    for step in range(size):
        parent = [f"{rng.randrange(max(0, step - 400), step):012x}"] if step > 8 else []
        events.append(
            NodeCommitted(
                node_id=f"{step:012x}", step=step, parent_ids=parent, operator="improve" if parent else "draft",
                metric=rng.gauss(50, 5), is_buggy=rng.random() < 0.2, best_node_id=f"{0:012x}", best_metric=40.0,
            )
        )  # fmt: skip
        if len(events) >= 1000:
            store.append(events)
            events = []
    store.append(events)
    store.put_fact("status", "finished")
    store.close()


def frames(page: Any, address: str, size: int, seconds: float) -> None:
    page.goto(f"http://{address}/#/run/nodes-{size}/graph")
    page.reload()
    page.locator("canvas").wait_for(timeout=60_000)
    page.wait_for_timeout(800)
    line = f"{size:>7} nodes "
    for kind in ("pan", "zoom"):
        found = [page.evaluate(MOVE, [kind, seconds]) for _ in range(3)]
        fps = statistics.median(one["fps"] for one in found)
        line += f"   {kind} {fps:5.1f} frames/s, longest {statistics.median(one['longest'] for one in found):4.0f} ms"
    print(line, flush=True)


def weight(page: Any, address: str) -> None:
    bodies: dict[str, bytes] = {}

    def keep(answer: Any) -> None:
        if "/api/" not in answer.url and answer.status == 200:
            bodies[answer.url.rsplit("/", 1)[-1] or "index.html"] = answer.body()

    page.on("response", keep)
    page.goto(f"http://{address}/#/run/nodes-500/overview")
    page.wait_for_selector(".uplot")
    page.wait_for_timeout(300)
    total = 0
    for name, body in sorted(bodies.items()):
        packed = len(gzip.compress(body, 9))
        total += packed
        print(f"{packed / 1000:8.1f} kB  {name}")
    print(f"{total / 1000:8.1f} kB  first load of a run's overview, gzipped")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="500,5000,20000")
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    from support.dashboard import CHROMIUM, missing, serving

    if reason := missing():
        print(f"skipped: {reason}")
        return 0
    from playwright.sync_api import sync_playwright

    sizes = [int(size) for size in options.sizes.split(",")]
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        for size in {*sizes, 500}:
            write_run(Path(folder) / "logs", size)
        with serving(Path(folder)) as (address, _):
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
            for size in sizes:
                page = browser.new_page(viewport={"width": 1280, "height": 860})
                frames(page, address, size, options.seconds)
                page.close()
            weight(browser.new_page(), address)
            browser.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
