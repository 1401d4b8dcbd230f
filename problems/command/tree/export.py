"""A tree for its user: the patch and the changed files, a whole folder, or a branch of his repository."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from problems.command.tree.tree import Tree
from utils.errors import ConfigError
from utils.file_utils import in_place_of
from utils.patch import is_script
from utils.scratch_folders import scratch_folder

FORMS = ("patch", "folder", "branch")
PATCH, FILES = "changes.patch", "files"


def write_changes(tree: Tree, out: Path) -> list[Path]:
    """`changes.patch`, for `git apply` and `patch -p1`, and below `files/` every changed file as it is now."""
    out.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(out / FILES, ignore_errors=True)
    written = [out / PATCH]
    written[0].write_text(tree.code(), encoding="utf-8", newline="")
    for path, text in tree.files().items():
        written.append(_write(tree, path, text, out / FILES))
    return written


def export_as(form: str, tree: Tree, target: str, source: Path, message: str) -> str:
    """Write a tree in one of FORMS; returns what was written.

    Args:
        target: a file, a new folder, or the name of a new branch in `source`.
        message: of the branch's one commit.
    Raises:
        ConfigError: the target is there already, or `source` is no git repository that the changes fit.
    """
    if form == "branch":
        return _branch(tree, target, source, message)
    path = Path(target)
    if path.exists():
        raise ConfigError(f"--{form}={target}: it exists already")
    if form == "patch":
        path.parent.mkdir(parents=True, exist_ok=True)
        with in_place_of(path) as new:
            new.write_text(tree.code(), encoding="utf-8", newline="")
        return str(path)
    shutil.copytree(tree.ground.base.folder, path, symlinks=True)
    for folder, _, _ in os.walk(path):
        os.chmod(folder, 0o755)
    for name, text in tree.changes.items():
        if text is None:
            (path / name).unlink()
        else:
            _write(tree, name, text, path)
    return str(path)


def _write(tree: Tree, path: str, text: str, folder: Path) -> Path:
    """A file of the tree, with the mode that it is scored with."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="")
    entry = tree.ground.base.files.get(path)
    target.chmod(entry.mode if entry else 0o755 if is_script(text) else 0o644)
    return target


def _branch(tree: Tree, name: str, source: Path, message: str) -> str:
    """One commit on HEAD, made in an index of its own: the user's files and index stay as they are."""
    if not source.is_dir():
        raise ConfigError(f"--branch={name}: {source} is no folder here; --patch=FILE or --folder=DIR need none")
    if _git(source, "rev-parse", "--verify", "-q", "HEAD", check=False).returncode != 0:
        raise ConfigError(
            f"--branch={name}: {source} is no git repository with a commit; --patch=FILE or --folder=DIR need none"
        )
    if _git(source, "rev-parse", "--verify", "-q", f"refs/heads/{name}", check=False).returncode == 0:
        raise ConfigError(f"--branch={name}: {source} has a branch of that name already")
    _git(source, "check-ref-format", "--branch", name)
    if _git(source, "var", "GIT_AUTHOR_IDENT", check=False).returncode != 0:
        raise ConfigError(
            f"--branch={name}: git does not know whose the commit is: `git config --global user.name NAME` and "
            "`git config --global user.email ADDRESS` tell it"
        )
    with scratch_folder("swarm-evo-branch-") as folder:
        index = {"GIT_INDEX_FILE": f"{folder}/index"}
        _git(source, "read-tree", "HEAD", env=index)
        prefix = _git(source, "rev-parse", "--show-prefix").stdout.strip()
        below = ["--directory", prefix] if prefix else []
        top = Path(_git(source, "rev-parse", "--show-toplevel").stdout.strip())
        if tree.changes:
            _git(top, "apply", "--cached", "--whitespace=nowarn", *below, "-", env=index, given=tree.code())
        made = _git(top, "write-tree", env=index).stdout.strip()
    commit = _git(source, "commit-tree", made, "-p", "HEAD", "-m", message).stdout.strip()
    _git(source, "update-ref", f"refs/heads/{name}", commit, "")
    return f"{name} ({commit[:12]}) in {source}"


def _git(
    folder: Path, *words: str, env: dict[str, str] | None = None, given: str | None = None, check: bool = True
) -> subprocess.CompletedProcess[str]:
    try:
        done = subprocess.run(
            ["git", *words], cwd=folder, env={**os.environ, **(env or {})}, input=given, capture_output=True, text=True,
            check=False,
        )  # fmt: skip
    except OSError as error:
        raise ConfigError(f"--branch: git cannot be started: {error.strerror}") from error
    if check and done.returncode != 0:
        said = (done.stderr.strip().splitlines() or ["no reason given"])[0]
        raise ConfigError(f"--branch: git {words[0]} in {folder}: {said}")
    return done
