"""The base tree: a repository as it was when the search began, copied once and never changed."""

from __future__ import annotations

import json
import os
import re
import shutil
import stat
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path

from core.executor.kept_tree import OPEN_FOLDER
from problems.command.tree.fresh_folders import fresh_folder, sweep
from problems.user_files import STORE
from utils.errors import ConfigError
from utils.regular_files import CACHES
from utils.shared_property import shared_property

LEFT_OUT = CACHES | {
    ".git", ".hg", ".svn", ".jj", ".sl", ".bzr", "_darcs", ".pijul", "CVS", ".fslckout", "_FOSSIL_", ".history",
}  # fmt: skip
"""History is no writer's business; caches would be stale."""
MOST_FILES, MOST_BYTES = 100_000, 4 << 30
_CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f]")
LARGEST_TEXT = 2_000_000
"""Bytes of a file that may be searched."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One file of the base."""

    sha: str
    """SHA-256 of its bytes; of a link, of where it leads."""
    size: int
    mode: int
    """0o644 or 0o755; 0o120000 for a link."""


class Base:
    """A snapshot: `folder` holds the files, `files` says what they are.

    Args:
        store: folder of all snapshots.
        name: the snapshot's id, a hash of all paths, modes and contents.
    """

    def __init__(self, store: Path, name: str) -> None:
        self.id = name
        self.folder = store / name / "tree"
        plain = json.loads((store / name / "files.json").read_text(encoding="utf-8"))
        self.files: Mapping[str, Entry] = {path: Entry(*fields) for path, fields in plain.items()}
        self.text = lru_cache(maxsize=512)(self._text)

    @shared_property
    def folders(self) -> frozenset[str]:
        """Those below the top in which files lie, however deep."""
        names = (path.split("/")[:-1] for path in self.files)
        return frozenset("/".join(parts[:end]) for parts in names for end in range(1, len(parts) + 1))

    def _text(self, path: str) -> str | None:
        """The text of a file; None where there is none, or it is no text."""
        entry = self.files.get(path)
        if entry is None or entry.mode == stat.S_IFLNK or entry.size > LARGEST_TEXT:
            return None
        try:
            with open(self.folder / path, encoding="utf-8", newline="") as file:
                text = file.read()
        except (OSError, UnicodeDecodeError):
            return None
        return None if "\0" in text else text

    def is_other_text(self, path: str) -> bool:
        """True for what looks like text in another encoding than UTF-8: it holds no control characters."""
        entry = self.files[path]
        if entry.mode == stat.S_IFLNK or entry.size > LARGEST_TEXT or self.text(path) is not None:
            return False
        try:
            data = (self.folder / path).read_bytes()
        except OSError:
            return False
        return not _CONTROLS.search(data)


def snapshot(source: Path, store: Path) -> Base:
    """The snapshot of a folder as it is now; made if there is none of these contents.

    Raises:
        ConfigError: the folder is too large or cannot be read.
    """
    files = {}
    try:
        for path in _paths(source, store):
            files[path] = _entry(source / path)
            if len(files) > MOST_FILES or sum((files[path].size,)) > MOST_BYTES:
                raise ConfigError(f"problem.source={source}: more than {MOST_FILES:,} files, or a file beyond 4 GB")
    except OSError as error:
        raise ConfigError(f"problem.source={source}: cannot be read: {error}") from error
    if not files:
        raise ConfigError(f"problem.source={source}: the folder holds no files")
    plain = {path: [entry.sha, entry.size, entry.mode] for path, entry in sorted(files.items())}
    text = json.dumps(plain, indent=0)
    name = sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:24]
    sweep(store)
    if (store / name).is_dir():
        with suppress(OSError):
            os.utime(store / name)  # young again: `rm` leaves it for the run that begins and has not named it yet
    else:
        _copy(source, files, text, store, name)
    return Base(store, name)


def kept(store: Path, name: str) -> Base | None:
    """The snapshot of that id, where it is still there."""
    return Base(store, name) if (store / name / "files.json").is_file() else None


def _paths(source: Path, store: Path) -> Iterator[str]:
    """Of files and links, relative, without what is left out and without runs, in which whole bases are kept."""
    own = {store.resolve().parent, store.resolve().parent.parent / "logs"}
    for folder, folders, names in os.walk(source):
        here = Path(folder)
        inner = [name for name in folders if name not in LEFT_OUT and (here / name).resolve() not in own]
        inner = [name for name in inner if not _holds_runs(here / name, store.name)]
        links = [name for name in inner if (here / name).is_symlink()]
        folders[:] = sorted(set(inner) - set(links))
        for name in sorted([*names, *links]):
            path = here / name
            if name not in LEFT_OUT and (_stays_inside(path, source) if path.is_symlink() else path.is_file()):
                yield path.relative_to(source).as_posix()


def _holds_runs(folder: Path, bases: str) -> bool:
    """True for the folders of runs and of work that any project left there."""
    return (folder / bases).is_dir() or any(folder.glob(f"*/{STORE}"))


def _stays_inside(link: Path, source: Path) -> bool:
    leads = os.readlink(link)
    return not os.path.isabs(leads) and (link.parent / leads).resolve().is_relative_to(source.resolve())


def _entry(path: Path) -> Entry:
    if path.is_symlink():
        leads = os.readlink(path).encode()
        return Entry(sha256(leads).hexdigest(), len(leads), stat.S_IFLNK)
    found = path.stat()
    with path.open("rb") as file:
        digest = sha256()
        while part := file.read(1 << 20):
            digest.update(part)
    return Entry(digest.hexdigest(), found.st_size, 0o755 if found.st_mode & 0o100 else 0o644)


def _copy(source: Path, files: Mapping[str, Entry], text: str, store: Path, name: str) -> None:
    store.mkdir(parents=True, exist_ok=True)
    with fresh_folder(store) as fresh:
        _fill(fresh, source, files, text, store / name)


def _fill(fresh: Path, source: Path, files: Mapping[str, Entry], text: str, place: Path) -> None:
    """Copy the files and put the folder in its place."""
    tree = fresh / "tree"
    tree.mkdir()
    try:
        for path, entry in files.items():
            target = tree / path
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source / path, target, follow_symlinks=False)  # a reflink where the kernel can
            if entry.mode != stat.S_IFLNK:
                target.chmod(entry.mode)
        for folder, _, _ in os.walk(tree):
            os.chmod(folder, OPEN_FOLDER)
        (fresh / "files.json").write_text(text, encoding="utf-8")
        fresh.chmod(0o755)
        fresh.rename(place)
    except OSError as error:
        if not place.is_dir():  # somebody else was first
            raise ConfigError(f"problem.source={source}: cannot be copied to {place.parent}: {error}") from error
