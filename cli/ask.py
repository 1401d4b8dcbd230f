"""`ask`: lease the run's next proposal to a writer outside."""

from __future__ import annotations

import argparse
import json
import secrets
import sys
from pathlib import Path
from typing import Any

from cli.options import add_run_argument, project_dir_of, refuse_options, seconds
from cli.ticket_options import EXIT_CODES, answer, print_next
from runs.run_folder import find_run
from runs.tickets.folder import write_folder
from runs.tickets.open_tickets import line_of
from runs.tickets.words import COMMAND_LINE
from utils.clean_text import one_line
from utils.errors import ConfigError
from utils.program import command
from utils.user_places import check_folder_place

REQUEST = 'it is an object such as {"verb": "wait", "ticket": "…", "seconds": 5}'


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("ask", help="a ticket: what to write next (run --writer=external)")
    add_run_argument(parser)
    parser.add_argument(
        "ticket",
        nargs="?",
        metavar="TICKET",
        help="one of yours, to be told again, or another's NODE, to take over; else a new one",
    )
    parser.add_argument("--seconds", type=seconds, default=20.0, help="how long to wait for a proposal (20)")
    parser.add_argument("--dir", metavar="DIR", help="write TASK.md and the program to change there")
    parser.add_argument("--list", action="store_true", help="the open tickets: who holds each, since when, how long")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--request", metavar="JSON", help="any request, answered as JSON; - reads it from stdin")


def run(args: argparse.Namespace) -> int:
    if args.request is not None:
        refuse_options(args, ("ticket", "dir", "list"), "ask --request", "the request says all")
        print(json.dumps(answer(args, **_request(args.request))))
        return 0
    if args.list:
        refuse_options(args, ("ticket", "dir"), "ask --list", "it lists all open tickets")
        return _listed(args, answer(args, "tickets"))
    if args.dir:
        check_folder_place("dir", Path(args.dir))  # a ticket that cannot be laid out would be held for nothing
    found = answer(args, "ask", token=secrets.token_hex(16), seconds=args.seconds, holder=_holder(args))
    if args.dir and found.get("ticket"):
        write_folder(Path(args.dir), found, find_run(project_dir_of(args), args.run), COMMAND_LINE)
    if args.json:
        print(json.dumps(found, indent=2))
        return _code(found)
    for warning in found.get("warnings", ()):
        print(f"warning: {one_line(warning)}")
    if found.get("ticket"):
        print(f"ticket: {found['ticket']}")
        print(f"operator: {found['operator']}" + "".join(f", parent {one['node_id']}" for one in found["parents"]))
        if not args.dir:
            again = command(project_dir_of(args), "ask", args.run, found["ticket"], "--dir", "DIR")
            print(f"the task: `{again}` lays it out, --json prints it")
        print(f"next: write {', '.join(found['editable'])}, then `{found['then']}`")
    else:
        print(f"no ticket: {one_line(str(found['message']))}")
        if found.get("over"):
            print_next(found)
    return _code(found)


def _code(found: dict[str, Any]) -> int:
    return 0 if found.get("ticket") is not None else EXIT_CODES.get(str(found.get("state")), 1)


def _holder(args: argparse.Namespace) -> str:
    """What a person recognises the ticket by: where it was laid out, else where `ask` was called."""
    return f"`ask --dir {Path(args.dir).resolve()}`" if args.dir else f"`ask` in {Path.cwd()}"


def _listed(args: argparse.Namespace, found: dict[str, Any]) -> int:
    rows = found["tickets"]
    if args.json:
        print(json.dumps(found, indent=2))
        return 0
    for row in rows:
        print(one_line(line_of(row)))
    if rows:
        for verb, does in (("ask", "take one over"), ("give-up", "free one")):
            print(f"{does}: {command(project_dir_of(args), verb, args.run, rows[0]['node_id'])}")
    else:
        print(f"run {args.run} has no open ticket")
    return 0


def _request(text: str) -> dict[str, Any]:
    """A program may be longer than a word of a command line: then it comes by standard input."""
    try:
        found = json.loads(sys.stdin.read() if text == "-" else text)
    except ValueError as error:
        raise ConfigError(f"--request: no JSON: {error}; {REQUEST}") from error
    if not isinstance(found, dict) or not isinstance(found.get("verb"), str):
        raise ConfigError(f"--request: has no 'verb'; {REQUEST}")
    return found
