"""Runs of a sweep: each a process of its own, begun, resumed or left alone, whatever was there before."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.storage.reader import RunReader
from reports.sweeps.plan import Cell, Plan, note_of, run_of
from runs.sweeps.adoption import READY, adopt
from utils.errors import SwarmEvoError
from utils.secrets import masked_word

MAIN = Path(__file__).resolve().parents[2] / "main.py"
ENDED_WELL = (0, 3)
"""Exit codes of a search that its limits ended, with a valid program or without."""
INTERRUPTED = 130


class CellFailed(SwarmEvoError):
    """A run of a sweep ended by an error; what it said is the message."""


def is_finished(run: Path) -> bool:
    """True if its limits ended it: nothing is left to do."""
    with RunReader(run) as reader:
        return bool(reader.fact("status") == "finished")


def run_cells(plan: Plan, folder: Path, jobs: int, told: Callable[[Cell, str], None]) -> None:
    """Bring every cell to its end, `jobs` at a time. After one that fails no other begins.

    Args:
        told: called with the cell and `begins`, `goes on`, `known` or `done`, from several threads.
    Raises:
        CellFailed: one could not be run. KeyboardInterrupt: the user stopped one; the same command goes on.
    """
    adopt(plan, folder)
    failed = threading.Event()

    def work(cell: Cell) -> None:
        if failed.is_set():
            return
        try:
            _bring_to_its_end(plan.words, folder, cell, told)
        except BaseException:
            failed.set()
            raise

    with ThreadPoolExecutor(jobs) as pool:
        for under_way in [pool.submit(work, cell) for cell in plan.cells]:
            under_way.result()


def _is_said_again(word: str) -> bool:
    """True for what a run that goes on has not stored: secrets, and the user's word for running without a sandbox."""
    return word == "--i-accept-unsandboxed" or masked_word(word) != word


def _bring_to_its_end(words: Sequence[str], folder: Path, cell: Cell, told: Callable[[Cell, str], None]) -> None:
    run = run_of(folder, cell)
    if run is not None and is_finished(run):
        told(cell, "known")
        return
    told(cell, "begins" if run is None else "goes on")
    place = f"--project.dir={folder.parents[2]}"
    if run is None:
        asked = ["run", *words, *cell.words, place, f"{READY}{note_of(folder, cell)}"]
    else:
        asked = ["resume", run.name, place, *filter(_is_said_again, words)]
    ended = subprocess.run(
        [sys.executable, str(MAIN), *asked, "--logging.view=quiet"],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False,
    )  # fmt: skip
    if ended.returncode == INTERRUPTED:
        raise KeyboardInterrupt
    if ended.returncode not in ENDED_WELL:
        said = (ended.stderr.strip().splitlines() or [f"exit {ended.returncode}"])[-1].removeprefix("swarm-evo: ")
        raise CellFailed(f"sweep: {' '.join(cell.words)}: {said}")
    told(cell, "done")
