"""Runs removed with all their files, and with what no run needs any more then."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from core.executor.workspace import remove_tree
from runs.ending.leftover_bases import leftover_bases
from runs.ending.leftover_data import leftover_data, taken
from runs.run_folder import hold, logs_dir
from swarm_evo.kept import remove_unneeded
from utils.errors import StoreError
from utils.file_utils import size_text


@dataclass(frozen=True, slots=True)
class Removed:
    """What is gone."""

    removed: Sequence[str] = ()
    """Runs, by their names."""
    bases: Sequence[str] = ()
    """Copies of repositories that no run uses any more."""
    files: Sequence[str] = ()
    """Functions and tables of Python searches that no run uses any more, below `.swarm-evo/`."""
    data: Sequence[str] = ()
    """Data made ready that no run uses any more, below `workspaces/`."""


def remove_runs(
    project_dir: str, folders: Sequence[Path], tell: Callable[[str], None], *, sweep: Path | None = None
) -> Removed:
    """Remove the runs. A run that a process works on is refused, and then none is removed.

    Args:
        sweep: folder of the sweep that goes with them.
        tell: is given a line for each thing that is gone.

    Raises:
        RunBusyError, RunReadOnlyError, StoreError: one is worked on, or cannot be removed.
    """
    with ExitStack() as held:  # until all are gone: a `resume` that comes meanwhile is refused
        for folder in (*([sweep] if sweep else []), *folders):
            held.enter_context(hold(folder, writes=False))
        for folder in folders:
            stays = f"; it was a link, and its files stay in '{folder.resolve()}'" if folder.is_symlink() else ""
            _remove(project_dir, folder)
            tell(f"removed {folder.name}{stays}")
        if sweep is not None:
            _remove_folder(sweep, "sweep")
            tell(f"removed the sweep {sweep.name}")
    bases = leftover_bases(project_dir)
    for base in bases:
        remove_tree(base)
        tell(f"removed the copy of a repository that no run uses any more: {base.name}")
    files = remove_unneeded(Path(project_dir).resolve())
    for file in files:
        tell(f"removed what no run of Python uses any more: {file}")
    data = leftover_data(project_dir)
    for folder in data:
        size = size_text(taken(folder))
        remove_tree(folder)
        tell(f"removed data made ready that no run uses any more: {folder.name} ({size})")
    return Removed(
        [folder.name for folder in folders], [base.name for base in bases], files, [folder.name for folder in data]
    )


def _remove_folder(folder: Path, what: str) -> None:
    try:
        if folder.is_symlink():  # laid by the user, who knows what else lies there
            folder.unlink()
        else:
            shutil.rmtree(folder)
    except OSError as error:
        raise StoreError(f"{what} '{folder.name}' cannot be removed: {error.strerror}") from error


def _remove(project_dir: str, folder: Path) -> None:
    _remove_folder(folder, "run")
    shutil.rmtree(Path(project_dir).resolve() / "workspaces" / folder.name, ignore_errors=True)
    for name in ("system.log", "metrics.json"):
        link = logs_dir(project_dir) / name
        if link.is_symlink() and not link.exists():
            link.unlink()
