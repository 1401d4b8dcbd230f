"""`export-best`: the best program as a standalone solution."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from cli.options import (
    add_run_argument,
    add_trust_option,
    add_unsandboxed_option,
    count,
    project_dir_of,
    remark,
)
from runs.run_folder import find_run
from runs.stored.best_program import export_best
from runs.stored.export_request import SEEDS, Wanted
from utils.errors import ConfigError
from utils.missing_file import no_file
from utils.user_path import user_path

ROWS, PLACE = "data.test=", "project.dir="


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("export-best", help="write the best program and its outputs")
    add_run_argument(parser)
    parser.add_argument("--out", metavar="DIR", help="where to; logs/RUN/best_solution if absent")
    parser.add_argument(
        "--refit",
        action="store_true",
        help="train the winner once more on all labelled rows; with --data.test=FILE it predicts that table",
    )
    parser.add_argument(
        "--seeds",
        metavar="N",
        type=count,
        help=f"with --refit: average so many seeds; {SEEDS} if absent, fewer where a run takes long",
    )
    parser.add_argument(
        "--bundle", metavar="DIR", help="write it with its journal, for others to verify without a store"
    )
    parser.add_argument("--patch", metavar="FILE", help="a tree's changes as one patch")
    parser.add_argument("--folder", metavar="DIR", help="a tree as a new folder, whole: exactly what was scored")
    parser.add_argument("--branch", metavar="NAME", help="a tree as a new branch of its repository, with one commit")
    parser.add_argument(
        "--notebook",
        action="store_true",
        help="also write solution.ipynb, which runs as it is on Kaggle",
    )
    parser.add_argument("--recording", metavar="DIR", help="write the models' replies as a recording for `demo`")
    parser.add_argument("--json", action="store_true", help="the winner and the files, as JSON")
    add_trust_option(parser)
    add_unsandboxed_option(parser)


def run(args: argparse.Namespace) -> int:
    changes = [word for word in args.overrides if not word.startswith(PLACE)]
    rows = [word for word in changes if word.startswith(ROWS)] if args.refit else []
    wanted = Wanted(
        out=_path(args.out),
        refit=args.refit,
        seeds=args.seeds,
        rows=_table(rows[-1]) if rows else None,
        notebook=args.notebook,
        patch=args.patch,
        folder=args.folder,
        branch=args.branch,
        bundle=_path(args.bundle),
        recording=_path(args.recording),
        changes=[word for word in changes if word not in rows],  # the run keeps its own
        trusted=args.i_trust_this_run,
        accept_unsandboxed=args.i_accept_unsandboxed,
    )
    project_dir = project_dir_of(args)
    found = export_best(find_run(project_dir, args.run), project_dir, wanted, remark)
    if args.json:
        print(json.dumps(found.plain(), indent=2))
        return 0
    for place in (*found.files, *([found.branch] if found.branch else [])):
        print(place)
    return 0


def _path(given: str | None) -> Path | None:
    return Path(given) if given else None


def _table(word: str) -> Path:
    """The table that a refit is to predict in place of the run's."""
    path = user_path(word.partition("=")[2]).resolve()
    if not path.is_file():
        raise ConfigError(f"{ROWS}{path}: {no_file(path)}")
    return path
