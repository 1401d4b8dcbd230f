"""`check`: does a program parse, keep the rules and differ from all before it? Never a score."""

from __future__ import annotations

import argparse
import json

from cli.ticket_options import add_ticket_options, answer, print_answer, program_of
from utils.clean_text import one_line


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("check", help="look at a ticket's program before it is told, at most 5 times")
    add_ticket_options(parser, program=True)


def run(args: argparse.Namespace) -> int:
    found = answer(args, "check", **program_of(args))
    if "state" in found:  # of the ticket: nothing was looked at
        return print_answer(args, found)
    if args.json:
        print(json.dumps(found, indent=2))
    else:
        print("ok" if found["ok"] else "not ok")
        for one in found["problems"]:
            place = f"{one['path']}: " if one["path"] else ""
            print(f"  {place}{one['kind']}: {one_line(str(one['remedy']), 500)}")
        for warning in found["warnings"]:
            print(f"  warning: {one_line(str(warning), 500)}")
    return 0 if found["ok"] else 1
