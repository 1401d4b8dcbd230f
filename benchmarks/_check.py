"""Whether what is measured now is slower than what the page says, on a machine that may be another or a busy one.

Every figure is taken by what is timed with it: a loop of work, or hand-overs between two processes, which one machine
is slow at and another is not. Half the speed of that and of the figure together is no change. A benchmark that seems
slower is run again: noise goes away, a slower program does not.
"""

from __future__ import annotations

import json
import os
import re
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from statistics import median
from typing import NamedTuple

SLOWER = 1.25
"""From this on a figure counts as slower."""
TRIES = 3
_CALIBRATION = re.compile(r"calibration ([\d.]+) ms(?:, a hand-over ([\d.]+) µs)?")
_ROUNDS = 9
_HANDED = 2000


class Calibration(NamedTuple):
    """What the machine is worth."""

    work_ms: float
    """Milliseconds of `work`, the median of some rounds."""
    handover_us: float | None
    """CPU microseconds of a byte there and back between two processes; None in sections of before."""

    def __str__(self) -> str:
        handed = "" if self.handover_us is None else f", a hand-over {self.handover_us:.1f} µs"
        return f"calibration {self.work_ms:.1f} ms{handed}"


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a benchmark's output: the only group of `pattern`."""

    name: str
    pattern: str
    is_rate: bool = False
    """Higher is better; else it is a time."""
    is_handed: bool = False
    """Most of it are hand-overs between two processes."""

    def of(self, text: str) -> float | None:
        found = re.search(self.pattern, text, re.M)
        return float(found[1].replace(",", "")) if found else None


FIGURES: dict[str, tuple[Figure, ...]] = {
    "arena": (
        Figure("games a CPU-second, sessions", r"^sessions, rust-chess +([\d.]+)", is_rate=True, is_handed=True),
        Figure("games a CPU-second, UCI", r"^uci, rust-chess +([\d.]+)", is_rate=True, is_handed=True),
    ),
    "backend_calls": (
        Figure("calls of rules", r"^rules +(\d+) calls/s", is_rate=True),
        Figure("calls over HTTP", r"^HTTP +(\d+) calls/s", is_rate=True),
        Figure("calls of the cache", r"^cache +(\d+) calls/s", is_rate=True),
    ),
    "loop": (
        Figure("CPU ms a candidate, trusted", r"^ +CPU ms a candidate, trusted: ([\d.]+)"),
        Figure("CPU ms a candidate, sandboxed", r"^ +CPU ms a candidate, sandboxed: ([\d.]+)"),
    ),
    "proxied_calls": (
        Figure("µs of a call through the proxy", r"^proxy +([\d.]+) µs", is_handed=True),
        Figure("µs of a call of a session", r"^session, one call at a time +([\d.]+) µs", is_handed=True),
    ),
    "sandbox": (
        Figure("ms of a job that imports the ML stack", r"'warm_ms': ([\d.]+)"),
        Figure("small candidates a second", r"^tiny_candidates_per_s +([\d.]+)", is_rate=True),
        Figure("small jobs a second", r"^tiny_jobs_per_s +([\d.]+)", is_rate=True),
    ),
}
"""What is compared: the benchmarks that take less than half a minute."""


def calibration() -> Calibration:
    """Of this machine, now."""
    return Calibration(median(_timed(work) for _ in range(_ROUNDS)), median(handover() for _ in range(_ROUNDS)))


def _timed(task: Callable[[], None]) -> float:
    began = time.perf_counter()
    task()
    return 1000 * (time.perf_counter() - began)


def work() -> None:
    """A fixed piece of work: arithmetic, JSON, forks."""
    total = 0
    for number in range(150_000):
        total += number * number % 7
    for _ in range(150):
        json.loads(json.dumps({"numbers": list(range(60)), "text": "x" * 200}))
    for _ in range(8):
        pid = os.fork()
        if pid == 0:
            os._exit(0)
        os.waitpid(pid, 0)


def handover() -> float:
    """CPU microseconds of both processes for a byte there and back."""
    ours, theirs = socket.socketpair()
    with ours, theirs:
        pid = os.fork()
        if pid == 0:
            ours.close()
            while byte := theirs.recv(1):
                theirs.send(byte)
            os._exit(0)
        theirs.close()
        began = time.process_time()
        for _ in range(_HANDED):
            ours.send(b"x")
            ours.recv(1)
        mine = time.process_time() - began
        ours.close()
        used = os.wait4(pid, 0)[2]
    return 1e6 * (mine + used.ru_utime + used.ru_stime) / _HANDED


@dataclass(frozen=True, slots=True)
class Change:
    """A figure then and now."""

    figure: Figure
    before: float
    now: float
    factor: float
    """How many times as long it takes as it should on this machine: above 1 is slower."""

    @property
    def is_slower(self) -> bool:
        return self.factor >= SLOWER

    def __str__(self) -> str:
        verdict = "SLOWER" if self.is_slower else "ok"
        return f"{self.figure.name:40s} {self.before:10g} {self.now:10g} {self.factor:8.2f}   {verdict}"


def calibration_of(section: str) -> Calibration | None:
    """What a section of the page says of the machine when it was written; None for one of before calibration."""
    found = _CALIBRATION.search(section)
    return Calibration(float(found[1]), float(found[2]) if found[2] else None) if found else None


def changes(name: str, before: str, now: str) -> Iterator[Change]:
    """Each figure of a benchmark that two sections have in common.

    Raises:
        ValueError: a figure is missing in what was measured now: the benchmark's words have changed.
    """
    old, new = calibration_of(before), calibration_of(now)
    for figure in FIGURES[name]:
        was, is_ = figure.of(before), figure.of(now)
        if is_ is None:
            raise ValueError(f"{name}: no line says '{figure.name}'")
        if was is None or old is None or new is None:
            continue
        factor = was / is_ if figure.is_rate else is_ / was
        if figure.is_handed and old.handover_us and new.handover_us:
            factor *= old.handover_us / new.handover_us
        else:
            factor *= old.work_ms / new.work_ms
        yield Change(figure, was, is_, factor)


def checked(name: str, before: str, measure: Callable[[], str]) -> list[Change]:
    """The changes of a benchmark, by the try in which the fewest of its figures were slower."""
    tries: list[list[Change]] = []
    for _ in range(TRIES):
        tries.append(list(changes(name, before, measure())))
        if not any(change.is_slower for change in tries[-1]):
            break
    return min(tries, key=lambda found: sum(change.is_slower for change in found))
