"""`tell`: hand in the program of a ticket, and hear the verdict."""

from __future__ import annotations

import argparse

from cli.options import seconds
from cli.ticket_options import add_ticket_options, print_answer, program_of, until_verdict
from utils.errors import ConfigError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("tell", help="hand in a ticket's program; a second time tells the same verdict")
    add_ticket_options(parser, program=True)
    parser.add_argument(
        "--nothing-left", metavar="WHY", help="in place of a program: no program can score better than the best so far"
    )
    parser.add_argument("--seconds", type=seconds, default=3600.0, help="how long to wait for the verdict (3600)")


def run(args: argparse.Namespace) -> int:
    if args.nothing_left is None:
        return print_answer(args, until_verdict(args, "tell", **program_of(args), plan=args.plan))
    if args.file or args.dir:
        raise ConfigError("--nothing-left: it stands for a program; leave out --file and --dir")
    return print_answer(args, until_verdict(args, "tell", nothing_left=args.nothing_left))
