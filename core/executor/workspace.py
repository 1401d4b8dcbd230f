"""Folders for candidates: one for each node, with `input/`, `submission/` and `working/` in it."""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from pathlib import Path

from core.executor.collect import collect_file
from core.executor.inside import copying
from utils.errors import SandboxError

_SUBMISSION = re.compile(r"""(?P<quote>['"])(?:\./)?(?:/workspace/)?(?:\./)?submission(?P<rest>/[^'"\n]*)?(?P=quote)""")
_ARCHIVE_FILE_BYTES = 64 << 20


class WorkspaceManager:
    """The folders of one workspace.

    Args:
        root: becomes `root/{input,submission,working}`; made by `setup`.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.input = root / "input"
        self.submission = root / "submission"
        self.working = root / "working"

    @classmethod
    def for_node(cls, work_dir: Path, node_id: str) -> WorkspaceManager:
        """The workspace of one node: nobody else's. ValueError for an id that is not a plain name."""
        if not re.fullmatch(r"[A-Za-z0-9_-]{1,80}", node_id):
            raise ValueError(f"node id {node_id!r} is not a plain name")
        return cls(work_dir / node_id)

    def setup(self) -> None:
        """Make the folders; what is already there stays."""
        for folder in (self.input, self.submission, self.working):
            folder.mkdir(parents=True, exist_ok=True)

    def link_input_data(self, source_dir: Path) -> None:
        """Make `input` show `source_dir`: a symbolic link, or a copy where links cannot be made.

        Only for programs that run outside a sandbox; the sandbox mounts its inputs read-only itself.
        """
        if not source_dir.is_dir():
            raise SandboxError(f"no input folder {source_dir}")
        remove_tree(self.input)
        try:
            self.input.symlink_to(source_dir.resolve(), target_is_directory=True)
        except OSError:
            shutil.copytree(source_dir, self.input)

    def rewrite_submission_path(self, code: str, node_id: str) -> str:
        """`"submission/x.csv"` in the code becomes `"submission/<node_id>/x.csv"`, for folders that nodes share.

        With one workspace a node (our default) nothing needs to be rewritten.
        """

        def replaced(found: re.Match[str]) -> str:
            quote, rest = found["quote"], found["rest"] or ""
            return f"{quote}{self.submission.name}/{node_id}{rest}{quote}"

        return _SUBMISSION.sub(replaced, code)

    def archive_node_files(self, node_id: str, code: str, target_dir: Path | None = None) -> Path:
        """Pack the program and what it wrote below `submission/` and `working/` as `<node_id>.zip`.

        Links, special files and files above 64 MB are left out: what is packed was written by the candidate.
        """
        folder = target_dir or self.root.parent / "archive"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{node_id}.zip"
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("solution.py", code.encode("utf-8", "replace"))
            for relative in self._written():
                taken = collect_file(self.root, relative, _ARCHIVE_FILE_BYTES)
                if taken.data is not None:
                    archive.writestr(relative.encode("utf-8", "replace").decode(), taken.data)
        return path

    def _written(self) -> list[str]:
        found = []
        for name in (self.submission.name, self.working.name):
            top = self.root / name
            if top.is_symlink():
                continue
            for parent, _, files in os.walk(top):
                found += [os.path.relpath(os.path.join(parent, file), self.root) for file in files]
        return sorted(found)

    def cleanup_submission(self) -> None:
        """Empty `submission/`."""
        _empty(self.submission)

    def cleanup_working(self) -> None:
        """Empty `working/`."""
        _empty(self.working)

    def remove(self) -> None:
        """Remove the whole workspace, whatever the candidate left in it."""
        remove_tree(self.root)


def remove_tree(path: Path) -> None:
    """Remove a file, link or folder of any depth and any modes; nothing outside is touched."""
    if path.is_symlink() or path.is_file():
        path.unlink()
        return
    try:
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return
    except PermissionError:
        path.chmod(0o700)
        folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        copying.clear_folder(folder)
    finally:
        os.close(folder)
    path.rmdir()


def _empty(folder: Path) -> None:
    if folder.is_symlink() or not folder.is_dir():
        remove_tree(folder)
    else:
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        try:
            copying.clear_folder(handle)
        finally:
            os.close(handle)
    folder.mkdir(parents=True, exist_ok=True)
