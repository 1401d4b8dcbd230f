"""`show`: one run or one node, for people and as JSON."""

from __future__ import annotations

import argparse
import json

from cli.options import add_run_argument, project_dir_of
from core.storage.reader import RunReader
from runs.explain import why
from runs.reading import node_facts, run_facts
from runs.run_folder import find_run


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("show", help="one run, or one of its nodes")
    add_run_argument(parser)
    parser.add_argument("node", nargs="?", metavar="NODE", help="node id, or its first digits")
    parser.add_argument("--why", action="store_true", help="why this parent was chosen, and why the best is best")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    run_dir = find_run(project_dir_of(args), args.run)
    with RunReader(run_dir) as reader:
        facts = node_facts(reader, args.node) if args.node else run_facts(reader)
        if args.why:
            facts["why"] = why(reader, args.node)
    if args.json:
        print(json.dumps(facts, indent=2))
    elif args.node:
        from cli.terminal.show_text import print_node

        print_node(facts)
    else:
        from cli.terminal.show_text import print_run

        print_run(facts)
    if args.why and not args.json:
        from cli.terminal.show_text import print_why

        print_why(facts["why"])
    return 0
