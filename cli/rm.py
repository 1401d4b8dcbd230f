"""`rm`: remove runs with all their files. Asks first, unless `--yes` is given."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict
from pathlib import Path

from cli.options import agreed, project_dir_of
from cli.run_choice import NO_SUCH, add_choice_options, named_or_chosen
from runs.run_folder import find_run
from runs.stored.removal import Removed, remove_runs
from utils.errors import ConfigError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("rm", help="remove runs with all their files")
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="run ids, or `latest`; or choose them by the options below"
    )
    add_choice_options(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")
    parser.add_argument("--json", action="store_true", help="with --yes: what was removed, as JSON")


def run(args: argparse.Namespace) -> int:
    """Remove the runs. A run that a process works on is refused, and then none is removed."""
    project_dir = project_dir_of(args)
    folders = list(dict.fromkeys(find_run(project_dir, name) for name in named_or_chosen(args, project_dir)))
    if args.json and not args.yes:
        raise ConfigError("rm --json: a program asks nobody; add --yes to mean it")
    if not folders:
        print(json.dumps(asdict(Removed())) if args.json else NO_SUCH)
        return 0
    if not args.yes and not _agreed(folders):
        print("nothing is removed")
        return 0
    removed = remove_runs(project_dir, folders, (lambda line: None) if args.json else print)
    if args.json:
        print(json.dumps(asdict(removed), indent=2))
    return 0


def _agreed(folders: list[Path]) -> bool:
    names = ", ".join(folder.name for folder in folders)
    return agreed("rm", names if len(folders) == 1 else f"{len(folders)} runs ({names})")
