"""`wait`: the verdict on a ticket that was told; without a ticket, the end of the run."""

from __future__ import annotations

import argparse
import sys
import time
from math import inf
from pathlib import Path

from cli import show
from cli.options import seconds
from cli.ticket_options import add_ticket_options, print_answer, run_of, until_verdict
from core.storage.held import is_held
from core.storage.reader import RunReader
from core.storage.run_names import may_be_run
from core.storage.unreadable import unreadable
from utils.counts import counted
from utils.errors import StoreError, UnknownRunError

APPEARS = 30.0
"""Seconds in which a run that was just begun has its folder; a name that nobody has is told then."""
LOOK = 0.2
"""Seconds between two looks at a run."""
BETWEEN = 5.0
"""Seconds between two lines of progress."""


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("wait", help="wait for a ticket's verdict, or without a ticket for the run's end")
    add_ticket_options(parser, optional=True)
    parser.add_argument("--seconds", type=seconds, default=3600.0, help="how long (3600)")


def run(args: argparse.Namespace) -> int:
    if args.ticket:
        return print_answer(args, until_verdict(args, "wait"))
    until = time.monotonic() + args.seconds
    _until_free(_begun(args), until)
    return show.run(argparse.Namespace(**vars(args), node=None, why=False, diff=False, files=False))


def _begun(args: argparse.Namespace) -> Path:
    """The run's folder, which a run that was begun a moment ago has not made yet."""
    patience, is_told = min(args.seconds, APPEARS), False
    until = inf
    while True:
        try:
            return run_of(args)
        except UnknownRunError as error:
            until = until if is_told else time.monotonic() + patience  # the first look takes as long as it takes
            if time.monotonic() >= until or not may_be_run(args.run):
                raise UnknownRunError(f"{error} (waited {patience:g} s for it)" if is_told else str(error)) from error
        if not is_told:
            print(f"no run '{args.run}' yet: waiting up to {patience:g} s for it", file=sys.stderr, flush=True)
        is_told = True
        time.sleep(min(LOOK, max(0.0, until - time.monotonic())))


def _until_free(run_dir: Path, until: float) -> None:
    """Wait until no process works on the run, telling on standard error how far it is: once in any case, also where
    finding the run took all of the time."""
    told, next_word = "", time.monotonic()
    while is_held(run_dir):
        if (now := time.monotonic()) >= next_word:
            told, next_word = _say(run_dir, told), now + BETWEEN
        if now >= until:
            return
        time.sleep(min(LOOK, until - now))


def _say(run_dir: Path, told: str) -> str:
    """How far a run is, if that is news."""
    try:
        with unreadable(run_dir.name), RunReader(run_dir) as reader:
            steps, best = reader.steps(), reader.best()
    except StoreError:  # one that is being made; of one that stays so `show` tells at the end
        return told
    metric = "no score yet" if best is None or best.metric_value is None else f"best {best.metric_value:.6g}"
    word = f"{run_dir.name}: {counted(steps, 'step')}, {metric}"
    if word != told:
        print(word, file=sys.stderr, flush=True)
    return word
