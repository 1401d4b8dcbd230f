"""Running a command in a tree of files: a base that is never changed, with a candidate's files laid over it.

Where the sandbox has a file system of its own the base is shown, not copied; elsewhere a worker keeps a copy of it, and
undoes what a job did. Either way a job costs what it changes, and nothing of the base may have changed when it is done.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from core.contracts import BaseTree, ExecutionResult, Limits, Sandbox
from core.executor.collect import collect_file
from core.executor.kept_tree import KeptTrees
from core.executor.warm import WarmSandbox
from core.executor.workspace import remove_tree
from utils.patch import is_script

Files = Mapping[str, str | Path | None]
"""Path → content, or the host's file that is to lie there with its mode; None where the base's file is not there."""


@dataclass(frozen=True, slots=True)
class TreeRun:
    """What became of a command in a tree."""

    result: ExecutionResult
    touched: list[str]
    """Paths of base and candidate that it changed; [] if it kept to the rules."""
    workspace: Path
    """Holds what it left. The base's files may lie there, too."""


@contextmanager
def run_on_base(
    sandbox: Sandbox,
    argv: Sequence[str],
    *,
    base: Path,
    files: Files,
    scratch: Path,
    limits: Limits,
    seed: int = 0,
    writable: Sequence[str] = (),
) -> Iterator[TreeRun]:
    """Run a command; what it left is there inside of the `with`.

    Args:
        base: folder of the host; its paths have no links above them that `files` name.
        scratch: for the workspace, where it is no copy that is kept; made anew.
        writable: paths of `base` and `files` that the command may change.
    """
    assert isinstance(sandbox, WarmSandbox)
    laid = {path: _laid(base, path, content) for path, content in files.items()}
    given = BaseTree(base, tuple(path for path in files if os.path.lexists(base / path)), tuple(writable))
    if sandbox.tier == "warm":
        _fill(scratch, laid)
        result = sandbox.command(argv, workspace=scratch, limits=limits, seed=seed, base=given)
        touched = [path for path in result.overlaid if path not in files]
        yield _told(result.model_copy(update={"overlaid": ()}), touched, scratch, laid, writable)
        return
    trees = sandbox.resources.get(f"tree {base}", lambda: KeptTrees(base, sandbox.config.state_dir / "trees"))
    with trees.borrowed() as tree:
        tree.lay(laid, frozenset(writable))
        given = replace(given, charged=tree.charged)
        result = sandbox.command(argv, workspace=tree.folder, limits=limits, seed=seed, base=given)
        yield _told(result, tree.touched(), tree.folder, laid, writable)


def _told(
    result: ExecutionResult,
    touched: Sequence[str],
    workspace: Path,
    laid: Mapping[str, tuple[bytes, int] | None],
    writable: Sequence[str],
) -> TreeRun:
    changed = [path for path, content in laid.items() if _differs(workspace, path, content)]
    return TreeRun(result, sorted({*touched, *changed} - set(writable)), workspace)


def _laid(base: Path, path: str, content: str | Path | None) -> tuple[bytes, int] | None:
    """A file's bytes and mode: of a text that of the base's file of this name; a new script can be run."""
    if content is None:
        return None
    if isinstance(content, Path):
        return content.read_bytes(), 0o755 if content.stat().st_mode & 0o100 else 0o644
    data = content.encode("utf-8", "surrogatepass")
    try:
        executable = bool(os.stat(base / path).st_mode & 0o100)
    except OSError:
        executable = is_script(data[:2].decode("latin-1"))
    return data, 0o755 if executable else 0o644


def _fill(folder: Path, laid: Mapping[str, tuple[bytes, int] | None]) -> None:
    remove_tree(folder)
    folder.mkdir(parents=True)
    for path, content in laid.items():
        if content is not None:
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content[0])
            target.chmod(content[1])


def _differs(workspace: Path, path: str, content: tuple[bytes, int] | None) -> bool:
    """True if a file is not what it was; one that was taken away and is there again."""
    if content is None:
        return os.path.lexists(workspace / path)
    return collect_file(workspace, path, len(content[0]) + 1).data != content[0]
