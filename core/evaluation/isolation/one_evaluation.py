"""One evaluation, made ready before the process is forked that makes it.

Whatever a fork makes anew and every object that it changes is a page of memory that it copies. So the channel, the
stand-in and the sockets are there when it begins, once for all forks, and each only says which program it is about.

Standard library only: it is loaded by path into processes that hold user code and never see our packages.
"""

from __future__ import annotations

import atexit
import builtins
import os
import socket
import sys
import time
import traceback
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, NoReturn

_HERE = os.path.dirname(os.path.abspath(__file__))
FORKED = "the evaluator calls the candidate from several processes"
NOTHING: dict[str, Any] = {
    "value": None, "error": "", "line": "", "raised": False, "refused": "", "by_program": False, "classes": [],
    "calls": 0, "call_seconds": 0.0, "longest_call": 0.0,
    "failed": None, "opened": [], "clocks": False, "texts": False, "at_exit": True,
}  # fmt: skip
"""A report before anything was done. `at_exit`: modules of the evaluator's have something left to do at its end."""
MOST_BYTES = 64 << 20
"""Of a report: who hears it shares its process with others."""
MOST_PARTS = 2_000_000
"""Values, lists and objects of a report: read, each takes up to a hundred bytes."""


@dataclass
class Modules:
    """Ours, loaded by path under names that nothing of the user's can have."""

    plain: Any
    frames: Any
    channel: Any
    loading: Any
    proxy: Any
    stand_in: Any
    usual_numbers: Any
    usual_forms: Any
    elsewhere: Any


class Evaluation:
    """What an evaluation is put together of. One process makes one.

    Args:
        folder: below which the programs' files lie.
        looked_at: → what was seen of the evaluator while it was watched, for the report.
    """

    def __init__(self, ours: Modules, folder: str, looked_at: Callable[[], dict[str, Any]]) -> None:
        self._ours, self._looked_at = ours, looked_at
        self._folder, self._real_folder = folder, os.path.realpath(folder)
        place, self._report_to = socket.socketpair()
        self._channel, self._report = place.detach(), self._report_to.fileno()
        """Where a task's own sockets are put."""
        self._asking = ours.channel.Channel(self._channel, plain=ours.plain)
        raised, usual = ours.channel.ProgramRaised, ours.usual_numbers.usual
        self._stand = ours.proxy.Proxy(self._ask, raised, usual, ours.usual_forms, ours.plain.with_tensors)
        self._stood_in = ours.stand_in.StandIn(self._stand.fill, self._stand.refuse)
        self._delay = 0.0

    def stand_in(self, taken: Sequence[Mapping[str, Any]]) -> None:
        """Once the evaluator is loaded: from here on, ways of importing a candidate give its stand-in.

        Args:
            taken: names of the evaluator's modules, which a program does not take.
        """
        self._stand.taken = [*taken, vars(builtins)]
        self._stood_in.install()

    def expect(self, task: dict[str, Any]) -> None:
        """Make ready what a task has in common with those before it, in the process that is forked for it."""
        self._asking.expect(task["call_timeout"], task["memory_mb"])
        self._stand.expect(task["classes"])

    def make(self, task: dict[str, Any], fds: list[int], function: Callable[[str], Any]) -> NoReturn:
        """Hand the evaluator its candidate once its names are known, report what it returned, and end as an interpreter
        does.

        Args:
            fds: the program's channel, the socket for the report, the file for what is printed.
        """
        channel, report, output = fds
        for number in (1, 2):
            os.dup2(output, number)
        os.dup2(channel, self._channel, inheritable=False)
        os.dup2(report, self._report, inheritable=False)
        for fd in fds:
            os.close(fd)
        try:
            told = self._ours.frames.read(self._report)
            if told is None:  # the program could not be loaded
                os._exit(0)
            found = self._found(task, self._ours.plain.decode(told)["names"], function)
            sys.stdout.flush()
            sys.stderr.flush()
            if self._asking.forked:  # a child of the evaluator's that came back out of it: it has nothing to report
                sys.stderr.write(found["error"])
                sys.stderr.flush()
                os._exit(1)
            self._tell(found)
            atexit._run_exitfuncs()
        except BaseException:  # noqa: BLE001 - what breaks here is told with what was printed
            traceback.print_exc()
        finally:
            for stream in (sys.stdout, sys.stderr):
                with suppress(Exception):  # an evaluator may have put anything in their place
                    stream.flush()
            os._exit(0)

    def _found(self, task: dict[str, Any], names: Any, function: Callable[[str], Any]) -> dict[str, Any]:
        """The report on the candidate."""
        program, asking, stand = task["program"], self._asking, self._stand
        told: dict[str, Any] = dict(NOTHING)
        self._delay = task["delay"]
        asking.begin()
        stand.begin(self._ours.plain.unwrap(names))
        if not task["is_text"]:
            self._stood_in.cover(program, self._real_folder + program[len(self._folder) :])
        if task["serves"]:
            self._serve(os.path.dirname(program), task["text"])
        try:
            told["value"] = self._ours.loading.to_plain(function(program))
        except BaseException as error:  # noqa: BLE001 - the user's evaluator may raise anything, SystemExit too
            told |= {"error": trace(error), "line": line(error), "raised": error is stand.raised_last}
        finally:
            self._stood_in.uncover()
        failed = asking.failed
        told |= self._looked_at() if task["watch"] else {}
        return told | {
            "refused": stand.refused, "by_program": stand.by_program, "classes": stand.classes,
            "calls": asking.calls, "call_seconds": asking.seconds,
            "longest_call": asking.longest,
            "failed": None if failed is None else [failed.failure, failed.message],
            "at_exit": atexit._ncallbacks() > 0,
        }  # fmt: skip

    def _serve(self, folder: str, text: str) -> None:
        """Have other processes of the evaluator's ask this one."""
        stand, asking = self._stand, self._asking
        ways = stand.fill, stand.call, stand.refuse, asking.give_up
        relay = self._ours.elsewhere.Relay(folder, text, *ways, self._ours.plain)
        stand.forward = lambda *asked: relay.ask(*asked) if asking.forked else stand.call(*asked)

    def _ask(self, name: str, args: Any, named: Any) -> Any:
        if self._asking.forked:  # answers would go to whoever reads first: only this one word is said from here
            self._tell(NOTHING | {"refused": FORKED})
            raise self._stand.refuse(FORKED)
        if self._delay:
            time.sleep(self._delay)
        return self._asking.call(name, args, named)

    def _tell(self, report: dict[str, Any]) -> None:
        frame = self._ours.frames.framed({"report": report})
        why, parts = "", max(map(frame.count, (b",", b"[", b"{")))
        if len(frame) > MOST_BYTES:
            why = f"the evaluator returned {len(frame) >> 20:,} MB; at most {MOST_BYTES >> 20} MB are read"
        elif parts > MOST_PARTS:
            why = f"the evaluator returned {parts:,d} values; at most {MOST_PARTS:,} are read"
        if why:
            frame = self._ours.frames.framed({"report": {**report, "value": None, "error": why, "line": why}})
        self._report_to.sendall(frame)


def trace(error: BaseException) -> str:
    """The traceback without the frames that are ours."""
    told = traceback.TracebackException.from_exception(error)
    told.stack[:] = [frame for frame in told.stack if not frame.filename.startswith(_HERE)]
    return "".join(told.format())[-4000:]


def line(error: BaseException) -> str:
    """Exception and text, in one line."""
    return traceback.format_exception_only(type(error), error)[-1].strip()[:500]
