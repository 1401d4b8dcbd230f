"""`show`: one run or one node, for people and as JSON."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from cli.options import add_run_argument, project_dir_of
from core.executor.archive import archive_of
from core.storage.reader import RunReader
from core.storage.unreadable import unreadable
from runs.run_folder import all_runs, find_run
from runs.stored.explain import why
from runs.stored.reading import changed_files, node_facts, run_facts
from utils.errors import ConfigError, UnknownNodeError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("show", help="one run, or one of its nodes")
    add_run_argument(parser)
    named = "node id, its first digits, a step number, or '[7]' as prompts number it"
    parser.add_argument("node", nargs="?", metavar="NODE", help=named)
    parser.add_argument("--why", action="store_true", help="why this parent was chosen, and why the best is best")
    parser.add_argument("--diff", action="store_true", help="what a node changed: against its base, or its parent")
    parser.add_argument("--files", action="store_true", help="what a node's program left behind, where it was kept")
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    if args.files and not args.node:
        raise ConfigError("--files lists the files of one node: show RUN NODE --files")
    if args.diff and not args.node:
        raise ConfigError("--diff shows what one node changed: show RUN NODE --diff")
    if args.diff and args.files and not args.json:
        raise ConfigError("--diff and --files: give one of them")
    run_dir = find_run(project_dir_of(args), args.run)
    with unreadable(run_dir.name):
        try:
            return _show(args, run_dir)
        except UnknownNodeError:
            if args.node not in [path.name for path in all_runs(project_dir_of(args))]:
                raise
    raise ConfigError(f"show: '{args.node}' is a run, no node; side by side: `compare {args.run} {args.node}`")


def _show(args: argparse.Namespace, run_dir: Path) -> int:
    with RunReader(run_dir) as reader:
        facts = node_facts(reader, args.node) if args.node else run_facts(reader)
        if args.why:
            facts["why"] = why(reader, facts["node_id"] if args.node else None)
        if args.diff:
            facts["files_changed"], facts["diff"] = changed_files(reader, facts)
    if args.json:
        print(_as_json(facts))
    elif args.diff:
        from cli.terminal.show_text import print_diff

        print_diff(facts["files_changed"], facts["diff"])
    elif args.node and args.files:
        from cli.terminal.show_text import print_files

        print_files(archive_of(run_dir, facts["node_id"]), facts["archive"])
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


def _as_json(facts: dict[str, Any]) -> str:
    """Indented, but for a run's nodes: one a line, which takes a third of the time where they are many."""
    nodes = facts.pop("nodes", None)
    told = json.dumps(facts, indent=2)
    if nodes is None:
        return told
    return f'{told[:-2]},\n  "nodes": [\n    ' + ",\n    ".join(map(json.dumps, nodes)) + "\n  ]\n}"
