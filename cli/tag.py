"""`tag`: words of the user's own on a run, to find it again: `tag RUN +paper -draft`."""

from __future__ import annotations

import argparse

from cli.options import add_run_argument, project_dir_of
from runs.run_folder import find_run
from runs.tags import change_tags
from utils.errors import ConfigError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("tag", help="put words of your own on a run: tag RUN +good -draft")
    add_run_argument(parser)
    parser.add_argument("tags", nargs="*", metavar="+TAG|-TAG", help="add, remove; none: print what there is")


def run(args: argparse.Namespace) -> int:
    wrong = next((word for word in args.tags if word[0] not in "+~" or len(word) < 2), None)
    if wrong is not None:
        raise ConfigError(f"tag {wrong}: write +{wrong} to add it, -{wrong} to remove it")
    added = [word[1:] for word in args.tags if word[0] == "+"]
    removed = [word[1:] for word in args.tags if word[0] == "~"]
    tags = change_tags(find_run(project_dir_of(args), args.run), added, removed)
    print(" ".join(tags) or "no tags")
    return 0
