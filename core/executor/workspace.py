"""Folders for candidates: one for each node, with `input/`, `submission/` and `working/` in it."""

from __future__ import annotations

import os
import re
import zipfile
from pathlib import Path

from core.executor.collect import collect_file
from core.executor.inside import copying
from utils.clean_text import one_line
from utils.errors import SandboxError
from utils.file_utils import link_or_copy
from utils.folder_entries import entries

_SUBMISSION = re.compile(r"""(?P<quote>['"])(?:\./)?(?:/workspace/)?(?:\./)?submission(?P<rest>/[^'"\n]*)?(?P=quote)""")

_PROGRAM = "solution.py"


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

    def setup(self) -> None:
        """Make the folders; what is already there, a linked `input` too, stays."""
        for folder in (self.input, self.submission, self.working):
            folder.mkdir(parents=True, exist_ok=True)

    def link_input_data(self, source_dir: Path) -> None:
        """Make `input` show `source_dir`: a symbolic link, or a copy where links cannot be made.

        An `Interpreter` shows the folder behind the link to its programs, read-only.
        """
        if not source_dir.is_dir():
            raise SandboxError(f"no input folder {source_dir}")
        remove_tree(self.input)
        self.root.mkdir(parents=True, exist_ok=True)
        link_or_copy(source_dir, self.input)

    def linked_input(self) -> Path | None:
        """The folder that `link_input_data` linked; None without such a link."""
        return self.input.resolve() if self.input.is_symlink() and self.input.is_dir() else None

    def rewrite_submission_path(self, code: str, node_id: str) -> str:
        """`"submission/x.csv"` in the code becomes `"submission/<node_id>/x.csv"`, for folders that nodes share.

        With one workspace a node (our default) nothing needs to be rewritten.
        """

        def replaced(found: re.Match[str]) -> str:
            quote, rest = found["quote"], found["rest"] or ""
            return f"{quote}{self.submission.name}/{node_id}{rest}{quote}"

        return _SUBMISSION.sub(replaced, code)

    def archive_node_files(
        self, node_id: str, code: str, target_dir: Path | None = None, *, most_bytes: int = 64 << 20
    ) -> Path:
        """Pack the program and what it left in the workspace, its input apart, as `<node_id>.zip`; return its path.

        What is packed was written by the candidate: links, special files and files of several names are left out, and
        so are the largest files once `most_bytes` (before compression) are reached. The archive's comment names the
        files that were too large, and those whose names are another's once they are fit to be unpacked anywhere.

        Args:
            target_dir: None takes `archive/` beside the workspace.
        """
        folder = target_dir or self.root.parent / "archive"
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / f"{node_id}.zip"
        left, left_out, names = most_bytes, [], set[str]()
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
            archive.writestr(_PROGRAM, code.encode("utf-8", "replace"))
            for relative in self.written():
                name, taken = _entry_name(relative), collect_file(self.root, relative, left)
                is_ours = name.partition("/")[0].casefold() == _PROGRAM
                if taken.data is not None and name not in names and not is_ours:
                    archive.writestr(name, taken.data)
                    names.add(name)
                    left -= len(taken.data)
                elif taken.data is not None or "more than" in taken.reason:
                    left_out.append(name)
            archive.comment = ("left out: " + ", ".join(left_out)).encode()[:60_000] if left_out else b""
        return path

    def written(self) -> list[str]:
        """Paths of the files that programs left here, relative to `root`, the smallest first. Untrusted names."""
        ours = (self.input.name, ".tmp", _PROGRAM)
        found = entries(self.root, lambda path: path in ours)
        return [path for _, path in sorted((one.status.st_size, one.path) for one in found if not one.is_folder)]

    def cleanup_submission(self) -> None:
        """Empty `submission/`."""
        _empty(self.submission)

    def cleanup_working(self) -> None:
        """Empty `working/`."""
        _empty(self.working)

    def remove(self) -> None:
        """Remove the whole workspace, whatever the candidate left in it."""
        remove_tree(self.root)


def _entry_name(relative: str) -> str:
    """A path that a program chose, as it may stand in an archive: no tool on any system unpacks it above its folder.

    Each part is cleaned by itself: as a whole, a folder whose name begins with a line break would become the root.
    """
    parts = (one_line(part).replace("\\", "_").replace(":", "_").rstrip(". ") for part in relative.split("/"))
    return "/".join(part or "_" for part in parts)


def remove_tree(path: Path) -> None:
    """Remove a file, link or folder of any depth and any modes; nothing outside is touched."""
    if not os.path.lexists(path):
        return
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
