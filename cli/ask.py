"""`ask`: lease the run's next proposal to a writer outside."""

from __future__ import annotations

import argparse
import json
import secrets
import shlex
import sys
from pathlib import Path
from typing import Any

from cli.options import add_run_argument
from cli.ticket_options import EXIT_CODES, answer
from runs.tickets.folder import write_folder
from utils.clean_text import one_line
from utils.errors import ConfigError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("ask", help="a ticket: what to write next (run --writer=external)")
    add_run_argument(parser)
    parser.add_argument("--seconds", type=float, default=20.0, help="how long to wait for a proposal (20)")
    parser.add_argument("--dir", metavar="DIR", help="write TASK.md and the program to change there")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--request", metavar="JSON", help="any request, answered as JSON; - reads it from stdin")


def run(args: argparse.Namespace) -> int:
    if args.request:
        print(json.dumps(answer(args, **_request(args.request))))
        return 0
    found = answer(args, "ask", token=secrets.token_hex(16), seconds=args.seconds)
    if args.dir and found.get("ticket"):
        write_folder(Path(args.dir), found)
    if args.json:
        print(json.dumps(found, indent=2))
    elif found.get("ticket"):
        print(f"ticket: {found['ticket']}")
        print(f"operator: {found['operator']}" + "".join(f", parent {one['node_id']}" for one in found["parents"]))
        place = f"--dir {shlex.quote(args.dir)}" if args.dir else "--file FILE"
        task = "" if args.dir else " (the task: `ask` with --dir or --json)"
        print(f"next: write {', '.join(found['editable'])}{task}, then `tell {args.run} {found['ticket']} {place}`")
    else:
        print(f"no ticket: {one_line(str(found['message']), 300)}")
    if found.get("ticket") is None:
        return EXIT_CODES.get(str(found.get("state")), 1)
    return 0


def _request(text: str) -> dict[str, Any]:
    """A program may be longer than a word of a command line: then it comes by standard input."""
    try:
        found = json.loads(sys.stdin.read() if text == "-" else text)
        return {**found, "verb": str(found["verb"])}
    except (ValueError, TypeError, KeyError) as error:
        raise ConfigError(f"--request: not a JSON object with a verb: {error}") from error
