"""Running a command in a tree of files: a base that is never changed, with a candidate's files laid over it.

Where the sandbox has a file system of its own the base is shown, not copied, so that a job costs what it changes.
Elsewhere it is copied. Either way nothing of it may have changed when the command is done.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from core.contracts import BaseTree, ExecutionResult, Limits, Sandbox
from core.executor.collect import collect_file
from core.executor.workspace import remove_tree

Files = Mapping[str, str | bytes | None]
"""Path → content; None where the base's file is not there."""
_MOST = 1 << 30


def run_on_base(
    sandbox: Sandbox,
    argv: Sequence[str],
    *,
    base: Path,
    files: Files,
    workspace: Path,
    limits: Limits,
    seed: int = 0,
    writable: Sequence[str] = (),
) -> tuple[ExecutionResult, list[str]]:
    """(what the command showed; paths of base and candidate that it changed, [] if it kept to the rules).

    Args:
        base: folder of the host; its paths have no links above them that `files` name.
        workspace: becomes what the command left, without the base; made anew.
        writable: paths of `base` and `files` that the command may change.
    """
    remove_tree(workspace)
    workspace.mkdir(parents=True)
    replaced = tuple(path for path in files if os.path.lexists(base / path))
    if sandbox.tier == "warm":
        _lay(files, workspace)
        given = BaseTree(base, replaced)
        result = sandbox.command(argv, workspace=workspace, limits=limits, seed=seed, base=given)
        touched = [path for path in result.overlaid if path not in files]
        result = result.model_copy(update={"overlaid": ()})
    else:
        shutil.copytree(base, workspace, symlinks=True, dirs_exist_ok=True)
        for path in replaced:
            (workspace / path).unlink()
        _lay(files, workspace)
        result = sandbox.command(argv, workspace=workspace, limits=limits, seed=seed)
        touched = [path for path in _paths(base) if path not in files and not _same(base, workspace, path)]
    changed = [path for path, content in files.items() if _differs(workspace, path, content)]
    return result, sorted({*touched, *changed} - set(writable))


def _lay(files: Files, workspace: Path) -> None:
    for path, content in files.items():
        if content is not None:
            target = workspace / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content)


def _differs(workspace: Path, path: str, content: str | bytes | None) -> bool:
    """True if a file is not what it was; one that was taken away and is there again."""
    if content is None:
        return os.path.lexists(workspace / path)
    data = content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content
    return collect_file(workspace, path, len(data) + 1).data != data


def _paths(base: Path) -> list[str]:
    return [
        os.path.relpath(os.path.join(folder, name), base)
        for folder, folders, names in os.walk(base)
        for name in [*names, *(name for name in folders if os.path.islink(os.path.join(folder, name)))]
    ]


def _same(base: Path, workspace: Path, path: str) -> bool:
    if (base / path).is_symlink():
        place = workspace / path
        return place.is_symlink() and os.readlink(place) == os.readlink(base / path)
    data = collect_file(workspace, path, _MOST).data
    if data is None:
        return False
    return sha256(data).digest() == sha256((base / path).read_bytes()).digest()
