"""What the verbs of tickets share: `ask`, `check`, `tell`, `wait`, `give-up`."""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from pathlib import Path
from typing import Any

from cli.options import add_run_argument, project_dir_of
from runs.run_folder import find_run
from runs.tickets.client import ask_the_run
from runs.tickets.folder import left_behind, read_folder
from runs.tickets.names import LONGEST_CALL
from runs.tickets.words import COMMAND_LINE
from utils.clean_text import one_line
from utils.errors import ConfigError
from utils.program import command
from utils.user_text import no_utf8, user_text

EXIT_CODES = {"refused": 2, "expired": 1, "over": 1}
"""State of an answer → exit code; others 0."""
FIRST = 2.0
"""Seconds after which who waits for a verdict hears what for."""
LAST_LINES = 12
"""Of a failed program's output."""
_OURS = re.compile(r"/workspace/(?:[\w.-]+/)*(?:solution|program|candidate)(?=\.\w)")
"""The program's file as its sandbox names it."""


def add_ticket_options(parser: argparse.ArgumentParser, *, program: bool = False, optional: bool = False) -> None:
    """RUN, TICKET, --json, and where the program is.

    Args:
        optional: the ticket may be left out.
    """
    add_run_argument(parser)
    parser.add_argument("ticket", nargs="?" if optional else None, metavar="TICKET", help="as `ask` gave it")
    if program:
        parser.add_argument("--file", metavar="FILE", help="the program; standard input if neither is given")
        parser.add_argument("--dir", metavar="DIR", help="the folder that `ask --dir` filled")
        parser.add_argument("--plan", default="", metavar="TEXT", help="what it tries, in a sentence")
    parser.add_argument("--json", action="store_true")


def run_of(args: argparse.Namespace) -> Path:
    """The folder of the run that is meant. From here on `args.run` is its name: `latest` may soon be another."""
    run_dir = find_run(project_dir_of(args), args.run)
    args.run = run_dir.name
    return run_dir


def answer(args: argparse.Namespace, verb: str, **request: Any) -> dict[str, Any]:
    """The run's answer to one request."""
    run_dir = run_of(args)
    ticket = {"ticket": args.ticket} if getattr(args, "ticket", None) else {}
    found = ask_the_run(run_dir, {"verb": verb, "surface": COMMAND_LINE, **ticket, **request})
    if verb in ("check", "tell") and getattr(args, "dir", None) and (said := left_behind(Path(args.dir))):
        found = {**found, "warnings": [*found.get("warnings", ()), *said]}
    return {**found, "then": _then(args, found)} if found.get("next") else found


def _then(args: argparse.Namespace, found: dict[str, Any]) -> str:
    """What to do next as a whole command: JSON's `next` names a verb, and at the run's end none."""
    folder = getattr(args, "dir", None)
    ticket = str(found.get("ticket") or getattr(args, "ticket", None) or "TICKET")
    words = {
        "stop": ["show" if found.get("broke_off") else "export-best", args.run],
        "wait": ["wait", args.run, ticket],
        "tell": ["tell", args.run, ticket, *(("--dir", shlex.quote(folder)) if folder else ("--file", "FILE"))],
    }
    return command(project_dir_of(args), *words.get(str(found["next"]), ["ask", args.run]))


def until_verdict(args: argparse.Namespace, verb: str, **request: Any) -> dict[str, Any]:
    """The answer once it is evaluated, or what is known after `args.seconds`. Telling twice is telling once.

    Whoever waits for the open tickets of others hears whose they are.
    """
    left, longest, told = args.seconds, FIRST, ""
    while True:
        found = answer(args, verb, **request, seconds=max(0.0, min(left, longest)))
        left, longest = left - longest, LONGEST_CALL
        if found.get("state") != "running" or left <= 0 or found.get("next") != "wait":
            return found
        in_the_way = " ".join(row["node_id"] for row in found.get("open_tickets", ()))
        if in_the_way and in_the_way != told:
            print(f"no verdict yet: {one_line(str(found['message']))}", file=sys.stderr, flush=True)
        told = in_the_way


def program_of(args: argparse.Namespace) -> dict[str, Any]:
    """The program as a request holds it.

    Raises:
        ConfigError: both or no file, or a file that cannot be read.
    """
    if args.file and args.dir:
        raise ConfigError("--file and --dir: give one of them")
    if args.dir:
        return {"files": read_folder(Path(args.dir))}
    if args.file:
        return {"code": user_text(args.file, "--file ")}
    try:
        code = sys.stdin.read()
    except UnicodeDecodeError as error:
        raise ConfigError(f"standard input: cannot be read as text: {no_utf8(error)}") from error
    except OSError as error:
        raise ConfigError(f"standard input: cannot be read: {error.strerror}") from error
    if not code.strip():
        raise ConfigError("nothing on standard input; give --dir or --file")
    return {"code": code}


def print_answer(args: argparse.Namespace, found: dict[str, Any]) -> int:
    """As JSON or in lines; the exit code.

    Raises:
        ConfigError: the request was refused, and nobody wants JSON.
    """
    if not args.json and found.get("state") == "refused":
        raise ConfigError(one_line(str(found.get("message")), 500))
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        _print_lines(found)
    not_taken = 1 if found.get("answered_before") else 0
    return EXIT_CODES.get(str(found.get("state")), not_taken)


def _print_lines(found: dict[str, Any]) -> None:
    """An answer for people: of a program that failed, with the end of what it said."""
    if found.get("answered_before"):
        print("answered_before: true")
    for name in ("state", "node_id", "metric", "metric_source", "failure", "message"):
        if found.get(name) is not None and found.get(name) != "":
            print(f"{name}: {one_line(_OURS.sub('program', str(found[name])), 500)}")
    if found.get("metric") is not None and (best := found.get("best")) and not found.get("answered_before"):
        is_best = found.get("improved") or best["node_id"] == found.get("node_id")
        print("improved: true" if is_best else f"improved: false; best: {best['metric']} by {best['node_id']}")
    said = found.get("warnings") or ()
    for warning in said if found.get("message") not in said else ():
        print(f"warning: {one_line(str(warning), 500)}")
    if found.get("failure") and str(found.get("output_tail", "")).strip():
        print("output:")
        for line in str(found["output_tail"]).rstrip().splitlines()[-LAST_LINES:]:
            print(f"  {_OURS.sub('program', line)}")
    print_next(found)


def print_next(found: dict[str, Any]) -> None:
    """What to do now; where the run has ended, what takes the best program home."""
    if found.get("then"):
        print(f"next: {found['then']}")
