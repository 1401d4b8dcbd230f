"""`setup`: write our server and skills into a coding agent's settings, or take them out again."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from cli.options import project_dir_of
from runs.mcp.entries import CLIENTS, remove, write
from utils.errors import ConfigError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser(
        "setup",
        help=f"make a coding agent find us: {', '.join(CLIENTS)}, all",
        description="Writes our server's entry, and skills beside it, into the current folder (of Codex the entry into "
        "~/.codex): call it where your agent works.",
    )
    parser.add_argument("client", metavar="CLIENT", choices=[*CLIENTS, "all"], help=f"{', '.join(CLIENTS)} or all")
    parser.add_argument(
        "--remove", action="store_true", help="take out what setup wrote, and put back what it replaced"
    )
    parser.add_argument("--force", action="store_true", help="replace a server 'swarm-evo' of your own; it is kept")


def run(args: argparse.Namespace) -> int:
    """One client, or all: settings that cannot be read or written keep none of the others from theirs."""
    project = Path(project_dir_of(args)).resolve()
    code = 0
    for name in CLIENTS if args.client == "all" else [args.client]:
        try:
            for line in remove(name, project) if args.remove else write(name, project, force=args.force):
                print(line)
        except ConfigError as error:
            print(error.line, file=sys.stderr)
            code = error.exit_code
    return code
