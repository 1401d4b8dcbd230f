"""Runs of a sweep: each a process of its own, begun, resumed or left alone, whatever was there before."""

from __future__ import annotations

import signal
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from core.storage.held import is_held
from core.storage.reader import RunReader
from reports.sweeps.plan import Cell, Plan, note_of, run_of
from runs.interrupts import Interrupts, paused_together
from runs.sweeps.adoption import READY, adopt, await_end, await_names, claimed
from swarm_evo.child import command, environment
from utils.errors import SwarmEvoError
from utils.secrets import masked_word

ENDED_WELL = (0, 3)
"""Exit codes of a search that its limits ended, with a valid program or without."""
INTERRUPTED = 130


class CellFailed(SwarmEvoError):
    """A run of a sweep ended by an error; what it said is the message."""


def is_finished(run: Path) -> bool:
    """True if its limits ended it: nothing is left to do."""
    with RunReader(run) as reader:
        return bool(reader.fact("status") == "finished")


class _UnderWay:
    """The processes of runs that are under way. They hear of signals from us alone, each in a group of its own: where
    a terminal's reached them too, the two of them at once could leave a run waiting for what it was to stop.
    """

    def __init__(self, finishing: Callable[[], None]) -> None:
        self._finishing = finishing
        self._processes: set[subprocess.Popen[str]] = set()
        self._lock = threading.RLock()
        """Taken by the main thread in a signal's handler alone, which another may interrupt."""
        self.interrupts = Interrupts(self._finish, self._pass_on)

    @property
    def is_ending(self) -> bool:
        """True once no further run begins."""
        return self.interrupts.finish.is_set()

    def run(self, words: Sequence[str], claim: int) -> tuple[int, str]:
        """Exit code and standard error of a run that has ended. KeyboardInterrupt where none begins any more.

        Args:
            words: of its command line; secrets go by its environment, which no other user of the machine sees.
            claim: a descriptor that the run keeps while it lives.
        """
        told = [word.removeprefix("--") if masked_word(word) != word else word for word in words]
        with self._lock:
            if self.is_ending:
                raise KeyboardInterrupt
            process = subprocess.Popen(
                command(told), env=environment(told), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE, text=True, process_group=0, pass_fds=[claim],
            )  # fmt: skip
            self._processes.add(process)
        try:
            _, said = process.communicate()
        finally:
            with self._lock:
                self._processes.discard(process)
        return process.returncode, said

    def groups(self) -> list[int]:
        """Of the runs that are under way; each leads its own."""
        with self._lock:
            return [process.pid for process in self._processes if process.poll() is None]

    def _finish(self, search_is_over: bool) -> None:
        self._pass_on()
        self._finishing()

    def _pass_on(self) -> None:
        with self._lock:
            for process in self._processes:
                process.send_signal(signal.SIGTERM)


def run_cells(
    plan: Plan, folder: Path, jobs: int, told: Callable[[Cell, str], None], finishing: Callable[[], None]
) -> None:
    """Bring every cell to its end, `jobs` at a time. After one that fails no other begins.

    A first SIGINT, SIGTERM or SIGHUP lets the runs under way finish what is in flight and save, a second stops them.
    SIGTSTP (Ctrl-Z) stops them with the sweep, until it goes on.

    Args:
        told: called with the cell and `begins`, `goes on`, `known`, `done` or that a live process is waited for, from
            several threads.
        finishing: called at the first signal, inside its handler.
    Raises:
        CellFailed: one could not be run. KeyboardInterrupt: the user stopped it, or one of its runs; the same command
            goes on.
    """
    await_names(plan, folder)
    adopt(plan, folder)
    under_way = _UnderWay(finishing)
    failed = threading.Event()

    def work(cell: Cell) -> None:
        if failed.is_set() or under_way.is_ending:
            return
        try:
            _bring_to_its_end(plan.words, folder, cell, told, under_way)
        except BaseException:
            failed.set()
            raise

    with (
        under_way.interrupts.handled(),
        paused_together(under_way.groups),
        ThreadPoolExecutor(jobs) as pool,
    ):
        for begun in [pool.submit(work, cell) for cell in plan.cells]:
            begun.result()
    if under_way.is_ending:
        raise KeyboardInterrupt


def _is_said_again(word: str) -> bool:
    """True for what a run that goes on has not stored: secrets, and the user's word for running without a sandbox."""
    return word == "--i-accept-unsandboxed" or masked_word(word) != word


def _bring_to_its_end(
    words: Sequence[str], folder: Path, cell: Cell, told: Callable[[Cell, str], None], under_way: _UnderWay
) -> None:
    run = run_of(folder, cell)
    if run is not None and is_held(run):
        told(cell, "waits for the process that works on it")
        await_end(folder, cell, run, under_way.interrupts.finish)
    if run is not None and is_finished(run):
        told(cell, "known")
        return
    told(cell, "begins" if run is None else "goes on")
    place = f"--project.dir={folder.parents[2]}"
    if run is None:
        asked = ["run", *words, *cell.words, place, f"{READY}{note_of(folder, cell)}"]
    else:
        asked = ["resume", run.name, place, *filter(_is_said_again, words)]
    with claimed(folder, cell) as claim:
        code, said = under_way.run([*asked, "--logging.view=quiet"], claim)
    if code == INTERRUPTED or (under_way.is_ending and code not in ENDED_WELL):  # or signalled while it was loaded
        raise KeyboardInterrupt
    if code not in ENDED_WELL:
        last = (said.strip().splitlines() or [f"exit {code}"])[-1].removeprefix("swarm-evo: ")
        raise CellFailed(f"sweep: {' '.join(cell.words)}: {last}")
    told(cell, "done")
