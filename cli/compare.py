"""`compare`: runs side by side."""

from __future__ import annotations

import argparse
import json

from cli.options import project_dir_of
from cli.run_choice import add_choice_options, named_or_chosen
from runs.run_folder import find_run
from runs.stored.comparison import comparison
from utils.errors import ConfigError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("compare", help="runs side by side: outcome, budget, cost, settings that differ")
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="run ids, or `latest`; or choose them by the options below"
    )
    add_choice_options(parser)
    parser.add_argument("--json", action="store_true")


def run(args: argparse.Namespace) -> int:
    project_dir = project_dir_of(args)
    folders = list(dict.fromkeys(find_run(project_dir, name) for name in named_or_chosen(args, project_dir)))
    if len(folders) < 2:
        found = f"that is one, {folders[0].name}" if folders else "that is none"
        raise ConfigError(f"compare: name two runs or more; {found}")
    told = comparison(project_dir, folders)
    if args.json:
        print(json.dumps(told, indent=2))
        return 0
    from cli.terminal.compare_text import print_comparison

    print_comparison(told)
    return 0
