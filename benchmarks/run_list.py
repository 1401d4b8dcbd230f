"""How long a list of thousands of runs takes: on the command line, from the dashboard's server, to search in the page.

    python -m benchmarks.run_list [--runs 2000] [--rounds 7]

The runs are copies of one small store. The list is read once before anything is measured, as it is by whoever looked at
the folder before. Processor time is that of the process alone; wall times depend on what else the machine does, so the
shortest of the rounds is printed beside their median. The page's time is from a letter in the search box to the next
frame. Without Chromium the page is left out.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

TYPE = """(text) => new Promise(done => {
  const box = document.querySelector('input[type=search]'), start = performance.now();
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(box, text);
  box.dispatchEvent(new Event('input', { bubbles: true }));
  requestAnimationFrame(() => setTimeout(() => done(performance.now() - start), 0));
})"""
WORDS = ("0019", "run-0012", "status:finished", "diabetes", "")


def write_runs(logs: Path, count: int) -> None:
    from support.synthetic_runs import competition

    made = competition(logs, 4, run="run-0000")
    made.end()
    made.close()
    for number in range(1, count):
        folder = logs / f"run-{number:04d}"
        folder.mkdir()
        shutil.copy(logs / "run-0000" / "run.db", folder / "run.db")


def command_line(project: Path, rounds: int, *words: str) -> None:
    command = [sys.executable, str(ROOT / "main.py"), "list-runs", *words]
    spent = []
    for _ in range(rounds + 1):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run(command, cwd=project, stdout=subprocess.DEVNULL, check=True)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        spent.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    told("list-runs " + " ".join(words), "CPU-s", spent[1:], 1.0, digits=2)


def server(address: str, process_id: int, rounds: int) -> None:
    def ask() -> float:
        start = time.perf_counter()
        with urllib.request.urlopen(f"http://{address}/api/runs") as answer:
            answer.read()
        return time.perf_counter() - start

    ask()
    ticks, walls = _ticks(process_id), [ask() for _ in range(rounds * 3)]
    told("/api/runs", "ms", walls, 1000.0)
    told("/api/runs", "CPU-ms", [(_ticks(process_id) - ticks) / len(walls)], 1000.0)


def page(address: str, rounds: int) -> None:
    from playwright.sync_api import sync_playwright
    from support.dashboard import CHROMIUM

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        shown: Any = browser.new_page(viewport={"width": 1280, "height": 900})
        shown.goto(f"http://{address}/")
        shown.locator("table.runs").wait_for()
        seconds = [shown.evaluate(TYPE, text) / 1000 for _ in range(rounds) for text in WORDS]
        told("search in the page", "ms", seconds, 1000.0)
        browser.close()


def told(what: str, unit: str, seconds: list[float], scale: float, digits: int = 0) -> None:
    middle, least = statistics.median(seconds) * scale, min(seconds) * scale
    print(f"{what:24s} {middle:8.{digits}f} {unit:7s} shortest {least:8.{digits}f}", flush=True)


def _ticks(process_id: int) -> float:
    """Processor seconds of a process."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> int:
    from support.dashboard import missing, serving

    parser = argparse.ArgumentParser(description="a list of thousands of runs")
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        write_runs(project / "logs", options.runs)
        print(f"{options.runs} runs, load {os.getloadavg()[0]:.0f}")
        command_line(project, options.rounds)
        command_line(project, options.rounds, "--json")
        with serving(project) as (address, process):
            server(address, process.pid, options.rounds)
            if reason := missing():
                print(f"search in the page       left out: {reason}")
            else:
                page(address, options.rounds)
    return 0


if __name__ == "__main__":
    sys.exit(main())
