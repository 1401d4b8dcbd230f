"""`give-up`: hand a ticket back; its slot is free again, and no step is taken."""

from __future__ import annotations

import argparse

from cli.ticket_options import add_ticket_options, answer, print_answer


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    add_ticket_options(
        subparsers.add_parser(
            "give-up", help="hand a ticket back, or by its node's id one that was forgotten: no step is taken"
        )
    )


def run(args: argparse.Namespace) -> int:
    found = answer(args, "give_up")
    code = print_answer(args, found)
    return 0 if found.get("state") == "expired" else code
