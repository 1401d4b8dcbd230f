"""`rm`: remove runs with all their files. Asks first, unless `--yes` is given."""

from __future__ import annotations

import argparse
import shutil
import sys
from contextlib import ExitStack
from pathlib import Path

from cli.options import project_dir_of
from cli.run_choice import NO_SUCH, add_choice_options, named_or_chosen
from core.executor.workspace import remove_tree
from runs.ending.leftover_bases import leftover_bases
from runs.run_folder import find_run, hold, logs_dir
from utils.errors import ConfigError, StoreError


def add_parser(subparsers: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    parser = subparsers.add_parser("rm", help="remove runs with all their files")
    parser.add_argument(
        "runs", nargs="*", metavar="RUN", help="run ids, or `latest`; or choose them by the options below"
    )
    add_choice_options(parser)
    parser.add_argument("--yes", action="store_true", help="do not ask")


def run(args: argparse.Namespace) -> int:
    """Remove the runs. A run that a process works on is refused, and then none is removed."""
    project_dir = project_dir_of(args)
    folders = list(dict.fromkeys(find_run(project_dir, name) for name in named_or_chosen(args, project_dir)))
    if not folders:
        print(NO_SUCH)
        return 0
    if not args.yes and not _agreed(folders):
        print("nothing is removed")
        return 0
    with ExitStack() as held:  # until all are gone: a `resume` that comes meanwhile is refused
        for folder in folders:
            held.enter_context(hold(folder, writes=False))
        for folder in folders:
            stays = f"; it was a link, and its files stay in '{folder.resolve()}'" if folder.is_symlink() else ""
            _remove(project_dir, folder)
            print(f"removed {folder.name}{stays}")
    for base in leftover_bases(project_dir):
        remove_tree(base)
        print(f"removed the copy of a repository that no run uses any more: {base.name}")
    return 0


def _agreed(folders: list[Path]) -> bool:
    if not sys.stdin.isatty():
        raise ConfigError("rm: nobody is there to ask; add --yes to mean it")
    names = ", ".join(folder.name for folder in folders)
    names = names if len(folders) == 1 else f"{len(folders)} runs ({names})"
    try:
        return input(f"remove {names} with all files? [y/N] ").strip().lower() in ("y", "yes")
    except EOFError:  # Ctrl-D: no answer
        print()
        return False


def _remove(project_dir: str, folder: Path) -> None:
    try:
        if folder.is_symlink():  # laid by the user, who knows what else lies there
            folder.unlink()
        else:
            shutil.rmtree(folder)
    except OSError as error:
        raise StoreError(f"run '{folder.name}' cannot be removed: {error.strerror}") from error
    shutil.rmtree(Path(project_dir).resolve() / "workspaces" / folder.name, ignore_errors=True)
    for name in ("system.log", "metrics.json"):
        link = logs_dir(project_dir) / name
        if link.is_symlink() and not link.exists():
            link.unlink()
