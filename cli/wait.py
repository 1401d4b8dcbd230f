"""`wait`: the verdict on a ticket that was told."""

from __future__ import annotations

import argparse

from cli.options import seconds
from cli.ticket_options import add_ticket_options, print_answer, until_verdict


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("wait", help="wait for a ticket's verdict")
    add_ticket_options(parser)
    parser.add_argument("--seconds", type=seconds, default=3600.0, help="how long (3600)")


def run(args: argparse.Namespace) -> int:
    return print_answer(args, until_verdict(args, "wait"))
