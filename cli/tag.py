"""`tag`: words of the user's own on a run, to find it again: `tag RUN +paper -draft --title "u500, first try"`."""

from __future__ import annotations

import argparse
import json

from cli.options import add_run_argument, project_dir_of
from core.storage.labels import Labels, change_labels
from runs.run_folder import find_run
from utils.errors import ConfigError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("tag", help="put words of your own on a run: tag RUN +good -draft --title TEXT")
    add_run_argument(parser)
    parser.add_argument("tags", nargs="*", metavar="+TAG|-TAG", help="add, remove; none: print what there is")
    parser.add_argument("--title", metavar="TEXT", help="a name that lists show beside the id; '' removes it")
    parser.add_argument("--note", metavar="TEXT", help="what you want to remember of it; '' removes it")
    away = parser.add_mutually_exclusive_group()
    away.add_argument("--archive", action="store_true", default=None, dest="archived", help="lists omit it from now on")
    away.add_argument("--restore", action="store_false", default=None, dest="archived", help="list it again")
    parser.add_argument("--json", action="store_true", help="what stands on the run now, as JSON")


def run(args: argparse.Namespace) -> int:
    wrong = next((word for word in args.tags if not word.startswith(("+", "~")) or len(word) < 2), None)
    if wrong == "":
        raise ConfigError("tag '': a word is missing; write +WORD to add it, -WORD to remove it")
    if wrong is not None:
        raise ConfigError(f"tag {wrong}: write +{wrong} to add it, -{wrong} to remove it")
    added = [word[1:] for word in args.tags if word[0] == "+"]
    removed = [word[1:] for word in args.tags if word[0] == "~"]
    folder = find_run(project_dir_of(args), args.run)
    told = {"title": args.title, "note": args.note, "archived": args.archived}
    labels = change_labels(folder, add=added, remove=removed, **told)
    if args.json:
        print(json.dumps({"run": folder.name, **labels.model_dump()}, indent=2))
        return 0
    print("listed again" if args.archived is False else _text(labels))
    return 0


def _text(labels: Labels) -> str:
    lines = [labels.title, " ".join(labels.tags) or "no tags", labels.note, "archived" if labels.archived else ""]
    return "\n".join(filter(None, lines))
