"""Which of the folder's runs a verb is about: the same words choose for every verb that takes several."""

from __future__ import annotations

import argparse
from typing import Any, get_args

from core.storage.labels import same_text
from reports.run_index import Status
from runs.stored.run_list import run_rows
from utils.errors import ConfigError

NO_SUCH = "no such run"


def add_choice_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--problem", metavar="TEXT", help="only runs whose problem holds this text")
    parser.add_argument(
        "--status", choices=get_args(Status), metavar="WORD", help=f"only {', '.join(get_args(Status))}"
    )
    parser.add_argument("--tag", metavar="TAG", help="only runs with this tag")
    parser.add_argument("--archived", action="store_true", help="also runs that were put away: tag RUN --archive")


def is_chosen(row: dict[str, Any], args: argparse.Namespace) -> bool:
    """Whether the words mean a run. `row`: as `run_rows` gives it."""
    return (
        (not args.problem or args.problem in row["problem"])
        and (not args.status or args.status == row["status"])
        and (not args.tag or same_text(args.tag) in row["tags"])
        and (args.archived or not row["archived"])
    )


def is_filtered(args: argparse.Namespace) -> bool:
    """Whether a word chooses among the runs; `--archived` alone adds to them."""
    return bool(args.problem or args.status or args.tag)


def named_or_chosen(args: argparse.Namespace, project_dir: str) -> list[str]:
    """The runs that `args.runs` names, or that the words choose, oldest first.

    Raises:
        ConfigError: both, or neither.
    """
    if args.runs and (is_filtered(args) or args.archived):
        raise ConfigError(f"{args.verb}: name the runs, or choose them by --problem, --status and --tag; not both")
    if not args.runs and not is_filtered(args):
        raise ConfigError(f"{args.verb}: which runs? name them, or choose them by --problem, --status or --tag")
    return args.runs or [row["run"] for row in run_rows(project_dir) if is_chosen(row, args)]
